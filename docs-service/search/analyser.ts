/** The place of a word in the text, in UTF-16 units, and the token that finds it. */
export interface AnalysedWord {
  readonly start: number;
  readonly end: number;
  readonly token: string;
  /** Tokens of several words that begin with this one, such as `ebook` for `e-book`. */
  readonly joined?: readonly JoinedToken[];
  /** Whether it is written together with the word before it, as `known` in `well-known`. */
  readonly isInside?: true;
  /** The last letter of a run in a script without spaces, with which no pair begins. */
  readonly isTail?: true;
}

export interface JoinedToken {
  readonly end: number;
  readonly token: string;
}

/**
 * The tokens that find a text, the same for documents and queries and on both engines. A word is a run of letters,
 * marks and digits. It becomes lower case, compatible forms become one (NFKC), and letters lose their accents, points
 * and strokes, so that `Zürich`, `ZURICH` and `ｚüｒｉｃｈ` are one word. Vowel marks of Indic scripts stay. In scripts
 * without spaces, and in Korean, each letter makes a token with the next one, and the last letter of a run makes one
 * alone: no dictionary says where words end, so any part of such a run can be found. Words that are written together
 * (`e-book`, `getUserName`, `1,000,000`) are also one token; `C++`, `C#` and `.NET` are one with their signs.
 */
export function* words(text: string): Generator<AnalysedWord> {
  for (const { 0: compound, index } of text.matchAll(compounds)) {
    if (plainWord.test(compound))
      yield { start: index, end: index + compound.length, token: compound.toLowerCase() };
    else yield* wordsOfCompound(compound, index, text);
  }
}

/** The tokens of single words, in their order. */
export function analyse(text: string): string[] {
  return Array.from(words(text), ({ token }) => token);
}

/** Changes with the rules of this file, and with what of a text is indexed. */
export const analyserRules = '4';

/** A longer token is cut into several, in UTF-16 units. */
export const maxTokenLength = 64;

/** Whether a script is searched by pairs of letters. */
export function isUnspaced(token: string): boolean {
  return unspaced.test(token);
}

const compounds =
  /\.?[\p{L}\p{M}\p{N}]{1,1000}(?:(?:[-_.'’‐‑·\u00ad]|(?<=\p{N})[,\u00a0\u202f](?=\p{N}{3}(?!\p{N})))[\p{L}\p{M}\p{N}]{1,1000}){0,20}(?:[+#]{1,2}(?![\p{L}\p{M}\p{N}+#]))?/gu;
const runs = /[\p{L}\p{M}\p{N}]+/gu;
/** What is searched as it is written, but for capitals: most words. */
const plainWord = /^(?:[A-Z]?[a-z0-9]{0,63}|[A-Z0-9]{1,64})$/;

function* wordsOfCompound(compound: string, start: number, text: string): Generator<AnalysedWord> {
  const parts = partsOf(compound, start);
  const [first] = parts;
  if (first && parts.length === 1) {
    const sign = signedToken(compound, first.token, text[start - 1]);
    return yield sign === undefined
      ? first
      : { ...first, joined: [{ end: start + compound.length, token: sign }] };
  }
  const isJoinable = parts.length <= maxParts && !parts.some(({ token }) => isUnspaced(token));
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at];
    if (!part) continue;
    const joined = isJoinable ? joinedFrom(at, parts, text) : [];
    const { start, end, token, isTail } = part;
    yield {
      ...{ start, end, token },
      ...(at > 0 && { isInside: true }),
      ...(isTail && { isTail }),
      ...(joined.length > 0 && { joined }),
    };
  }
}

function partsOf(compound: string, start: number): readonly AnalysedWord[] {
  const parts: AnalysedWord[] = [];
  if (isAscii(compound))
    for (const { 0: part, index } of compound.matchAll(asciiParts))
      parts.push({ start: start + index, end: start + index + part.length, token: part.toLowerCase() });
  else for (const { 0: run, index } of compound.matchAll(runs)) parts.push(...wordsOfRun(run, start + index));
  return parts;
}

/** Faster for short texts than a pattern. */
function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) >= 128) return false;
  return true;
}

const maxParts = 12;

/** All parts as one, and two parts of a name in code as one. */
function joinedFrom(at: number, parts: readonly AnalysedWord[], text: string): readonly JoinedToken[] {
  const [part, next] = [parts[at], parts[at + 1]];
  if (!part || !next) return [];
  const isInCode = parts.length > 2 && (part.end === next.start || text[part.end] === '_');
  const joined = isInCode ? [{ end: next.end, token: part.token + next.token }] : [];
  if (at === 0) joined.push(...joinedWhole(parts));
  return joined;
}

function joinedWhole(parts: readonly AnalysedWord[]): readonly JoinedToken[] {
  const token = parts.map((part) => part.token).join('');
  // `1,000,000` is one number, but `3.14` and `2024-05-06` are not.
  const isGrouped = () =>
    parts.every((part, at) => (at === 0 ? part.token.length <= 3 : part.token.length === 3));
  const isWord = token.length <= maxTokenLength && (!/^\p{N}+$/u.test(token) || isGrouped());
  return isWord ? [{ end: parts.at(-1)?.end ?? 0, token }] : [];
}

/** The name of a language with its sign, or of a file that begins with a dot. */
function signedToken(compound: string, token: string, before = ''): string | undefined {
  const hasDot = compound.startsWith('.') && !/[\p{L}\p{M}\p{N}.)\]]/u.test(before);
  const sign = /[+#]*$/.exec(compound)?.[0] ?? '';
  return hasDot || sign !== '' ? `${hasDot ? '.' : ''}${token}${sign}` : undefined;
}

function* wordsOfRun(run: string, start: number): Generator<AnalysedWord> {
  for (const { 0: part, index } of run.matchAll(unspacedOrNot)) {
    if (isUnspaced(part)) yield* pairsOf(part, start + index);
    else
      for (const { 0: word, index: at } of part.matchAll(partsOfName))
        yield* tokensOf(word, start + index + at);
  }
}

const unspacedScripts =
  '\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}\\p{scx=Hangul}\\p{scx=Thai}\\p{scx=Lao}\\p{scx=Khmer}\\p{scx=Myanmar}';
const unspaced = new RegExp(`[${unspacedScripts}]`, 'u');
const unspacedOrNot = new RegExp(`[${unspacedScripts}]+|[^${unspacedScripts}]+`, 'gu');
const asciiParts = /[A-Z]{2,}s(?![A-Za-z])|[A-Z]{1,32}(?![a-z])\d{0,32}|[A-Z]?[a-z\d]{1,63}/g;
/** `getHTTPName` has three, `PDFs` is one. */
const partsOfName =
  /(?:\p{Lu}\p{M}*){2,}s(?![\p{L}\p{M}])|(?:\p{Lu}\p{M}*)+(?!\p{Ll})\p{N}*|\p{Lu}?(?:(?!\p{Lu})[\p{L}\p{M}\p{N}])+|\p{Lu}/gu;
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

function* lettersOf(run: string, start: number): Generator<AnalysedWord> {
  for (const { 0: part, index } of run.matchAll(foldedTogether)) {
    const place = { start: start + index, end: start + index + part.length };
    if (isPlainLetter(part)) yield { ...place, token: part };
    else for (const [token] of folded(part).matchAll(letters)) yield { ...place, token };
  }
}

/** Most letters of Japanese, Chinese and Korean: one unit each, with no other form. */
function isPlainLetter(letter: string): boolean {
  const code = letter.charCodeAt(0);
  return (
    letter.length === 1 &&
    ((code >= 0x4e00 && code <= 0x9fff) ||
      (code >= 0xac00 && code <= 0xd7a3) ||
      (code >= 0x3041 && code <= 0x3096) ||
      (code >= 0x30a1 && code <= 0x30fa))
  );
}

function* tokensOf(word: string, start: number): Generator<AnalysedWord> {
  const end = start + word.length;
  // Some compatible forms are several words, such as ligatures of a whole phrase.
  for (const [token] of folded(word).matchAll(/[\p{L}\p{M}\p{N}]{1,32}/gu)) yield { start, end, token };
}

function folded(word: string): string {
  return word
    .normalize('NFKD')
    .toLowerCase()
    .replace(
      /(?<=[\p{Script=Latin}\p{Script=Greek}])[\u0300-\u036f]+|[\u0591-\u05c7\u0640\u064b-\u065f\u0670]+/gu,
      '',
    )
    .normalize('NFKC')
    .replace(/[łđøßœæıħðþςё]/g, (letter) => plainLetters[letter] ?? letter);
}

/** Letters that no form of Unicode takes apart. */
const plainLetters: Readonly<Record<string, string>> = {
  ...{ ł: 'l', đ: 'd', ø: 'o', ß: 'ss', œ: 'oe', æ: 'ae', ı: 'i', ħ: 'h', ð: 'd', þ: 'th', ς: 'σ', ё: 'е' },
};
