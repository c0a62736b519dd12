export interface IdleLimit {
  /** Aborted for the reason when nothing was heard for so long, or with the signal that it follows. */
  readonly signal: AbortSignal;
  /** Something was heard. */
  restart(): void;
  dispose(): void;
}

/** `limit` is in ms; 0 is no limit. */
export function createIdleLimit(limit: number, reason: Error, signal: AbortSignal): IdleLimit {
  const controller = new AbortController();
  const stop = () => controller.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const start = () => (limit === 0 ? undefined : setTimeout(() => controller.abort(reason), limit));
  let timer = start();
  return {
    signal: controller.signal,
    restart: () => {
      clearTimeout(timer);
      timer = start();
    },
    dispose: () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    },
  };
}
