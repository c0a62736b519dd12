import { endsInOpenThinking } from './templateEnd.ts';

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

/**
 * Whether `show` says that an answer begins inside thinking that the template has opened, and that the runner leaves
 * the thinking in the text. A runner that reports thinking separates it.
 */
export function opensThinking(show: Readonly<Record<string, unknown>>): boolean {
  const { template, modelfile, model_info: info, capabilities } = show;
  if (Array.isArray(capabilities) && capabilities.includes('thinking')) return false;
  if (typeof modelfile === 'string' && /^RENDERER /m.test(modelfile)) return false;
  const isBare = typeof template !== 'string' || turnsIn(template) === 'unknown';
  const used = isBare && typeof info === 'object' && info !== null ? templateInFile(info) : template;
  return typeof used === 'string' && endsInOpenThinking(used);
}

/** The template in the model's file, which the runner uses if the model was created without one. */
function templateInFile(info: object): unknown {
  return 'tokenizer.chat_template' in info ? info['tokenizer.chat_template'] : undefined;
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
