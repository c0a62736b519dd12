/** Where in the text a word stands, in UTF-16 units, and the tokens that it is found by. */
export interface AnalysedWord {
  readonly start: number;
  readonly end: number;
  readonly token: string;
}

/**
 * The tokens that a text is found by, the same for documents and queries and on both engines. A word is a run of
 * letters, marks and digits. It becomes lower case, compatible forms become one (NFKC), and Latin and Greek letters
 * lose their accents, so that `Zürich`, `ZURICH` and `ｚüｒｉｃｈ` are one word. Marks of other scripts stay, because
 * they are vowels there. Scripts without spaces are cut into words by their dictionaries.
 */
export function analyse(text: string): string[] {
  return Array.from(words(text), ({ token }) => token);
}

/** The tokens one after another with their places, each when it is asked for. Time is linear in what was taken. */
export function* words(text: string): Generator<AnalysedWord> {
  const pattern = /[\p{L}\p{M}\p{N}]{1,1000}/gu;
  for (let run = pattern.exec(text); run; run = pattern.exec(text)) {
    const [word] = run;
    const end = run.index + word.length;
    if (isShortAscii(word)) yield { start: run.index, end, token: word.toLowerCase() };
    else yield* wordsOfRun(word, run.index);
  }
}

/** Changes with the rules of this file. */
export const analyserRules = '1';

/** Changes with whatever changes tokens, the dictionaries of this Node among them. */
export const analyserVersion = `${analyserRules} icu ${process.versions['icu'] ?? ''} unicode ${process.versions['unicode'] ?? ''}`;

/** A longer token is cut into several, in UTF-16 units. */
export const longestToken = 64;

function* wordsOfRun(run: string, start: number): Generator<AnalysedWord> {
  if (!unspaced.test(run)) return yield* tokensOf(run, start);
  for (const { 0: part, index } of run.matchAll(unspacedOrNot)) {
    if (!unspaced.test(part)) yield* tokensOf(part, start + index);
    else
      for (const { segment, index: within } of segmenter().segment(part))
        yield* tokensOf(segment, start + index + within);
  }
}

const unspacedScripts =
  '\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}\\p{scx=Thai}\\p{scx=Lao}\\p{scx=Khmer}\\p{scx=Myanmar}';
const unspaced = new RegExp(`[${unspacedScripts}]`, 'u');
const unspacedOrNot = new RegExp(`[${unspacedScripts}]+|[^${unspacedScripts}]+`, 'gu');

let madeSegmenter: Intl.Segmenter | undefined;

/** Made when the first such text comes: its dictionaries take time to load. */
function segmenter(): Intl.Segmenter {
  return (madeSegmenter ??= new Intl.Segmenter('und', { granularity: 'word' }));
}

function* tokensOf(word: string, start: number): Generator<AnalysedWord> {
  const end = start + word.length;
  if (isShortAscii(word)) return yield { start, end, token: word.toLowerCase() };
  // Some compatible forms are several words, such as ligatures of a whole phrase.
  for (const [token] of folded(word).matchAll(/[\p{L}\p{M}\p{N}]{1,32}/gu)) yield { start, end, token };
}

function isShortAscii(word: string): boolean {
  return word.length <= longestToken && /^[A-Za-z0-9]+$/.test(word);
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
