import * as z from 'zod/mini';
import { InvalidParamsError } from '../base/errors.ts';
import type { FolderEntry } from './folderEntries.ts';

/** Identifies the last conversation of a page. */
export type Place = Pick<FolderEntry, 'id' | 'updatedAt'>;

const schema = z.tuple([z.int(), z.string().check(z.maxLength(32))]);

export function placeToCursor({ updatedAt, id }: Place): string {
  return Buffer.from(JSON.stringify([updatedAt, id])).toString('base64url');
}

/** @throws {InvalidParamsError} for a text that is not a cursor of ours. */
export function parseCursor(cursor: string): Place {
  const parsed = schema.safeParse(tryJson(Buffer.from(cursor, 'base64url').toString('utf8')));
  if (!parsed.success) throw new InvalidParamsError('cursor', 'it is not a cursor that a list returned');
  const [updatedAt, id] = parsed.data;
  return { updatedAt, id };
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
