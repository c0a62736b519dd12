import { createHash } from 'node:crypto';
import { isRecord } from '../../protocol/base/json.ts';
import { answerEmpty, answerJson, type Exchange } from './exchange.ts';
import { ApiFailure, badRequest } from './failure.ts';
import { blobPath, type Layer, layersOf, type PracticeModel } from './model.ts';
import { tryModelName } from './modelName.ts';
import type { InstalledModel } from './modelStore.ts';
import { answerProgress, pullLines } from './pull.ts';
import { type Fields, listOf, parseBody, readFields, type Struct, textOf } from './requestBody.ts';

const createRequest: Struct = {
  name: 'CreateRequest',
  fields: {
    model: 'string',
    name: 'string',
    from: 'string',
    stream: 'bool',
    quantize: 'string',
    files: 'object',
    adapters: 'object',
    draft_files: 'object',
    info: 'object',
    remote_host: 'string',
    template: 'string',
    system: 'string',
    license: 'any',
    parameters: 'object',
    messages: 'array',
    renderer: 'string',
    parser: 'string',
    requires: 'string',
  },
};

export function create(exchange: Exchange): Promise<void> {
  const fields = readFields(parseBody(exchange.text), createRequest);
  const name = textOf(fields['model']) || textOf(fields['name']);
  if (!tryModelName(name)) throw badRequest('invalid model name');
  for (const file of Object.keys(recordOf(fields['files'])))
    if (/^[/\\]|^[a-z]:|(^|[/\\])\.\.([/\\]|$)/i.test(file)) throw badRequest('file path must be relative');
  return answerProgress(exchange, fields, createLines(exchange, name, fields));
}

async function* createLines(exchange: Exchange, name: string, fields: Fields): AsyncGenerator<object> {
  const { store, clock } = exchange.runner;
  if (fields['remote_host'] !== undefined) {
    yield { status: 'writing manifest' };
    store.install(remoteStub(name, fields));
    return yield { status: 'success' };
  }
  const base = yield* baseLines(exchange, fields);
  checkTemplate(textOf(fields['template']));
  const model: PracticeModel = { ...base, ...changesOf(base, fields), name, modifiedAt: clock.now() };
  const before = new Set(layersOf(base).map(({ digest }) => digest));
  const layers = layersOf(model).filter(({ kind }) => kind !== 'config');
  const kept = layers.filter(({ digest }) => before.has(digest));
  const added = layers.filter(({ digest }) => !before.has(digest));
  for (const { digest } of kept) yield { status: `using existing layer ${digest}` };
  for (const layer of added) yield { status: `${origin(exchange, layer)} ${layer.digest}` };
  yield { status: 'writing manifest' };
  store.install(model);
  yield { status: 'success' };
}

/** The model that the new one starts from. It is pulled if it is not installed. */
async function* baseLines(exchange: Exchange, fields: Fields): AsyncGenerator<object, PracticeModel> {
  const { store } = exchange.runner;
  const from = textOf(fields['from']);
  if (from === '') return yield* fileLines(exchange, recordOf(fields['files']));
  const parent = store.find(from) ?? (yield* pulledParent(exchange, from));
  return { ...parent, parent: parent.name };
}

async function* pulledParent(exchange: Exchange, from: string): AsyncGenerator<object, InstalledModel> {
  const name = tryModelName(from);
  if (!name) throw badRequest('invalid model name');
  yield* pullLines(exchange, name, { insecure: false });
  const parent = exchange.runner.store.find(from);
  if (!parent) throw new ApiFailure(500, 'pull model manifest: file does not exist');
  return parent;
}

async function* fileLines(
  { runner }: Exchange,
  files: Readonly<Record<string, unknown>>,
): AsyncGenerator<object, PracticeModel> {
  const [digest] = Object.values(files).map(textOf);
  if (digest === undefined) throw badRequest("neither 'from' or 'files' was specified");
  if (digest === '') throw badRequest('invalid digest format');
  yield { status: 'parsing GGUF' };
  if (!runner.store.hasBlob(digest))
    throw new ApiFailure(500, `open ${blobPath(digest)}: no such file or directory`);
  return { name: '', weights: digest, parent: blobPath(digest) };
}

function changesOf(base: PracticeModel, fields: Fields): Partial<PracticeModel> {
  const { template, system, parameters, messages, license } = fields;
  const turns = listOf(messages).filter(isRecord);
  const licenses = (Array.isArray(license) ? license : [license]).map(textOf).filter(Boolean);
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

function remoteStub(name: string, fields: Fields): PracticeModel {
  const { capabilities, context_length: contextLength } = recordOf(fields['info']);
  const known = ['completion', 'tools', 'thinking', 'vision', 'insert', 'embedding'] as const;
  return {
    name,
    remote: { host: textOf(fields['remote_host']), model: textOf(fields['from']) || name },
    capabilities: known.filter((one) => listOf(capabilities).includes(one)),
    ...(typeof contextLength === 'number' ? { contextLength } : {}),
  };
}

/** A blob that other models share is not created again. */
function origin({ runner }: Exchange, { digest }: Layer): string {
  return runner.store.hasBlob(digest) ? 'using existing layer' : 'creating new layer';
}

function checkTemplate(template: string): void {
  const empty = /\{\{-?\s*(if|range|with)\s*-?\}\}/.exec(template)?.[1];
  if (empty) throw badRequest(`template error: template: :1: missing value for ${empty}`);
  if (/\{\{(?:(?!\}\}).)*$/s.test(template))
    throw badRequest('template error: template: :1: unclosed action');
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

const digestForm = /^sha256[:-][0-9a-f]{64}$/;

export function blobExists({ response, runner, tail }: Exchange): void {
  const digest = parseDigest(tail);
  if (!runner.store.hasBlob(digest)) {
    answerJson(response, { error: `blob ${JSON.stringify(digest)} not found` }, { status: 404 });
    return;
  }
  response.writeHead(200);
  response.end();
}

/** Takes the raw bytes and checks their digest, but keeps only the fact that they were uploaded. */
export async function uploadBlob({ incoming, response, runner, request, tail }: Exchange): Promise<void> {
  const digest = parseDigest(tail);
  if (runner.store.hasBlob(digest)) {
    incoming.resume();
    answerEmpty(response, 200);
    return;
  }
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of incoming) {
    hash.update(chunk);
    size += chunk.length;
  }
  request.body = `${size} bytes`;
  const got = `sha256:${hash.digest('hex')}`;
  if (got !== digest) throw badRequest(`digest mismatch, expected "${digest}", got "${got}"`);
  runner.store.addBlob(digest, size);
  answerEmpty(response, 201);
}

function parseDigest(tail: string): string {
  if (!digestForm.test(tail)) throw badRequest('invalid digest format');
  return tail.replace('-', ':');
}
