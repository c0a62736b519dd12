/** How many characters are inserted, deleted, replaced, or swapped with the next one (optimal string alignment). */
export function editDistance(one: string, other: string): number {
  let twoBack: number[] = [];
  let oneBack = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      current[column] = Math.min(
        costAt(oneBack, column) + 1,
        costAt(current, column - 1) + 1,
        costAt(oneBack, column - 1) + (isSame ? 0 : 1),
        isSwapped ? costAt(twoBack, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    [twoBack, oneBack] = [oneBack, current];
  }
  return costAt(oneBack, other.length);
}

function costAt(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}

/** The names that a mistyped one may mean, best first: those that contain it, then those a few letters away. */
export function nearestNames(text: string, names: readonly string[], max = 3): readonly string[] {
  const wanted = text.toLowerCase();
  const most = Math.max(2, Math.floor(wanted.length / 3));
  const distanceTo = (name: string) => {
    if (wanted !== '' && name.includes(wanted)) return 0;
    // A name is at least as far away as it is longer or shorter, so a text of megabytes is not compared.
    return Math.abs(name.length - wanted.length) > most
      ? Number.POSITIVE_INFINITY
      : editDistance(wanted, name);
  };
  return names
    .map((name) => ({ name, distance: distanceTo(name.toLowerCase()) }))
    .filter(({ distance }) => distance <= most)
    .sort((one, other) => one.distance - other.distance)
    .slice(0, max)
    .map(({ name }) => name);
}
