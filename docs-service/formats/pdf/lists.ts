import type { Token } from 'marked';
import type { HtmlList } from '../markdown/htmlBlocks.ts';
import type { Direction } from '../markdown/xmlText.ts';
import { directionOf, inOrder } from './directions.ts';
import { arrange, type Block, indented, indentWithin, type LayoutScope, stacked } from './layout.ts';
import { hang } from './paragraphs.ts';
import { textPiece } from './pieces.ts';
import { colors, pitch } from './style.ts';
import type { TextRun } from './typesetter.ts';

/**
 * A list. Its signs hang beside the text, on the same line, so no page break separates them.
 * @param blocksOf sets what stands in an item
 */
export function listBlock(
  list: HtmlList,
  scope: LayoutScope,
  blocksOf: (tokens: readonly Token[], scope: LayoutScope) => readonly Block[],
): Block {
  const direction = directionOf(list.items.map(({ text }) => text).join('\n'));
  const markers = markersOf(list, scope, direction);
  const widest = markers.reduce((width, marker) => Math.max(width, marker.width), 16);
  const indent = indentWithin(scope, widest);
  const inner = indented({ ...scope, listDepth: (scope.listDepth ?? 0) + 1 }, indent, direction);
  const gap = list.loose ? 5.5 : 2.2;
  const items = list.items.map((item, index): Block => {
    const blocks = blocksOf(item.tokens, inner);
    const close = list.loose ? blocks : blocks.map(closer);
    const marker = markers[index] ?? { runs: [], width: 0 };
    const all = marked(close, marker, scope.look.fontSize, indent > 0 ? direction : undefined);
    return { ...stacked(all, gap, gap, {}), node: { stack: arrange(all) } };
  });
  const nested = scope.listDepth !== undefined;
  const side = direction === 'rtl' ? { marginRight: indent } : { marginLeft: indent };
  return stacked(items, nested ? gap : 6.5, nested ? gap : 7.5, side);
}

const bullets = ['•', '–', '·'];

function markersOf(list: HtmlList, { type, look, listDepth = 0 }: LayoutScope, direction: Direction) {
  const first = typeof list.start === 'number' ? list.start : 1;
  return list.items.map((item, index) => {
    const counted = signOf(list.numbers?.[index] ?? first + index, list.sign);
    const number = inOrder([counted, '.'], direction).join('');
    const task = item.task ? (item.checked ? '☑' : '☐') : undefined;
    const sign = task ?? (list.ordered ? number : (bullets[listDepth % bullets.length] ?? '•'));
    const text = inOrder([sign, '\u00a0\u00a0'], direction).join('');
    const piece = textPiece(text);
    const runs = type.runs([piece], look.fontSize).map((run) => ({ ...run, ...signLook }));
    return { runs, width: type.width([piece], look.fontSize).whole };
  });
}

/** A number as a list writes it, in letters, Roman or Arabic numerals. */
function signOf(number: number, sign: HtmlList['sign']): string {
  if (sign === undefined || number < 1 || number > 3_999) return String(number);
  const text = sign.toLowerCase() === 'a' ? lettersOf(number) : romanOf(number);
  return sign === sign.toUpperCase() ? text.toUpperCase() : text;
}

function lettersOf(number: number): string {
  const rest = Math.floor((number - 1) / 26);
  return (rest > 0 ? lettersOf(rest) : '') + String.fromCharCode(97 + ((number - 1) % 26));
}

function romanOf(number: number): string {
  const [value = 1, text = 'i'] = numerals.find(([value]) => value <= number) ?? [];
  return number <= value ? text : text + romanOf(number - value);
}

const numerals = Object.entries({
  m: 1000,
  cm: 900,
  d: 500,
  cd: 400,
  c: 100,
  xc: 90,
  l: 50,
  xl: 40,
  x: 10,
  ix: 9,
  v: 5,
  iv: 4,
  i: 1,
}).map(([text, value]) => [value, text] as const);

const signLook = { color: colors.quiet, preserveLeadingSpaces: true } as const;

/**
 * Puts the sign of an item before its text, or above its first block.
 * @param direction undefined if there is no room for signs beside the text
 */
function marked(
  blocks: readonly Block[],
  { runs, width }: { readonly runs: readonly TextRun[]; readonly width: number },
  fontSize: number,
  direction: Direction | undefined,
): Block[] {
  const place = direction === undefined ? { width: 0 } : { width, direction };
  const [first, ...rest] = blocks;
  if (first && Array.isArray(first.node['text']) && !first.isHeading) {
    return [{ ...first, node: hang(first.node, runs, place) }, ...rest];
  }
  const node = hang({ text: [{ text: ' ' }], fontSize }, runs, place);
  const height = pitch(fontSize);
  return [
    { node, lead: height, height, before: 0, after: 0, isHeading: true },
    ...blocks.map((block, index) => (index === 0 ? { ...block, before: 2 } : block)),
  ];
}

function closer(block: Block): Block {
  if (!('text' in block.node) || block.isHeading) return block;
  return { ...block, before: Math.min(block.before, 2.2), after: Math.min(block.after, 2.2) };
}
