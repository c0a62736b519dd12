import type { CustomTableLayout } from 'pdfmake/interfaces';
import type { Direction } from '../markdown/xmlText.ts';
import type { Paper } from '../renderJob.ts';
import { inOrder } from './directions.ts';

/** In points, like all lengths here; the names are PDFMake's. */
export const papers: Readonly<Record<Paper, { readonly name: 'A4' | 'LETTER'; readonly width: number }>> = {
  a4: { name: 'A4', width: 595.28 },
  letter: { name: 'LETTER', width: 612 },
};

export const margins = { left: 68, top: 76, right: 68, bottom: 72 } as const;

export function textWidthOn(paper: Paper): number {
  return papers[paper].width - margins.left - margins.right;
}

/** On A4. What depends on it takes at most nine tenths of it, for which Letter, which is 50 points lower, has room. */
export const textHeight = 841.89 - margins.top - margins.bottom;

export const colors = {
  text: '#1f2328',
  quiet: '#5f6875',
  faint: '#98a1ad',
  rule: '#d5dae1',
  strongRule: '#8d96a3',
  link: '#1550b0',
  code: '#2b3a55',
  ground: '#f5f6f8',
} as const;

/** From one baseline to the next, as a factor of the font's own line. */
export const lineHeight = 1.22;

/** The metrics that every font gets, so that lines of mixed scripts keep one pitch. Those of Roboto, in ems. */
export const metrics = { ascent: 0.928, descent: 0.244 } as const;

export const sizes = { body: 10.2, table: 9.2, code: 8.4, note: 8.8 } as const;

/** The code font is wider than the text font, so code within text is set a little smaller to look the same size. */
export const inlineCodeScale = 0.9;

export const headings = [
  { fontSize: 19, before: 26, after: 9 },
  { fontSize: 14.5, before: 22, after: 7 },
  { fontSize: 11.8, before: 16, after: 5 },
  { fontSize: 10.6, before: 13, after: 4 },
  { fontSize: 10.2, before: 11, after: 4 },
  { fontSize: 10.2, before: 11, after: 4 },
] as const;

export function headingStyle(level: number): (typeof headings)[number] {
  return headings[level - 1] ?? headings[5];
}

export function pitch(fontSize: number): number {
  return fontSize * (metrics.ascent + metrics.descent) * lineHeight;
}

/** Draws nothing and adds nothing: for tables of contents. */
export const plainLayout: CustomTableLayout = {
  hLineWidth: () => 0,
  vLineWidth: () => 0,
  paddingLeft: () => 0,
  paddingRight: () => 0,
  paddingTop: () => 0,
  paddingBottom: () => 0,
};

export const tablePadding = { x: 6, y: 4.2 } as const;

/** Hairlines between rows, a stronger one under the header, and no vertical lines. */
export const tableLayout: CustomTableLayout = {
  ...plainLayout,
  hLineWidth: (row, node) => (row === 0 ? 0 : row === node.table.headerRows ? 0.9 : 0.5),
  hLineColor: (row, node) => (row === node.table.headerRows ? colors.strongRule : colors.rule),
  paddingLeft: (column) => (column === 0 ? 0 : tablePadding.x),
  paddingRight: (column, node) => (column + 1 === (node.table.body[0]?.length ?? 0) ? 0 : tablePadding.x),
  paddingTop: () => tablePadding.y,
  paddingBottom: () => tablePadding.y,
};

export const codePadding = { x: 10, y: 7 } as const;

/** A light background that continues across pages. */
export const codeLayout: CustomTableLayout = {
  ...plainLayout,
  paddingLeft: () => codePadding.x,
  paddingRight: () => codePadding.x,
  paddingTop: () => codePadding.y,
  paddingBottom: () => codePadding.y,
  fillColor: () => colors.ground,
};

export const quoteIndent = 14;

/** A rule at the side where lines begin. */
export function quoteLayout(direction: Direction): CustomTableLayout {
  const [left, right] = inOrder([quoteIndent - 2, 0], direction);
  return {
    ...plainLayout,
    vLineWidth: (column) => ((column === 0) === (direction === 'ltr') ? 2 : 0),
    vLineColor: () => colors.rule,
    paddingLeft: () => left ?? 0,
    paddingRight: () => right ?? 0,
  };
}
