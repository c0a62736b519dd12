/** Milliseconds between two messages about changes: while a library is indexed, it changes all the time. */
const pause = 1_000;

export interface ChangeTeller {
  onDidChange(): void;
  dispose(): void;
}

/** Calls `tell` soon after a change, once for all that come together. */
export function createChangeTeller(tell: () => void): ChangeTeller {
  let timer: NodeJS.Timeout | undefined;
  return {
    onDidChange() {
      timer ??= setTimeout(() => {
        timer = undefined;
        tell();
      }, pause).unref();
    },
    dispose: () => clearTimeout(timer),
  };
}
