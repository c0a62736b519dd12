import { Composer, type Document, isAlias, isScalar, Lexer, Parser, visit, type YAMLParseError } from 'yaml';

/** What is wrong with a file that a person wrote, in a sentence for its author. */
export class ContentError extends Error {
  override readonly name = 'ContentError';
  /** Where in the file, counted from 1, if that is known. */
  readonly line: number | undefined;

  constructor(message: string, { line, ...options }: ErrorOptions & { readonly line?: number } = {}) {
    super(message, options);
    this.line = line;
  }
}

/**
 * The most pieces that a text may have: keys, values, marks, line ends, spaces between them. The parser needs about 15
 * microseconds for the worst of them.
 */
const maxPieces = 3_000;
/** Levels of values within values. */
const maxDepth = 50;
const maxAliases = 20;

/**
 * Parses a YAML text that holds one map. A text that is too much for the parser is refused during the read, not after.
 */
export function parseYamlMap(
  text: string,
  what: string,
  /** Maps a line of the text to its line in the file; both are counted from 1. */
  lineInFile: (line: number) => number = (line) => line,
): Readonly<Record<string, unknown>> {
  const document = parseOne(text, what);
  const [problem] = document?.errors ?? [];
  if (document !== undefined && problem !== undefined) {
    const lineAt = (at: number) => lineInFile(lineOf(text, at));
    const { words, line } = problemOf(document, problem, { text, lineAt });
    throw new ContentError(`${what} is not valid YAML: ${words}.`, { line });
  }
  const value = document === undefined ? null : toValue(document, what);
  if (value === null || value === undefined) return {};
  if (typeof value !== 'object' || Array.isArray(value))
    throw new ContentError(`${what} must be a list of "key: value" lines.`);
  return value as Record<string, unknown>;
}

/** In the author's words: where something is not closed, the parser notices it lines below. */
function problemOf(
  document: Document.Parsed,
  { message, pos: [at] }: YAMLParseError,
  { text, lineAt }: { readonly text: string; readonly lineAt: (at: number) => number },
): { readonly words: string; readonly line: number } {
  const start = tryUnclosed(document, at, text);
  const line = lineAt(start ?? at);
  if (start === undefined) return { words: `${message} in line ${line}`, line };
  const sign = text.charAt(start);
  return { words: `the ${sign} in line ${line} has no closing ${closings.get(sign)}`, line };
}

const closings: ReadonlyMap<string, string> = new Map(
  ['[]', '{}', '""', "''"].map(([open = '', close = '']) => [open, close]),
);

/** Where the list, map or text begins that should have ended before a place. */
function tryUnclosed(document: Document.Parsed, end: number, text: string): number | undefined {
  let start: number | undefined;
  visit(document, {
    Node(_key, node) {
      if (isAlias(node) || node.range?.[1] !== end) return;
      const closing = closings.get(text.charAt(node.range[0]));
      if (closing !== undefined && text.charAt(end - 1) !== closing) start = node.range[0];
    },
  });
  return start;
}

function parseOne(text: string, what: string): Document.Parsed | undefined {
  // The library's check for repeated keys compares each key with every other.
  const composer = new Composer({ schema: 'core', uniqueKeys: false, logLevel: 'error' });
  const [document, another] = composer.compose(tokens(text, what));
  if (another !== undefined)
    throw new ContentError(`${what} is not valid YAML: a line "---" begins a second document in it.`);
  return document;
}

function* tokens(text: string, what: string): ReturnType<Parser['next']> {
  const parser = new Parser();
  let pieces = 0;
  for (const piece of new Lexer().lex(text)) {
    if (++pieces > maxPieces) throw new ContentError(`${what} is too long. ${shorten}`);
    if (parser.stack.length > maxDepth)
      throw new ContentError(
        `${what} has more than ${maxDepth} levels of values within values. Write it flatter.`,
      );
    yield* parser.next(piece);
  }
  yield* parser.end();
}

const shorten = 'Remove unused keys, and write a list with one "- value" a line.';

function toValue(document: Document.Parsed, what: string): unknown {
  let aliases = 0;
  visit(document, {
    Map: (_key, { items }) => {
      const keys = new Set<string>();
      for (const { key } of items) {
        const name = isScalar(key) ? String(key.source ?? key.value) : undefined;
        if (name !== undefined && keys.has(name))
          throw new ContentError(`${what} is not valid YAML: the key "${name}" occurs twice.`);
        if (name !== undefined) keys.add(name);
      }
    },
    Scalar: (_key, scalar) => {
      // The author wrote a text such as 007 or 1.10, which a number would not preserve.
      if (typeof scalar.value === 'number') scalar.value = scalar.source;
    },
    Node: (_key, node) => {
      if (isAlias(node) && ++aliases > maxAliases)
        throw new ContentError(`${what} cannot be read: it has more than ${maxAliases} aliases.`);
    },
  });
  try {
    // The library counts what they stand for as well.
    return document.toJS({ maxAliasCount: maxAliases + 1 });
  } catch (error) {
    throw new ContentError(`${what} cannot be read: ${String((error as Error).message)}`);
  }
}

function lineOf(text: string, at: number): number {
  return text.slice(0, at).split('\n').length;
}

/** In characters. Front matter is a few lines; more is a mistake, or an attack on the parser. */
const maxLength = 16_384;

interface SplitFile {
  /** The YAML between the two lines of `---`; empty if the file has none. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly body: string;
  /** The line of the file with which the body begins, counted from 1. */
  readonly bodyLine: number;
  /** Where a key of the front matter is, counted from 1, the first line of the file. */
  readonly lineOf: (key: string) => number;
}

/** Splits a Markdown file into its front matter and its Markdown. Throws ContentError. */
export function parseFrontMatter(text: string): SplitFile {
  const opening = /^---[ \t]*\r?\n/.exec(text);
  if (opening === null) return { values: {}, body: text, bodyLine: 1, lineOf: () => 1 };
  const start = opening[0].length;
  const closing = /^(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/m;
  const rest = text.slice(start, start + maxLength);
  const end = closing.exec(rest);
  if (end === null) throw new ContentError(unclosed(text.length - start));
  const yaml = rest.slice(0, end.index);
  const bodyStart = start + end.index + end[0].length;
  return {
    values: parseYamlMap(yaml, 'The front matter', (line) => line + 1),
    body: text.slice(bodyStart),
    bodyLine: text.slice(0, bodyStart).split('\n').length,
    lineOf: (key) => lineOfKey(key, yaml),
  };
}

/** The line of a key that stands outside of all others; the first one if it is not found. */
function lineOfKey(key: string, yaml: string): number {
  const at = yaml.split('\n').findIndex((line) => /^["']?(\w+)["']?[ \t]*:/.exec(line)?.[1] === key);
  return at + 2;
}

function unclosed(length: number): string {
  return length > maxLength
    ? `The front matter is longer than ${maxLength} characters. Shorten it, or add the closing line "---" if it is missing.`
    : 'The front matter has no closing line "---". Add it.';
}
