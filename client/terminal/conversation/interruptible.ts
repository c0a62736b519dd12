import type { Surroundings } from '../cli/streams.ts';
import { createInterrupts } from './interrupts.ts';

/** What came of work that Ctrl-C may cancel. */
export type Outcome<T> = { readonly kind: 'done'; readonly value: T } | { readonly kind: 'interrupted' };

/**
 * Does work that the first Ctrl-C cancels; how it fails then does not matter. At the second it is not waited for.
 * @throws {Insisted} at the second.
 */
export async function interruptible<T>(
  { onInterrupt }: Surroundings,
  begin: (signal: AbortSignal) => Promise<T>,
): Promise<Outcome<T>> {
  const interrupts = createInterrupts();
  const stopListening = onInterrupt(interrupts.press);
  try {
    return { kind: 'done', value: await interrupts.orInsisted(orInterrupted(begin, interrupts.signal)) };
  } catch (error) {
    if (error instanceof Interrupted) return { kind: 'interrupted' };
    throw error;
  } finally {
    stopListening();
  }
}

class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

async function orInterrupted<T>(begin: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await begin(signal);
  } catch (cause) {
    throw signal.aborted ? new Interrupted('', { cause }) : cause;
  }
}
