import { withoutUndefined } from '../../protocol/base/json.ts';
import { RunnerError } from '../base/errors.ts';
import type { Runner } from '../runner/runner.ts';

/** The parts of `[scheme://][host/][namespace/]model[:tag]`, as they were written. */
interface ModelName {
  readonly host?: string;
  readonly namespace?: string;
  readonly model: string;
  readonly tag?: string;
}

const hostPart = /^\w[\w.:-]{0,349}$/;
const namespacePart = /^\w[\w-]{0,79}$/;
const modelPart = /^\w[\w.-]{0,79}$/;

/**
 * Reads a model's name by the runner's own grammar, including the source suffixes `:cloud` and `:local`.
 * @throws {RunnerError} `invalid-request`, if the name does not follow the grammar.
 */
export function parseModelName(name: string): ModelName {
  const parsed = tryModelName(name);
  if (parsed) return parsed;
  throw new RunnerError(
    'invalid-request',
    `"${name.slice(0, 100)}" is not a model name. A name looks like "qwen3:8b" or "hf.co/owner/model:tag".`,
  );
}

/** More characters than any name has. */
const maxNameLength = 1_000;

/**
 * Refuses what cannot be the name of a model of this runner.
 * @throws {RunnerError} `invalid-request`.
 */
export function checkModelName({ facts }: Runner, name: string): void {
  if (facts.hasFreeNames) checkFreeName(name);
  else parseModelName(name);
}

/**
 * Refuses what no runner calls a model.
 * @throws {RunnerError} `invalid-request`.
 */
export function checkFreeName(name: string): void {
  if (name.trim() !== '' && name.length <= maxNameLength && !/\p{Cc}/u.test(name)) return;
  throw new RunnerError(
    'invalid-request',
    `"${name.slice(0, 100)}" is not a model name. Choose one of the installed models.`,
  );
}

/**
 * A key that is equal for all names of one model: in lower case, with the tag, without the default host and namespace.
 */
export function modelKey(name: string): string {
  const parsed = partsOf(name);
  if (!parsed) return name.toLowerCase();
  const { host, namespace, model, tag = 'latest' } = parsed;
  const ownHost = host === 'registry.ollama.ai' ? undefined : host;
  const ownNamespace = ownHost === undefined && namespace === 'library' ? undefined : namespace;
  const key = `${ownHost === undefined ? '' : `${ownHost}/`}${ownNamespace === undefined ? '' : `${ownNamespace}/`}${model}:${tag}`;
  return key.toLowerCase();
}

/** The parts of a name, or undefined if it does not follow the grammar. */
export function tryModelName(name: string): ModelName | undefined {
  const parts = partsOf(name);
  return parts && withoutUndefined(parts);
}

interface Parts {
  readonly host: string | undefined;
  readonly namespace: string | undefined;
  readonly model: string;
  readonly tag: string | undefined;
}

/** A list has thousands of names, each of which is read several times. */
function partsOf(name: string): Parts | undefined {
  const text = name.includes('://') ? name.replace(/^https?:\/\//i, '') : name;
  const { path, tag } = splitTag(withoutSource(text));
  const parts = path.split('/');
  const [model = '', namespace, host, ...more] = parts.reverse();
  const valid =
    more.length === 0 &&
    modelPart.test(model) &&
    (tag === undefined || modelPart.test(tag)) &&
    (namespace === undefined || namespacePart.test(namespace)) &&
    (host === undefined || hostPart.test(host));
  if (!valid) return undefined;
  return { model, tag, namespace, host };
}

/** `name:20b:cloud` is the stub `name:20b-cloud`; `name:20b:local` is `name:20b`. */
function withoutSource(text: string): string {
  if (!/:(?:cloud|local)$/i.test(text)) return text;
  const twoTags = /^(.*:[^:/]+):(cloud|local)$/i.exec(text);
  if (!twoTags) return text.replace(/:local$/i, '');
  return twoTags[2]?.toLowerCase() === 'cloud' ? `${twoTags[1]}-cloud` : (twoTags[1] ?? text);
}

/** The tag is after the last colon, if that is right of the last slash. */
function splitTag(text: string): { path: string; tag?: string } {
  const colon = text.lastIndexOf(':');
  if (colon === -1 || colon < text.lastIndexOf('/')) return { path: text };
  return { path: text.slice(0, colon), tag: text.slice(colon + 1) };
}

/** Names whose first part says too little. The whole name is the family. */
const wholeNames = ['gpt-oss', 'open-orca'];

/**
 * The family of a model: the model part of its name, up to the first hyphen and without the version. `llama3.2` and
 * `llama-guard` are `llama`; `qwen2.5vl` is `qwen`. A family is never a single character: `r1` stays `r1`, `x-large`
 * and `3-mini` keep their second part, and a model called `x` keeps its tag.
 */
export function familyOf(name: string): string {
  const model = modelPartOf(name).toLowerCase();
  const whole = wholeNames.find((known) => model === known || model.startsWith(`${known}-`));
  if (whole !== undefined) return whole;
  const [prefix = model] = /^[^-]+/.exec(model) ?? [];
  const letters = /^[^\W\d]+/.exec(prefix)?.[0] ?? '';
  const [longer = ''] = /^[^-]+-+[^-]+/.exec(model) ?? [];
  const candidates = [letters, prefix, longer, model, name.split('/').at(-1) ?? ''];
  return candidates.find(isFamily) ?? `${model}:latest`;
}

/** A single character says nothing. */
function isFamily(text: string): boolean {
  return [...text].length > 1;
}

/** A server may list a name that the grammar refuses; it gets a family all the same. */
function modelPartOf(name: string): string {
  return tryModelName(name)?.model ?? name.split('/').at(-1)?.split(':')[0] ?? name;
}

/**
 * Names of models that think. Thinking tags at the start of a line are recognised in their answers even if the server
 * does not report thinking. But a request asks for thinking only if the server reports it. Derived models keep these
 * words in their names, so short words match only between characters that are not letters or digits; the others match
 * anywhere.
 */
export const THINKING_MODEL_PATTERN =
  /think|reason|magistral|cogito|kimi|qwq|gpt-oss|(?:^|[^a-z0-9])(?:r1|qwen3(?!-?coder))(?:[^a-z0-9]|$)/i;

/** Whether a name alone says that the model thinks. */
export function isThinkingName(name: string): boolean {
  return THINKING_MODEL_PATTERN.test(name);
}
