/** Subscribes to what a part publishes, for as long as the part lives. */
export type Event<T> = (listener: (value: T) => void) => void;

/**
 * Both ends of an event: its owner keeps `fire` to itself and shows `event` to others. Listeners are called at once, in
 * the order of their subscription. If one throws, the others are still called.
 */
export function createEmitter<T>() {
  const listeners: ((value: T) => void)[] = [];
  return {
    event: (listener: (value: T) => void): void => void listeners.push(listener),
    fire(value: T): void {
      for (const listener of listeners) callSafely(() => listener(value));
    },
  };
}

/**
 * An error in a listener is a defect of the listener. It is reported as one, and not to the code that fires the event.
 */
function callSafely(call: () => void): void {
  try {
    call();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
