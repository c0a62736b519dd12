import { orAborted } from './abort.ts';

/** Runs work one after another: for each key, the next work starts when the one before it has settled. */
export class SerialQueue {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Settles as the work does. Failed work does not keep the next one from running. */
  run<T>(key: string, work: () => Promise<T> | T): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const result = before.then(work);
    const settled = result
      .catch(() => undefined)
      .finally(() => this.#last.get(key) === settled && this.#last.delete(key));
    this.#last.set(key, settled);
    return result;
  }

  /** Resolves when all work that has been queued so far has settled. */
  async settle(): Promise<void> {
    await Promise.all(this.#last.values());
  }
}

type Begin<T, State> = (signal: AbortSignal, report: (state: State) => void) => Promise<T>;

interface Watcher<State = never> {
  readonly signal?: AbortSignal;
  readonly report?: (state: State) => void;
}

/** One task, from its first watcher to its last. */
interface SharedTask<T, State> {
  readonly result: Promise<T>;
  readonly controller: AbortController;
  readonly watchers: Set<Watcher<State>>;
  newest?: { readonly state: State };
}

/**
 * Work that several callers want at the same time. The first caller for a key starts it. When a caller aborts, only
 * that caller leaves; the work is aborted when the last one has left. Each caller gets the newest report when it joins,
 * and every later one.
 */
export function createSharedWork<T, State = never>() {
  const running = new Map<string, SharedTask<T, State>>();
  const closed = new AbortController();

  const start = (key: string, begin: Begin<T, State>): SharedTask<T, State> => {
    const controller = new AbortController();
    const watchers = new Set<Watcher<State>>();
    const report = (state: State) => {
      work.newest = { state };
      for (const watcher of watchers) watcher.report?.(state);
    };
    // It starts only after `work` is assigned, in case it reports at once.
    const result = Promise.resolve().then(() => begin(controller.signal, report));
    const work: SharedTask<T, State> = { result, controller, watchers };
    running.set(key, work);
    return work;
  };

  const leave = (key: string, work: SharedTask<T, State>, watcher: Watcher<State>) => {
    work.watchers.delete(watcher);
    if (work.watchers.size > 0) return;
    // A later caller starts new work, even while this one is still ending.
    if (running.get(key) === work) running.delete(key);
    work.controller.abort();
  };

  return {
    /**
     * Settles as the work does, or rejects at once with the signal's reason. Without a signal, a caller never leaves.
     */
    async join(key: string, begin: Begin<T, State>, watcher: Watcher<State> = {}): Promise<T> {
      const { signal, report } = watcher;
      signal?.throwIfAborted();
      closed.signal.throwIfAborted();
      const work = running.get(key) ?? start(key, begin);
      work.watchers.add(watcher);
      if (work.newest) report?.(work.newest.state);
      try {
        return await (signal ? orAborted(work.result, signal) : work.result);
      } finally {
        leave(key, work, watcher);
      }
    },
    /** Aborts all work. Nothing starts afterwards. */
    close(): void {
      closed.abort();
      for (const { controller } of running.values()) controller.abort();
    },
  };
}
