import { ContentError } from './contentError.ts';
import { parseYamlMap } from './yamlMap.ts';

/** In characters. Front matter is a few lines; more is a mistake, or an attack on the parser. */
const maxLength = 16_384;

export interface SplitFile {
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
    lineOf: (key) => lineOf(key, yaml),
  };
}

/** The line of a key that stands outside of all others; the first one if it is not found. */
function lineOf(key: string, yaml: string): number {
  const at = yaml.split('\n').findIndex((line) => /^["']?(\w+)["']?[ \t]*:/.exec(line)?.[1] === key);
  return at + 2;
}

function unclosed(length: number): string {
  return length > maxLength
    ? `The front matter is longer than ${maxLength} characters. Shorten it, or add the closing line "---" if it is missing.`
    : 'The front matter has no closing line "---". Add it.';
}
