import type { Footnote } from '../markdown/markdown.ts';
import { arrange, type Block } from './arrange.ts';
import { blocksOf } from './blocks.ts';
import { hang } from './paragraphs.ts';
import { heightOf, indented, type Scope } from './scope.ts';
import { colors, sizes } from './style.ts';

/** The footnotes after a short rule at the end of the document, each with a link back to its reference. */
export function notesBlocks(footnotes: readonly Footnote[], scope: Scope): Block[] {
  if (footnotes.length === 0) return [];
  const rule = { type: 'line', x1: 0, y1: 0, x2: 110, y2: 0, lineWidth: 0.6, lineColor: colors.strongRule };
  const line = { node: { canvas: [rule] }, lead: 24, height: 1, before: 26, after: 8 };
  const look = { ...scope.look, fontSize: sizes.note };
  return [line, ...footnotes.map((footnote) => noteBlock(footnote, { ...indented(scope, indent), look }))];
}

const indent = 20;

function noteBlock({ number, tokens }: Footnote, scope: Scope): Block {
  const id = { id: `note:${number}` };
  const mark = { destination: `note-mark:${number}` } as const;
  const runs = scope.type.runs([{ kind: 'text', text: `${number}.\u00a0\u00a0`, mark }], sizes.note);
  const { whole } = scope.type.width([{ kind: 'text', text: `${number}.\u00a0\u00a0`, mark }], sizes.note);
  const blocks = blocksOf(tokens, scope);
  const [first, ...rest] = blocks;
  const opens = first && Array.isArray(first.node['text']) && !first.isHeading;
  const opening = opens ? first.node : { text: [{ text: ' ' }], fontSize: sizes.note };
  const placed = { lead: 12, height: 12, before: 0, after: 2, ...(opens ? first : {}) };
  const all = [
    { ...placed, node: { ...hang(opening, runs, { width: whole }), ...id } },
    ...(opens ? rest : blocks),
  ];
  return {
    node: { stack: [{ stack: arrange(all), marginLeft: indent }] },
    lead: placed.lead,
    height: heightOf(all),
    before: 2.5,
    after: 2.5,
  };
}
