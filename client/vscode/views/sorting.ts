import type { ViewRow } from './modelRows.ts';

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

type Sorted = Pick<ViewRow, 'model' | 'bytes'>;

/** Rows come newest first. Rows of the same size stay in that order, and those without a size are last. */
export function sortRows<Row extends Sorted>(rows: readonly Row[], order: SortOrder): readonly Row[] {
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
