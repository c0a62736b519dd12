import { layersOf, type PracticeModel, tryModelName } from './model.ts';

export type InstalledModel = PracticeModel & { readonly modifiedAt: number };

export interface ModelStore {
  list(): readonly InstalledModel[];
  find(name: string): InstalledModel | undefined;
  /** Installs a model. It replaces a model with the same name in any spelling, but the old spelling stays. */
  install(model: PracticeModel, modifiedAt?: number): void;
  remove(name: string): boolean;
  /** The digests of what was downloaded or uploaded, or is part of a model. */
  readonly blobs: Set<string>;
  /** How many bytes of a blob an interrupted pull has downloaded. */
  readonly parts: Map<string, number>;
}

export function createModelStore(models: readonly PracticeModel[], now: () => number): ModelStore {
  const installed = new Map<string, InstalledModel>();
  const blobs = new Set<string>();
  const store: ModelStore = {
    list: () => [...installed.values()].sort((a, b) => b.modifiedAt - a.modifiedAt),
    find: (name) => installed.get(keyOf(name)),
    install(model, modifiedAt = now()) {
      const parsed = tryModelName(model.name);
      if (!parsed) throw new TypeError(`"${model.name}" is no model name.`);
      const name = installed.get(parsed.key)?.name ?? parsed.short;
      installed.set(parsed.key, { ...model, name, modifiedAt });
      for (const { digest } of layersOf(model)) blobs.add(digest);
    },
    remove: (name) => installed.delete(keyOf(name)),
    blobs,
    parts: new Map(),
  };
  // The first is the newest, so clients use it if the user has chosen none. They look at whole seconds.
  const created = now();
  for (const [index, model] of models.entries()) store.install(model, created - index * 1_000);
  return store;
}

/** Empty for a text that is no name. */
function keyOf(name: string): string {
  return tryModelName(name)?.key ?? '';
}

export interface ResidentModel {
  readonly model: InstalledModel;
  /** Tokens of the allocated window. */
  readonly window: number;
  readonly expiresAt: number;
}

/** Go's longest duration, 64 bits of nanoseconds, in ms: "for ever" is 292 years. */
const forEver = 2 ** 63 / 1e6;

export type LoadedModels = ReturnType<typeof createLoadedModels>;

/** The models in memory. There is no timer: the list leaves out what has expired when it is read. */
export function createLoadedModels(now: () => number) {
  const entries = new Map<string, ResidentModel>();
  return {
    list: () =>
      [...entries.values()]
        .filter(({ expiresAt }) => expiresAt > now())
        .sort((a, b) => b.expiresAt - a.expiresAt),
    /** @param keepAlive In milliseconds; default: five minutes. */
    load(model: InstalledModel, window: number, keepAlive = 5 * 60_000): void {
      entries.set(model.name, { model, window, expiresAt: now() + Math.min(keepAlive, forEver) });
    },
    unload: ({ name }: InstalledModel) => void entries.delete(name),
  };
}
