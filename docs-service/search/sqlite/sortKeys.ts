import type { Database } from '../../base/sqliteDatabase.ts';

/** A document in slug order. */
interface Place {
  readonly key: number;
  readonly slug: string;
  readonly sortKey: number;
}

/** Adjacent slugs, with the sort key of each. */
export interface SortKeyChange {
  /** New slugs. */
  readonly added: readonly { readonly slug: string; readonly sortKey: number }[];
  /** Documents that must make room. */
  readonly moved: readonly { readonly key: number; readonly from: number; readonly to: number }[];
}

/**
 * Sort keys for new slugs, so that they ascend with slugs. There is room between two keys; when it is used up, the
 * neighbours move, as few of them as leave room for more. `slugs` ascend, and none of them exists yet. Each change must
 * be carried out before the next is requested.
 */
export function* assignSortKeys(database: Database, slugs: readonly string[]): Generator<SortKeyChange> {
  const neighbours = createNeighbours(database);
  for (let first = 0; first < slugs.length; ) {
    const from = slugs[first] ?? '';
    const [next] = neighbours.after(from, 1);
    let end = first + 1;
    while (end < slugs.length && (!next || compareSlugs(slugs[end] ?? '', next.slug) < 0)) end++;
    yield sortKeyChange(slugs.slice(first, end), neighbours, next);
    first = end;
  }
}

/** By code points, as both engines order them. UTF-16 units would order some characters differently. */
export function compareSlugs(one: string, other: string): number {
  return one === other ? 0 : Buffer.compare(Buffer.from(one), Buffer.from(other));
}

type Neighbours = ReturnType<typeof createNeighbours>;

function createNeighbours(database: Database) {
  const columns = 'SELECT key, slug, sort_key AS sortKey FROM documents WHERE';
  const before = database.prepare<Place>(`${columns} slug < ? ORDER BY slug DESC LIMIT ?`);
  const after = database.prepare<Place>(`${columns} slug > ? ORDER BY slug LIMIT ?`);
  return {
    /** The nearest first. */
    before: (slug: string, limit: number) => before.all(slug, limit),
    after: (slug: string, limit: number) => after.all(slug, limit),
  };
}

/** Between two consecutive documents. Small distances make a small index. */
const usualDistance = 2 ** 20;
/** If neighbours move, this is the room that is left on average. */
const leastDistance = 2 ** 8;

function sortKeyChange(
  added: readonly string[],
  neighbours: Neighbours,
  next: Place | undefined,
): SortKeyChange {
  const [first = '', last = ''] = [added[0], added.at(-1)];
  // 0 neighbours move at first, then 16 on each side, then twice as many each time.
  for (let count = 0; ; count = Math.max(16, count * 2)) {
    const before = neighbours.before(first, count + 1);
    const after = count === 0 ? (next ? [next] : []) : neighbours.after(last, count + 1);
    const [low, high] = [before[count]?.sortKey, after[count]?.sortKey];
    const [left, right] = [before.slice(0, count).reverse(), after.slice(0, count)];
    const distance = count === 0 ? 1 : leastDistance;
    const sortKeys = spread(left.length + added.length + right.length, { low, high, distance });
    if (sortKeys) return split(sortKeys, { left, added, right });
  }
}

function spread(
  count: number,
  {
    low,
    high,
    distance,
  }: { readonly low: number | undefined; readonly high: number | undefined; readonly distance: number },
): readonly number[] | undefined {
  if (low !== undefined && high !== undefined) {
    const step = Math.floor((high - low) / (count + 1));
    return step < distance ? undefined : series(low + step, step, count);
  }
  if (high !== undefined) return series(high - usualDistance * count, usualDistance, count);
  return series((low ?? 0) + usualDistance, usualDistance, count);
}

function series(first: number, step: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => first + step * index);
}

function split(
  sortKeys: readonly number[],
  {
    left,
    added,
    right,
  }: { readonly left: readonly Place[]; readonly added: readonly string[]; readonly right: readonly Place[] },
): SortKeyChange {
  const at = (index: number) => sortKeys[index] ?? 0;
  const moved = [...left, ...right].map(({ key, sortKey }, index) => ({
    key,
    from: sortKey,
    to: at(index < left.length ? index : index + added.length),
  }));
  return {
    added: added.map((slug, index) => ({ slug, sortKey: at(left.length + index) })),
    moved: moved.filter(({ from, to }) => from !== to),
  };
}
