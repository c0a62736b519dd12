import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { type RenderedDocument, type RenderJob, UnrenderableError } from './renderJob.ts';

export interface RendererOptions {
  /** The path of the worker's bundle. */
  readonly worker: string;
  /** How many jobs run at once. */
  readonly workers: number;
  /** Milliseconds of processor time that a job may use. On the clock, it may take ten times as long. */
  readonly time: number;
  /** MB that a worker's heap may have. Pictures are outside it, with bounds of their own. */
  readonly memory: number;
  /** How many jobs may wait for a worker. */
  readonly queueLength: number;
  /** Milliseconds that a job may wait for a worker. */
  readonly maxWait: number;
  /** Milliseconds after which a worker without a job ends, to free its memory. Default: a minute. */
  readonly maxIdle?: number;
}

export type Renderer = Pick<WorkerPool, 'render' | 'close'>;

/** There is too much to do, here or on this machine. The caller may try again later, as the message says. */
export class RendererBusyError extends Error {
  override readonly name = 'RendererBusyError';
}

/** What a worker sends: the file with the processor time of its thread, if there is one, and an answer to each job. */
export type RenderMessage = RenderAnswer | { readonly account: string };

export type RenderAnswer =
  | { readonly rendered: RenderedDocument }
  | { readonly failure: { readonly name: string; readonly message: string } };

export function createRenderer(options: RendererOptions): Renderer {
  return new WorkerPool(options);
}

interface Task {
  readonly job: RenderJob;
  readonly resolve: (rendered: RenderedDocument) => void;
  readonly reject: (reason: unknown) => void;
  /** Runs while the job waits for a worker. */
  waitTimer?: NodeJS.Timeout;
}

interface Slot {
  worker?: Worker | undefined;
  /** The file with the processor time of its thread, if the worker has found one. */
  account?: string | undefined;
  task?: Task | undefined;
  /** Runs while there is a job, until it can have reached a limit. */
  check?: NodeJS.Timeout;
  /** Runs while its worker has no job. */
  idle?: NodeJS.Timeout;
}

class WorkerPool {
  readonly #slots: readonly Slot[];
  readonly #queue: Task[] = [];
  readonly #ending = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(private readonly options: RendererOptions) {
    this.#slots = Array.from({ length: options.workers }, () => ({}));
  }

  /**
   * Renders in a worker. Rejects with `UnrenderableError` for a document out of bounds, with `RendererBusyError` if
   * there is too much to do, and with the reason of the signal, which is that of this job alone.
   */
  async render(job: RenderJob, signal?: AbortSignal): Promise<RenderedDocument> {
    signal?.throwIfAborted();
    return new Promise<RenderedDocument>((resolve, reject) => {
      const task: Task = { job, resolve, reject };
      signal?.addEventListener('abort', () => this.#cancel(task, signal.reason));
      this.#enqueue(task);
    });
  }

  /** Rejects all running and waiting jobs, and ends the workers. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const closed = new RendererBusyError(shuttingDown);
    for (const slot of this.#slots) {
      this.#endWorker(slot);
      slot.task?.reject(closed);
    }
    for (const { waitTimer, reject } of this.#queue.splice(0)) {
      clearTimeout(waitTimer);
      reject(closed);
    }
    await Promise.all(this.#ending);
  }

  #enqueue(task: Task): void {
    if (this.#isClosed) throw new RendererBusyError(shuttingDown);
    const isFree = this.#slots.some((slot) => !slot.task);
    if (!isFree && this.#queue.length >= this.options.queueLength) throw new RendererBusyError(busy);
    // The longest that its caller waits for a worker.
    task.waitTimer = setTimeout(() => this.#cancel(task, new RendererBusyError(busy)), this.options.maxWait);
    this.#queue.push(task);
    this.#startNext();
  }

  #startNext(): void {
    const slot = this.#slots.find(({ task }) => !task);
    const task = slot && this.#queue.shift();
    if (!slot || !task) return;
    clearTimeout(task.waitTimer);
    clearTimeout(slot.idle);
    slot.task = task;
    slot.worker ??= this.#createWorker(slot);
    this.#limit(slot);
    slot.worker.ref();
    try {
      slot.worker.postMessage(task.job);
    } catch (error) {
      // The job contains something that cannot be cloned.
      this.#fail(slot, error);
    }
  }

  /** Ends the job of the slot when it has used too much, from now on. */
  #limit(slot: Slot): void {
    const { time } = this.options;
    const start = { clock: performance.now(), processor: processorTime(slot.account) };
    const look = () => {
      const clock = performance.now() - start.clock;
      const used = Math.min(clock, processorTime(slot.account) - start.processor);
      if (used >= time) return this.#fail(slot, new UnrenderableError(tooLong(time, slot.task?.job)));
      if (clock >= time * patience) return this.#fail(slot, new RendererBusyError(tooSlow(clock, used)));
      // Processor time never passes faster than the clock.
      const next = Math.min(time - used, time * patience - clock);
      slot.check = setTimeout(look, Math.max(next, shortestCheck));
    };
    clearTimeout(slot.check);
    slot.check = setTimeout(look, time);
  }

  #createWorker(slot: Slot): Worker {
    const worker = new Worker(this.options.worker, {
      resourceLimits: { maxOldGenerationSizeMb: this.options.memory },
    });
    const ifCurrent = (act: () => void) => {
      if (slot.worker === worker) act();
    };
    worker.on('message', (message: RenderMessage) =>
      ifCurrent(() => {
        if (!('account' in message)) return this.#finish(slot, message);
        slot.account = message.account;
        if (slot.task) this.#limit(slot);
      }),
    );
    worker.on('error', (error) => ifCurrent(() => this.#fail(slot, this.#failureOf(error))));
    worker.on('exit', (code) =>
      ifCurrent(() => this.#fail(slot, new Error(`The render worker ended with code ${code}.`))),
    );
    return worker;
  }

  #failureOf(error: Error): Error {
    if (!('code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY')) return error;
    return new UnrenderableError(
      `Rendering took more than ${this.options.memory} MB of memory. Split the document or the collection.`,
    );
  }

  #finish(slot: Slot, answer: RenderAnswer): void {
    const task = this.#release(slot);
    slot.worker?.unref();
    slot.idle = setTimeout(() => this.#endWorker(slot), this.options.maxIdle ?? 60_000).unref();
    if ('rendered' in answer) task?.resolve(answer.rendered);
    else {
      const { name, message } = answer.failure;
      const isRefusal = name === 'UnrenderableError';
      task?.reject(isRefusal ? new UnrenderableError(message) : Object.assign(new Error(message), { name }));
    }
    this.#startNext();
  }

  /** The worker cannot be used any more: it has failed, or is stopped together with its job. */
  #fail(slot: Slot, reason: unknown): void {
    const task = this.#release(slot);
    this.#endWorker(slot);
    task?.reject(reason);
    this.#startNext();
  }

  #cancel(task: Task, reason: unknown): void {
    const slot = this.#slots.find((candidate) => candidate.task === task);
    if (slot) return this.#fail(slot, reason);
    clearTimeout(task.waitTimer);
    task.reject(reason);
    const at = this.#queue.indexOf(task);
    if (at >= 0) this.#queue.splice(at, 1);
  }

  #release(slot: Slot): Task | undefined {
    const { task } = slot;
    clearTimeout(slot.check);
    slot.task = undefined;
    return task;
  }

  #endWorker(slot: Slot): void {
    const { worker } = slot;
    slot.worker = undefined;
    slot.account = undefined;
    clearTimeout(slot.check);
    clearTimeout(slot.idle);
    if (!worker) return;
    const ended = worker.terminate();
    this.#ending.add(ended);
    void ended.finally(() => this.#ending.delete(ended));
  }
}

const shuttingDown = 'The service is shutting down.';
const busy = 'Too many documents are being rendered. Try again in some seconds.';

/** So many times its processor time a job may take on the clock: other programs take the rest. */
const patience = 10;
/** Milliseconds between two looks at what a job has used. */
const shortestCheck = 50;

/**
 * In milliseconds. If the system has no account of the thread, that of the whole process stands for it: it is never
 * less, and other programs are not in it.
 */
function processorTime(account: string | undefined): number {
  try {
    if (account === undefined) {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1_000;
    }
    return Number(readFileSync(account, 'latin1').split(' ', 1)[0]) / 1e6;
  } catch {
    // The thread has just ended, which its worker reports next.
    return 0;
  }
}

/** In UTF-16 units: less text takes a fraction of the usual time, so that to split it is no help. */
const largeText = 500_000;

function tooLong(time: number, job: RenderJob | undefined): string {
  const documents = !job || job.kind === 'picture' ? [] : 'documents' in job ? job.documents : [job.document];
  const isLarge = documents.reduce((sum, { body }) => sum + body.length, 0) > largeText;
  const advice = isLarge ? 'Split the document or the collection, or allow' : 'Allow';
  return `Rendering took more than ${time / 1_000} s of processor time. ${advice} more with --render-seconds.`;
}

function tooSlow(clock: number, used: number): string {
  const [passed, got] = [clock, used].map((time) => Math.round(time / 1_000));
  return `Rendering got only ${got} s of processor time in ${passed} s, because this machine is busy. Try again later.`;
}
