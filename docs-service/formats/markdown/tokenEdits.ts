import type { Token } from 'marked';
import { childrenOf } from './markdown.ts';

/** What a part of a token becomes, with the same number of lines. The part of a link is what follows its text. */
export type TokenEdit = (token: Token, raw: string) => string;

/**
 * The text with the leaves of its tokens replaced, and everything else byte for byte. Undefined if that is not
 * possible.
 * @param tokens of the first level, as Marked read them in the text
 * @param ifLost what happens to a token whose edited leaves are not found: it stays, or there is no result
 */
export function tryEditTokens(
  text: string,
  tokens: readonly Token[],
  edit: TokenEdit,
  ifLost: 'keep' | 'fail',
): string | undefined {
  const parts: string[] = [];
  let at = 0;
  let lost = 0;
  for (const token of tokens) {
    const leaves = leavesOf(token, edit);
    const raw = token.raw.trimEnd();
    const start = text.startsWith(raw, at) ? at : text.indexOf(raw, at);
    if (start < 0) lost += 1;
    const from = Math.max(start, at);
    const unchanged = start < 0 ? undefined : { text: raw, end: raw.length };
    const isUnchanged = leaves.every((leaf) => leaf.replacement === leaf.raw);
    // Marked changes blanks at the ends of some lists, so their leaves are searched in the following text.
    const edited =
      (isUnchanged ? unchanged : undefined) ??
      editLeaves(text.slice(from, from + 2 * raw.length + 100), leaves);
    if (ifLost === 'fail' && (edited === undefined || lost > maxLost)) return undefined;
    if (lost > maxLost) break;
    const found = edited ?? unchanged;
    if (found === undefined) continue;
    parts.push(text.slice(at, from), found.text);
    at = from + found.end;
  }
  return parts.join('') + text.slice(at);
}

interface Leaf {
  readonly raw: string;
  readonly replacement: string;
}

function leavesOf(token: Token, edit: TokenEdit): Leaf[] {
  const { raw, type } = token;
  const leafOf = (part: string) => ({ raw: part, replacement: edit(token, part) });
  if (type === 'link' && !raw.startsWith('[')) return [leafOf(raw)];
  const children = childrenOf(token);
  if (children.length === 0) return [leafOf(raw)];
  const inner = children.flatMap((tokens) => tokens.flatMap((child) => leavesOf(child, edit)));
  return type === 'link' ? [...inner, leafOf(raw.slice(endOfLinkText(raw, token.text)))] : inner;
}

/** Marked removes the backslash before a bracket in the text of a link. */
function endOfLinkText(raw: string, text: string): number {
  let at = 1;
  for (const character of text.split('')) {
    at += raw[at] === '\\' && (character === '[' || character === ']') ? 2 : 1;
  }
  return at;
}

/** Each failed search for a token costs a pass through the rest of the text. */
const maxLost = 200;

/**
 * The text up to its last leaf, and where that ends; undefined if an edited leaf is not found. Within quotes and lists,
 * the lines of a token lack the marks that begin each line there, so leaves are found line by line. The marks between
 * them contain no `<` and no `]`, so no mark is mistaken for an edited leaf.
 */
function editLeaves(text: string, leaves: readonly Leaf[]): { text: string; end: number } | undefined {
  const parts: string[] = [];
  let end = 0;
  /** Characters of lines that were not found, such as those of a cell with `\|`, since the last one that was. */
  let missed = 0;
  for (const { raw, replacement } of leaves) {
    const to = replacement.split('\n');
    for (const [number, blankLine] of raw.split('\n').entries()) {
      const line = blankLine.trim();
      const near = text.slice(end, end + 2 * (missed + line.length) + maxGap).indexOf(line);
      if (near >= 0) {
        parts.push(text.slice(end, end + near), replacement === raw ? line : (to[number] ?? '').trim());
        end += near + line.length;
        missed = 0;
      } else if (replacement === raw && missed < maxMissed) missed += line.length;
      else return undefined;
    }
  }
  return { text: parts.join(''), end };
}

/** Characters that can be between two leaves: the marks of quotes and lists, and empty lines. */
const maxGap = 2000;
const maxMissed = 100_000;

/** Edits a text as if all its lines ended with `\n`; no edit may add or remove a line end. */
export function keepingLineEnds(source: string, edit: (text: string) => string): string {
  const lines = source.split(/(\r\n|\r|\n)/);
  const endings = lines.filter((_, at) => at % 2 === 1);
  const edited = edit(lines.map((part, at) => (at % 2 === 1 ? '\n' : part)).join(''));
  return edited.split('\n').reduce((text, line, at) => text + (endings[at - 1] ?? '') + line);
}

export function lineEndsOf(text: string): string {
  return text.replace(/[^\n]+/g, '');
}
