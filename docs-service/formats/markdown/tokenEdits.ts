import type { Token } from 'marked';

/** A part of a token in text order, and its replacement. Both have the same number of lines. */
export interface Leaf {
  readonly raw: string;
  readonly replacement: string;
}

export interface TokenEditOptions {
  readonly leavesOf: (token: Token) => readonly Leaf[];
  /** What happens to a token whose edited leaves are not found: it stays, or there is no result. */
  readonly ifLost: 'keep' | 'fail';
}

/**
 * The text with the leaves of its tokens replaced, and everything else byte for byte. Undefined if that is not
 * possible.
 * @param tokens of the first level, as Marked read them in the text
 */
export function tryEditTokens(
  text: string,
  tokens: readonly Token[],
  { leavesOf, ifLost }: TokenEditOptions,
): string | undefined {
  const parts: string[] = [];
  let at = 0;
  let lost = 0;
  for (const token of tokens) {
    const leaves = leavesOf(token);
    const isUnchanged = leaves.every(({ raw, replacement }) => replacement === raw);
    const raw = token.raw.trimEnd();
    const start = text.startsWith(raw, at) ? at : text.indexOf(raw, at);
    if (start < 0) lost += 1;
    if (start >= 0 && isUnchanged) {
      parts.push(text.slice(at, start + raw.length));
      at = start + raw.length;
      continue;
    }
    // Marked changes blanks at the ends of some lists, so their leaves are searched in the following text.
    const from = Math.max(start, at);
    const edited = editLeaves(text.slice(from, from + 2 * raw.length + 100), leaves);
    if (!edited || lost > maxLost) {
      if (ifLost === 'fail') return undefined;
      if (lost > maxLost) break;
      if (start < 0) continue;
      parts.push(text.slice(at, start + raw.length));
      at = start + raw.length;
      continue;
    }
    parts.push(text.slice(at, from), edited.text);
    at = from + edited.end;
  }
  return parts.join('') + text.slice(at);
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
