import type * as z from 'zod/mini';
import { readRegularFile } from './regularFile.ts';

export interface KeptJsonOptions<T extends z.ZodMiniType> {
  readonly schema: T;
  readonly maxBytes: number;
}

/** A file that a daemon has written. Undefined if there is none, or if it is not as a daemon writes it. */
export async function tryReadKept<T extends z.ZodMiniType>(
  path: string,
  { schema, maxBytes }: KeptJsonOptions<T>,
): Promise<z.output<T> | undefined> {
  try {
    const parsed = schema.safeParse(JSON.parse(await readRegularFile(path, maxBytes)));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}
