import { RunnerError } from '../errors.ts';
import { failureOfErrorLine } from './failure.ts';
import type { Transport } from './transport.ts';
import {
  type ChatLine,
  parseChatLine,
  parseModels,
  parseShow,
  parseVersion,
  type WireModel,
  type WireShow,
} from './wire.ts';

/** A runner server is a value: its name and its address. The secret is looked up by origin. */
export interface Server {
  readonly name: string;
  /** Base address without a trailing slash. */
  readonly url: string;
  readonly caFile?: string;
}

/** The body of `/api/chat`, in the runner's own words. */
export interface ChatRequestBody {
  readonly model: string;
  readonly messages: readonly unknown[];
  readonly [key: string]: unknown;
}

/** The runner's API, one method a route, answers validated. Failures are `RunnerError`s; an abort is thrown as it is. */
export interface RunnerClient {
  readonly server: Server;
  version(signal: AbortSignal): Promise<string | undefined>;
  tags(signal: AbortSignal): Promise<readonly WireModel[]>;
  ps(signal: AbortSignal): Promise<readonly WireModel[]>;
  show(model: string, signal: AbortSignal): Promise<WireShow>;
  /** Streams an answer, one batch of lines a read; the last line is `done`, else it throws. */
  chat(body: ChatRequestBody, signal: AbortSignal): AsyncGenerator<readonly ChatLine[]>;
  close(): Promise<void>;
}

export function createRunnerClient(server: Server, transport: Transport): RunnerClient {
  const get = (path: string, signal: AbortSignal) => transport.json({ method: 'GET', path, signal });

  async function* chat(body: ChatRequestBody, signal: AbortSignal): AsyncGenerator<readonly ChatLine[]> {
    const { model } = body;
    const subject = { url: server.url, server: server.name, model };
    for await (const batch of transport.lines({
      method: 'POST',
      path: '/api/chat',
      body: { ...body, stream: true },
      model,
      signal,
      wait: 'firstByte',
    })) {
      const lines = batch.map(parseChatLine);
      const last = lines.findIndex((line) => line.done || line.error !== undefined);
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
      throw failureOfErrorLine(ending.error, subject);
    }
    throw new RunnerError('bad-response', endedEarly, { details: { server: server.name, model } });
  }

  return {
    server,
    version: async (signal) => parseVersion(await get('/api/version', signal)),
    tags: async (signal) => parseModels(await get('/api/tags', signal)),
    ps: async (signal) => parseModels(await get('/api/ps', signal)),
    show: async (model, signal) =>
      parseShow(await transport.json({ method: 'POST', path: '/api/show', body: { model }, model, signal })),
    chat,
    close: () => transport.close(),
  };
}

const endedEarly =
  'The runner ended its answer before it was done. Ask again; if it stays, look into the runner log.';
