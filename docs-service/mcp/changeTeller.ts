/** Milliseconds between two notifications: while a library is indexed, it changes all the time. */
const pause = 1_000;

export interface ChangeTeller {
  onDidChange(): void;
  dispose(): void;
}

/** Calls `notify` soon after a change, once for several changes. */
export function createChangeTeller(notify: () => void): ChangeTeller {
  let timer: NodeJS.Timeout | undefined;
  return {
    onDidChange() {
      timer ??= setTimeout(() => {
        timer = undefined;
        notify();
      }, pause).unref();
    },
    dispose: () => clearTimeout(timer),
  };
}
