import type { LoadedModels, ResidentModel } from '../../../daemon/practice/model.ts';

export interface LingeringModels extends LoadedModels {
  /** Keeps a model in the list until the returned function is called. */
  use(name: string): () => void;
}

/**
 * Models in memory whose unload is answered before it is complete, as in a real runner: for a moment, and as long as
 * one of their answers runs, they stay in the list, with an expiry in the past.
 */
export function lingering(
  loaded: LoadedModels,
  { now, unloadTakes }: { readonly now: () => number; readonly unloadTakes: number },
): LingeringModels {
  let leaving: readonly ResidentModel[] = [];
  const running = new Map<string, number>();
  return {
    ...loaded,
    list() {
      const present = loaded.list();
      const isThere = ({ model }: ResidentModel) => present.some((one) => one.model.name === model.name);
      leaving = leaving.filter(
        (one) =>
          !isThere(one) && (now() < one.expiresAt + unloadTakes || (running.get(one.model.name) ?? 0) > 0),
      );
      return [...present, ...leaving];
    },
    unload(model) {
      const left = loaded.list().filter((one) => one.model.name === model.name);
      leaving = [...leaving, ...left.map((one) => ({ ...one, expiresAt: now() }))];
      loaded.unload(model);
    },
    use(name) {
      const change = (by: number) => running.set(name, (running.get(name) ?? 0) + by);
      change(1);
      return () => change(-1);
    },
  };
}
