import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { encodeJson } from './goFormats.ts';
import type { PracticeModel } from './model.ts';
import type { LoadedModels, ModelStore } from './modelStore.ts';
import type { RecordedRequest } from './requestLog.ts';
import type { Speaker } from './speech.ts';

/** What all exchanges with one practice runner share. */
export interface Runner {
  readonly store: ModelStore;
  readonly loaded: LoadedModels;
  readonly clock: Clock;
  /** The models that the library lists and a pull finds. */
  readonly catalog: readonly PracticeModel[];
  readonly speak: Speaker;
  readonly tokensPerSecond: number;
  /** Milliseconds between two lines of a pull's progress. */
  readonly pullStep: number;
  readonly stopRoute: boolean;
  readonly version: string;
}

/** One request and its answer. */
export interface Exchange {
  readonly runner: Runner;
  readonly incoming: IncomingMessage;
  readonly request: RecordedRequest;
  readonly response: ServerResponse;
  /** The body as text; empty for a blob, because a blob is never kept as a whole. */
  readonly text: string;
  /** The variable part of the path: a digest or a name. */
  readonly tail: string;
  /** Aborted when the client goes away, and when the runner closes. */
  readonly signal: AbortSignal;
  /** Speaks instead of the model. */
  readonly speak?: Speaker;
  /** Drops the connection like a broken network. It does not count as an abort by the client. */
  drop(): void;
}

export type Route = (exchange: Exchange) => Promise<void> | void;

const jsonType = 'application/json; charset=utf-8';

export function answerJson(
  response: ServerResponse,
  body: unknown,
  { status = 200, contentType = jsonType }: { readonly status?: number; readonly contentType?: string } = {},
): void {
  answerText(response, encodeJson(body), { status, contentType });
}

export function answerText(
  response: ServerResponse,
  text: string,
  {
    status = 200,
    contentType = 'text/plain',
  }: { readonly status?: number; readonly contentType?: string } = {},
): void {
  response.writeHead(status, { 'content-type': contentType, 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

export function answerEmpty(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-length': 0 });
  response.end();
}

/** What a script may use if it writes the bytes of an answer itself. */
export type RawExchange = Pick<Exchange, 'request' | 'response' | 'signal' | 'drop'>;

/** What a script does with a request: nothing, replace what the model says, or write the whole answer. */
export type Script = (
  request: RecordedRequest,
) =>
  | { readonly kind: 'speech'; readonly speak: Speaker }
  | { readonly kind: 'answer'; readonly write: (exchange: RawExchange) => Promise<void> }
  | undefined;

/** The time in milliseconds, and a wait that rejects when it is aborted. */
export interface Clock {
  now(): number;
  delay(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  delay: (milliseconds, signal) => wait(milliseconds, undefined, { signal }),
};
