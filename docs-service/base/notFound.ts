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
