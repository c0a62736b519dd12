import { isRecord, tryJson, withoutUndefined } from '../../../protocol/base/json.ts';
import { isKind, RunnerError } from '../../base/errors.ts';
import { detailsOf, modelNotFound } from '../http/answerFailure.ts';
import { readJsonLines } from '../http/textStreams.ts';
import type { Look, Transport, TransportRequest } from '../http/transport.ts';
import {
  type ChatPart,
  type ChatRequest,
  type CreateRequest,
  type FillPart,
  type FillRequest,
  type Identity,
  type ListedModel,
  type LoadOptions,
  type ModelList,
  type Runner,
  refusal,
  type Server,
  type ServerFacts,
  type ShownModel,
  type Upload,
  type WorkStep,
} from '../runner.ts';
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

/** A server that speaks Ollama's API, in whole or in part. */
export class OllamaRunner implements Runner {
  readonly server: Server;
  readonly #transport: Transport;
  /** It lacks the routes that say what runs and what a model can do, so it is not taken to have the rest either. */
  #isPartial: boolean;
  /** False once the server has shown that it does not have the route with which newer ones unload a model. */
  #hasStopRoute = true;
  #examining: Promise<unknown> | undefined;

  constructor(
    connection: Transport,
    private readonly product: 'ollama' | 'other' = 'ollama',
  ) {
    this.server = connection.server;
    this.#transport = connection.speaking(ollamaErrors);
    this.#isPartial = product === 'other';
  }

  get facts(): ServerFacts {
    return this.#isPartial ? { ...partialFacts, product: this.product } : ollamaFacts;
  }

  async identify(signal: AbortSignal): Promise<Identity> {
    const isOther = this.product === 'other';
    if (isOther) await this.list(signal);
    const version = isOther ? undefined : tryVersion(await this.#get('/api/version', signal));
    // Once, so that the first status does not promise what is missing. A request that needs it says what is wrong.
    this.#examining ??= this.running(signal).catch(() => undefined);
    await this.#examining;
    return withoutUndefined({ version });
  }

  async list(signal: AbortSignal): Promise<ModelList> {
    return parseModels(await this.#get('/api/tags', signal));
  }

  async running(signal: AbortSignal): Promise<readonly ListedModel[]> {
    try {
      return parseModels(await this.#get('/api/ps', signal)).models;
    } catch (error) {
      if (!isNoRoute(error)) throw error;
      this.#isPartial = true;
      return [];
    }
  }

  async show(model: string, signal: AbortSignal): Promise<ShownModel> {
    const request = { method: 'POST', path: '/api/show', body: { model }, model, signal } as const;
    try {
      return parseShow(await this.#transport.json(request));
    } catch (error) {
      if (!isNoRoute(error)) throw error;
      const isListed = await this.#has(model, signal).catch(() => undefined);
      if (isListed === false && !isKind(error, 'model-not-found')) {
        const subject = this.#transport.subject(model);
        throw modelNotFound(subject, model).with(detailsOf(subject));
      }
      if (!isListed) throw error;
      this.#isPartial = true;
      return { turns: 'written' };
    }
  }

  chat(request: ChatRequest, signal: AbortSignal): AsyncGenerator<readonly ChatPart[]> {
    const sent = { path: '/api/chat', body: chatBody(request), wait: 'firstByte', signal } as const;
    return this.#linesUntil(sent, parseChatLine, ({ done }) => done);
  }

  fill(request: FillRequest, signal: AbortSignal): AsyncGenerator<readonly FillPart[]> {
    const sent = { path: '/api/generate', body: fillBody(request), wait: 'firstByte', signal } as const;
    return this.#linesUntil(sent, parseGenerateLine, ({ done }) => done);
  }

  async load(model: string, options: LoadOptions, signal: AbortSignal): Promise<void> {
    if (options.onlyEmbeds) return this.#loadEmbedding(model, options, signal);
    try {
      await this.#loadChat(model, options, signal);
    } catch (error) {
      if (!isKind(error, 'not-supported')) throw error;
      await this.#loadEmbedding(model, options, signal);
    }
  }

  async unload(model: string, signal: AbortSignal): Promise<void> {
    const path = `/api/ps/${encodeURIComponent(model)}`;
    if (this.#hasStopRoute)
      try {
        await this.#transport.text({ method: 'DELETE', path, model, signal });
        return;
      } catch (error) {
        if (!isNoRoute(error)) throw error;
        // A server that names the model has the route, and did not find the model among the loaded ones.
        if (!isKind(error, 'model-not-found')) this.#hasStopRoute = false;
      }
    await this.#loadChat(model, { keepAlive: 0 }, signal);
  }

  async remove(model: string, signal: AbortSignal): Promise<void> {
    await this.#transport.text({ method: 'DELETE', path: '/api/delete', body: { model }, model, signal });
  }

  async *pull(model: string, signal: AbortSignal): AsyncGenerator<readonly WorkStep[]> {
    try {
      yield* this.#work('/api/pull', pullBody(model), signal);
    } catch (error) {
      if (!this.#isPartial || !isNoRoute(error)) throw error;
      throw refusal(this, 'pull');
    }
  }

  create(request: CreateRequest, signal: AbortSignal): AsyncGenerator<readonly WorkStep[]> {
    return this.#work('/api/create', createBody(request), signal);
  }

  async hasBlob(digest: string, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#transport.text({ method: 'HEAD', path: `/api/blobs/${digest}`, signal });
      return true;
    } catch (error) {
      if (error instanceof RunnerError && error.status === 404) return false;
      throw error;
    }
  }

  async uploadBlob(digest: string, upload: Upload, signal: AbortSignal): Promise<void> {
    const path = `/api/blobs/${digest}`;
    await this.#transport.text({ method: 'POST', path, upload, wait: 'work', signal });
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  #get(path: string, signal: AbortSignal): Promise<unknown> {
    return this.#transport.json({ method: 'GET', path, signal });
  }

  /** Posts a body about its model. What the answer says does not matter. */
  async #post(path: string, body: OllamaModelBody, signal: AbortSignal): Promise<void> {
    await this.#transport.json({ method: 'POST', path, body, wait: 'firstByte', model: body.model, signal });
  }

  /** By a chat without messages. */
  #loadChat(model: string, options: LoadOptions, signal: AbortSignal): Promise<void> {
    return this.#post('/api/chat', { model, messages: [], stream: false, ...loadBody(options) }, signal);
  }

  #loadEmbedding(model: string, options: LoadOptions, signal: AbortSignal): Promise<void> {
    return this.#post('/api/embed', { model, input: '', ...loadBody(options) }, signal);
  }

  async #has(model: string, signal: AbortSignal): Promise<boolean> {
    const { models } = await this.list(signal);
    return models.some(({ name }) => withTag(name) === withTag(model));
  }

  #work(path: string, body: OllamaModelBody, signal: AbortSignal): AsyncGenerator<readonly WorkStep[]> {
    const { redact } = this.#transport.subject();
    // The status of a work line is free text of the runner, so it may hold a secret.
    const parse = (value: unknown) => {
      const line = parseWorkLine(value);
      return { ...line, status: redact(line.status) };
    };
    return this.#linesUntil(
      { path, body, wait: 'work', signal },
      parse,
      ({ status }) => status === 'success',
    );
  }

  /**
   * Yields lines up to the one that ends the stream. An error line is a failure, and so is an end without that line.
   */
  async *#linesUntil<T extends object>(
    sent: Pick<TransportRequest, 'path' | 'wait' | 'signal'> & { readonly body: OllamaModelBody },
    parse: (value: unknown) => OrError<T>,
    isLast: (line: OrError<T>) => boolean,
  ): AsyncGenerator<readonly T[]> {
    const { model } = sent.body;
    const request = { ...sent, method: 'POST', body: { ...sent.body, stream: true }, model } as const;
    for await (const batch of this.#transport.stream(request, readJsonLines)) {
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
      throw failureOfErrorLine(ending.error, this.#transport.subject(model));
    }
    throw new RunnerError('bad-response', endedEarly, { details: { server: this.server.name, model } });
  }
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

/** Only the status says so: some servers answer an unknown route with JSON, as they do for an unknown model. */
function isNoRoute(error: unknown): boolean {
  const statuses: readonly unknown[] = [404, 405, 501];
  return error instanceof RunnerError && statuses.includes(error.status);
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
