/** A word of a text that may name files. */
export interface Mention {
  /** As typed, with the `@`. */
  readonly word: string;
  /** What it names, without the `@` and the quotes. */
  readonly name: string;
  readonly isQuoted: boolean;
  /** Where the word begins in the text. */
  readonly at: number;
}

/**
 * Words that begin with `@`, at the beginning of the text or after a blank; a name with blanks is in double quotes. No
 * part of the text is read twice: without its closing quote, no other `@"` can stand in what was looked through.
 */
const mention = /(?<=^|\s)@(?:"(?<quoted>[^"\n]+)"|(?<plain>[^\s"@]\S*))/g;

/** In characters; no system opens a longer path. */
const maxName = 4_096;

/** All mentions, in order. */
export function mentionsIn(text: string): readonly Mention[] {
  return [...text.matchAll(mention)].flatMap(({ 0: word, index: at, groups = {} }) => {
    const name = groups['quoted'] ?? groups['plain'] ?? '';
    return name.length > maxName ? [] : [{ word, name, isQuoted: groups['quoted'] !== undefined, at }];
  });
}

/** What a mention may name: all of it, or else what is left without the punctuation of the sentence around it. */
export function namesOf({ name, isQuoted }: Mention): readonly string[] {
  if (isQuoted) return [name];
  let end = name.length;
  while (end > 1 && isPunctuation(name, end - 1)) end -= 1;
  return end === name.length ? [name] : [name, name.slice(0, end)];
}

const openers: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{', '>': '<' };

/** A bracket that the name itself has opened belongs to it, as in `src/*.{ts,js}`. */
function isPunctuation(name: string, at: number): boolean {
  const character = name[at] ?? '';
  const opener = openers[character];
  return opener === undefined ? '.,;:!?\'"»”’'.includes(character) : !name.includes(opener);
}

/** Whether a name is a pattern for several files. */
export function isGlob(name: string): boolean {
  return /[*?]|\[[^\]]+\]|\{[^}]*,[^}]*\}/.test(name);
}

/** Whether a name that names nothing was probably meant to be a path. `@name` and `@media` are not. */
export function looksLikePath(name: string): boolean {
  return /[/\\*]|^~|^\.|\w\.[A-Za-z]\w{0,7}$/.test(name);
}
