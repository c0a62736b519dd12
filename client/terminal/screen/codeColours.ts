import { type CodeKind, type CodeToken, createCodeReader } from '../../../protocol/base/codeTokens.ts';
import type { CodeColours } from './markdownBlock.ts';

/** Colours for the code of a fence with this label; undefined if the language is unknown. */
export function createCodeColours(label: string): CodeColours | undefined {
  const reader = createCodeReader(label);
  return reader && { line: (text) => reader.line(text).map(coloured).join('') };
}

function coloured({ text, kind }: CodeToken): string {
  return kind === undefined ? text : `\u001b[${colours[kind]}m${text}\u001b[0m`;
}

/** Colours that are readable on dark and light backgrounds. Other code has the terminal's own colour. */
const colours: Readonly<Record<CodeKind, number>> = {
  keyword: 35,
  string: 32,
  inserted: 32,
  deleted: 31,
  comment: 2,
  number: 33,
  name: 36,
};
