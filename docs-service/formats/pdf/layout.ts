import type { CodeColouring } from '../markdown/codeColouring.ts';
import type { MarkdownDocument } from '../markdown/markdown.ts';
import type { Direction } from '../markdown/xmlText.ts';
import type { Bookmarks } from './bookmarks.ts';
import type { LaidOutNode, TextSetting } from './paragraphs.ts';
import { colors, textHeight } from './style.ts';

/** A block with its margins. Between two blocks, the larger margin counts. */
export interface Block extends LaidOutNode {
  readonly before: number;
  readonly after: number;
  readonly isHeading?: boolean;
  /** It stays with what follows it, as a heading does. */
  readonly isLabel?: boolean;
}

/**
 * Sets blocks below each other. Headings stay with what follows them: they are in one unbreakable block with as much
 * empty room below as the next block needs to begin, and that block is then moved up into this room.
 */
export function arrange(blocks: readonly Block[]): Record<string, unknown>[] {
  const nodes: Record<string, unknown>[] = [];
  let index = 0;
  let raise = 0;
  while (index < blocks.length) {
    const count = headingsAt(blocks, index);
    const gap = gapBefore(blocks, index);
    const block = blocks[index];
    if (count > 0) {
      const room = roomBelow(blocks, index + count);
      nodes.push(headingNode(blocks.slice(index, index + count), { gap: gap - raise, room }));
      raise = room;
    } else if (block) {
      nodes.push({ ...block.node, margin: [0, gap - raise, 0, 0] });
      raise = 0;
    }
    index += Math.max(1, count);
  }
  return nodes;
}

function headingsAt(blocks: readonly Block[], from: number): number {
  let count = 0;
  // A page must be able to hold them.
  let height = 0;
  for (let block = blocks[from]; block?.isHeading || block?.isLabel; block = blocks[from + count]) {
    height += block.height + block.before;
    if (height > textHeight * 0.5) break;
    count += 1;
  }
  return count;
}

function gapBefore(blocks: readonly Block[], index: number): number {
  return index === 0 ? 0 : Math.max(blocks[index - 1]?.after ?? 0, blocks[index]?.before ?? 0);
}

function roomBelow(blocks: readonly Block[], index: number): number {
  const next = blocks[index];
  return next ? gapBefore(blocks, index) + Math.min(next.lead, textHeight * 0.45) : 0;
}

function headingNode(headings: readonly Block[], { gap, room }: { gap: number; room: number }) {
  const stack = headings.map(({ node }, index) => {
    const last = index === headings.length - 1;
    return { ...node, margin: [0, gapBefore(headings, index), 0, last ? room : 0] };
  });
  return { unbreakable: true, stack, margin: [0, gap, 0, 0] };
}

/** Where tokens are set, and what is known of their document. */
export interface LayoutScope extends TextSetting {
  readonly markdown: MarkdownDocument;
  readonly bookmarks: Bookmarks;
  readonly colouring: CodeColouring;
  readonly listDepth?: number;
  /** Whether it stands in the table that a quote is set as. */
  readonly inTable?: boolean;
  readonly quoteDepth?: number;
}

/** Inside of quotes and lists text is narrower, but never too narrow to be read. */
export function indented(scope: LayoutScope, indent: number, direction: Direction = 'ltr'): LayoutScope {
  const width = scope.width - indent;
  if (direction === 'rtl') return { ...scope, width };
  return { ...scope, width, indent: scope.inTable ? 0 : scope.indent + indent };
}

export function indentWithin(scope: LayoutScope, indent: number): number {
  return scope.width - indent < 150 ? 0 : indent;
}

/** Blocks below each other as one. */
export function stacked(blocks: readonly Block[], before: number, after: number, side: object): Block {
  const node = { stack: [{ stack: arrange(blocks), ...side }] };
  return { node, lead: blocks[0]?.lead ?? 0, height: heightOf(blocks), before, after };
}

/** A line over a width, in points. */
export function ruleNode(width: number, lineWidth = 0.6, lineColor: string = colors.rule) {
  return { canvas: [{ type: 'line', x1: 0, y1: 0, x2: width, y2: 0, lineWidth, lineColor }] };
}

export function heightOf(blocks: readonly Block[]): number {
  return blocks.reduce((sum, { height, before, after }) => sum + height + Math.max(before, after), 0);
}
