/** The names that a mistyped one may mean, best first: those that hold it, then those a few letters away. */
export function nearest(text: string, names: readonly string[], limit = 3): readonly string[] {
  const wanted = text.toLowerCase();
  const scored = names.map((name) => ({ name, distance: distanceOf(wanted, name.toLowerCase()) }));
  return scored
    .filter(({ distance }) => distance <= Math.max(2, Math.floor(wanted.length / 3)))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, limit)
    .map(({ name }) => name);
}

function distanceOf(wanted: string, name: string): number {
  if (wanted !== '' && name.includes(wanted)) return 0;
  let row = Array.from({ length: name.length + 1 }, (_, index) => index);
  for (let i = 1; i <= wanted.length; i++) {
    const next = [i];
    for (let j = 1; j <= name.length; j++) {
      const replace = (row[j - 1] ?? 0) + (wanted[i - 1] === name[j - 1] ? 0 : 1);
      next.push(Math.min(replace, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[name.length] ?? wanted.length;
}
