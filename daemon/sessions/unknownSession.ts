import { InvalidParamsError } from '../base/errors.ts';

/** The error for an unknown id. `path` is the parameter that holds the id. */
export function unknownSession(path = 'id'): InvalidParamsError {
  return new InvalidParamsError(path, 'there is no such conversation; it may have been deleted');
}

/** Settles as the work does. The error for an unknown id names this parameter. */
export async function naming<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof InvalidParamsError && error.path === 'id' ? unknownSession(path) : error;
  }
}
