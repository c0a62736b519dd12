import { type DocumentIndex, IndexIncompleteError } from './documentIndex.ts';

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
  const methods: Partial<DocumentIndex> = {
    list: (query) => whole(() => index.list(query)),
    search: (query) => whole(() => index.search(query)),
    select: (selection) => whole(() => index.select(selection)),
    nearSlugs: (slug, limit) => whole(() => index.nearSlugs(slug, limit)),
    slugsFrom: (prefix, limit) => whole(() => index.slugsFrom(prefix, limit)),
    terms: (kind, who) => whole(() => index.terms(kind, who)),
    collections: () => whole(() => index.collections()),
  };
  return Object.assign(Object.create(index) as Index, methods);
}

/** Resolves when the index is whole. */
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
