import { createHash } from 'node:crypto';

export type PracticeCapability = 'completion' | 'tools' | 'insert' | 'vision' | 'embedding' | 'thinking';

export interface PracticeModel {
  readonly name: string;
  readonly capabilities: readonly PracticeCapability[];
  /** The model's own maximum, in tokens. */
  readonly contextLength: number;
  /** Bytes of its weights. */
  readonly size: number;
  /** The digest of its weights, `sha256:` and 64 hexadecimal digits. */
  readonly weights: string;
  readonly template: string;
  readonly system?: string;
  readonly license?: readonly string[];
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly messages?: readonly { readonly role: string; readonly content: string }[];
  readonly parent?: string;
}

/** A model that only chats where nothing else is said. */
export function practiceModel(model: Pick<PracticeModel, 'name'> & Partial<PracticeModel>): PracticeModel {
  return {
    capabilities: ['completion'],
    contextLength: 4096,
    size: 65_536,
    weights: digestOf(`weights of ${model.name}`),
    template: '{{ .Prompt }}',
    ...model,
  };
}

const turns = '{{ if .System }}{{ .System }}\n{{ end }}{{ range .Messages }}{{ .Content }}\n{{ end }}';

/** Editors send dozens of tools. A model that only quotes need not refuse them for their length. */
const window = { contextLength: 131_072, parameters: { num_ctx: 131_072 } };

/** The models that a newcomer finds installed. Their names say what they are. */
export function practiceModels(): readonly PracticeModel[] {
  return [
    practiceModel({
      name: 'practice:latest',
      capabilities: ['completion', 'tools', 'insert', 'thinking'],
      template: `${turns}{{ if .Suffix }}{{ .Prompt }}{{ .Suffix }}{{ end }}{{ .Tools }}{{ .Think }}`,
      ...window,
    }),
    practiceModel({ name: 'practice-plain:latest', template: turns, ...window }),
  ];
}

/** The models that a newcomer can pull. They are small enough to watch a download from start to end. */
export function practiceCatalog(): readonly PracticeModel[] {
  const guest = practiceModel({
    name: 'practice-guest:latest',
    capabilities: ['completion', 'tools'],
    size: 8 * 1024 * 1024,
    template: turns,
    license: ['MIT'],
    ...window,
  });
  return [...practiceModels(), guest];
}

export interface Layer {
  readonly digest: string;
  readonly size: number;
}

/** The blobs of a model, in the order of its manifest. The last is its configuration. */
export function layersOf(model: PracticeModel): readonly Layer[] {
  const { name, capabilities, template, license, system, parameters, messages } = model;
  const texts = [
    template,
    license?.join('\n'),
    system,
    parameters && JSON.stringify(parameters),
    messages && JSON.stringify(messages),
    JSON.stringify([name, capabilities]),
  ];
  const written = texts.flatMap((text) =>
    text ? [{ digest: digestOf(text), size: Buffer.byteLength(text) }] : [],
  );
  return [{ digest: model.weights, size: model.size }, ...written];
}

/** The digest of the manifest: 64 digits without `sha256:`, as lists show it. */
export function manifestDigest(model: PracticeModel): string {
  const layers = layersOf(model).map(({ digest }) => digest);
  return digestOf(layers.join()).slice('sha256:'.length);
}

function digestOf(content: string): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}

/** The path at which a real runner keeps a blob. A practice runner keeps none, but its texts name such paths. */
export function blobPath(digest: string): string {
  return `/models/blobs/${digest.replace(':', '-')}`;
}

/** The spellings of a model's name, with its defaults filled in. */
export interface ModelName {
  /** With host and namespace, as in error messages. */
  readonly full: string;
  /** As in the runner's lists: the shortest one, but always with its tag. */
  readonly short: string;
  /** Equal for every spelling of one model. */
  readonly key: string;
}

const form =
  /^(?:\w+:\/\/)?(?:(?:(\w[\w.:-]{0,349})\/)?(\w[\w-]{0,79})\/)?(\w[\w.-]{0,79})(?::(\w[\w.-]{0,79}))?$/;

/** Reads `[scheme://][host/][namespace/]model[:tag]`; undefined if the name does not follow the grammar. */
export function tryModelName(raw: string): ModelName | undefined {
  const [found, host = 'registry.ollama.ai', namespace = 'library', model, tag = 'latest'] =
    form.exec(raw) ?? [];
  if (found === undefined) return undefined;
  const full = `${host}/${namespace}/${model}:${tag}`;
  return { full, short: full.replace(/^registry\.ollama\.ai\/(?:library\/)?/, ''), key: full.toLowerCase() };
}

export type InstalledModel = PracticeModel & { readonly modifiedAt: number };

export class ModelStore {
  /** The digests of what was downloaded or uploaded, or is part of a model. */
  readonly blobs = new Set<string>();
  /** How many bytes of a blob an interrupted pull has downloaded. */
  readonly parts = new Map<string, number>();
  readonly #installed = new Map<string, InstalledModel>();

  constructor(
    models: readonly PracticeModel[],
    private readonly now: () => number,
  ) {
    // The first is the newest, so clients use it if the user has chosen none. They look at whole seconds.
    const created = now();
    for (const [index, model] of models.entries()) this.install(model, created - index * 1_000);
  }

  list(): readonly InstalledModel[] {
    return [...this.#installed.values()].sort((a, b) => b.modifiedAt - a.modifiedAt);
  }

  find(name: string): InstalledModel | undefined {
    return this.#installed.get(keyOf(name));
  }

  /** Installs a model. It replaces a model with the same name in any spelling, but the old spelling stays. */
  install(model: PracticeModel, modifiedAt = this.now()): void {
    const parsed = tryModelName(model.name);
    if (!parsed) throw new TypeError(`"${model.name}" is no model name.`);
    const name = this.#installed.get(parsed.key)?.name ?? parsed.short;
    this.#installed.set(parsed.key, { ...model, name, modifiedAt });
    for (const { digest } of layersOf(model)) this.blobs.add(digest);
  }

  remove(name: string): boolean {
    return this.#installed.delete(keyOf(name));
  }
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
