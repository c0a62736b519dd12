import { addressKey } from '../content/linkTree.ts';
import { type DocumentIndex, IndexIncompleteError, type LocatedMetadata } from '../search/documentIndex.ts';

/**
 * The index as readers get it. Until all files were read once, whatever lists, counts, searches or suggests is refused,
 * because a part would look like the whole; a single document is there as soon as it was read.
 */
export function createWholeIndex<Index extends DocumentIndex>(index: Index): Index {
  /** The last generation that was found to be whole. */
  let known = -1;
  const refuseUntilWhole = async () => {
    const { generation } = index;
    if (generation === known) return;
    if (!(await index.summary()).isComplete) throw new IndexIncompleteError();
    known = generation;
  };
  const whole = async <Answer>(read: () => Promise<Answer>): Promise<Answer> => {
    await refuseUntilWhole();
    const { generation } = index;
    const answer = await read();
    // Another index may have taken the place of this one.
    if (index.generation !== generation) await refuseUntilWhole();
    return answer;
  };
  const asking = ['list', 'search', 'select', 'nearSlugs', 'slugsFrom', 'terms', 'collections'] as const;
  const methods = asking.map((name) => [
    name,
    (...asked: readonly unknown[]) => whole(() => Reflect.apply(index[name], index, asked)),
  ]);
  return Object.assign(Object.create(index) as Index, Object.fromEntries(methods));
}

/** All documents, with drafts, by title. They are read again only after the library has changed. */
export function readAllDocuments(
  index: Pick<DocumentIndex, 'generation' | 'select'>,
): Promise<readonly LocatedMetadata[]> {
  const read = documents.get(index) ?? untilChange(index, () => index.select({ order: 'title' }));
  documents.set(index, read);
  return read();
}

const documents = new WeakMap<object, () => Promise<readonly LocatedMetadata[]>>();

export function untilWhole(index: DocumentIndex): Promise<void> {
  return new Promise((resolve) => {
    const look = async () => {
      const summary = await index.summary().catch(() => undefined);
      if (!summary?.isComplete) return;
      listening.dispose();
      resolve();
    };
    const listening = index.onDidChange(() => void look());
    void look();
  });
}

/** Asks once, and again after something in the library has changed; simultaneous callers share the answer. */
export function untilChange<Value>(
  index: { readonly generation: number },
  ask: () => Promise<Value>,
): () => Promise<Value> {
  let generation = -1;
  let answer: Promise<Value> | undefined;
  return () => {
    if (answer !== undefined && generation === index.generation) return answer;
    generation = index.generation;
    const asked = ask();
    answer = asked;
    asked.catch(() => {
      if (answer === asked) answer = undefined;
    });
    return asked;
  };
}

export type FindAlias = ReturnType<typeof createAliases>;

/**
 * Finds the document that had an address in another program, of those that a reader may see. Of several documents with
 * one address, the first by path has it.
 */
export function createAliases(index: DocumentIndex) {
  const read = untilChange(index, async () => holdersOf(await readAllDocuments(index)));
  return async (address: string, isVisible: (document: LocatedMetadata) => boolean) =>
    (await read()).get(addressKey(address))?.find(isVisible);
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
