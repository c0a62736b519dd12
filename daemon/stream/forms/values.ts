import { Marks, readMark } from '../callMarks.ts';
import {
  backslash,
  closeBrace,
  closeBracket,
  closeParenthesis,
  colon,
  comma,
  doubleQuote,
  isBlank,
  LongText,
  less,
  openBrace,
  openBracket,
  openParenthesis,
  singleQuote,
} from '../characters.ts';
import {
  CallRefusal,
  over,
  peek,
  type Reading,
  refuse,
  Source,
  skipBlanks,
  takeBlanks,
  takeWord,
} from '../source.ts';

export interface ValueStyle {
  /** Tuples, triple quotes and escapes as in Python. */
  readonly python?: true;
  /** Keys have no quotes. */
  readonly bareKeys?: true;
  /** Words without quotes are strings, and other strings are between marks. */
  readonly bareWords?: true;
}

/** Objects and lists as models write them: JSON, with the variations of Python and of careless writing. */
export const jsonStyle: ValueStyle = {};
export const pythonStyle: ValueStyle = { python: true };
export const colonStyle: ValueStyle = { bareKeys: true, bareWords: true };

const maxDepth = 64;
/** No name, number or word is longer, except the words of a style without quotes. */
const maxWordLength = 256;
const maxBareWordLength = 65_536;
const words = new Map<string, unknown>([
  ['True', true],
  ['true', true],
  ['False', false],
  ['false', false],
  ['None', null],
  ['null', null],
]);
const stringMarks = new Marks([
  ['<|"|>', '<|"|>'],
  ['<escape>', '<escape>'],
]);

export function* readValue(source: Source, style: ValueStyle, depth = 0): Reading<unknown> {
  if (depth > maxDepth) throw new CallRefusal('malformed');
  const code = yield* skipBlanks(source);
  if (code === doubleQuote || code === singleQuote) return yield* readString(source, style);
  if (code === openBracket || (code === openParenthesis && style.python))
    return yield* readList(source, style, depth);
  if (code === openBrace) return yield* readObject(source, style, depth);
  if (code === less && style.bareWords) return yield* readMarked(source);
  return yield* readWord(source, style);
}

/** Reads an object with its braces, which a template may have doubled. A repeated key is refused. */
export function* readObject(
  source: Source,
  style: ValueStyle,
  depth = 0,
): Reading<Readonly<Record<string, unknown>>> {
  source.at++;
  source.countPart();
  const entries = new Map<string, unknown>();
  for (let code = yield* skipBlanks(source); code !== closeBrace; ) {
    if (code === openBrace && entries.size === 0 && depth <= maxDepth) {
      const inner = yield* readObject(source, style, depth + 1);
      yield* expect(source, closeBrace);
      return inner;
    }
    const key = yield* readKey(source, style);
    yield* expect(source, colon);
    if (entries.has(key)) throw new CallRefusal('malformed');
    source.countPart();
    entries.set(key, yield* readValue(source, style, depth + 1));
    code = yield* afterItem(source, closeBrace);
  }
  source.at++;
  return Object.fromEntries(entries);
}

function* readList(source: Source, style: ValueStyle, depth: number): Reading<unknown[]> {
  const close = source.code === openBracket ? closeBracket : closeParenthesis;
  source.at++;
  source.countPart();
  const items: unknown[] = [];
  for (let code = yield* skipBlanks(source); code !== close; ) {
    items.push(yield* readValue(source, style, depth + 1));
    code = yield* afterItem(source, close);
  }
  source.at++;
  return items;
}

export function* readKey(
  source: Source,
  style: ValueStyle,
  longest = Number.POSITIVE_INFINITY,
): Reading<string> {
  const code = yield* skipBlanks(source);
  if (code === doubleQuote || code === singleQuote) return yield* readString(source, style, longest);
  if (!style.bareKeys && !style.python) refuse(source);
  if (code === less && style.bareWords) return yield* readMarked(source);
  const key = yield* takeWord(source, endsName, maxWordLength, 'malformed');
  if (key === '') refuse(source);
  return key;
}

/** Skips the comma after an item. The first character of the next item, or the one that closes the list. */
export function* afterItem(source: Source, close: number): Reading<number> {
  const code = yield* skipBlanks(source);
  if (code === close) return code;
  if (code !== comma) refuse(source);
  source.at++;
  return yield* skipBlanks(source);
}

function endsName(code: number): boolean {
  return !/[\p{L}\p{N}_$.-]/u.test(String.fromCharCode(code));
}

export function* expect(source: Source, code: number): Reading<void> {
  if ((yield* skipBlanks(source)) !== code) refuse(source);
  source.at++;
}

/**
 * Reads a string between quotes. A quote ends it only if the structure continues after the quote; the model left any
 * other quote unescaped. Line breaks stay, and a Windows path keeps its backslashes.
 */
export function* readString(
  source: Source,
  style: ValueStyle,
  longest = Number.POSITIVE_INFINITY,
): Reading<string> {
  const quote = source.code;
  source.at++;
  if (style.python && (yield* peek(source)) === quote) return yield* readAfterTwoQuotes(source, style, quote);
  return yield* readStringAfter(source, style, { quote, longest });
}

/** In Python, two quotes are an empty string, and three begin a string that three others end. */
function* readAfterTwoQuotes(source: Source, style: ValueStyle, quote: number): Reading<string> {
  source.at++;
  if ((yield* peek(source)) === quote) {
    source.at++;
    return yield* readStringAfter(source, style, { quote, quotes: 3 });
  }
  const blanks = yield* takeBlanks(source);
  if (endsString(source.code, style)) return '';
  // Neither: the model left the second quote unescaped.
  const begun = new LongText();
  begun.add(String.fromCharCode(quote) + blanks);
  return yield* readStringAfter(source, style, { quote, begun });
}

function* takeRun(source: Source, code: number): Reading<string> {
  let run = '';
  while ((yield* peek(source)) === code) run += source.takeUntil((other) => other !== code);
  return run;
}

interface StringStart {
  readonly quote: number;
  /** How many quotes end the string; 1 by default. */
  readonly quotes?: 1 | 3;
  readonly longest?: number;
  /** What was already read of the string. */
  readonly begun?: LongText;
}

/** Reads the rest of a string after the quotes that open it. */
export function* readStringAfter(
  source: Source,
  style: ValueStyle,
  { quote, quotes = 1, longest = Number.POSITIVE_INFINITY, begun: raw = new LongText() }: StringStart,
): Reading<string> {
  let isPath: boolean | undefined;
  for (;;) {
    while (source.isDry) yield;
    raw.add(source.takeUntil((code) => code === quote || code === backslash));
    if (raw.length > longest) throw new CallRefusal('mention');
    if (source.isDry) continue;
    if (source.code === over) throw new CallRefusal('cut');
    if (source.code === quote) {
      const run = yield* takeRun(source, quote);
      const blanks = run.length < quotes ? '' : yield* takeBlanks(source);
      const isEnd = run.length >= quotes && endsString(source.code, style);
      raw.add(isEnd ? run.slice(quotes) : run + blanks);
      if (isEnd) break;
      continue;
    }
    source.at++;
    yield* peek(source);
    isPath ??=
      quotes === 1 && raw.length === 2 && /^[A-Za-z]:$/.test(raw.toString()) && source.code !== backslash;
    const escaped = source.character;
    source.at += escaped.length;
    if (isPath && escaped.charCodeAt(0) === quote && endsPath(yield* peek(source))) {
      raw.add('\\');
      break;
    }
    raw.add(`\\${escaped}`);
  }
  source.settle();
  return unescaped(raw.toString(), {
    isPath: isPath === true,
    isPython: style.python === true || quote === singleQuote,
  });
}

function endsString(code: number, style: ValueStyle): boolean {
  if (code === over || code === comma || code === colon) return true;
  return code === closeBrace || code === closeBracket || (code === closeParenthesis && style.python === true);
}

/** In `"C:\\dir\\"` the last backslash belongs to the path. */
function endsPath(code: number): boolean {
  return code === comma || code === closeBrace || code === closeBracket;
}

const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  '/': '/',
  '"': '"',
  '\\': '\\',
};

/** Resolves escapes. A backslash that escapes nothing stays. */
function unescaped(raw: string, { isPath, isPython }: { isPath: boolean; isPython: boolean }): string {
  if (!raw.includes('\\')) return raw;
  return raw.replace(/\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[\s\S])/g, (found, escaped: string) => {
    if (escaped === '\\') return '\\';
    if (isPath) return found;
    if (escaped.length === 5) return String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
    if (isPython && escaped === "'") return "'";
    if (isPython && escaped.length === 3) return String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
    return escapes[escaped] ?? found;
  });
}

/** Reads a verbatim string between marks. The next mark ends it. */
function* readMarked(source: Source): Reading<string> {
  const { token } = yield* readMark(source, stringMarks);
  if (token === undefined) refuse(source);
  const value = new LongText();
  for (;;) {
    while (source.isDry) yield;
    if (source.code === over) throw new CallRefusal('cut');
    value.add(source.takeUntil((code) => code === less));
    if (source.isDry || source.code === over) continue;
    const read = yield* readMark(source, stringMarks);
    if (read.token === token) break;
    value.add(read.text);
  }
  source.settle();
  return value.toString();
}

/** Reads a number, or a word that means a value. In a style without quotes a word may be a string. */
function* readWord(source: Source, style: ValueStyle): Reading<unknown> {
  const longest = style.bareWords ? maxBareWordLength : maxWordLength;
  const isStop = (code: number) => endsWord(code) || (!style.bareWords && isBlank(code));
  const word = (yield* takeWord(source, isStop, longest, 'malformed')).trim();
  if (words.has(word)) return words.get(word);
  if (/^[-+]?(?:\d|\.\d)/.test(word) && !Number.isNaN(Number(word))) return Number(word);
  if (!style.bareWords || word === '') refuse(source);
  return word;
}

function endsWord(code: number): boolean {
  return (
    code === comma ||
    code === closeBrace ||
    code === closeBracket ||
    code === closeParenthesis ||
    code === openBrace ||
    code === openBracket ||
    code === less ||
    code === doubleQuote
  );
}

/** The value of a whole text; undefined if the text is not a value. */
export function tryParseValue(text: string, style: ValueStyle = jsonStyle): unknown {
  const source = new Source('');
  source.feed(text, 0);
  source.ended = true;
  try {
    const read = readValue(source, style).next();
    return read.done && skipBlanks(source).next().value === over ? read.value : undefined;
  } catch (error) {
    if (error instanceof CallRefusal) return undefined;
    throw error;
  }
}
