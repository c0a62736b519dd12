import { statSync } from 'node:fs';
import type { Database } from '../../base/sqliteDatabase.ts';
import type { LibraryState } from '../changes.ts';
import { IndexUnavailableError } from '../documentIndex.ts';
import { isCurrent, openIndex, removeDatabase } from './schema.ts';
import { createSqliteReader, type SqliteReader } from './sqliteReader.ts';
import { createSqliteWriter, type SqliteWriter } from './sqliteWriter.ts';

/** The index file, as one thread has it open. Other threads and processes may change, delete or replace it. */
export interface IndexFile {
  call(
    method: string,
    parameters: readonly unknown[],
  ): Promise<{ readonly value: unknown; readonly state: LibraryState }>;
  state(): Promise<LibraryState>;
  /** Deletes a damaged file. The next call creates another one. */
  discard(): void;
  close(): void;
}

interface Opened {
  readonly database: Database;
  readonly reader: SqliteReader;
  readonly writer: SqliteWriter;
  readonly identity: number | undefined;
  readonly version: () => number;
}

export function createIndexFile(file: string): IndexFile {
  let opened: Opened | undefined;
  let seen: { readonly version: number; readonly state: LibraryState } | undefined;

  const close = () => {
    opened?.database.close();
    opened = undefined;
  };
  const open = async (): Promise<Opened> => {
    // Whoever deleted the file wants another one.
    if (opened && identityOf(file) !== opened.identity) close();
    if (opened) return opened;
    const database = await openIndex(file);
    const version = database.prepare<{ data_version: number }>('PRAGMA data_version');
    seen = undefined;
    return (opened = {
      database,
      reader: createSqliteReader(database),
      writer: createSqliteWriter(database),
      identity: identityOf(file),
      version: () => version.get()?.data_version ?? 0,
    });
  };
  /** Writes of others change the version; writes of this connection do not. */
  const stateOf = ({ database, reader, version }: Opened, isOwn = false) => {
    const current = version();
    if (current !== seen?.version && !isCurrent(database))
      throw new IndexUnavailableError('Another version of the program uses this index. Restart this one.');
    if (!seen || isOwn || current !== seen.version) seen = { version: current, state: reader.state() };
    return seen.state;
  };

  return {
    call: async (method, parameters) => {
      const index = await open();
      if (isWriting(method)) {
        const value = call(index.writer, method, parameters);
        return { value, state: stateOf(index, true) };
      }
      return index.database.snapshot(() => ({
        // The state comes first: it begins the snapshot.
        state: stateOf(index),
        value: call(index.reader, method, parameters),
      }));
    },
    state: async () => {
      const index = await open();
      return index.database.snapshot(() => stateOf(index));
    },
    discard: () => {
      close();
      removeDatabase(file);
    },
    close,
  };
}

function identityOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.ino;
}

function isWriting(method: string): boolean {
  return method === 'files' || method === 'indexId' || method === 'apply';
}

function call(target: object, method: string, parameters: readonly unknown[]): unknown {
  const found: unknown = Object.entries(target).find(([name]) => name === method)?.[1];
  if (typeof found !== 'function') throw new Error(`The index has no ${method}.`);
  return found(...parameters);
}
