import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import {
  ApiFailure,
  badRequest,
  countTokens,
  type Fields,
  type HttpAnswer,
  listOf,
  nameIn,
  type Practice,
  recordOf,
  textOf,
} from '../../../daemon/practice/exchange.ts';
import { readInference } from '../../../daemon/practice/inference.ts';
import { type PracticeCapability, tryModelName } from '../../../daemon/practice/model.ts';
import { isRecord } from '../../../protocol/base/json.ts';
import { escapeMarkup } from '../../../protocol/base/text.ts';
import { extrasOf, listedEntry, shownDetails, toPracticeModel } from './standInModel.ts';

export interface Asked {
  readonly practice: Practice;
  readonly fields: Fields;
  /** The last part of the path. */
  readonly tail: string;
}

type OllamaRoute = (asked: Asked) => HttpAnswer | undefined;

/**
 * What a real runner, ollama.com and the specification have beside the practice runner, or have otherwise, by method
 * and path. A route that answers nothing leaves the request to the practice runner.
 */
export const ollamaRoutes: Readonly<Record<string, OllamaRoute>> = {
  'GET /api/status': () => ({ json: { cloud: { disabled: false, source: 'none' } } }),
  'GET /api/tags': ({ practice }) => ({ json: { models: practice.store.list().map(listedEntry) } }),
  'POST /api/show': ({ practice: { store }, fields }) => {
    const model = store.find(nameIn(fields));
    return model && { json: shownDetails(model) };
  },
  'POST /api/chat': (asked) => refuseFormat(asked) ?? refuseAsRemote(asked),
  'POST /api/pull': refusePlainHttp,
  'POST /api/create': createStub,
  'POST /api/copy': copyModel,
  'POST /api/embed': embed,
  'GET /library': libraryPage,
  'GET /library/*': libraryPage,
};

const known: Readonly<Record<string, string>> = {
  ...pathsFor('GET', '/ /api/version /api/status /api/tags /api/ps /library'),
  ...pathsFor('POST', '/api/show /api/generate /api/chat /api/embed /api/pull /api/create /api/copy'),
  ...pathsFor('DELETE', '/api/delete'),
};

function pathsFor(method: string, paths: string): Readonly<Record<string, string>> {
  return Object.fromEntries(paths.split(' ').map((path) => [path, method]));
}

/** Another method of a known path, and a known path with a slash at its end. */
export function answerElsewhere(
  method: string,
  path: string,
  response: ServerResponse,
): HttpAnswer | undefined {
  const allowed = known[path];
  if (allowed !== undefined && allowed !== method) {
    response.setHeader('allow', allowed);
    return { text: '405 method not allowed', status: 405 };
  }
  const location = path.replace(/\/$/, '');
  if (location === path || known[location] !== method) return undefined;
  response.setHeader('location', location);
  if (method !== 'GET') return { text: '', status: 307 };
  const text = `<a href="${location}">Moved Permanently</a>.\n\n`;
  return { text, status: 301, contentType: 'text/html; charset=utf-8' };
}

/** The route of the specification that stops a model. A real runner does not have it. */
export function stopModel({ practice, tail }: Asked): HttpAnswer {
  const model = practice.store.find(tail);
  if (!model) throw new ApiFailure(404, `model '${tail}' not found`);
  practice.loaded.unload(model);
  return { json: {} };
}

function refuseFormat({ fields: { format } }: Asked): HttpAnswer | undefined {
  if (format === undefined || format === '' || format === 'json' || isRecord(format)) return undefined;
  const shown = JSON.stringify(JSON.stringify(format));
  const error = `invalid format: ${shown}; expected "json" or a valid JSON Schema object`;
  return { json: { error }, status: 500, contentType: 'application/json' };
}

/** A stub loads nothing: even an empty chat goes to its host, which refuses it. A cloud model has no host here. */
function refuseAsRemote({ practice: { store }, fields }: Asked): HttpAnswer | undefined {
  const name = textOf(fields['model']);
  const model = store.find(name);
  if (!model && /:(?:[^:]*-)?cloud$/i.test(name))
    throw new ApiFailure(
      502,
      'Post "https://ollama.com:443/api/chat": dial tcp: lookup ollama.com: no such host',
    );
  if (!model || !extrasOf(model).remote || listOf(fields['messages']).length > 0) return undefined;
  const json = { StatusCode: 400, Status: '400 Bad Request', error: 'messages must not be empty' };
  return { json, status: 400, contentType: 'application/x-ndjson' };
}

function refusePlainHttp({ fields }: Asked): HttpAnswer | undefined {
  const parsed = tryModelName(nameIn(fields));
  if (!parsed || !nameIn(fields).startsWith('http://') || fields['insecure'] === true) return undefined;
  const address = parsed.full.replace(/^([^/]+)\/(.+):(.+)$/, 'https://$1/v2/$2/manifests/$3');
  return {
    lines: (async function* () {
      yield { status: 'pulling manifest' };
      const text = `Get "${address}": http: server gave HTTP response to HTTPS client`;
      throw new ApiFailure(500, `pull model manifest: ${text}`);
    })(),
  };
}

function createStub({ practice: { store }, fields }: Asked): HttpAnswer | undefined {
  if (fields['remote_host'] === undefined) return undefined;
  const name = nameIn(fields);
  const { capabilities, context_length: contextLength } = recordOf(fields['info']);
  const known: readonly PracticeCapability[] = [
    'completion',
    'tools',
    'thinking',
    'vision',
    'insert',
    'embedding',
  ];
  const stub = {
    name,
    remote: { host: textOf(fields['remote_host']), model: textOf(fields['from']) || name },
    capabilities: known.filter((one) => listOf(capabilities).includes(one)),
    ...(typeof contextLength === 'number' ? { contextLength } : {}),
  };
  return {
    lines: (async function* () {
      yield { status: 'writing manifest' };
      store.install(toPracticeModel(stub));
      yield { status: 'success' };
    })(),
  };
}

function copyModel({ practice: { store }, fields }: Asked): HttpAnswer {
  const { source, destination } = fields;
  for (const [role, name] of Object.entries({ source, destination }))
    if (!tryModelName(textOf(name))) throw badRequest(`${role} ${JSON.stringify(textOf(name))} is invalid`);
  const model = store.find(textOf(source));
  if (!model) throw new ApiFailure(404, `model ${JSON.stringify(source)} not found`);
  store.install({ ...model, name: textOf(destination) });
  return { text: '' };
}

/** Numbers that say nothing about the meaning, but are the same for the same text. A vector's length is 1. */
function embed({ practice, fields }: Asked): HttpAnswer {
  const name = textOf(fields['model']);
  if (!practice.store.find(name))
    throw new ApiFailure(404, `model ${JSON.stringify(name)} not found, try pulling it first`);
  const { model, window, keepAlive, truncate } = readInference(practice, fields);
  const given = [fields['input'] ?? ''].flat();
  if (!given.every((one) => typeof one === 'string')) throw badRequest('invalid input type');
  const inputs = given.filter((one) => one !== '');
  practice.loaded.load(model, window, keepAlive);
  if (!truncate && inputs.some((input) => countTokens(input) > window))
    throw badRequest('the input length exceeds the context length');
  const { dimensions } = fields;
  const length = typeof dimensions === 'number' ? Math.min(320, dimensions) : 320;
  const metrics = {
    total_duration: 2_000,
    load_duration: 1_000,
    prompt_eval_count: countTokens(inputs.join('')),
  };
  const embeddings = inputs.map((input) => vectorOf(input, length));
  return { json: { model: name, embeddings, ...(inputs.length > 0 ? metrics : {}) } };
}

function vectorOf(text: string, length: number): readonly number[] {
  const bytes = createHash('sha256').update(text).digest();
  const vector = Array.from({ length }, (_, index) => (bytes[index % bytes.length] ?? 0) / 255 - 0.5);
  const size = Math.hypot(...vector);
  return vector.map((value) => Math.fround(value / size));
}

/** The library is a web page and not JSON, as on ollama.com: one link `/library/NAME` for each model. */
function libraryPage({ practice: { catalog }, tail }: Asked): HttpAnswer {
  const base = (name: string) => name.replace(/:[^/:]*$/, '');
  const entries = catalog.filter(({ name }) => tail === '' || base(name) === tail);
  const found = entries.length > 0 || tail === '';
  const items = entries.map(({ name, capabilities }) => {
    const marks = capabilities.map((one) => `<span x-test-capability>${one}</span>`);
    const shown = escapeMarkup(base(name));
    return `<li x-test-model><a href="/library/${shown}"><h2>${shown}</h2><p></p>${marks.join('')}</a></li>`;
  });
  const text = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Library</title></head><body>
<h1>${found ? 'Library' : 'Page not found'}</h1>
<ul role="list">
${items.join('\n')}
</ul>
</body></html>
`;
  return { text, status: found ? 200 : 404, contentType: 'text/html; charset=utf-8' };
}
