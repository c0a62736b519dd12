import type { InstalledModel } from './modelStore.ts';

export interface LoadedModel {
  readonly model: InstalledModel;
  /** Tokens of the allocated window. */
  readonly window: number;
  readonly expiresAt: number;
}

/**
 * The models in memory. There is no timer: the list leaves out expired models when it is read. As in a real runner, an
 * unload is answered before it is complete. The model stays in the list for a moment, with an expiry in the past, and
 * for as long as one of its answers runs.
 */
export interface LoadedModels {
  list(): readonly LoadedModel[];
  load(model: InstalledModel, window: number, keepAlive: number | undefined): void;
  unload(model: InstalledModel): void;
  /** Keeps the model in the list until the returned function is called. */
  use(model: InstalledModel): () => void;
}

/** Go's longest duration, 64 bits of nanoseconds, in ms: "for ever" is 292 years. */
const forEver = (2 ** 63 - 1) / 1e6;
const defaultKeepAlive = 5 * 60_000;

export function createLoadedModels(now: () => number, unloadTakes: number): LoadedModels {
  const entries = new Map<string, LoadedModel & { running: number }>();
  const keyOf = (model: InstalledModel) => model.name.toLowerCase();
  function forget() {
    for (const [key, { expiresAt, running }] of entries)
      if (running === 0 && expiresAt + unloadTakes <= now()) entries.delete(key);
  }
  return {
    list() {
      forget();
      return [...entries.values()].sort((a, b) => b.expiresAt - a.expiresAt);
    },
    load(model, window, keepAlive = defaultKeepAlive) {
      const { running = 0 } = entries.get(keyOf(model)) ?? {};
      const expiresAt = now() + Math.min(keepAlive, forEver);
      entries.set(keyOf(model), { model, window, expiresAt, running });
    },
    unload(model) {
      const entry = entries.get(keyOf(model));
      if (entry) entries.set(keyOf(model), { ...entry, expiresAt: Math.min(entry.expiresAt, now()) });
    },
    use(model) {
      const change = (by: number) => {
        const entry = entries.get(keyOf(model));
        if (entry) entries.set(keyOf(model), { ...entry, running: entry.running + by });
      };
      change(1);
      return () => change(-1);
    },
  };
}
