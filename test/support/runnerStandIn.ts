import { type Answer, answerToScript, createVocabulary, type Vocabulary } from './runner/answers.ts';
import type { RecordedRequest } from './runner/requestLog.ts';
import {
  type ScriptedRunner,
  type ScriptedRunnerOptions as StandInOptions,
  startScriptedRunner,
} from './runner/scriptedRunner.ts';
import { patience } from './waiting.ts';

export type { RecordedRequest } from './runner/requestLog.ts';
export type { StandInModel } from './runner/standInModel.ts';
export type { StandInOptions };

/**
 * The practice runner as a test scripts it: queued answers are used in order, for chat and generate requests that ask
 * for text. After that, and to everything else, it answers as it does by itself.
 */
export interface RunnerStandIn extends ScriptedRunner, Vocabulary {
  /** The same vocabulary for the next `times` requests of one path, whatever they ask for, or those that fit. */
  on(path: string, times?: number, fits?: (request: RecordedRequest) => boolean): Vocabulary;
  /** A request that fits, past or to come; asked again when a body has been read and when an answer is over. */
  waitFor(fits: (request: RecordedRequest) => boolean, timeout?: number): Promise<RecordedRequest>;
  /** The bodies of the requests of one path, in their order. */
  bodies(path: string): readonly unknown[];
}

interface Order {
  readonly path?: string;
  readonly fits?: ((request: RecordedRequest) => boolean) | undefined;
  readonly answer: Answer;
  left: number;
}

export async function startStandIn(options: StandInOptions = {}): Promise<RunnerStandIn> {
  const orders: Order[] = [];
  const waiters = new Set<(request: RecordedRequest) => void>();
  const onRequest = (request: RecordedRequest) => {
    options.onRequest?.(request);
    for (const waiter of [...waiters]) waiter(request);
  };
  const runner = await startScriptedRunner({ ...options, onRequest }, (request) =>
    nextAnswer(orders, request),
  );
  return {
    ...runner,
    ...createVocabulary((answer) => orders.push({ answer, left: 1 })),
    on: (path, times = 1, fits) =>
      createVocabulary((answer) => orders.push({ path, fits, answer, left: times })),
    waitFor: (fits, timeout = patience) => waitForRequest({ runner, waiters }, fits, timeout),
    bodies: (path) => runner.requests.filter((request) => request.path === path).map(({ body }) => body),
  };
}

function nextAnswer(orders: Order[], request: RecordedRequest) {
  const path = request.path.split('?')[0];
  const index = orders.findIndex((order) =>
    order.path ? order.path === path && (order.fits?.(request) ?? true) : asksForText(request),
  );
  const order = orders[index];
  if (!order) return undefined;
  order.left -= 1;
  if (order.left <= 0) orders.splice(index, 1);
  return answerToScript(order.answer);
}

/** Loading and unloading ask for nothing, and use up no answer. */
function asksForText({ path, body }: RecordedRequest): boolean {
  if (typeof body !== 'object' || body === null) return false;
  if (path === '/api/chat')
    return 'messages' in body && Array.isArray(body.messages) && body.messages.length > 0;
  if (path !== '/api/generate') return false;
  return ['prompt' in body && body.prompt, 'suffix' in body && body.suffix].some(Boolean);
}

function waitForRequest(
  {
    runner,
    waiters,
  }: { readonly runner: ScriptedRunner; readonly waiters: Set<(request: RecordedRequest) => void> },
  fits: (request: RecordedRequest) => boolean,
  timeout: number,
): Promise<RecordedRequest> {
  const past = runner.requests.find(fits);
  if (past) return Promise.resolve(past);
  return new Promise((resolve, reject) => {
    const seen = () =>
      runner.requests.map(({ method, path, aborted }) => `${method} ${path}${aborted ? ' aborted' : ''}`);
    const timer = setTimeout(() => {
      waiters.delete(check);
      reject(new Error(`No such request within ${timeout} ms. There were: ${seen().join(', ') || 'none'}.`));
    }, timeout);
    const check = (request: RecordedRequest) => {
      if (!fits(request)) return;
      clearTimeout(timer);
      waiters.delete(check);
      resolve(request);
    };
    waiters.add(check);
  });
}
