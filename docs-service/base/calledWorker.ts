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

type PendingCall = { readonly resolve: (value: unknown) => void; readonly reject: (error: Error) => void };

/** In ms. */
const shortLife = 1_000;

/** Each worker has calls of its own, so that the end of one is no answer to what the next one is asked. */
interface Running {
  readonly worker: Worker;
  readonly waiting: Map<number, PendingCall>;
}

/** A worker with methods. After it dies, it is restarted, by the next call at the latest. */
export class CalledWorker<Methods extends MethodsOf<Methods>, Note> {
  #running: Running | undefined;
  #isClosed = false;
  #lastId = 0;

  constructor(
    private readonly options: {
      /** The path of the worker's program. */
      readonly program: string;
      readonly data: unknown;
      /** What it is the worker of, for the log. */
      readonly name: string;
      readonly onNote: (note: Note) => void;
      readonly toError: (failure: WorkerFailure) => Error;
      readonly log: (message: string) => void;
    },
  ) {}

  async call<Name extends keyof Methods & string>(
    method: Name,
    ...parameters: Parameters<Methods[Name]>
  ): Promise<Awaited<ReturnType<Methods[Name]>>> {
    if (this.#isClosed) throw this.#unavailable('is closed.');
    // The worker answers with what the method returns.
    return (await this.#ask(method, parameters)) as never;
  }

  /** Lets the calls in progress finish: the worker also has a method `close`. */
  async close(): Promise<void> {
    const worker = this.#isClosed ? undefined : this.#running?.worker;
    this.#isClosed = true;
    if (!worker) return;
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    await Promise.allSettled([this.#ask('close', []), ended]);
  }

  #ask(method: string, parameters: readonly unknown[]): Promise<unknown> {
    const id = ++this.#lastId;
    const { worker, waiting } = (this.#running ??= this.#start());
    return new Promise<unknown>((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      worker.postMessage({ id, method, parameters } satisfies WorkerRequest);
    });
  }

  #start(): Running {
    const { program, data, name, onNote, toError, log } = this.options;
    const waiting: Running['waiting'] = new Map();
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
      if (this.#running === started) this.#running = undefined;
      if (!this.#isClosed) log(`The worker of the ${name} has died: ${reason}. It is being restarted.`);
      for (const { reject } of waiting.values())
        reject(this.#unavailable('stopped during the request. Try again.'));
      // A worker that dies at once waits for the next call.
      if (!this.#isClosed && performance.now() - begun > shortLife) this.#running ??= this.#start();
    });
    return started;
  }

  #unavailable(why: string): Error {
    return this.options.toError({
      kind: 'unavailable',
      message: `The worker of the ${this.options.name} ${why}`,
    });
  }
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
