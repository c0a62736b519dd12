/** How long changes are gathered before they are told, in ms. */
const gatherFor = 100;

/** Tells that models changed: many changes at once are told once. Returns how to note one. */
export function createModelChanges(tell: () => void, closed: AbortSignal): () => void {
  let timer: NodeJS.Timeout | undefined;
  closed.addEventListener('abort', () => clearTimeout(timer), { once: true });
  return () => {
    if (closed.aborted) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      tell();
    }, gatherFor);
  };
}
