import {
  badRequest,
  type Fields,
  type HttpAnswer,
  modelNotFound,
  type Practice,
  recordOf,
  textOf,
} from './exchange.ts';
import { type InstalledModel, type PracticeCapability, tryModelName } from './model.ts';

/** The part of a request that chat and generate have in common. */
export interface Inference {
  /** The model's name in the request; answers repeat it. */
  readonly name: string;
  readonly model: InstalledModel;
  readonly stream: boolean;
  readonly think: unknown;
  /** Milliseconds. */
  readonly keepAlive: number | undefined;
  readonly truncate: boolean;
  readonly shift: boolean;
  readonly format: unknown;
  /** Tokens of the context window. */
  readonly window: number;
  /** The most tokens of an answer. */
  readonly limit: number;
  readonly stop: readonly string[];
}

/** Options of the request override those of the model, and the window is at most what the model can take. */
export function readInference({ store }: Practice, fields: Fields): Inference {
  const name = textOf(fields['model']);
  if (!tryModelName(name)) throw badRequest('invalid model name');
  const model = store.find(name);
  if (!model) throw modelNotFound(name);
  const {
    num_ctx: window,
    num_predict: limit,
    stop,
  } = { ...model.parameters, ...recordOf(fields['options']) };
  return {
    name,
    model,
    stream: fields['stream'] !== false,
    think: fields['think'] ?? undefined,
    keepAlive: parseKeepAlive(fields['keep_alive'] ?? undefined),
    truncate: fields['truncate'] !== false,
    shift: fields['shift'] !== false,
    format: fields['format'] ?? undefined,
    window: Math.min(typeof window === 'number' ? Math.max(4, window) : 4096, model.contextLength),
    limit: typeof limit === 'number' && limit > 0 ? limit : Number.POSITIVE_INFINITY,
    stop: [stop].flat().map(textOf).filter(Boolean),
  };
}

/** @throws {ApiFailure} 400. The model itself is checked first, then thinking, then the rest, as in a real runner. */
export function requireCapabilities(
  { name, model, think }: Inference,
  { use, needed }: { readonly use: 'chat' | 'generate'; readonly needed: readonly PracticeCapability[] },
): void {
  const lacks = (capability: PracticeCapability) => !model.capabilities.includes(capability);
  if (lacks('completion')) throw badRequest(`${JSON.stringify(name)} does not support ${use}`);
  if (think !== undefined && think !== false && lacks('thinking'))
    throw badRequest(`${JSON.stringify(name)} does not support thinking`);
  const missing = needed.filter(lacks);
  if (missing.length > 0)
    throw badRequest(`${tryModelName(model.name)?.full} does not support ${missing.join('\n')}`);
}

/** A thinking model thinks unless the request says otherwise. */
export function thinks({ model, think }: Inference): boolean {
  return model.capabilities.includes('thinking') && think !== false;
}

/** The answer to a request without a prompt: one object, even if a stream was requested. */
export function answerLoaded({ loaded, clock }: Practice, inference: Inference, said: Fields): HttpAnswer {
  const { name, model, window, keepAlive } = inference;
  const unload = keepAlive === 0;
  if (unload) loaded.unload(model);
  else loaded.load(model, window, keepAlive);
  const done = { done: true, done_reason: unload ? 'unload' : 'load' };
  return { json: { model: name, created_at: new Date(clock.now()).toISOString(), ...said, ...done } };
}

const milliseconds: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/**
 * `keep_alive` in milliseconds. A number is seconds, a string is a Go duration, and a negative value means for ever.
 * @throws {ApiFailure} 400 with the text of Go's `time.ParseDuration`.
 */
function parseKeepAlive(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  const text = typeof value === 'number' ? `${value}s` : textOf(value);
  if (!/^[+-]?(?:0|(?:[\d.]+(?:ms|[smh]))+)$/.test(text))
    throw badRequest(`time: invalid duration ${JSON.stringify(value)}`);
  if (text.startsWith('-')) return Number.POSITIVE_INFINITY;
  const parts = [...text.matchAll(/([\d.]+)(ms|[smh])/g)];
  return parts.reduce((sum, [, amount, unit = '']) => sum + Number(amount) * (milliseconds[unit] ?? 0), 0);
}
