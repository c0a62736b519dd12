import { type MessagePort, Worker } from 'node:worker_threads';

interface WorkerRequest {
  readonly id: number;
  readonly method: string;
  readonly parameters: readonly unknown[];
}

/** The answer to the request with this id. Without one, it is only a note. */
export interface WorkerAnswer<Note> {
  readonly id?: number;
  /** What concerns everybody. It is taken before the answer is returned. */
  readonly note?: Note;
  readonly value?: unknown;
  readonly error?: WorkerFailure;
}

export interface WorkerFailure {
  readonly kind: 'unavailable' | 'query' | 'unexpected';
  readonly message: string;
}

type MethodsOf<Methods> = { readonly [Name in keyof Methods]: (...parameters: never) => unknown };

interface CalledWorkerOptions<Note> {
  /** The path of the worker's program. */
  readonly program: string;
  readonly data: unknown;
  /** What it is the worker of, for the log. */
  readonly name: string;
  readonly onNote: (note: Note) => void;
  readonly toError: (failure: WorkerFailure) => Error;
  readonly log: (message: string) => void;
}

type Waiting = { readonly resolve: (value: unknown) => void; readonly reject: (error: Error) => void };

/** In ms. */
const shortLife = 1_000;

/** A worker with methods. After it dies, it is restarted, by the next call at the latest. */
export function createCalledWorker<Methods extends MethodsOf<Methods>, Note>(
  options: CalledWorkerOptions<Note>,
) {
  const { program, data, name, onNote, toError, log } = options;
  // Each worker has calls of its own, so that the end of one is no answer to what the next one is asked.
  let running: { readonly worker: Worker; readonly waiting: Map<number, Waiting> } | undefined;
  let isClosed = false;
  let lastId = 0;
  const unavailable = (message: string) => toError({ kind: 'unavailable', message });

  const start = () => {
    const waiting = new Map<number, Waiting>();
    const started = { worker: new Worker(program, { workerData: data }), waiting };
    const begun = performance.now();
    let reason = 'it ended';
    started.worker.on('message', ({ id = 0, note, value, error }: WorkerAnswer<Note>) => {
      if (note !== undefined) onNote(note);
      const call = waiting.get(id);
      waiting.delete(id);
      if (error) call?.reject(toError(error));
      else call?.resolve(value);
    });
    started.worker.on('error', (error) => (reason = error.message));
    started.worker.on('exit', () => {
      if (running === started) running = undefined;
      if (!isClosed) log(`The worker of the ${name} has died: ${reason}. It is being restarted.`);
      for (const { reject } of waiting.values())
        reject(unavailable(`The worker of the ${name} stopped during the request. Try again.`));
      // A worker that dies at once waits for the next call.
      if (!isClosed && performance.now() - begun > shortLife) running ??= start();
    });
    return started;
  };
  const ask = (method: string, parameters: readonly unknown[]) => {
    const id = ++lastId;
    const { worker, waiting } = (running ??= start());
    return new Promise<unknown>((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      worker.postMessage({ id, method, parameters } satisfies WorkerRequest);
    });
  };
  return {
    async call<Name extends keyof Methods & string>(
      method: Name,
      ...parameters: Parameters<Methods[Name]>
    ): Promise<Awaited<ReturnType<Methods[Name]>>> {
      if (isClosed) throw unavailable(`The worker of the ${name} is closed.`);
      // The worker answers with what the method returns.
      return (await ask(method, parameters)) as never;
    },
    /** Lets the calls in progress finish: the worker also has a method `close`. */
    async close(): Promise<void> {
      const worker = isClosed ? undefined : running?.worker;
      isClosed = true;
      if (!worker) return;
      const ended = new Promise((resolve) => worker.once('exit', resolve));
      await Promise.allSettled([ask('close', []), ended]);
    },
  };
}

/**
 * In the worker: answers each call as `call` does, or with what `describe` makes of its error, and ends after `close`.
 */
export function answerCalls(
  port: MessagePort,
  call: (
    method: string,
    parameters: readonly unknown[],
  ) => Promise<Pick<WorkerAnswer<unknown>, 'note' | 'value'>>,
  describe: (error: unknown) => WorkerFailure,
): void {
  port.on('message', async ({ id, method, parameters }: WorkerRequest) => {
    const answer = await call(method, parameters).catch((error) => ({ error: describe(error) }));
    port.postMessage({ id, ...answer } satisfies WorkerAnswer<unknown>);
    if (method === 'close') port.close();
  });
}
