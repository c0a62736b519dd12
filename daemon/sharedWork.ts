import { orAborted } from './abort.ts';

/**
 * Work that several ask for at the same time: it begins with the first who asks for a key, an abort is that one's
 * alone, and the work is aborted when the last one has left. Each sees what is reported from when it came, beginning
 * with the newest.
 */
export interface SharedWork<T, State = never> {
  /** Settles as the work does, or rejects at once with the signal's reason. */
  join(key: string, begin: Begin<T, State>, watcher: Watcher<State>): Promise<T>;
  /** Aborts all work; nothing begins afterwards. */
  close(): void;
}

type Begin<T, State> = (signal: AbortSignal, report: (state: State) => void) => Promise<T>;

export interface Watcher<State> {
  readonly signal: AbortSignal;
  readonly report?: (state: State) => void;
}

/** One piece of work, from its first to its last watcher. */
interface Running<T, State> {
  readonly result: Promise<T>;
  readonly controller: AbortController;
  readonly watchers: Set<Watcher<State>>;
  newest?: { readonly state: State };
}

export function createSharedWork<T, State = never>(): SharedWork<T, State> {
  const running = new Map<string, Running<T, State>>();
  const closed = new AbortController();

  const start = (key: string, begin: Begin<T, State>): Running<T, State> => {
    const controller = new AbortController();
    const watchers = new Set<Watcher<State>>();
    const report = (state: State) => {
      work.newest = { state };
      for (const watcher of watchers) watcher.report?.(state);
    };
    // Not before the work is known, in case it reports at once.
    const result = Promise.resolve().then(() => begin(controller.signal, report));
    const work: Running<T, State> = { result, controller, watchers };
    running.set(key, work);
    return work;
  };

  const leave = (key: string, work: Running<T, State>, watcher: Watcher<State>) => {
    work.watchers.delete(watcher);
    if (work.watchers.size > 0) return;
    // Whoever comes later begins anew, also while this one is still ending.
    if (running.get(key) === work) running.delete(key);
    work.controller.abort();
  };

  return {
    async join(key, begin, { signal, report }) {
      signal.throwIfAborted();
      closed.signal.throwIfAborted();
      const work = running.get(key) ?? start(key, begin);
      const watcher: Watcher<State> = report ? { signal, report } : { signal };
      work.watchers.add(watcher);
      if (work.newest) report?.(work.newest.state);
      try {
        return await orAborted(work.result, signal);
      } finally {
        leave(key, work, watcher);
      }
    },
    close() {
      closed.abort();
      for (const { controller } of running.values()) controller.abort();
    },
  };
}
