import { InvalidParamsError } from '../errors.ts';

/** No conversation has this id; `path` is the parameter in which it stands. */
export function unknownSession(path = 'id'): InvalidParamsError {
  return new InvalidParamsError(path, 'there is no such conversation; it may have been deleted');
}

/** Settles as the work does; an id that is unknown is told as this parameter. */
export async function naming<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof InvalidParamsError && error.path === 'id' ? unknownSession(path) : error;
  }
}
