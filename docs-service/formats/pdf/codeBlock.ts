import type { CodeToken } from '../../../protocol/base/codeTokens.ts';
import { lightPalette } from '../markdown/codeColouring.ts';
import type { Block, LayoutScope } from './layout.ts';
import { fromPageMargin } from './paragraphs.ts';
import { codeLayout, codePadding, sizes } from './style.ts';
import type { TextRun, Typesetter } from './typesetter.ts';

/** Code on a light background, line by line. A line that is too long continues below, further in. */
export function codeBlock(code: string, label: string | undefined, scope: LayoutScope): Block {
  const { type, width, indent, colouring } = scope;
  const room = width - 2 * codePadding.x;
  const text = expandTabs(code.replace(/\r\n?/g, '\n').replace(/^\n+|\s+$/g, ''));
  const fontSize = fittingSize(text, room, type);
  // As wide as if the letters had the usual size.
  const usualRoom = (room * sizes.code) / fontSize;
  const lines = colouring(text, label).flatMap((tokens) =>
    wrapLine(tokens.map((token) => token.text).join(''), (part) => type.codeWidth(part), usualRoom).map(
      ({ indent, start, end }) => [{ text: indent, kind: undefined }, ...tokensWithin(tokens, start, end)],
    ),
  );
  const stack = lines.map((tokens) => ({ text: runsOf(tokens, type), ...lineLook, fontSize }));
  const linePitch = fontSize * ownPitch;
  const height = lines.length * linePitch + 2 * codePadding.y;
  const table = { table: { widths: [room], body: [[{ stack }]] }, layout: codeLayout };
  const short = lines.length <= maxUnbroken;
  return {
    node: short ? { stack: [table], unbreakable: true } : fromPageMargin(table, indent),
    lead: short ? height : 5 * linePitch,
    height,
    before: 9,
    after: 10,
  };
}

/** Smaller letters where lines that must stay below each other would be wrapped otherwise. */
function fittingSize(text: string, room: number, type: Typesetter): number {
  if (!drawing.test(text)) return sizes.code;
  const widest = text.split('\n').reduce((most, line) => Math.max(most, type.codeWidth(line)), 0);
  if (widest <= room) return sizes.code;
  const fitting = Math.floor(((room * sizes.code) / widest) * 10) / 10;
  return fitting >= smallest ? fitting : sizes.code;
}

/** Drawn boxes, and tables with frames of `|` and `+`. */
const drawing = /[\u2500-\u257f]|^[ \t]*[|+].*[|+][ \t]*$/m;
/** In points: about 110 characters on the width of a page. */
const smallest = 6.6;

function runsOf(tokens: readonly CodeToken[], type: Typesetter): TextRun[] | string {
  if (!tokens.some(({ text }) => text.trim())) return ' ';
  return tokens.flatMap(({ text, kind }) => {
    const runs = type.codeRuns(text);
    return kind === undefined ? runs : runs.map((run) => ({ ...run, color: lightPalette[kind] }));
  });
}

function tokensWithin(tokens: readonly CodeToken[], start: number, end: number): CodeToken[] {
  let at = 0;
  return tokens.flatMap(({ text, kind }) => {
    const from = at;
    at += text.length;
    const part = text.slice(Math.max(0, start - from), Math.max(0, end - from));
    return part === '' ? [] : [{ text: part, kind }];
  });
}

/** Shorter blocks are not divided between pages. */
const maxUnbroken = 16;

/** The line pitch of JetBrains Mono itself, in ems, at which the lines of drawn boxes meet. */
const ownPitch = 1.32;

const lineLook = {
  font: 'Code',
  // In the metrics that all fonts get.
  lineHeight: ownPitch / 1.172,
  noWrap: true,
  preserveLeadingSpaces: true,
  preserveTrailingSpaces: true,
} as const;

function expandTabs(code: string): string {
  let column = 0;
  return code.replace(/\t|\n|[^\t\n]+/g, (part) => {
    const expanded = part === '\t' ? ' '.repeat(4 - (column % 4)) : part;
    column = part === '\n' ? 0 : column + expanded.length;
    return expanded;
  });
}

/**
 * The parts of a line that are set as lines of their own, further in but for the first. It breaks after a space in the
 * second half of the room, or else after a sign, or else anywhere.
 */
function wrapLine(line: string, widthOf: (text: string) => number, room: number) {
  if (line.length * sizes.code * 0.6 <= room && /^[ -~]*$/.test(line)) {
    return [{ indent: '', start: 0, end: line.length }];
  }
  const deeper = ' '.repeat(Math.min((/^ */.exec(line)?.[0].length ?? 0) + 2, 24));
  const parts: { readonly indent: string; readonly start: number; readonly end: number }[] = [];
  let [indent, start, at, used] = ['', 0, 0, 0];
  for (const character of line) {
    const width = widthOf(character);
    if (used + width > room && line.slice(start, at).trim()) {
      const cut = start + breakIn(indent + line.slice(start, at), character) - indent.length;
      const end = cut > start ? cut : at;
      parts.push({ indent, start, end: start + line.slice(start, end).trimEnd().length });
      indent = deeper;
      start = end + (/^\s*/.exec(line.slice(end, at))?.[0].length ?? 0);
      used = widthOf(indent + line.slice(start, at));
    }
    at += character.length;
    used += width;
  }
  return [...parts, { indent, start, end: line.length }];
}

/** The best place to break a full line, before the character that does not fit. */
function breakIn(line: string, next: string): number {
  const text = line + next;
  const space = lastBreak(text, /\s/, line.length * 0.5);
  return space ?? lastBreak(text, /[,;:.(){}[\]|&=/\\-]/, line.length * 0.66) ?? line.length;
}

function lastBreak(text: string, sign: RegExp, least: number): number | undefined {
  for (let at = text.length - 1; at > least; at--) {
    if (sign.test(text.charAt(at - 1)) && !/[\s,;:.)\]}]/.test(text.charAt(at))) return at;
  }
  return undefined;
}
