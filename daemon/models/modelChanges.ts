import { createEmitter, type Event } from '../base/event.ts';

/** How long changes are collected before they are published, in ms. */
const gatherFor = 100;

/** Publishes that models changed. Many changes at once are published as one. */
export interface ModelChanges {
  note(): void;
  readonly onDidChange: Event<void>;
}

export function createModelChanges(closed: AbortSignal): ModelChanges {
  const changed = createEmitter<void>();
  let timer: NodeJS.Timeout | undefined;
  closed.addEventListener('abort', () => clearTimeout(timer), { once: true });
  return {
    onDidChange: changed.event,
    note() {
      if (closed.aborted) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        changed.fire();
      }, gatherFor);
    },
  };
}
