/**
 * Whether what `show` says of a model is that it only goes on with a text: its template has no turns, and nothing else
 * says that the runner would write them. Where the runner says too little, it is not so.
 */
export function goesOnWithText(show: Readonly<Record<string, unknown>>): boolean {
  const { template } = show;
  return typeof template === 'string' && hasNoTurns(template) && !isRenderedOtherwise(show);
}

/** A longer template than this many characters has turns. */
const maxBareLength = 2_000;

/** Those of models that complete are the prompt alone, or put what stands around a hole into their marks. */
function hasNoTurns(template: string): boolean {
  if (template.length > maxBareLength || /\.(Messages|System|Response)\b/.test(template)) return false;
  return template.includes('.Suffix') || /^\{\{-? *\.Prompt *-?\}\}$/.test(template.trim());
}

/** By a renderer of the runner's own, by the template inside of the model's file, by another runner. */
function isRenderedOtherwise(show: Readonly<Record<string, unknown>>): boolean {
  const { modelfile, model_info: info, capabilities, remote_host: host } = show;
  if (typeof host === 'string' && host !== '') return true;
  if (typeof modelfile === 'string' && /^RENDERER /m.test(modelfile)) return true;
  if (typeof info === 'object' && info !== null && 'tokenizer.chat_template' in info) return true;
  return Array.isArray(capabilities) && capabilities.some((name) => name === 'tools' || name === 'thinking');
}
