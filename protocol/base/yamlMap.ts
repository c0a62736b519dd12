import { Composer, type Document, isAlias, isScalar, Lexer, Parser, visit, type YAMLParseError } from 'yaml';
import { ContentError } from './contentError.ts';

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
