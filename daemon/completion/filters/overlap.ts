/**
 * The length of the longest end of one sequence that is also the beginning of the other, in linear time (Knuth, Morris,
 * Pratt).
 */
export function overlapLength<T>(ending: ArrayLike<T>, beginning: ArrayLike<T>): number {
  const borders = bordersOf(beginning);
  let length = 0;
  for (let at = Math.max(0, ending.length - beginning.length); at < ending.length; at += 1) {
    while (length > 0 && (length === beginning.length || ending[at] !== beginning[length]))
      length = borders[length - 1] ?? 0;
    if (ending[at] === beginning[length]) length += 1;
  }
  return length;
}

/** For each beginning of the sequence, the length of its longest proper end that is also its beginning. */
function bordersOf<T>(sequence: ArrayLike<T>): readonly number[] {
  const borders: number[] = [0];
  let length = 0;
  for (let at = 1; at < sequence.length; at += 1) {
    while (length > 0 && sequence[at] !== sequence[length]) length = borders[length - 1] ?? 0;
    if (sequence[at] === sequence[length]) length += 1;
    borders.push(length);
  }
  return borders;
}
