import { ContentError } from './contentError.ts';
import { parseYamlMap } from './yamlMap.ts';

/** In characters. Front matter is a few lines; more is a mistake, or an attack on the parser. */
const longest = 16_384;

export interface SplitFile {
  /** The YAML between the two lines of `---`; empty if the file has none. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** Splits a Markdown file into its front matter and its Markdown. Throws ContentError. */
export function parseFrontMatter(text: string): SplitFile {
  const opening = /^---[ \t]*\r?\n/.exec(text);
  if (opening === null) return { values: {}, body: text };
  const start = opening[0].length;
  const closing = /^(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/m;
  const rest = text.slice(start, start + longest);
  const end = closing.exec(rest);
  if (end === null) throw new ContentError(unclosed(text.length - start));
  return {
    values: parseYamlMap(rest.slice(0, end.index), 'The front matter', (line) => line + 1),
    body: text.slice(start + end.index + end[0].length),
  };
}

function unclosed(length: number): string {
  return length > longest
    ? `The front matter is longer than ${longest} characters. Shorten it, or add the closing line "---" if it is missing.`
    : 'The front matter has no closing line "---". Add it.';
}
