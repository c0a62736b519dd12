import { createHash } from 'node:crypto';
import { isRecord } from '../../protocol/base/json.ts';
import {
  ApiFailure,
  badRequest,
  type Fields,
  fieldsOf,
  type HttpAnswer,
  listOf,
  nameIn,
  type Practice,
  type Request,
  recordOf,
  textOf,
} from './exchange.ts';
import {
  blobPath,
  type Layer,
  layersOf,
  type ModelName,
  type PracticeModel,
  practiceModel,
  tryModelName,
} from './model.ts';

export function pull(practice: Practice, request: Request): Promise<HttpAnswer> {
  const fields = fieldsOf(request);
  const name = tryModelName(nameIn(fields));
  if (!name) throw badRequest('invalid model name');
  return answerProgress(fields, pullLines(practice, name, request.signal));
}

/** Progress as lines, or only the last of them if no stream was requested. */
async function answerProgress({ stream }: Fields, lines: AsyncIterable<Fields>): Promise<HttpAnswer> {
  if (stream !== false) return { lines };
  let json = {};
  for await (const line of lines) json = line;
  return { json };
}

/** The lines of a pull, layer after layer. It continues where an earlier pull was interrupted. */
async function* pullLines(practice: Practice, name: ModelName, signal: AbortSignal): AsyncGenerator<Fields> {
  yield { status: 'pulling manifest' };
  const model = practice.catalog.find((one) => tryModelName(one.name)?.key === name.key);
  if (!model) throw new ApiFailure(500, 'pull model manifest: file does not exist');
  for (const layer of layersOf(model)) yield* layerLines(practice, layer, signal);
  yield { status: 'verifying sha256 digest' };
  yield { status: 'writing manifest' };
  practice.store.install({ ...model, name: name.full });
  yield { status: 'success' };
}

/** Bytes and milliseconds between two lines, as in a real runner. */
const step = { bytes: 262_144, time: 60 };

async function* layerLines(
  { store, clock }: Practice,
  { digest, size: total }: Layer,
  signal: AbortSignal,
): AsyncGenerator<Fields> {
  const line = { status: `pulling ${digest.slice(7, 19)}`, digest, total };
  if (store.blobs.has(digest)) return yield { ...line, completed: total };
  let completed = store.parts.get(digest) ?? 0;
  // A layer that arrives at once has no line without bytes.
  if (completed === 0 && total > step.bytes) yield line;
  while (completed < total) {
    await clock.delay(step.time, signal);
    completed = Math.min(total, Math.max(completed, store.parts.get(digest) ?? 0) + step.bytes);
    store.parts.set(digest, completed);
    yield { ...line, completed };
  }
  store.parts.delete(digest);
  store.blobs.add(digest);
}

export function create(practice: Practice, request: Request): Promise<HttpAnswer> {
  const fields = fieldsOf(request);
  const name = nameIn(fields);
  if (!tryModelName(name)) throw badRequest('invalid model name');
  return answerProgress(fields, createLines(practice, { name, fields, signal: request.signal }));
}

interface Creation {
  readonly name: string;
  readonly fields: Fields;
  readonly signal: AbortSignal;
}

async function* createLines(practice: Practice, creation: Creation): AsyncGenerator<Fields> {
  const { name, fields } = creation;
  const { store } = practice;
  const base = yield* baseLines(practice, creation);
  checkTemplate(textOf(fields['template']));
  const model: PracticeModel = { ...base, ...changesOf(base, fields), name };
  const before = new Set(layersOf(base).map(({ digest }) => digest));
  const layers = layersOf(model).slice(0, -1);
  const kept = layers.filter(({ digest }) => before.has(digest));
  for (const { digest } of new Set([...kept, ...layers]))
    yield { status: `${store.blobs.has(digest) ? 'using existing' : 'creating new'} layer ${digest}` };
  yield { status: 'writing manifest' };
  store.install(model);
  yield { status: 'success' };
}

/** The model that the new one starts from. It is pulled if it is not installed. */
async function* baseLines(
  practice: Practice,
  { fields, signal }: Creation,
): AsyncGenerator<Fields, PracticeModel> {
  const { store } = practice;
  const from = textOf(fields['from']);
  if (from === '') return yield* fileLines(practice, recordOf(fields['files']));
  const name = tryModelName(from);
  if (!name) throw badRequest('invalid model name');
  if (!store.find(from)) yield* pullLines(practice, name, signal);
  const parent = store.find(from);
  if (!parent) throw new ApiFailure(500, 'pull model manifest: file does not exist');
  return { ...parent, parent: parent.name };
}

async function* fileLines({ store }: Practice, files: Fields): AsyncGenerator<Fields, PracticeModel> {
  const [weights] = Object.values(files).map(textOf);
  if (!weights) throw badRequest("neither 'from' or 'files' was specified");
  yield { status: 'parsing GGUF' };
  if (!store.blobs.has(weights))
    throw new ApiFailure(500, `open ${blobPath(weights)}: no such file or directory`);
  return practiceModel({ name: '', weights, parent: blobPath(weights) });
}

function changesOf(base: PracticeModel, fields: Fields): Partial<PracticeModel> {
  const { template, system, parameters, messages, license } = fields;
  const turns = listOf(messages).filter(isRecord);
  const licenses = [license].flat().map(textOf).filter(Boolean);
  return {
    ...(template ? { template: textOf(template) } : {}),
    ...(system ? { system: textOf(system) } : {}),
    ...(parameters ? { parameters: { ...base.parameters, ...recordOf(parameters) } } : {}),
    ...(licenses.length > 0 ? { license: [...(base.license ?? []), ...licenses] } : {}),
    ...(turns.length > 0
      ? { messages: turns.map(({ role, content }) => ({ role: textOf(role), content: textOf(content) })) }
      : {}),
  };
}

function checkTemplate(template: string): void {
  const empty = /\{\{-?\s*(if|range|with)\s*-?\}\}/.exec(template)?.[1];
  if (empty) throw badRequest(`template error: template: :1: missing value for ${empty}`);
  if (/\{\{(?:(?!\}\}).)*$/s.test(template))
    throw badRequest('template error: template: :1: unclosed action');
}

export function blobExists({ store }: Practice, { path }: Request): HttpAnswer {
  const digest = digestIn(path);
  if (store.blobs.has(digest)) return { text: '' };
  return { json: { error: `blob ${JSON.stringify(digest)} not found` }, status: 404 };
}

/** Takes the raw bytes and checks their digest, but keeps only the fact that they were uploaded. */
export async function uploadBlob({ store }: Practice, { path, upload }: Request): Promise<HttpAnswer> {
  const digest = digestIn(path);
  const isThere = store.blobs.has(digest);
  const hash = createHash('sha256');
  for await (const chunk of upload) hash.update(chunk);
  if (isThere) return { text: '' };
  const got = `sha256:${hash.digest('hex')}`;
  if (got !== digest) throw badRequest(`digest mismatch, expected "${digest}", got "${got}"`);
  store.blobs.add(digest);
  return { text: '', status: 201 };
}

function digestIn(path: string): string {
  const [, digest] = /^\/api\/blobs\/(sha256[:-][0-9a-f]{64})$/.exec(path) ?? [];
  if (digest === undefined) throw badRequest('invalid digest format');
  return digest.replace('-', ':');
}
