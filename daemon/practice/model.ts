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
