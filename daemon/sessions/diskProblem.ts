import { RunnerError } from '../base/errors.ts';

/** Turns an error of the file system into a sentence. */
export async function orDiskProblem<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && 'syscall' in error)) throw error;
    throw new RunnerError(
      'not-supported',
      `Conversations cannot be kept in the state folder (${String(error.code)}). Make it writable and free some space, or set keepSessions to false.`,
      { cause: error },
    );
  }
}
