import { isBlank, newline } from './characters.ts';

/** What calls within a line are: a mention, meant, or not decided yet. */
export type Verdict = 'mention' | 'meant' | 'unknown';

/**
 * Openers of quotes and brackets, each before its closers. One mark may be both, because languages use quotes in
 * opposite directions.
 */
const closersOf: Readonly<Record<string, string>> = Object.fromEntries(
  '() [] {} “”“ ‘’‘ „“” ‚‘’ «» ‹› »« ›‹ 「」 『』 （） 【】 ［］ ｛｝ 《》 〈〉'
    .split(' ')
    .map((marks) => [marks.charAt(0), marks.slice(1)]),
);
const quotes = '"“‘„‚«‹»›「『';
const ends = /[.:!?…。．：！？\p{Extended_Pictographic}]\p{M}?$/u;
/** A dot after a single letter, as in "e.g.", ends no sentence. */
const abbreviation = /(?:^|[^\p{L}\p{N}])\p{L}\.$/u;
/** Words that introduce an example, up to a colon. A model that means a call does not write them. */
const introduction =
  /(?:\b(?:examples?|for instance|e\.g\.?|such as|like (?:this|so|that)|as follows|syntax|(?:this|following|exact|correct|right) format|looks like|wrote|written|typed|beispiel|par exemple|por ejemplo|ejemplo)\b|例如|比如|例えば)[^.:!?]{0,80}[:：]$/iu;
const continuers = /[\p{Ll}\p{Lo}\p{Lm}–—]/u;
const fullStops = /[.。．]/;
const separators = /[,;.!?:，、；。！？：．]/;
/** Between letters of these scripts there are no blanks, nor after their marks. */
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{Lm}，、；：]/u;
const codeElement = /<(?:code|pre|kbd|samp|tt|q|td|th|blockquote)\b[^<>]{0,200}>$/i;

/** A sign of a list or of a diff, the start of a document, of a string or of a block, or the turns of a talk. */
const frame =
  /(?:^|\n)[ \t]*(?:[-+*]|\d{1,3}[.)])[ \t]*$|<\?xml\s|(?:"{3}|'{3}|:[ \t]*[|>][-+]?)[ \t]*\n\s*$|\buser:[\s\S]*\n\W*assistant:\W*$/i;

/** Whether the text before calls shows that they are a part of a document or of an example. */
export function isFramed(before: string): boolean {
  if (frame.test(before)) return true;
  // Only an indented call is inside of the elements around it. Models wrap calls in elements too.
  if (!/(?:^|\n)[ \t]+$/.test(before)) return false;
  const open: string[] = [];
  for (const [, close, name = ''] of before.matchAll(/<(\/?)([\w:.-]+)(?:\s[^<>]*)?(?<!\/)>/g)) {
    if (close === '') open.push(name);
    else if (open.lastIndexOf(name) >= 0) open.length = open.lastIndexOf(name);
  }
  return open.length > 0;
}

/**
 * Judges whether calls within a line are quoted in a sentence: a model that means a call rarely goes on with the
 * sentence after it. The characters after the calls come one by one, until it is decided.
 */
export class Sentence {
  readonly #open: Open;
  readonly #hasPipe: boolean;
  readonly #isRow: boolean;
  readonly #isCode: boolean;
  /** Whether a sentence, or a part of it with a colon, ends before the calls. */
  readonly #isOver: boolean;
  readonly #isColon: boolean;
  /** Whether the calls stand apart from the word before them, so that they may be a part of its sentence. */
  readonly #isApart: boolean;
  #hasDot = false;

  constructor(
    before: string,
    /** What earlier calls of the sentence were. */
    private readonly earlier: Verdict,
  ) {
    const said = before.trimEnd();
    const last = said.slice(-1);
    const plain = said.replace(/["'”’»›)\]}*_~」』）】》〉]{1,8}$/u, '');
    this.#open = openIn(before);
    this.#hasPipe = said.includes('|');
    this.#isRow = /^\s*\|/.test(before);
    this.#isCode = codeElement.test(said);
    this.#isOver = ends.test(plain) && !abbreviation.test(plain) && !introduction.test(plain);
    this.#isColon = /[:：]$/.test(plain);
    this.#isApart =
      said.length < before.length || said === '' || /[\p{Pd}|]/u.test(last) || unspaced.test(last);
  }

  /** Whether this last character of the calls closes a bracket right before them, and so is not part of them. */
  isClosedBy(last: string): boolean {
    return this.#open.isRightBefore && this.#open.closers.includes(last);
  }

  /** Takes the next character after the calls. */
  take(character: string): Verdict {
    if (this.#isRow) return 'mention';
    if (this.#hasDot) return character === '.' ? 'meant' : this.#judge('.');
    if (character.charCodeAt(0) === newline) return this.end();
    if (isBlank(character.charCodeAt(0))) return 'unknown';
    if (character !== '.') return this.#judge(character);
    this.#hasDot = true;
    return 'unknown';
  }

  /** The line ends here. Calls with nothing after them were meant, unless the sentence mentioned others. */
  end(): Verdict {
    if (this.#hasDot) return this.#judge('.');
    return this.#isRow || this.earlier === 'mention' ? 'mention' : 'meant';
  }

  #judge(next: string): Verdict {
    const { closers, isRightBefore, isQuote } = this.#open;
    if (isRightBefore || isQuote || closers.includes(next)) return 'mention';
    if ((this.#isCode && next === '<') || (this.#hasPipe && next === '|')) return 'mention';
    if (this.earlier !== 'unknown') return this.earlier;
    if (!this.#isApart) return 'meant';
    const isOver = this.#isOver && closers === '' && !(this.#isColon && fullStops.test(next));
    return !isOver && (continuers.test(next) || separators.test(next)) ? 'mention' : 'meant';
  }
}

/** What is open at the end of a text. */
interface Open {
  readonly closers: string;
  readonly isQuote: boolean;
  /** Whether the last character has opened it. */
  readonly isRightBefore: boolean;
}

function openIn(before: string): Open {
  const text = before.trimEnd();
  const stack: { readonly opener: string; readonly closers: string; readonly at: number }[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    const closed = stack.findLastIndex(({ closers }) => closers.includes(character));
    const closers = character === '"' ? '"' : closersOf[character];
    if (closed >= 0) stack.length = closed;
    else if (closers !== undefined && mayOpen(text, at)) stack.push({ opener: character, closers, at });
  }
  const close = closeOpenerOf(before);
  return {
    closers: stack.map(({ closers }) => closers).join('') + (close ?? ''),
    isQuote: stack.some(({ opener }) => quotes.includes(opener)),
    isRightBefore: close !== undefined || (stack.length > 0 && stack.at(-1)?.at === text.length - 1),
  };
}

/** A mark opens nothing where it is likely to be an apostrophe, an inch sign or part of a face. */
function mayOpen(text: string, at: number): boolean {
  const character = text.charAt(at);
  if (at === text.length - 1) return true;
  if (character === '(') return !/[:;=]/.test(text.charAt(at - 1));
  if (!'"»›'.includes(character)) return true;
  return !/[\p{L}\p{N}]/u.test(text.charAt(at - 1)) && !isBlank(text.charCodeAt(at + 1));
}

/** These open only right before a call: elsewhere they may be apostrophes, closers, or marks of emphasis. */
function closeOpenerOf(before: string): string | undefined {
  return /(?:^|[\s([{"“«])(['”’]|[*]{1,3}|_{1,3}|~~?)$/u.exec(before)?.[1]?.charAt(0);
}
