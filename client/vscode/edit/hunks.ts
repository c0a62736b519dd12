/** Lines that come in place of others. */
export interface Hunk {
  /** The first line that goes, and the first after those that go, counted from 0. Equal if none goes. */
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
}

/** More comparisons of lines than this would take seconds. */
const maxCompared = 4_000_000;

/** The smallest changes that turn lines into others. */
export function hunksOf(before: readonly string[], after: readonly string[]): readonly Hunk[] {
  if (before.length * after.length > maxCompared) return [{ start: 0, end: before.length, lines: after }];
  const width = after.length + 1;
  // How many lines are the same from here to both ends, at most.
  const same = new Uint32Array((before.length + 1) * width);
  const sameFrom = (row: number, column: number) => same[row * width + column] ?? 0;
  for (let row = before.length - 1; row >= 0; row--)
    for (let column = after.length - 1; column >= 0; column--)
      same[row * width + column] =
        before[row] === after[column]
          ? sameFrom(row + 1, column + 1) + 1
          : Math.max(sameFrom(row + 1, column), sameFrom(row, column + 1));
  const hunks: Hunk[] = [];
  let [row, column] = [0, 0];
  while (row < before.length || column < after.length) {
    const [start, from] = [row, column];
    while (
      (row < before.length || column < after.length) &&
      (row >= before.length || before[row] !== after[column])
    )
      if (row < before.length && sameFrom(row + 1, column) >= sameFrom(row, column + 1)) row++;
      else if (column < after.length) column++;
      else row++;
    if (row > start || column > from) hunks.push({ start, end: row, lines: after.slice(from, column) });
    else [row, column] = [row + 1, column + 1];
  }
  return hunks;
}
