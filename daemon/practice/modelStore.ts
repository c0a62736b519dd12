import { type Layer, layersOf, type PracticeModel } from './model.ts';
import { displayName, nameKey, tryModelName } from './modelName.ts';

export type InstalledModel = PracticeModel & { readonly modifiedAt: number };

/** The installed models, the existing blobs, and what interrupted pulls have downloaded so far. */
export interface ModelStore {
  list(): readonly InstalledModel[];
  find(name: string): InstalledModel | undefined;
  /** Installs a model. It replaces a model with the same name in any spelling, but the old spelling stays. */
  install(model: PracticeModel): InstalledModel;
  remove(name: string): boolean;
  hasBlob(digest: string): boolean;
  addBlob(digest: string, size: number): void;
  /** The bytes of a blob that a pull has downloaded. */
  partOf(digest: string): number;
  keepPart(layer: Layer, completed: number): void;
}

export function createModelStore(models: readonly PracticeModel[], now: () => number): ModelStore {
  const installed = new Map<string, InstalledModel>();
  const blobs = new Set<string>();
  const parts = new Map<string, number>();
  const store: ModelStore = {
    list: () => [...installed.values()].sort((a, b) => b.modifiedAt - a.modifiedAt),
    find: (name) => installed.get(keyOf(name)),
    install(model) {
      const parsed = tryModelName(model.name);
      if (!parsed) throw new TypeError(`"${model.name}" is no model name.`);
      const key = nameKey(parsed);
      const name = installed.get(key)?.name ?? displayName(parsed);
      const added: InstalledModel = { ...model, name, modifiedAt: model.modifiedAt ?? now() };
      installed.set(key, added);
      for (const { digest } of layersOf(model)) blobs.add(digest);
      return added;
    },
    remove: (name) => installed.delete(keyOf(name)),
    hasBlob: (digest) => blobs.has(digest),
    addBlob: (digest) => void blobs.add(digest),
    partOf: (digest) => parts.get(digest) ?? 0,
    keepPart(layer, completed) {
      if (completed < layer.size) parts.set(layer.digest, completed);
      else if (parts.delete(layer.digest) || !blobs.has(layer.digest)) blobs.add(layer.digest);
    },
  };
  // The first is the newest, so clients use it if the user has chosen none.
  for (const [index, model] of models.entries())
    store.install({ modifiedAt: now() - index * 1_000, template: turns, ...model });
  return store;
}

/** The template of initial models, which can chat unless they say otherwise. A created model keeps its own template. */
const turns = '{{ range .Messages }}{{ .Role }}: {{ .Content }}\n{{ end }}';

function keyOf(name: string): string {
  const parsed = tryModelName(name);
  return parsed ? nameKey(parsed) : '';
}

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
