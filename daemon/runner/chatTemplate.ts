/**
 * Whether a model's prompts have turns: `none` if its template only continues a text or fills a hole in it. `unknown`
 * is a model without a template: it may have been trained to chat all the same.
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

/** A template that is longer than this, in characters, is taken to have turns. */
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

/**
 * What a chat template writes last before the answer of the model, as far as its text shows that. Templates are of two
 * kinds: the runner's own, in Go's language, and those inside model files, in Jinja.
 */
export function endsInOpenThinking(template: string): boolean {
  const end = template.includes('{%') ? endOfJinja(template) : endOfGo(template);
  return /<(?:think|thinking|thought|reasoning)>$/i.test(end);
}

/** Longer than any tag. */
const maxEndLength = 64;
/** Limits that no template reaches: the depth of its blocks, and the characters of a condition that decides its end. */
const maxDepth = 50;
const maxActionLength = 500;
/** Stands for output that depends on the request. */
const unknown = '?';

/** A block of a Go template: the text before it, and what the branch that is taken has written last. */
interface Block {
  readonly before: string;
  isTaken: boolean;
  taken: string | undefined;
}

/** Follows the branches that are taken when a user's message is answered, in a chat without anything else. */
function endOfGo(template: string): string {
  const blocks: Block[] = [];
  const [text = '', ...pieces] = template.split('{{');
  let end = afterText('', text);
  for (const piece of pieces) {
    const close = piece.indexOf('}}');
    if (close < 0 || blocks.length > maxDepth) return unknown;
    const action = piece.slice(0, Math.min(close, maxActionLength)).replace(/^-|-$/g, '').trim();
    // The runner cuts the prompt where the answer of the model belongs.
    if (/^\.Response\b/.test(action) && blocks.every((block) => block.isTaken)) return end;
    end = afterText(afterAction(end, action, blocks), piece.slice(close + 2));
  }
  return end;
}

function afterText(end: string, text: string): string {
  const visible = text.trimEnd();
  return visible === '' ? end : visible.slice(-maxEndLength);
}

function afterAction(end: string, action: string, blocks: Block[]): string {
  const [, word = '', rest = ''] = /^(\w+)(?:\s+([\s\S]*))?$/.exec(action) ?? [];
  const block = blocks.at(-1);
  if (word === 'if' || word === 'range' || word === 'with') {
    blocks.push({ before: end, isTaken: isTaken(rest), taken: undefined });
    return end;
  }
  if (word === 'else' && block) {
    leaveBranch(block, end);
    block.isTaken = block.taken === undefined && isTaken(rest.replace(/^if\s+/, ''));
    return block.before;
  }
  if (word === 'end' && block) {
    leaveBranch(block, end);
    blocks.pop();
    return block.taken ?? block.before;
  }
  const isSilent =
    action === '' || /^\/\*|^\$\w*\s*:?=|^(?:break|continue|define|template|block)\b/.test(action);
  return isSilent ? end : unknown;
}

function leaveBranch(block: Block, end: string): void {
  if (block.isTaken) block.taken = end;
}

/** Whether a branch is taken: `think` is not set, the last message is a user's, and there are no tools. */
function isTaken(condition: string): boolean {
  const negated = /^\(?not\s+([\s\S]*)$/.exec(condition)?.[1];
  if (negated !== undefined) return !isTaken(negated);
  if (/\.(?:\w*Think\w*|Tools|ToolCalls|Suffix|Images)\b/.test(condition)) return false;
  if (/\beq \S*\.Role "(?!user")/.test(condition)) return /"user"/.test(condition);
  return !/\bne \S*\.Role "user"/.test(condition);
}

/** The end of the literal that is the last output of a Jinja template. */
function endOfJinja(template: string): string {
  let rest = template.trimEnd();
  while (rest.endsWith('%}')) rest = rest.slice(0, Math.max(0, rest.lastIndexOf('{%'))).trimEnd();
  const start = rest.lastIndexOf('{{');
  if (!rest.endsWith('}}') || start < 0) return rest.slice(-maxEndLength);
  const before = rest.slice(0, start).trimEnd();
  const statement = before.endsWith('%}') ? before.slice(Math.max(0, before.lastIndexOf('{%'))) : '';
  // A condition on thinking depends on the request.
  if (/^\{%[-+]?\s*(?:el)?if\b.*think/i.test(statement)) return unknown;
  const literal = rest
    .slice(start + 2, -2)
    .replace(/-$/, '')
    .trim();
  return literal.slice(-maxEndLength).replace(/(?:\\n|\s)*['"]$/, '');
}
