import type { Block } from './layout.ts';
import { fromPageMargin, type Setting } from './paragraphs.ts';
import { codeLayout, codePadding, sizes } from './style.ts';

/** Code on a light background, line by line. A line that is too long continues below, further in. */
export function codeBlock(code: string, { type, width, indent }: Setting): Block {
  const room = width - 2 * codePadding.x;
  const lines = expandTabs(code.replace(/\r\n?/g, '\n').replace(/^\n+|\s+$/g, ''))
    .split('\n')
    .flatMap((line) => wrapLine(line, (text) => type.codeWidth(text), room));
  const stack = lines.map((line) => ({ text: line.trim() ? type.codeRuns(line) : ' ', ...lineLook }));
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

/** Shorter blocks are not divided between pages. */
const maxUnbroken = 16;

/** The line pitch of JetBrains Mono itself, at which the lines of drawn boxes meet. */
const linePitch = sizes.code * 1.32;

const lineLook = {
  font: 'Code',
  fontSize: sizes.code,
  // In the metrics that all fonts get.
  lineHeight: 1.32 / 1.172,
  noWrap: true,
  preserveLeadingSpaces: true,
  preserveTrailingSpaces: true,
} as const;

function expandTabs(code: string): string {
  if (!code.includes('\t')) return code;
  return code
    .split('\n')
    .map((line) => {
      let expanded = '';
      for (const part of line.split(/(\t)/)) {
        expanded += part === '\t' ? ' '.repeat(4 - (expanded.length % 4)) : part;
      }
      return expanded;
    })
    .join('\n');
}

/** Breaks after a space in the second half of the room, or else after a sign, or else anywhere. */
function wrapLine(line: string, widthOf: (text: string) => number, room: number): string[] {
  if (line.length * sizes.code * 0.6 <= room && /^[ -~]*$/.test(line)) return [line];
  const indent = ' '.repeat(Math.min((/^ */.exec(line)?.[0].length ?? 0) + 2, 24));
  const lines: string[] = [];
  let current = '';
  let used = 0;
  for (const character of line) {
    const width = widthOf(character);
    if (used + width > room && current.trim()) {
      const cut = breakIn(current, character);
      lines.push(current.slice(0, cut).trimEnd());
      current = indent + current.slice(cut).trimStart();
      used = widthOf(current);
    }
    current += character;
    used += width;
  }
  lines.push(current);
  return lines;
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
