/** Subscribes to what a part has to tell, for as long as the part lives. */
export type Event<T> = (listener: (value: T) => void) => void;

/** Both ends of an event: its owner keeps `fire`, and shows `event`. */
export interface Emitter<T> {
  readonly event: Event<T>;
  fire(value: T): void;
}

/** Listeners are called at once, in the order of their subscription. One that throws does not keep it from the others. */
export function createEmitter<T>(): Emitter<T> {
  const listeners: ((value: T) => void)[] = [];
  return {
    event: (listener) => void listeners.push(listener),
    fire(value) {
      for (const listener of listeners) callSafely(() => listener(value));
    },
  };
}

/** What a listener throws is a defect of the listener, and is reported as one, not to whoever fires. */
function callSafely(call: () => void): void {
  try {
    call();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
