import { parse as parseToml } from 'smol-toml';
import { isRecord } from '../../protocol/base/json.ts';
import { ContentError, parseYamlMap } from '../../protocol/base/yaml.ts';
import type { FileWarning } from './document.ts';

/** In characters. Front matter is a few lines; more is a mistake, or an attack on the parser. */
const maxLength = 16_384;
/** Levels of values within values. */
const maxDepth = 20;
/** Keys of a text that does not parse. */
const maxParts = 500;

export type FrontMatter = ReturnType<typeof readFrontMatter>;

export interface FoundValue {
  readonly key: string;
  readonly value: unknown;
}

/** Reads the front matter of any program. What cannot be read is part of the text, with a warning. */
export function readFrontMatter(text: string) {
  const start = leading.exec(text.slice(0, maxLength))?.[0].length ?? 0;
  const block = tryBlock(text, start) ?? (start === 0 ? tryMultiMarkdown(text) : undefined);
  const line = lineAt(text, block?.start ?? 0);
  const source = text.slice(block?.start, block?.end ?? 0);
  const lines = source.split(/\r?\n/).map((one, at) => ({ line: line + at, text: one }));
  const { values, warnings }: ReturnType<typeof readBlock> = block
    ? readBlock(block, source, line)
    : { warnings: [] };
  const bodyStart = (values && block?.bodyStart) ?? (text.startsWith('\ufeff') ? 1 : 0);
  return {
    body: text.slice(bodyStart),
    /** The line of the file with which the body begins, counted from 1. */
    bodyLine: lineAt(text, bodyStart),
    warnings:
      values && start > 0 ? [{ line: lineAt(text, start), message: notAtOnce }, ...warnings] : warnings,
    /** Its lines, if something of it cannot be read. */
    unread: values && warnings.length === 0 ? [] : lines,
    /**
     * The values of these keys, in this order, without null. `a.b` is the key `b` of the map `a`. Case, `-` and `_` do
     * not matter, and what is in Hugo's `params` counts if it is nowhere else. Numbers and dates are texts.
     */
    find: (keys: readonly string[]): readonly FoundValue[] =>
      keys.flatMap((key) => {
        const found = valuesAt(values, key.split('.').map(folded));
        const all = found.length > 0 ? found : valuesAt(values, `params.${key}`.split('.').map(folded));
        return all.map((value) => ({ key, value }));
      }),
    /** Where a key is, counted from 1, the first line of the file. */
    lineOf: (key: string): number =>
      lines.find(({ text }) => folded(keyInLine.exec(text)?.[1] ?? '') === folded(key.split('.')[0] ?? ''))
        ?.line ?? line,
  };
}

const notAtOnce = 'The front matter is not at the beginning of the file, where other programs look for it.';

/** A byte order mark, empty lines and comments. */
const leading = /^(?:\ufeff|[ \t\r]*\n|[ \t]*<!--(?:(?!-->)[\s\S])*-->[ \t\r]*(?:\n|$))*/;

interface Block {
  readonly form: 'yaml' | 'toml' | 'json' | 'lines';
  /** Where its values are in the file. */
  readonly start: number;
  readonly end: number;
  readonly bodyStart: number;
  /** It has no end. */
  readonly problem?: string;
}

function tryBlock(text: string, start: number): Block | undefined {
  const rest = text.slice(start, start + maxLength);
  const [opening, marks, language] = /^(---|\+\+\+)[ \t]*(yaml|yml|toml|json)?[ \t]*\r?\n/i.exec(rest) ?? [];
  if (opening === undefined)
    return /^\{\s*(?:["}]|\w+["']?\s*:)/.test(rest) ? jsonBlock(rest, start) : undefined;
  const named = language?.toLowerCase();
  const form = named === 'json' ? 'json' : named === 'toml' || marks === '+++' ? 'toml' : 'yaml';
  const from = start + opening.length;
  const inside = text.slice(from, from + maxLength);
  const end = (marks === '+++' ? /^\+\+\+[ \t]*(?:\r?\n|$)/m : /^(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/m).exec(
    inside,
  );
  const problem = `The "${marks}" begins no front matter, because no line "${marks}" closes it within ${maxLength} characters`;
  if (end === null) return { form, start: from, end: from + inside.length, bodyStart: from, problem };
  return { form, start: from, end: from + end.index, bodyStart: from + end.index + end[0].length };
}

function jsonBlock(rest: string, start: number): Block {
  const length = lengthInBraces(rest);
  const after = length === undefined ? null : /^[ \t]*(?:\r?\n|$)/.exec(rest.slice(length));
  const block = { form: 'json', start, end: start + (length ?? rest.length), bodyStart: start } as const;
  return length !== undefined && after !== null
    ? { ...block, bodyStart: block.end + after[0].length }
    : { ...block, problem: 'The "{" begins no front matter, because no "}" at the end of a line closes it' };
}

function lengthInBraces(text: string): number | undefined {
  let depth = 0;
  let isText = false;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (sign === '\\' && isText) at++;
    else if (sign === '"') isText = !isText;
    else if (sign === '{' && !isText) depth++;
    else if (sign === '}' && !isText && --depth === 0) return at + 1;
  }
  return undefined;
}

/** `Title: x` in the first lines of a file, as MultiMarkdown and MkDocs have it. */
function tryMultiMarkdown(text: string): Block | undefined {
  if (!/^(?:title|authors?|date|summary|draft|published)[ \t]*:/i.test(text)) return undefined;
  const beginning = text.slice(0, maxLength);
  const empty = /\n[ \t]*(?:\r?\n|$)/.exec(beginning);
  const end = empty?.index ?? beginning.length;
  return { form: 'lines', start: 0, end, bodyStart: end + (empty?.[0].length ?? 0) };
}

type Values = Readonly<Record<string, unknown>>;

/** Without values, the block is no front matter. */
function readBlock(
  { form, problem }: Block,
  source: string,
  line: number,
): { readonly values?: Values; readonly warnings: readonly FileWarning[] } {
  try {
    if (problem !== undefined) throw new ContentError(problem);
    const values = plainValue(parsers[form](source, line));
    if (isRecord(values)) return { values, warnings: [] };
    throw new ContentError(notKeys);
  } catch (error) {
    // The parser of TOML shows the place in further lines.
    const [sentence = ''] = (error instanceof Error ? error.message : String(error)).split(/\.?(?:\n|$)/);
    const isText = form !== 'yaml' || problem !== undefined || !beginsWithKey(source);
    if (isText && form === 'lines') return { warnings: [] };
    const why = form === 'yaml' && problem === undefined ? notKeys : sentence;
    if (isText) return { warnings: [{ line, message: `${why}. It is read as text.` }] };
    const at = (error instanceof ContentError && error.line) || line;
    return {
      values: valuesByKey(source),
      warnings: [{ line: at, message: `${sentence}. Each key was read by itself.` }],
    };
  }
}

const notKeys = 'The "---" begins no front matter, because the lines after it are not "key: value"';

const parsers: Readonly<Record<Block['form'], (source: string, line: number) => unknown>> = {
  yaml: (source, line) =>
    source.trim() !== '' && /^(?:[ \t]*(?:#.*)?\r?\n?)*$/.test(source)
      ? undefined
      : parseYamlMap(source, 'The front matter', (one) => line + one - 1),
  toml: (source) => parseToml(source, { integersAsBigInt: 'asNeeded', maxDepth }),
  json: (source) => JSON.parse(source),
  lines: (source) => parseLines(source),
};

function parseLines(source: string): Values | undefined {
  const values: [key: string, value: string][] = [];
  for (const line of source.split(/\r?\n/)) {
    const [, key, value = ''] = /^ {0,3}([\w-]+)[ \t]*:(.*)$/.exec(line) ?? [];
    const last = values.at(-1);
    if (key !== undefined) values.push([key, value.trim()]);
    else if (last !== undefined && /^(?: {4}|\t)/.test(line)) last[1] = `${last[1]} ${line.trim()}`;
    else return undefined;
  }
  return Object.fromEntries(values);
}

/** Numbers and dates as texts, and nothing too deep. */
function plainValue(value: unknown, depth = 0): unknown {
  if (depth > maxDepth)
    throw new ContentError(`The front matter has more than ${maxDepth} levels of values within values`);
  if (value instanceof Date) return value.toISOString().replace(/\.000(?=Z|[+-]|$)/, '');
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return value.map((one) => plainValue(one, depth + 1));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plainValue(one, depth + 1)]));
}

const keyForm = /(?:"[^"\n]*"|'[^'\n]*'|[\w.-]+)[ \t]*:(?:[ \t]|\r?$)/;
/** The first key of a line, in any form of front matter. */
const keyInLine = /^[\s{["']*([\w-]+)["']?[ \t]*[:=\].]/;

function beginsWithKey(yaml: string): boolean {
  const first = yaml.split('\n').find((line) => !/^\s*(?:#|$)/.test(line)) ?? '';
  return keyForm.exec(first)?.index === 0;
}

/** In a YAML text that does not parse as a whole: of two equal keys, the first counts. */
function valuesByKey(yaml: string): Values {
  const parts = yaml.split(new RegExp(`^(?=${keyForm.source})`, 'm')).slice(0, maxParts);
  const values = parts.flatMap((part) => {
    try {
      return Object.entries(parseYamlMap(part, '')).map(([key, value]) => [key, plainValue(value)] as const);
    } catch {
      const [, key = '', value = ''] = /^([^:]*):(.*)/.exec(part) ?? [];
      return /^\s*[["'{|>]/.test(value) ? [] : [[key.trim(), value.trim()] as const];
    }
  });
  return Object.fromEntries(values.reverse());
}

/** Without null, which is how YAML reads a key without a value. */
function valuesAt(value: unknown, [name, ...rest]: readonly string[]): readonly unknown[] {
  if (name === undefined) return value === null || value === undefined ? [] : [value];
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => (folded(key) === name ? valuesAt(inner, rest) : []));
}

function folded(key: string): string {
  return key.toLowerCase().replace(/[-_]/g, '');
}

function lineAt(text: string, at: number): number {
  return text.slice(0, at).split('\n').length;
}
