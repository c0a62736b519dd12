import { createHash } from 'node:crypto';
import type { Speaker } from './speech.ts';

export type Capability =
  | 'completion'
  | 'tools'
  | 'insert'
  | 'vision'
  | 'embedding'
  | 'thinking'
  | 'image'
  | 'audio';

/**
 * A model of the practice runner: what the lists say about it, and what it says itself. Everything except the name has
 * a default.
 */
export interface PracticeModel {
  readonly name: string;
  /** Default: completion. */
  readonly capabilities?: readonly Capability[];
  /** True leaves the capabilities out of lists and details, as old servers do. */
  readonly old?: boolean;
  /** The model's own maximum, in tokens. Default 4096. */
  readonly contextLength?: number;
  /** Also its architecture. Default `practice`. */
  readonly family?: string;
  readonly families?: readonly string[] | null;
  readonly parameterSize?: string;
  readonly quantization?: string;
  /** Bytes of its weights. */
  readonly size?: number;
  /** The digest of its weights, `sha256:` and 64 hexadecimal digits. */
  readonly weights?: string;
  readonly template?: string;
  readonly system?: string;
  readonly license?: readonly string[];
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly messages?: readonly { readonly role: string; readonly content: string }[];
  readonly parent?: string;
  /** Set for a stub that forwards its work to another host. */
  readonly remote?: { readonly host: string; readonly model: string };
  readonly description?: string;
  /** Milliseconds since 1970. Default: the time of its installation. */
  readonly modifiedAt?: number;
  /** Default: quotes the project's documents. */
  readonly speak?: Speaker;
}

export interface Layer {
  readonly kind: 'model' | 'template' | 'system' | 'license' | 'params' | 'messages' | 'config';
  readonly digest: string;
  readonly size: number;
}

export function capabilitiesOf(model: PracticeModel): readonly Capability[] {
  return model.capabilities ?? ['completion'];
}

export function contextLengthOf(model: PracticeModel): number {
  return model.contextLength ?? 4096;
}

/** The blobs of a model, in the order of its manifest. A stub of a remote model has only its config. */
export function layersOf(model: PracticeModel): readonly Layer[] {
  const texts: readonly (readonly [Layer['kind'], string | undefined])[] = [
    ['template', model.template],
    ['license', model.license?.join('\n')],
    ['system', model.system],
    ['params', model.parameters && JSON.stringify(model.parameters)],
    ['messages', model.messages?.length ? JSON.stringify(model.messages) : undefined],
    ['config', JSON.stringify([model.name, model.family, model.capabilities, model.remote])],
  ];
  const weights: readonly Layer[] = model.remote
    ? []
    : [{ kind: 'model', digest: weightsOf(model), size: model.size ?? 65_536 }];
  return [...weights, ...texts.flatMap(([kind, text]) => (text ? [textLayer(kind, text)] : []))];
}

export function weightsOf(model: PracticeModel): string {
  return model.weights ?? digestOf(`weights of ${model.name}`);
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

function textLayer(kind: Layer['kind'], text: string): Layer {
  return { kind, digest: digestOf(text), size: Buffer.byteLength(text) };
}

const template = '{{ if .System }}{{ .System }}\n{{ end }}{{ range .Messages }}{{ .Content }}\n{{ end }}';

/** Editors send dozens of tools. A model that only quotes need not refuse them for their length. */
const window = { contextLength: 131_072, parameters: { num_ctx: 131_072 } };

/** The models that a newcomer finds installed. Their names say what they are. */
export const practiceModels: readonly PracticeModel[] = [
  {
    name: 'practice:latest',
    description:
      'Quotes the documents of this project; thinks, calls tools and completes words. No language model.',
    capabilities: ['completion', 'tools', 'insert', 'thinking'],
    ...window,
    template: `${template}{{ if .Suffix }}{{ .Prompt }}{{ .Suffix }}{{ end }}{{ .Tools }}{{ .Think }}`,
  },
  {
    name: 'practice-plain:latest',
    description: 'Quotes the documents of this project and does nothing else. No language model.',
    capabilities: ['completion'],
    ...window,
    template,
  },
];

/** The models that a newcomer can pull. They are small enough to watch a download from start to end. */
export const practiceCatalog: readonly PracticeModel[] = [
  ...practiceModels,
  {
    name: 'practice-guest:latest',
    description: 'A model to pull, run, stop and delete. It too only quotes documents.',
    capabilities: ['completion', 'tools'],
    size: 8 * 1024 * 1024,
    template,
    license: ['MIT'],
    ...window,
  },
];
