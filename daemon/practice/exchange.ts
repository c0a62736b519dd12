import { isRecord, tryJson } from '../../protocol/base/json.ts';
import type { InstalledModel, LoadedModels, ModelStore, PracticeModel } from './model.ts';

/** What a practice runner is made of. */
export interface Practice {
  readonly store: ModelStore;
  readonly loaded: LoadedModels;
  readonly catalog: readonly PracticeModel[];
  readonly speak: Speaker;
  readonly clock: PracticeClock;
}

/** The time in milliseconds since 1970, and a wait that rejects when it is aborted. */
export interface PracticeClock {
  now(): number;
  delay(milliseconds: number, signal: AbortSignal): Promise<void>;
}

/** A request without its connection. */
export interface Request {
  readonly method: string;
  readonly path: string;
  /** The body; empty for an upload, because a blob is never kept as a whole. */
  readonly text: string;
  readonly upload: AsyncIterable<Uint8Array>;
  /** Aborted when the client goes away, and when the runner closes. */
  readonly signal: AbortSignal;
}

/** One object, text, or a line of JSON for each object as it comes. */
export type HttpAnswer =
  | { readonly json: Fields; readonly status?: number; readonly contentType?: string }
  | { readonly text: string; readonly status?: number; readonly contentType?: string }
  | { readonly lines: AsyncIterable<Fields> };

export type ExchangeRoute = (request: Request) => HttpAnswer | Promise<HttpAnswer>;

/** An answer that is an error: `{"error": message}` with a status, or an error line if a stream has begun. */
export class ApiFailure extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

export function badRequest(message: string): ApiFailure {
  return new ApiFailure(400, message);
}

export function modelNotFound(name: string): ApiFailure {
  return new ApiFailure(404, `model '${name}' not found`);
}

/** The fields of a JSON object; undefined ones are absent on the wire. */
export type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf({ text }: Pick<Request, 'text'>): Fields {
  const body = tryJson(text);
  if (!isRecord(body)) throw badRequest('the body is no JSON object');
  return body;
}

/** The model that a request names, in the field of today or the older one. */
export function nameIn({ model, name }: Fields): string {
  return textOf(model) || textOf(name);
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function recordOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

/** What a model says, piece by piece. A text or thinking piece counts as one token. */
export type SpeechPiece =
  | { readonly kind: 'text' | 'thinking'; readonly text: string }
  | { readonly kind: 'calls'; readonly calls: readonly Call[] };

export interface Call {
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface PromptMessage {
  readonly role: string;
  readonly content: string;
  readonly toolName: string;
  readonly images: number;
}

export interface PromptTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** The texts around a hole that a model fills. */
export interface Hole {
  readonly prefix: string;
  readonly suffix: string;
}

/** What a model is asked. `generate` has one user message, and the hole if there is one to fill. */
export interface PracticePrompt {
  readonly model: InstalledModel;
  readonly messages: readonly PromptMessage[];
  readonly tools: readonly PromptTool[];
  readonly think: boolean;
  /** `json`, a JSON Schema, or nothing. */
  readonly format?: unknown;
  readonly hole?: Hole;
  /** Aborted as soon as nobody listens. */
  readonly signal: AbortSignal;
}

export type Speaker = (prompt: PracticePrompt) => Iterable<SpeechPiece> | AsyncIterable<SpeechPiece>;

/** An estimate that is good enough to fill windows: four characters are about one token. */
export function countTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

/** Splits text into pieces as a model would say it: each word with the blanks before it. */
export function splitTokens(text: string): readonly string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}
