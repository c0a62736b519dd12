import type { Readable } from 'node:stream';
import { withoutUndefined } from '../../protocol/base/withoutUndefined.ts';
import { RunnerError } from '../base/errors.ts';
import { failureOfErrorLine, type Subject } from './failure.ts';
import type { Transport } from './transport.ts';
import {
  type ChatLine,
  type GenerateLine,
  keepAliveToWire,
  parseChatLine,
  parseGenerateLine,
  parseModels,
  parseShow,
  parseWorkLine,
  tryVersion,
  type WireList,
  type WireModel,
  type WireShow,
  type WorkLine,
} from './wire.ts';

/** One configured runner: its name and its address. Its secret is looked up by origin. */
export interface Server {
  readonly name: string;
  /** Base address without a trailing slash. */
  readonly url: string;
  readonly caFile?: string;
}

/** The body of `/api/chat`, with the runner's own field names. */
export interface ChatRequestBody {
  readonly model: string;
  readonly messages: readonly unknown[];
  readonly [key: string]: unknown;
}

/** The body of `/api/generate`, with the runner's own field names. */
export interface GenerateRequestBody {
  readonly model: string;
  readonly prompt: string;
  readonly [key: string]: unknown;
}

/** The body of `/api/create`, with the runner's own field names. */
export interface CreateRequestBody {
  readonly model: string;
  readonly [key: string]: unknown;
}

export interface LoadOptions {
  /** Seconds or a duration; 0 unloads. */
  readonly keepAlive?: string | number;
  /** Tokens of the window to allocate. */
  readonly contextLength?: number;
}

/** A file's bytes on their way to the runner. */
export interface Upload {
  readonly bytes: number;
  readonly stream: Readable;
}

/**
 * The runner's API: one method for each route, with validated answers. Failures are `RunnerError`s; an abort is thrown
 * unchanged.
 */
export interface RunnerClient {
  readonly server: Server;
  version(signal: AbortSignal): Promise<string | undefined>;
  tags(signal: AbortSignal): Promise<WireList>;
  ps(signal: AbortSignal): Promise<readonly WireModel[]>;
  show(model: string, signal: AbortSignal): Promise<WireShow>;
  /** Streams an answer, one batch of lines for each read. Throws unless the last line is `done`. */
  chat(body: ChatRequestBody, signal: AbortSignal): AsyncGenerator<readonly ChatLine[]>;
  /**
   * Streams a text that continues a prompt or fills the gap before its suffix. Throws unless the last line is `done`.
   */
  generate(body: GenerateRequestBody, signal: AbortSignal): AsyncGenerator<readonly GenerateLine[]>;
  /** Loads a model by a chat without messages, and unloads it with a `keepAlive` of 0. */
  load(model: string, options: LoadOptions, signal: AbortSignal): Promise<void>;
  /** The same for a model that only embeds. */
  loadEmbedding(model: string, options: LoadOptions, signal: AbortSignal): Promise<void>;
  /** `DELETE /api/ps/<model>`, which not every runner knows. */
  stop(model: string, signal: AbortSignal): Promise<void>;
  delete(model: string, signal: AbortSignal): Promise<void>;
  /** Streams the progress of a download. Throws unless the last line is `success`. */
  pull(model: string, signal: AbortSignal): AsyncGenerator<readonly WorkLine[]>;
  /** Streams the progress of a creation. Throws unless the last line is `success`. */
  create(body: CreateRequestBody, signal: AbortSignal): AsyncGenerator<readonly WorkLine[]>;
  /** Whether the runner has the bytes of this digest (`sha256:` and 64 hexadecimal digits). */
  hasBlob(digest: string, signal: AbortSignal): Promise<boolean>;
  uploadBlob(digest: string, upload: Upload, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export function createRunnerClient(server: Server, transport: Transport): RunnerClient {
  const get = (path: string, signal: AbortSignal) => transport.json({ method: 'GET', path, signal });

  /**
   * Yields lines up to the one that ends the stream. An error line is a failure, and so is an end without that line.
   */
  async function* linesUntil<T extends { readonly error?: string }>(
    { path, body, wait }: { path: string; body: { model: string }; wait: 'firstByte' | 'work' },
    { parse, isLast }: { parse: (value: unknown) => T; isLast: (line: T) => boolean },
    signal: AbortSignal,
  ): AsyncGenerator<readonly T[]> {
    const { model } = body;
    const request = { method: 'POST' as const, path, body: { ...body, stream: true }, model, signal, wait };
    for await (const batch of transport.lines(request)) {
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

  const work = (path: string, body: CreateRequestBody, signal: AbortSignal) =>
    linesUntil(
      { path, body, wait: 'work' },
      {
        parse: (value) => withoutSecrets(parseWorkLine(value), transport.subject()),
        isLast: ({ status }) => status === 'success',
      },
      signal,
    );

  /** Sends a request about a model. The content of the answer does not matter. */
  const send = async (
    request: { method: 'POST' | 'DELETE'; path: string; body?: object; wait?: 'firstByte' },
    model: string,
    signal: AbortSignal,
  ): Promise<void> => {
    await transport.text({ ...request, model, signal });
  };

  return {
    server,
    version: async (signal) => tryVersion(await get('/api/version', signal)),
    tags: async (signal) => parseModels(await get('/api/tags', signal)),
    ps: async (signal) => parseModels(await get('/api/ps', signal)).models,
    show: async (model, signal) =>
      parseShow(await transport.json({ method: 'POST', path: '/api/show', body: { model }, model, signal })),
    chat: (body, signal) =>
      linesUntil(
        { path: '/api/chat', body, wait: 'firstByte' },
        { parse: parseChatLine, isLast: ({ done }) => done },
        signal,
      ),
    generate: (body, signal) =>
      linesUntil(
        { path: '/api/generate', body, wait: 'firstByte' },
        { parse: parseGenerateLine, isLast: ({ done }) => done },
        signal,
      ),
    load: async (model, options, signal) => {
      const body = { model, messages: [], stream: false, ...loadOptionsToWire(options) };
      await transport.json({ method: 'POST', path: '/api/chat', body, wait: 'firstByte', model, signal });
    },
    loadEmbedding: async (model, options, signal) => {
      const body = { model, input: '', ...loadOptionsToWire(options) };
      await transport.json({ method: 'POST', path: '/api/embed', body, wait: 'firstByte', model, signal });
    },
    stop: (model, signal) =>
      send({ method: 'DELETE', path: `/api/ps/${encodeURIComponent(model)}` }, model, signal),
    delete: (model, signal) =>
      send({ method: 'DELETE', path: '/api/delete', body: { model } }, model, signal),
    pull: (model, signal) => work('/api/pull', pullBody(model), signal),
    create: (body, signal) => work('/api/create', body, signal),
    async hasBlob(digest, signal) {
      try {
        await transport.text({ method: 'HEAD', path: `/api/blobs/${digest}`, signal });
        return true;
      } catch (error) {
        if (error instanceof RunnerError && error.status === 404) return false;
        throw error;
      }
    },
    async uploadBlob(digest, upload, signal) {
      const path = `/api/blobs/${digest}`;
      await transport.text({ method: 'POST', path, upload, wait: 'work', signal });
    },
    close: () => transport.close(),
  };
}

/** The status of a work line is free text of the runner, so it may hold a secret. */
function withoutSecrets(line: WorkLine, { redact }: Subject): WorkLine {
  return line.status === undefined ? line : { ...line, status: redact(line.status) };
}

function loadOptionsToWire({ keepAlive, contextLength }: LoadOptions): object {
  return withoutUndefined({
    keep_alive: keepAlive === undefined ? undefined : keepAliveToWire(keepAlive),
    options: contextLength === undefined ? undefined : { num_ctx: contextLength },
  });
}

/** A registry on this machine may use plain http if the name says so. */
function pullBody(model: string): CreateRequestBody {
  const isLocal = /^http:\/\/(127\.\d+\.\d+\.\d+|localhost|\[::1\])(:\d+)?\//i.test(model);
  return isLocal ? { model, insecure: true } : { model };
}

const endedEarly =
  'The runner ended its answer too early. Ask again; if it happens again, look at the runner log.';
