/**
 * Whether `show` says that a model only continues a text: its template has no turns, and nothing else shows that the
 * runner would write them. If the runner says too little, this is false.
 */
export function goesOnWithText(show: Readonly<Record<string, unknown>>): boolean {
  const { template } = show;
  return typeof template === 'string' && hasNoTurns(template) && !isRenderedOtherwise(show);
}

/** A longer template than this many characters has turns. */
const maxBareLength = 2_000;

/** The template of a model that only completes is just the prompt, or puts the text around a hole between marks. */
function hasNoTurns(template: string): boolean {
  if (template.length > maxBareLength || /\.(Messages|System|Response)\b/.test(template)) return false;
  return template.includes('.Suffix') || /^\{\{-? *\.Prompt *-?\}\}$/.test(template.trim());
}

/**
 * Whether something else writes the turns: a renderer in the runner, the template in the model's file, or another
 * runner.
 */
function isRenderedOtherwise(show: Readonly<Record<string, unknown>>): boolean {
  const { modelfile, model_info: info, capabilities, remote_host: host } = show;
  if (typeof host === 'string' && host !== '') return true;
  if (typeof modelfile === 'string' && /^RENDERER /m.test(modelfile)) return true;
  if (typeof info === 'object' && info !== null && 'tokenizer.chat_template' in info) return true;
  return Array.isArray(capabilities) && capabilities.some((name) => name === 'tools' || name === 'thinking');
}
