/**
 * Whether a model's prompts have turns: `none` if its template only continues a text or fills a hole in it. `unknown` is
 * a model without a template: it may have been trained to chat all the same.
 */
export type Turns = 'written' | 'unknown' | 'none';

/**
 * What `show` says about the turns of a model. Something other than the template may write them. If the runner says too
 * little, they count as written.
 */
export function turnsOf(show: Readonly<Record<string, unknown>>): Turns {
  const { template } = show;
  const isRead = typeof template === 'string' && template.length <= maxBareLength;
  return !isRead || isRenderedOtherwise(show) ? 'written' : turnsIn(template);
}

/** A longer template than this many characters has turns. */
const maxBareLength = 2_000;

function turnsIn(template: string): Turns {
  // The runner shows this for a model that has no template.
  if (/^\{\{-? *\.Prompt *-?\}\}$/.test(template.trim())) return 'unknown';
  return template.includes('.Suffix') && !/\.(Messages|System|Response)\b/.test(template)
    ? 'none'
    : 'written';
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
