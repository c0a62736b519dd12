/** One word of a command, quoted for a shell. */
export function quoteForShell(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The first names of a list, and how many more there are. */
export function someOf(names: readonly string[], most: number): string {
  const more = names.length - most;
  return names.slice(0, most).join(', ') + (more > 0 ? ` and ${more.toLocaleString('en')} more` : '');
}

/** A table for people: each column is as wide as its longest cell. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)));
  return [head, ...rows].map((row) => `${lineOf(row, widths)}\n`).join('');
}

function lineOf(row: readonly string[], widths: readonly number[]): string {
  return row
    .map((cell, at) => cell.padEnd(widths[at] ?? 0))
    .join('  ')
    .trimEnd();
}

/** Such as `There is no document "instal". Did you mean "install"?`. */
export function noSuchDocument(slug: string, near: readonly string[], otherwise = ''): string {
  const hint = near.length === 0 ? otherwise : `Did you mean ${quoted(near).join(' or ')}?`;
  return `There is no document "${slug}". ${hint}`.trimEnd();
}

/** With the names of the first collections that there are. */
export function noSuchCollection(name: string, names: readonly string[]): string {
  const known = quoted(names.slice(0, 10)).join(', ');
  const hint =
    names.length === 0 ? 'The library has none.' : `There ${names.length === 1 ? 'is' : 'are'} ${known}.`;
  return `There is no collection "${name.slice(0, 100)}". ${hint}`;
}

function quoted(names: readonly string[]): readonly string[] {
  return names.map((name) => `"${name}"`);
}
