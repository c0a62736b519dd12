import { InvalidParamsError } from '../base/errors.ts';

const pattern = /^\d{8}-[a-z0-9]{8}$/;
const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';

/**
 * The day and eight random characters, such as `20261122-k3f9x2ab`. It is a valid file name on every system, and easy
 * to type.
 */
export function createSessionId(now: number, random: () => number): string {
  const day = new Date(now).toISOString().slice(0, 10).replaceAll('-', '');
  const rest = Array.from({ length: 8 }, () => letters[Math.floor(random() * letters.length)]);
  return `${day}-${rest.join('')}`;
}

/** Whether a text can be the id of a conversation. This is checked before it becomes part of a path. */
export function isSessionId(text: string): boolean {
  return pattern.test(text);
}

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
