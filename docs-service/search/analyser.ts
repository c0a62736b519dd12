/** The place of a word in the text, in UTF-16 units, and the token that finds it. */
export interface AnalysedWord {
  readonly start: number;
  readonly end: number;
  readonly token: string;
  /** The last letter of a run in a script without spaces, with which no pair begins. */
  readonly isTail?: true;
}

/**
 * The tokens that find a text, the same for documents and queries and on both engines. A word is a run of letters,
 * marks and digits. It becomes lower case, compatible forms become one (NFKC), and Latin and Greek letters lose their
 * accents, so that `Zürich`, `ZURICH` and `ｚüｒｉｃｈ` are one word. Marks of other scripts stay, because they are vowels
 * there. In scripts without spaces, each letter makes a token with the next one, and the last letter of a run makes one
 * alone: no dictionary says where words end, so any part of such a run can be found.
 */
export function analyse(text: string): string[] {
  return Array.from(words(text), ({ token }) => token);
}

/** Yields the tokens with their places, on demand. Its time is linear in the part that was taken. */
export function* words(text: string): Generator<AnalysedWord> {
  const pattern = /[\p{L}\p{M}\p{N}]{1,1000}/gu;
  for (let run = pattern.exec(text); run; run = pattern.exec(text)) {
    const [word] = run;
    const end = run.index + word.length;
    if (isShortAscii(word)) yield { start: run.index, end, token: word.toLowerCase() };
    else yield* wordsOfRun(word, run.index);
  }
}

/** Faster for short texts than a pattern. */
export function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) >= 128) return false;
  return true;
}

/** Changes with the rules of this file, and with what of a text is indexed. */
export const analyserRules = '3';

/** A longer token is cut into several, in UTF-16 units. */
export const maxTokenLength = 64;

/** Whether the token belongs to a script without spaces: two letters, or the last one of a run. */
export function isUnspaced(token: string): boolean {
  return !isAscii(token) && unspaced.test(token);
}

/** The first letter of a text in a script without spaces, with its marks. */
export function firstLetter(text: string): string {
  for (const [letter] of text.matchAll(letters)) return letter;
  return text;
}

function* wordsOfRun(run: string, start: number): Generator<AnalysedWord> {
  if (!unspaced.test(run)) return yield* tokensOf(run, start);
  for (const { 0: part, index } of run.matchAll(unspacedOrNot))
    yield* unspaced.test(part) ? pairsOf(part, start + index) : tokensOf(part, start + index);
}

const unspacedScripts =
  '\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}\\p{scx=Thai}\\p{scx=Lao}\\p{scx=Khmer}\\p{scx=Myanmar}';
const unspaced = new RegExp(`[${unspacedScripts}]`, 'u');
const unspacedOrNot = new RegExp(`[${unspacedScripts}]+|[^${unspacedScripts}]+`, 'gu');
/** A letter with its marks. Two of them are at most as long as a token may be. */
const letters = /[\p{L}\p{N}]\p{M}{0,8}|\p{M}{1,8}/gu;
/** What is folded together: half-width kana have their voice in a character of its own. */
const foldedTogether = /[\s\S][\p{M}\u{ff9e}\u{ff9f}]{0,8}/gu;

function* pairsOf(run: string, start: number): Generator<AnalysedWord> {
  let before: AnalysedWord | undefined;
  for (const letter of lettersOf(run, start)) {
    if (before) yield { start: before.start, end: letter.end, token: before.token + letter.token };
    before = letter;
  }
  if (before) yield { ...before, isTail: true };
}

/** The letters of the folded run, with their places in the original run. */
function* lettersOf(run: string, start: number): Generator<AnalysedWord> {
  for (const { 0: part, index } of run.matchAll(foldedTogether)) {
    const place = { start: start + index, end: start + index + part.length };
    if (isPlain(part)) yield { ...place, token: part };
    else for (const [token] of folded(part).matchAll(letters)) yield { ...place, token };
  }
}

/** Most letters of Japanese and Chinese: one unit each, with no other form. */
function isPlain(letter: string): boolean {
  const code = letter.charCodeAt(0);
  return (
    letter.length === 1 &&
    ((code >= 0x4e00 && code <= 0x9fff) ||
      (code >= 0x3041 && code <= 0x3096) ||
      (code >= 0x30a1 && code <= 0x30fa))
  );
}

function* tokensOf(word: string, start: number): Generator<AnalysedWord> {
  const end = start + word.length;
  if (isShortAscii(word)) return yield { start, end, token: word.toLowerCase() };
  // Some compatible forms are several words, such as ligatures of a whole phrase.
  for (const [token] of folded(word).matchAll(/[\p{L}\p{M}\p{N}]{1,32}/gu)) yield { start, end, token };
}

function isShortAscii(word: string): boolean {
  return word.length <= maxTokenLength && isAscii(word);
}

function folded(word: string): string {
  return word
    .normalize('NFKD')
    .toLowerCase()
    .replace(/(?<=[\p{Script=Latin}\p{Script=Greek}])[\u0300-\u036f]+/gu, '')
    .normalize('NFKC')
    .replaceAll('ς', 'σ')
    .replaceAll('ё', 'е');
}
