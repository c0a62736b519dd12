import type { Product } from '../../../protocol/messages/status.ts';
import { productName } from '../../shared/words.ts';
import { type Failure, inShort } from '../convert/failure.ts';
import { escapeMarkdown } from '../ui/safeText.ts';
import type { ViewRow } from './modelRows.ts';
import { isEmpty, type LoadOutcome } from './rowStore.ts';

/** One of several servers, with its models below it. A server that fails has none. */
export interface ServerNode {
  readonly server: string;
  readonly roots: readonly (ViewRow | ModelFamily<ViewRow>)[];
  /** How many models are below it. */
  readonly count: number;
  readonly failure?: Failure;
  /** A sentence about the quality of the models, such as their age. */
  readonly note?: string;
}

/**
 * The nodes of the servers, without those whose models all fail the filter. Empty if no server has a model or trouble:
 * a text in place of the rows then says so. `arrange` filters and groups the rows.
 */
export function toServerNodes(
  outcomes: readonly LoadOutcome[],
  arrange: (rows: readonly ViewRow[]) => { readonly roots: ServerNode['roots']; readonly count: number },
): readonly ServerNode[] {
  if (isEmpty(outcomes)) return [];
  return outcomes.flatMap(({ name, rows, failure, note }) => {
    const shown = arrange(rows);
    if (rows.length > 0 && shown.count === 0) return [];
    return { server: name, ...shown, ...(failure && { failure }), ...(note !== undefined && { note }) };
  });
}

/** The texts of a server's row. Without an address, the settings have no valid one. */
export function describeServer(
  { server, count, failure, note }: ServerNode,
  address: string | undefined,
  product?: Product,
) {
  const place = address === undefined ? '' : ` at ${address}`;
  const name = productName(product);
  const models = count === 1 ? '1 model' : `${count || 'no'} models`;
  const trouble = failure && inShort(failure, place);
  const state = trouble ?? (note === undefined ? '' : 'last known list');
  const description = trouble ?? [count === 0 ? models : `${count}`, name, state].filter(Boolean).join(' · ');
  const isDown = failure !== undefined || note !== undefined;
  const isClosed = failure?.kind === 'unauthorized';
  const sentences = [
    `**${escapeMarkdown(server)}**${escapeMarkdown(name && `: ${name}`)}${escapeMarkdown(place)}`,
    escapeMarkdown(failure?.sentence ?? note ?? ''),
    'Set Address changes its address.',
  ];
  return {
    description,
    /** For a screen reader. */
    label: [`server ${server}`, name, trouble ?? models, trouble ? '' : state].filter(Boolean).join(', '),
    /** Markdown. */
    tooltip: sentences.filter(Boolean).join('\n\n'),
    // Only for trouble: an icon would indent the models below it by whether some of them are in a family.
    ...(isDown && { icon: isClosed ? 'lock' : 'warning' }),
    /** Decides which menu entries the row has. */
    context: isClosed ? 'serverClosed' : isDown ? 'serverDown' : 'server',
  };
}

/** Rows by family, in the order of each family's first row; a family of one row is no folder. */
export interface ModelFamily<Row> {
  readonly family: string;
  readonly rows: readonly Row[];
}

export function groupByFamily<Row extends { readonly family: string }>(
  rows: readonly Row[],
): readonly (Row | ModelFamily<Row>)[] {
  const families = new Map<string, Row[]>();
  for (const row of rows) {
    const members = families.get(row.family);
    if (members) members.push(row);
    else families.set(row.family, [row]);
  }
  return [...families].flatMap(([family, members]): readonly (Row | ModelFamily<Row>)[] =>
    members.length === 1 ? members : [{ family, rows: members }],
  );
}

/** How the rows of a view are sorted. */
export const sortOrders = ['date', 'name', 'size'] as const;

export type SortOrder = (typeof sortOrders)[number];

/** The words of the list in which the user chooses. */
export const sortLabels: Readonly<Record<SortOrder, string>> = {
  date: 'Date, newest first',
  name: 'Name',
  size: 'Size, largest first',
};

/** What was kept may be of another version. */
export function toSortOrder(kept: unknown): SortOrder {
  return sortOrders.find((order) => order === kept) ?? 'date';
}

/** Rows come newest first. Rows of the same size stay in that order, and those without a size are last. */
export function sortRows<Row extends Pick<ViewRow, 'model' | 'bytes'>>(
  rows: readonly Row[],
  order: SortOrder,
): readonly Row[] {
  switch (order) {
    case 'date':
      return rows;
    case 'name':
      return rows.toSorted((a, b) => byName.compare(a.model, b.model));
    case 'size':
      return rows.toSorted((a, b) => (b.bytes ?? -1) - (a.bytes ?? -1));
  }
}

/** `qwen3:4b` comes before `qwen3:14b`. */
const byName = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });
