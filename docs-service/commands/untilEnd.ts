import { once } from 'node:events';
import type { Surroundings } from '../cli/surroundings.ts';

/** Resolves when the program is asked to end. */
export async function untilEnd({ ending }: Pick<Surroundings, 'ending'>): Promise<void> {
  if (!ending.aborted) await once(ending, 'abort');
}
