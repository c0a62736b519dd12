import { Worker } from 'node:worker_threads';
import { type Rendered, type RenderJob, Unrenderable } from './renderJob.ts';

export interface RendererOptions {
  /** The file of the worker's bundle. */
  readonly worker: string;
  /** How many jobs run at once. */
  readonly workers: number;
  /** Milliseconds that a job may run. */
  readonly deadline: number;
  /** MB that a worker's heap may have. Pictures are outside it, with bounds of their own. */
  readonly memory: number;
  /** How many jobs may wait for a worker. */
  readonly queueLength: number;
  /** Milliseconds that a job may wait for a worker. */
  readonly patience: number;
}

export interface Renderer {
  /**
   * Renders in a worker. Calls with the same job object share one rendering, which ends when all of them are aborted.
   * Rejects with `Unrenderable` for a document out of bounds, with `RendererBusy` if too many jobs wait, and with the
   * reason of the signal.
   */
  render(job: RenderJob, signal?: AbortSignal): Promise<Rendered>;
  /** Rejects all running and waiting jobs, and ends the workers. */
  close(): Promise<void>;
}

/** Too many jobs wait already. The caller may try again in some seconds. */
export class RendererBusy extends Error {
  override readonly name = 'RendererBusy';
}

/** The answer of a worker to each job. */
export type RenderAnswer =
  | { readonly rendered: Rendered }
  | { readonly failure: { readonly name: string; readonly message: string } };

export function createRenderer(options: RendererOptions): Renderer {
  return new WorkerPool(options);
}

/** A job and its waiting callers. */
interface Task {
  readonly job: RenderJob;
  readonly waiters: Set<Waiter>;
  /** Runs while the job waits for a worker. */
  waiting: NodeJS.Timeout | undefined;
}

interface Waiter {
  readonly resolve: (rendered: Rendered) => void;
  readonly reject: (reason: unknown) => void;
}

/** A place for one job at a time. Its worker is reused for later jobs, and replaced after it was ended. */
interface Place {
  worker: Worker | undefined;
  task: Task | undefined;
  deadline: NodeJS.Timeout | undefined;
}

class WorkerPool implements Renderer {
  readonly #options: RendererOptions;
  readonly #places: readonly Place[];
  readonly #tasks = new Map<RenderJob, Task>();
  readonly #queue: Task[] = [];
  readonly #ending = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(options: RendererOptions) {
    this.#options = options;
    this.#places = Array.from({ length: options.workers }, () => ({
      worker: undefined,
      task: undefined,
      deadline: undefined,
    }));
  }

  async render(job: RenderJob, signal?: AbortSignal): Promise<Rendered> {
    signal?.throwIfAborted();
    const task = this.#tasks.get(job) ?? this.#enqueue(job);
    let leave: (() => void) | undefined;
    try {
      return await new Promise<Rendered>((resolve, reject) => {
        const waiter = { resolve, reject };
        task.waiters.add(waiter);
        leave = () => this.#leave(task, waiter, signal?.reason);
        signal?.addEventListener('abort', leave);
      });
    } finally {
      if (leave) signal?.removeEventListener('abort', leave);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const closed = new RendererBusy('The service is shutting down.');
    for (const place of this.#places) this.#endWorker(place);
    for (const { waiting, waiters } of this.#tasks.values()) {
      clearTimeout(waiting);
      for (const { reject } of waiters) reject(closed);
    }
    this.#tasks.clear();
    this.#queue.length = 0;
    await Promise.all(this.#ending);
  }

  #enqueue(job: RenderJob): Task {
    if (this.#isClosed) throw new RendererBusy('The service is shutting down.');
    const isFree = this.#places.some(({ task }) => !task);
    if (!isFree && this.#queue.length >= this.#options.queueLength) {
      throw new RendererBusy(busy);
    }
    const task: Task = { job, waiters: new Set(), waiting: undefined };
    task.waiting = setTimeout(() => this.#turnAway(task), this.#options.patience);
    this.#tasks.set(job, task);
    this.#queue.push(task);
    this.#startNext();
    return task;
  }

  #startNext(): void {
    const place = this.#places.find(({ task }) => !task);
    const task = place && this.#queue.shift();
    if (!place || !task) return;
    clearTimeout(task.waiting);
    place.task = task;
    place.worker ??= this.#createWorker(place);
    const { deadline } = this.#options;
    place.deadline = setTimeout(() => {
      this.#fail(place, new Unrenderable(`Rendering took more than ${deadline / 1000} s. ${advice}`));
    }, deadline);
    place.worker.ref();
    try {
      place.worker.postMessage(task.job);
    } catch (error) {
      // The job contains something that cannot be cloned. Its caller starts waiting after this call.
      queueMicrotask(() => this.#fail(place, error instanceof Error ? error : new Error(String(error))));
    }
  }

  #createWorker(place: Place): Worker {
    const worker = new Worker(this.#options.worker, {
      resourceLimits: { maxOldGenerationSizeMb: this.#options.memory },
    });
    const ifCurrent = (act: () => void) => {
      if (place.worker === worker) act();
    };
    worker.on('message', (answer: RenderAnswer) => ifCurrent(() => this.#finish(place, answer)));
    worker.on('error', (error) => ifCurrent(() => this.#fail(place, this.#failureOf(error))));
    worker.on('exit', (code) =>
      ifCurrent(() => this.#fail(place, new Error(`The render worker ended with code ${code}.`))),
    );
    return worker;
  }

  #failureOf(error: Error): Error {
    const isMemory = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    if (!isMemory) return error;
    return new Unrenderable(`Rendering took more than ${this.#options.memory} MB of memory. ${advice}`);
  }

  #finish(place: Place, answer: RenderAnswer): void {
    const task = this.#release(place);
    place.worker?.unref();
    for (const waiter of task?.waiters ?? []) {
      if ('rendered' in answer) waiter.resolve(answer.rendered);
      else waiter.reject(errorOf(answer.failure));
    }
    this.#startNext();
  }

  /** The worker cannot be used any more. */
  #fail(place: Place, error: Error): void {
    const task = this.#release(place);
    this.#endWorker(place);
    for (const { reject } of task?.waiters ?? []) reject(error);
    this.#startNext();
  }

  #leave(task: Task, waiter: Waiter, reason: unknown): void {
    task.waiters.delete(waiter);
    waiter.reject(reason);
    if (task.waiters.size === 0) this.#cancel(task);
  }

  /** The answer would come later than its readers wait. */
  #turnAway(task: Task): void {
    for (const { reject } of task.waiters) reject(new RendererBusy(busy));
    this.#cancel(task);
  }

  /** Nobody waits any more. A running job can only be stopped together with its worker. */
  #cancel(task: Task): void {
    clearTimeout(task.waiting);
    this.#tasks.delete(task.job);
    const at = this.#queue.indexOf(task);
    if (at >= 0) this.#queue.splice(at, 1);
    const place = this.#places.find((candidate) => candidate.task === task);
    if (!place) return;
    this.#release(place);
    this.#endWorker(place);
    this.#startNext();
  }

  #release(place: Place): Task | undefined {
    const { task } = place;
    clearTimeout(place.deadline);
    place.task = undefined;
    if (task) this.#tasks.delete(task.job);
    return task;
  }

  #endWorker(place: Place): void {
    const { worker } = place;
    place.worker = undefined;
    clearTimeout(place.deadline);
    if (!worker) return;
    const ended = worker.terminate();
    this.#ending.add(ended);
    void ended.finally(() => this.#ending.delete(ended));
  }
}

const busy = 'Too many documents are being rendered. Try again in some seconds.';
const advice = 'Split the document or the collection into smaller ones.';

function errorOf({ name, message }: { readonly name: string; readonly message: string }): Error {
  if (name === 'Unrenderable') return new Unrenderable(message);
  return Object.assign(new Error(message), { name });
}
