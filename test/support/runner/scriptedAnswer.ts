import type { ServerResponse } from 'node:http';
import {
  ApiFailure,
  type ExchangeRoute,
  type Fields,
  type HttpAnswer,
  type Practice,
  type Request,
  type Speaker,
} from '../../../daemon/practice/exchange.ts';
import { tryJson } from '../../../protocol/base/json.ts';
import { readBody } from './ollamaBody.ts';
import { dressAnswer } from './ollamaLines.ts';
import { answerElsewhere, ollamaRoutes, stopModel } from './ollamaRoutes.ts';
import type { RecordedRequest, Watched } from './requestLog.ts';
import { type Ending, type ScriptedSpeaker, speakScript } from './scriptedSpeech.ts';
import { extrasOf } from './standInModel.ts';

/** What a script may use if it writes the bytes of an answer itself. */
export interface RawExchange extends Pick<Watched, 'signal' | 'drop'> {
  readonly response: ServerResponse;
}

/** What a script does with a request: nothing, replace what the model says, or write the whole answer. */
export type Script = (
  request: RecordedRequest,
) =>
  | { readonly kind: 'speech'; readonly speak: ScriptedSpeaker }
  | { readonly kind: 'answer'; readonly write: (exchange: RawExchange) => Promise<void> }
  | undefined;

interface Exchange {
  readonly practice: Practice;
  readonly product: ExchangeRoute;
  readonly script: Script;
  readonly speeches: WeakMap<AbortSignal, Speaker>;
  readonly onRequest: (request: RecordedRequest) => void;
  readonly watched: Watched;
  readonly response: ServerResponse;
  readonly request: Request;
  readonly stopRoute?: boolean;
}

/** Asks the script first, then what a real runner has beside the practice runner, and then that. */
export async function answer(exchange: Exchange): Promise<HttpAnswer> {
  const { practice, watched, response, request, script, speeches } = exchange;
  const { request: recorded, signal, drop } = watched;
  if (request.text !== '') recorded.body = tryJson(request.text) ?? request.text;
  exchange.onRequest(recorded);
  const scripted = script(recorded);
  if (scripted?.kind === 'answer') {
    await scripted.write({ response, signal, drop });
    await aborted(signal);
    throw signal.reason;
  }
  const ending: Ending = { isCut: false, lastCalls: [] };
  const [path = ''] = request.path.split('?');
  const fields = readBody(path, request.text);
  const model = practice.store.find(String(fields['model'] ?? ''));
  const speak = scripted?.speak ?? (model && extrasOf(model).speak);
  if (speak) speeches.set(signal, speakScript(speak, { ending, drop }));
  const answered = await answerPlainly(exchange, path, fields);
  return dressAnswer(answered, { path, body: fields, model, ending });
}

async function answerPlainly(exchange: Exchange, path: string, fields: Fields): Promise<HttpAnswer> {
  const { practice, product, response, request, watched, stopRoute } = exchange;
  const method = request.method === 'HEAD' && !path.startsWith('/api/blobs/') ? 'GET' : request.method;
  const key = `${method} ${path}`;
  const route = ollamaRoutes[key] ?? ollamaRoutes[key.replace(/[^/]+$/, '*')];
  const tail = /^\/(?:api\/ps|library)\/(.+)$/.exec(path)?.[1] ?? '';
  const asked = { practice, fields, tail: decodeURIComponent(tail) };
  if (stopRoute && method === 'DELETE' && path.startsWith('/api/ps/')) return stopModel(asked);
  const own = route?.(asked) ?? answerElsewhere(method, path, response);
  if (own) return own;
  const text = JSON.stringify(fields);
  try {
    const upload = counted(request.upload, watched.request);
    return await product({ ...request, method, path, text, upload });
  } catch (error) {
    if (!(error instanceof ApiFailure) || fields['stream'] !== false) throw error;
    const { message, status } = error;
    return { json: { error: message }, status };
  }
}

/** For an upload, the record has only its size. */
async function* counted(upload: Request['upload'], recorded: RecordedRequest): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of upload) {
    size += chunk.length;
    yield chunk;
  }
  recorded.body = `${size} bytes`;
}

export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
