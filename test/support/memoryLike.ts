import type { Memento } from 'vscode';

/** What the editor keeps for an extension. A change takes this many turns of the event loop. */
export function memoryLike(turns = 0): Memento {
  const kept = new Map<string, unknown>();
  return {
    keys: () => [...kept.keys()],
    get: (key: string) => kept.get(key) as never,
    async update(key: string, value: unknown) {
      for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
      kept.set(key, value);
    },
  };
}
