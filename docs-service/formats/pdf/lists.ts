import type { Token, Tokens } from 'marked';
import { arrange, type Block } from './arrange.ts';
import { hang } from './paragraphs.ts';
import { heightOf, indented, indentWithin, type Scope, twoLines } from './scope.ts';
import { colors } from './style.ts';
import type { Run } from './typesetter.ts';

/** Sets what stands in an item. */
type BlocksOf = (tokens: readonly Token[], scope: Scope) => readonly Block[];

/** A list. Its signs hang to the left of the text, on the line of the text itself, so no page separates them. */
export function listBlock(list: Tokens.List, scope: Scope, blocksOf: BlocksOf): Block {
  const markers = markersOf(list, scope);
  const widest = markers.reduce((width, marker) => Math.max(width, marker.width), 16);
  const indent = indentWithin(scope, widest);
  const inner = indented({ ...scope, listDepth: (scope.listDepth ?? 0) + 1 }, indent);
  const gap = list.loose ? 5.5 : 2.2;
  const items = list.items.map((item, index): Block => {
    const blocks = marked(blocksOf(item.tokens, inner), markers[index], indent > 0, inner);
    const tight = list.loose ? blocks : blocks.map(closer);
    return {
      node: { stack: arrange(tight) },
      lead: tight[0]?.lead ?? 0,
      height: heightOf(tight),
      before: gap,
      after: gap,
    };
  });
  const nested = scope.listDepth !== undefined;
  return {
    node: { stack: [{ stack: arrange(items), marginLeft: indent }] },
    lead: items[0]?.lead ?? 0,
    height: heightOf(items),
    before: nested ? gap : 6.5,
    after: nested ? gap : 7.5,
  };
}

interface Marker {
  readonly runs: readonly Run[];
  /** Points. */
  readonly width: number;
}

const bullets = ['•', '–', '·'];

function markersOf(list: Tokens.List, { type, look, listDepth = 0 }: Scope): Marker[] {
  const first = typeof list.start === 'number' ? list.start : 1;
  return list.items.map((item, index) => {
    const task = item.task ? (item.checked ? '☑' : '☐') : undefined;
    const text = task ?? (list.ordered ? `${first + index}.` : (bullets[listDepth % bullets.length] ?? '•'));
    const piece = { kind: 'text', text: `${text}\u00a0\u00a0`, mark: {} } as const;
    const runs = type.runs([piece], look.fontSize).map((run) => ({ ...run, color: colors.quiet }));
    return { runs, width: type.width([piece], look.fontSize).whole };
  });
}

/** Puts the sign of an item before its text, or above its first block. */
function marked(blocks: readonly Block[], marker: Marker | undefined, hangs: boolean, scope: Scope): Block[] {
  if (!marker) return [...blocks];
  const [first, ...rest] = blocks;
  const width = hangs ? marker.width : 0;
  if (first && Array.isArray(first.node['text']) && !first.isHeading) {
    return [{ ...first, node: hang(first.node, marker.runs, width) }, ...rest];
  }
  const node = hang({ text: [{ text: ' ' }], fontSize: scope.look.fontSize }, marker.runs, width);
  const height = twoLines(scope.look.fontSize) / 2.2;
  const [opening, ...others] = blocks.map((block, index) => (index === 0 ? { ...block, before: 2 } : block));
  return [
    { node, lead: height, height, before: 0, after: 0, isHeading: true },
    ...(opening ? [opening] : []),
    ...others,
  ];
}

function closer(block: Block): Block {
  if (!('text' in block.node) || block.isHeading) return block;
  return { ...block, before: Math.min(block.before, 2.2), after: Math.min(block.after, 2.2) };
}
