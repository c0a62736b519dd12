/** Of several pieces of work for one key only the newest goes on. */
export interface Newest {
  /**
   * Aborts what is under way for the key, and runs the work with a signal that is aborted in its turn by newer work or
   * by the caller's signal.
   */
  run<T>(key: string, caller: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

export function createNewest(): Newest {
  const running = new Map<string, AbortController>();
  return {
    async run(key, caller, work) {
      running.get(key)?.abort(new Superseded());
      const controller = new AbortController();
      running.set(key, controller);
      const follow = () => controller.abort(caller.reason);
      caller.addEventListener('abort', follow, { once: true });
      if (caller.aborted) follow();
      try {
        return await work(controller.signal);
      } finally {
        caller.removeEventListener('abort', follow);
        if (running.get(key) === controller) running.delete(key);
      }
    },
  };
}

/** Why older work was aborted. */
export class Superseded extends Error {
  override readonly name = 'Superseded';
  constructor() {
    super('A newer request for the same document took its place.');
  }
}
