import type { DocumentIndex, LocatedMetadata } from '../search/documentIndex.ts';
import { inOrder } from '../search/selection.ts';
import type { CollectionDefinition } from './collection.ts';

/** A collection with its documents in order, drafts left out. */
export interface LibraryCollection {
  readonly definition: CollectionDefinition;
  readonly documents: readonly LocatedMetadata[];
}

export async function findCollection(
  index: DocumentIndex,
  name: string,
): Promise<LibraryCollection | undefined> {
  const definition = (await index.collections()).find((one) => one.name === name);
  if (definition === undefined) return undefined;
  return { definition, documents: (await documentsOf(index, definition)).filter(({ draft }) => !draft) };
}

async function documentsOf(
  index: DocumentIndex,
  { docs, order }: CollectionDefinition,
): Promise<readonly LocatedMetadata[]> {
  if (!('length' in docs)) return index.select({ ...docs, order: order === 'listed' ? '-date' : order });
  const listed = await index.metadataOf([...new Set(docs)]);
  return order === 'listed' ? listed : inOrder(listed, order);
}
