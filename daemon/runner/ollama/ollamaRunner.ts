import { isRecord, tryJson } from '../../../protocol/base/json.ts';
import { withoutUndefined } from '../../../protocol/base/withoutUndefined.ts';
import { RunnerError } from '../../base/errors.ts';
import { refusal } from '../abilities.ts';
import { parseStreamed } from '../http/answerBody.ts';
import { detailsOf, isKind, modelNotFound, type Subject } from '../http/answerFailure.ts';
import { type LineLimits, readTextLines } from '../http/textLines.ts';
import type { Look, Transport, TransportRequest } from '../http/transport.ts';
import type { LoadOptions, ModelCreation, Runner, Server, ServerFacts, WorkStep } from '../runner.ts';
import {
  type OrError,
  parseChatLine,
  parseGenerateLine,
  parseModels,
  parseShow,
  parseWorkLine,
  tryVersion,
} from './answers.ts';
import { failureOfErrorLine, ollamaErrors } from './errorTexts.ts';
import { chatBody, createBody, fillBody, loadBody, type OllamaModelBody, pullBody } from './requests.ts';

type OllamaRunner = Runner & Required<Pick<Runner, 'load' | 'unload' | 'remove' | 'pull' | 'creation'>>;

/** A server that speaks Ollama's API, in whole or in part. */
export function createOllamaRunner(
  server: Server,
  connection: Transport,
  product: 'ollama' | 'other' = 'ollama',
): OllamaRunner {
  const transport = connection.speaking(ollamaErrors);
  const get = (path: string, signal: AbortSignal) => transport.json({ method: 'GET', path, signal });

  /** Posts a body about its model. What the answer says does not matter. */
  const post = async (path: string, body: OllamaModelBody, signal: AbortSignal): Promise<void> => {
    await transport.json({ method: 'POST', path, body, wait: 'firstByte', model: body.model, signal });
  };

  /**
   * Yields lines up to the one that ends the stream. An error line is a failure, and so is an end without that line.
   */
  async function* linesUntil<T extends object>(
    { path, body, wait }: { path: string; body: OllamaModelBody; wait: 'firstByte' | 'work' },
    { parse, isLast }: { parse: (value: unknown) => OrError<T>; isLast: (line: T) => boolean },
    signal: AbortSignal,
  ): AsyncGenerator<readonly T[]> {
    const { model } = body;
    const request = { method: 'POST' as const, path, body: { ...body, stream: true }, model, signal, wait };
    for await (const batch of transport.stream(request, readJsonLines)) {
      const lines = batch.map(parse);
      const last = lines.findIndex((line) => isLast(line) || line.error !== undefined);
      const ending = lines[last];
      if (!ending) {
        yield lines;
        continue;
      }
      if (ending.error === undefined) {
        yield lines.slice(0, last + 1);
        return;
      }
      if (last > 0) yield lines.slice(0, last);
      throw failureOfErrorLine(ending.error, transport.subject(model));
    }
    throw new RunnerError('bad-response', endedEarly, { details: { server: server.name, model } });
  }

  const work = (path: string, body: OllamaModelBody, signal: AbortSignal) =>
    linesUntil<WorkStep>(
      { path, body, wait: 'work' },
      {
        parse: (value) => withoutSecrets(parseWorkLine(value), transport.subject()),
        isLast: ({ status }) => status === 'success',
      },
      signal,
    );

  /** By a chat without messages. */
  const loadChat = (model: string, options: LoadOptions, signal: AbortSignal) =>
    post('/api/chat', { model, messages: [], stream: false, ...loadBody(options) }, signal);
  const loadEmbedding = (model: string, options: LoadOptions, signal: AbortSignal) =>
    post('/api/embed', { model, input: '', ...loadBody(options) }, signal);
  /** Newer servers have a route for it. */
  const askToStop = createFallback(
    async (model: string, signal: AbortSignal) => {
      const path = `/api/ps/${encodeURIComponent(model)}`;
      await transport.text({ method: 'DELETE', path, model, signal });
    },
    (model, signal) => loadChat(model, { keepAlive: 0 }, signal),
  );

  const list = async (signal: AbortSignal) => parseModels(await get('/api/tags', signal));
  const missing = (model: string) => {
    const subject = transport.subject(model);
    return modelNotFound(subject, model).with(detailsOf(subject));
  };
  const has = async (model: string, signal: AbortSignal): Promise<boolean> =>
    (await list(signal)).models.some(({ name }) => withTag(name) === withTag(model));
  /** It lacks the routes that say what runs and what a model can do, so it is not taken to have the rest either. */
  let isPartial = product === 'other';

  let examining: Promise<unknown> | undefined;
  const running = async (signal: AbortSignal) => {
    try {
      return parseModels(await get('/api/ps', signal)).models;
    } catch (error) {
      if (!isNoRoute(error)) throw error;
      isPartial = true;
      return [];
    }
  };

  return {
    server,
    get facts() {
      return isPartial ? { ...partialFacts, product } : ollamaFacts;
    },
    async identify(signal) {
      if (product === 'other') await list(signal);
      const version = product === 'other' ? undefined : tryVersion(await get('/api/version', signal));
      // Once, so that the first status does not promise what is missing. A request that needs it says what is wrong.
      examining ??= running(signal).catch(() => undefined);
      await examining;
      return withoutUndefined({ version });
    },
    list,
    running,
    async show(model, signal) {
      const path = '/api/show';
      try {
        return parseShow(await transport.json({ method: 'POST', path, body: { model }, model, signal }));
      } catch (error) {
        if (!isNoRoute(error)) throw error;
        const isListed = await has(model, signal).catch(() => undefined);
        if (isListed === false && !isKind(error, 'model-not-found')) throw missing(model);
        if (!isListed) throw error;
        isPartial = true;
        return { turns: 'written' };
      }
    },
    chat: (request, signal) =>
      linesUntil(
        { path: '/api/chat', body: chatBody(request), wait: 'firstByte' },
        { parse: parseChatLine, isLast: ({ done }) => done },
        signal,
      ),
    fill: (request, signal) =>
      linesUntil(
        { path: '/api/generate', body: fillBody(request), wait: 'firstByte' },
        { parse: parseGenerateLine, isLast: ({ done }) => done },
        signal,
      ),
    async load(model, options, signal) {
      if (options.onlyEmbeds) return loadEmbedding(model, options, signal);
      try {
        await loadChat(model, options, signal);
      } catch (error) {
        if (!isKind(error, 'not-supported')) throw error;
        await loadEmbedding(model, options, signal);
      }
    },
    unload: askToStop,
    async remove(model, signal) {
      await transport.text({ method: 'DELETE', path: '/api/delete', body: { model }, model, signal });
    },
    async *pull(model, signal) {
      try {
        yield* work('/api/pull', pullBody(model), signal);
      } catch (error) {
        if (!isPartial || !isNoRoute(error)) throw error;
        throw refusal({ facts: { ...partialFacts, product }, server }, 'pull');
      }
    },
    creation: createCreation(transport, (request, signal) =>
      work('/api/create', createBody(request), signal),
    ),
    close: () => transport.close(),
  };
}

const ollamaFacts: ServerFacts = {
  product: 'ollama',
  can: ['chat', 'complete', 'load', 'unload', 'pull', 'delete', 'create', 'embed', 'logs', 'catalog'],
};

/** What an imitation of Ollama can do, such as that of KoboldCpp, Lemonade or Docker Model Runner. */
const partialFacts: Omit<ServerFacts, 'product'> = {
  can: ['chat', 'complete'],
  hasFreeNames: true,
  triesUnknown: true,
};

function withTag(name: string): string {
  return `${name}${/:[^/]*$/.test(name) ? '' : ':latest'}`.toLowerCase();
}

type ModelAction = (model: string, signal: AbortSignal) => Promise<void>;

/** Does it in another way once the server has shown that it does not have the route for the first one. */
function createFallback(first: ModelAction, otherwise: ModelAction): ModelAction {
  let hasRoute = true;
  return async (model, signal) => {
    if (hasRoute) {
      try {
        return await first(model, signal);
      } catch (error) {
        if (!isNoRoute(error)) throw error;
        // A server that names the model has the route, and did not find the model among the loaded ones.
        if (!isKind(error, 'model-not-found')) hasRoute = false;
      }
    }
    await otherwise(model, signal);
  };
}

function createCreation(transport: Transport, create: ModelCreation['create']): ModelCreation {
  const send = (request: Omit<TransportRequest, 'path'>, digest: string) =>
    transport.text({ ...request, path: `/api/blobs/${digest}` });
  return {
    create,
    async hasBlob(digest, signal) {
      try {
        await send({ method: 'HEAD', signal }, digest);
        return true;
      } catch (error) {
        if (error instanceof RunnerError && error.status === 404) return false;
        throw error;
      }
    },
    async uploadBlob(digest, upload, signal) {
      await send({ method: 'POST', upload, wait: 'work', signal }, digest);
    },
  };
}

/** Only the status says so: some servers answer an unknown route with JSON, as they do for an unknown model. */
function isNoRoute(error: unknown): boolean {
  const statuses: readonly unknown[] = [404, 405, 501];
  return error instanceof RunnerError && statuses.includes(error.status);
}

/** The status of a work line is free text of the runner, so it may hold a secret. */
function withoutSecrets(line: OrError<WorkStep>, { redact }: Subject): OrError<WorkStep> {
  return { ...line, status: redact(line.status) };
}

const endedEarly =
  'The runner ended its answer too early. Ask again; if it happens again, look at the runner log.';

/** Whether Ollama answers, and how. Only the field proves it: others answer the path with status 200 as well. */
export async function lookForOllama(transport: Transport, signal: AbortSignal) {
  const answer: Look = await transport.look({ method: 'GET', path: '/api/version', signal });
  const value = answer.status === 200 ? tryJson(answer.text) : undefined;
  return { answer, isOllama: isRecord(value) && typeof value['version'] === 'string' };
}

/** Whether it has Ollama's list of models, although it does not say that it is Ollama. */
export async function hasOllamaList(transport: Transport, signal: AbortSignal): Promise<boolean> {
  const { text } = await transport.look({ method: 'GET', path: '/api/tags', limit: maxList, signal });
  const value = tryJson(text);
  return isRecord(value) && Array.isArray(value['models']);
}

/** The most bytes of a list that are read to recognise a server. */
const maxList = 4 * 1024 * 1024;

/**
 * Reads newline-delimited JSON. Blank lines are skipped. An empty batch says that the runner is still sending.
 * @throws {RunnerError} `bad-response` at a line that is not JSON, and at the limits of `readTextLines`.
 */
export async function* readJsonLines(
  body: AsyncIterable<Buffer>,
  limits?: LineLimits,
): AsyncGenerator<readonly unknown[]> {
  for await (const lines of readTextLines(body, limits)) {
    const values: unknown[] = [];
    for (const line of lines) if (line.trim() !== '') values.push(parseStreamed(line));
    if (values.length > 0 || lines.length === 0) yield values;
  }
}
