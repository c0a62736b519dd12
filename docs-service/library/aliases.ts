import { addressKey } from '../content/linkTree.ts';
import type { DocumentIndex, LocatedMetadata } from '../search/documentIndex.ts';
import { readAllDocuments, untilChange } from './wholeIndex.ts';

/** Finds the document that had an address in another program, of those that a reader may see. */
export type FindAlias = (
  address: string,
  isVisible: (document: LocatedMetadata) => boolean,
) => Promise<LocatedMetadata | undefined>;

/** Of several documents with one address, the first by path has it. */
export function createAliases(index: DocumentIndex): FindAlias {
  const read = untilChange(index, async () => holdersOf(await readAllDocuments(index)));
  return async (address, isVisible) => (await read()).get(addressKey(address))?.find(isVisible);
}

function holdersOf(documents: readonly LocatedMetadata[]): ReadonlyMap<string, readonly LocatedMetadata[]> {
  const holders = new Map<string, LocatedMetadata[]>();
  for (const document of documents)
    for (const alias of document.aliases ?? []) {
      const key = addressKey(alias);
      // Without a slash it is a name for links, and `/` has a page.
      if (!alias.includes('/') || key === '') continue;
      const known = holders.get(key);
      if (known === undefined) holders.set(key, [document]);
      else if (!known.includes(document)) known.push(document);
    }
  for (const one of holders.values()) one.sort((a, b) => (a.path < b.path ? -1 : 1));
  return holders;
}
