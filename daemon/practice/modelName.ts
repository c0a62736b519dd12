/** A model's name with its defaults filled in, in its original spelling. */
export interface ModelName {
  readonly scheme: string;
  readonly host: string;
  readonly namespace: string;
  readonly model: string;
  readonly tag: string;
}

const defaults = { scheme: 'https', host: 'registry.ollama.ai', namespace: 'library', tag: 'latest' };
const hostPart = /^\w[\w.:-]{0,349}$/;
const namespacePart = /^\w[\w-]{0,79}$/;
const modelPart = /^\w[\w.-]{0,79}$/;

/** Reads `[scheme://][host/][namespace/]model[:tag]`; undefined if the name does not follow the grammar. */
export function tryModelName(raw: string): ModelName | undefined {
  const [, scheme = defaults.scheme, rest = ''] = /^(?:(\w+):\/\/)?(.*)$/s.exec(withoutLocal(raw)) ?? [];
  const slash = rest.lastIndexOf('/');
  const colon = rest.lastIndexOf(':');
  const path = colon > slash ? rest.slice(0, colon) : rest;
  const tag = colon > slash ? rest.slice(colon + 1) : defaults.tag;
  const [model = '', namespace = defaults.namespace, host = defaults.host, ...more] = path
    .split('/')
    .reverse();
  const valid =
    more.length === 0 &&
    modelPart.test(model) &&
    modelPart.test(tag) &&
    namespacePart.test(namespace) &&
    hostPart.test(host);
  return valid ? { scheme, host, namespace, model, tag } : undefined;
}

/** The form in the runner's lists: the shortest one, but always with its tag. */
export function displayName(name: ModelName): string {
  const ownHost = name.host === defaults.host;
  const ownNamespace = ownHost && name.namespace === defaults.namespace;
  const path = [...(ownHost ? [] : [name.host]), ...(ownNamespace ? [] : [name.namespace]), name.model];
  return `${path.join('/')}:${name.tag}`;
}

/** The form in error messages: with host and namespace. */
export function fullName(name: ModelName): string {
  return `${name.host}/${name.namespace}/${name.model}:${name.tag}`;
}

/** A key that is equal for every spelling of one model. */
export function nameKey(name: ModelName): string {
  return fullName(name).toLowerCase();
}

/** Whether the part after the last colon refers to ollama.com: `m:cloud`, `m:20b:cloud`, `m:20b-cloud`. */
export function isCloudName(raw: string): boolean {
  const colon = raw.lastIndexOf(':');
  return colon !== -1 && /^(?:.*-)?cloud$/i.test(raw.slice(colon + 1).trim());
}

/** The name under which the stub of a cloud model is installed: `m:20b:cloud` is `m:20b-cloud`. */
export function stubName(raw: string): string {
  return raw.trim().replace(/(:[^:/]+):cloud$/i, '$1-cloud');
}

function withoutLocal(raw: string): string {
  return stubName(raw).replace(/:local$/i, '');
}
