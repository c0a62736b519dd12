import { isRecord, tryJson } from '../../../protocol/base/json.ts';
import { parseYamlMap } from '../../../protocol/base/yaml.ts';
import { parseAddress } from '../../../protocol/messages/settings.ts';

/** A model of a configuration of Continue that Runner can use. */
export interface ImportedModel {
  readonly name: string;
  /** As Runner writes addresses. */
  readonly url: string;
  /** The kind of server, such as `ollama`. */
  readonly provider: string;
  readonly roles: readonly string[];
  /** In tokens. */
  readonly contextLength?: number;
  /** It is for the server at `url`, and must be shown nowhere. */
  readonly key?: string;
}

export interface ContinueConfig {
  readonly models: readonly ImportedModel[];
  /** Globs of files in which nothing is completed. */
  readonly excluded: readonly string[];
  /** Completion is switched off. */
  readonly isCompletionOff: boolean;
  /** What Runner does not take over, and why, each a short clause. Never with a key. */
  readonly leftOut: readonly string[];
}

/** More than anybody writes. */
const maxModels = 100;

/**
 * Reads a `config.yaml` or a `config.json` of Continue. Only what Runner has too is taken, checked and bounded.
 * @throws {Error} with a sentence, if the text is neither.
 */
export function parseContinueConfig(text: string, kind: 'yaml' | 'json'): ContinueConfig {
  const config = kind === 'yaml' ? parseYamlMap(text, 'The configuration of Continue') : parseJson(text);
  const entries = kind === 'yaml' ? listOf(config['models']) : modelsOfJson(config);
  const read = entries.slice(0, maxModels).map(readModel);
  const options = [config['tabAutocompleteOptions'], ...entries.map((entry) => entry['autocompleteOptions'])];
  const kept = options.filter(isRecord);
  return {
    models: read.flatMap((one) => ('model' in one ? one.model : [])),
    excluded: [...new Set(kept.flatMap((one) => texts(one['disableInFiles'])))].slice(0, 50),
    isCompletionOff: kept.some((one) => String(one['disable']) === 'true'),
    leftOut: [
      ...new Set([
        ...read.flatMap(({ leftOut }) => leftOut),
        ...(entries.length > maxModels ? [`every model after the first ${maxModels}`] : []),
        ...others.filter(([key]) => !isNothing(config[key])).map(([, why]) => why),
      ]),
    ],
  };
}

function isNothing(value: unknown): boolean {
  return typeof value !== 'object' || value === null || Object.keys(value).length === 0;
}

/** Parts of a configuration that Runner does not take over. */
const others: readonly (readonly [key: string, why: string])[] = [
  ['mcpServers', 'MCP servers (the editor has its own: "MCP: Add Server")'],
  ['rules', 'rules'],
  ['prompts', 'prompts (keep them as files: "Runner: Use a Prompt")'],
  ['docs', 'documentation sites'],
];

function parseJson(text: string): Readonly<Record<string, unknown>> {
  const value = tryJson(text);
  if (!isRecord(value))
    throw new Error('The configuration of Continue is not valid JSON. Comments have no place in it.');
  return value;
}

type Entry = Readonly<Record<string, unknown>>;

/** The older file names the models of each purpose apart. */
function modelsOfJson(config: Entry): readonly Entry[] {
  const of = (key: string, role: string) =>
    [config[key]].flat().flatMap((entry) => (isRecord(entry) ? [{ ...entry, roles: [role] }] : []));
  return [
    ...of('models', 'chat'),
    ...of('tabAutocompleteModel', 'autocomplete'),
    ...of('embeddingsProvider', 'embed'),
  ];
}

interface ReadModel {
  readonly model?: ImportedModel;
  readonly leftOut: readonly string[];
}

/** Where servers of a kind answer if the configuration does not say; "" is none. */
const usualAddresses: ReadonlyMap<string, string> = new Map([
  ['ollama', 'http://127.0.0.1:11434'],
  ['lmstudio', 'http://127.0.0.1:1234'],
  ['llama.cpp', 'http://127.0.0.1:8080'],
  ['llamafile', 'http://127.0.0.1:8080'],
  ['vllm', 'http://127.0.0.1:8000'],
  ['docker', 'http://127.0.0.1:12434/engines'],
  ['openai', ''],
]);

function readModel(entry: Entry): ReadModel {
  const uses = line(entry['uses']);
  if (uses !== undefined) return { leftOut: [`${uses} (a block of Continue's hub)`] };
  const provider = line(entry['provider'])?.toLowerCase() ?? '';
  const name = line(entry['model']);
  const title = line(entry['name']) ?? line(entry['title']) ?? name ?? 'a model without a name';
  const usual = usualAddresses.get(provider);
  if (usual === undefined) return { leftOut: [`${title} (${provider || 'no provider'})`] };
  const address = line(entry['apiBase']) ?? usual;
  if (address === '') return { leftOut: [`${title} (${provider})`] };
  if (name === undefined) return { leftOut: [`${title} (no model is named)`] };
  try {
    return readAt(entry, { name, title, provider, url: parseAddress(address) });
  } catch {
    return { leftOut: [`${title} (its apiBase is no address)`] };
  }
}

interface ModelEntry extends Pick<ImportedModel, 'name' | 'provider' | 'url'> {
  readonly title: string;
}

function readAt(entry: Entry, { title, ...place }: ModelEntry): ReadModel {
  const options = isRecord(entry['defaultCompletionOptions']) ? entry['defaultCompletionOptions'] : {};
  const size = Number(options['contextLength'] ?? entry['contextLength']);
  const key = line(entry['apiKey']);
  // Such as `${{ secrets.KEY }}`; a server without keys often gets a word in its place.
  const isReference = key !== undefined && /^\$\{|^\{\{/.test(key);
  const hasKey = key !== undefined && !isReference && /^[\x21-\x7e]{8,}$/.test(key);
  return {
    model: {
      ...place,
      roles: texts(entry['roles']).length > 0 ? texts(entry['roles']) : ['chat'],
      ...(Number.isInteger(size) && size > 0 && size < 100_000_000 ? { contextLength: size } : {}),
      ...(hasKey ? { key } : {}),
    },
    leftOut: isReference ? [`the key of ${title} (it is kept elsewhere: "Runner: Set an Access Token")`] : [],
  };
}

function listOf(value: unknown): readonly Entry[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** A text of one line that can be a name; undefined if it is something else. */
function line(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  return text !== '' && text.length <= 300 && !/[\u0000-\u001f\u007f-\u009f]/.test(text) ? text : undefined;
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.flatMap((one) => line(one) ?? []) : [];
}
