import { type FileHandle, open, rm, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { withoutUndefined } from '../../protocol/base/json.ts';
import { isOpenToOthers, makePrivate, makePrivateFolder } from '../../protocol/base/platform/privateFile.ts';
import type {
  ConversationSettings,
  ReadSessionResult,
  Session,
  SessionMessage,
} from '../../protocol/messages/sessions.ts';
import { RunnerError } from '../base/errors.ts';
import {
  recordToLine,
  type SessionHeader,
  type SessionState,
  settingsToLine,
  stateAfter,
  stateToLine,
} from './records.ts';
import {
  type FileSummary,
  findLastTurn,
  maxFile,
  readSession,
  readSummary,
  replaceAfter,
  summaryToSession,
  withSessionFile,
} from './sessionFile.ts';
import { divideByAge, type FolderEntry, fileEnding, readFolder } from './sessionFolder.ts';
import { isSessionId, unknownSession } from './sessionId.ts';
import { type Addition, messageToLine } from './turnRecords.ts';

interface SessionFilesOptions {
  readonly folder: string;
  /** Removes secrets from what is written. */
  readonly redact: <T extends object>(value: T) => T;
  readonly now: () => number;
}

/** What to add after the state at a place in a file, and from where: an offset, or in the place of the last turn. */
export type SessionChange = readonly [add: (state: SessionState) => Addition, from?: number | 'lastTurn'];

/** A place between the messages of a file, and the state up to there. */
type FilePosition = Pick<FileSummary, 'state' | 'end'>;

/** The added messages are between these places. */
export interface Extension {
  readonly before: FilePosition;
  readonly after: FilePosition;
}

/**
 * The folder of conversations. Each one is a file of JSON lines. An id without a file is an `InvalidParamsError`, and a
 * failure of the disk is a `RunnerError` with a sentence. The caller must make sure that only one writer uses a file at
 * a time.
 */
export class SessionFiles {
  readonly #options: SessionFilesOptions;
  #newest = 0;

  constructor(options: SessionFilesOptions) {
    this.#options = options;
  }

  async find(id: string): Promise<Session> {
    return summaryToSession(await this.#with(id, 'read', (file) => readSummary(file, id)));
  }

  async read(id: string): Promise<ReadSessionResult> {
    const messages: SessionMessage[] = [];
    const { settings, cleared, ...summary } = await this.#with(id, 'read', async (file) => {
      const found = await readSummary(file, id);
      const read = found && (await readSession(file, (message) => messages.push(message)));
      return found && { ...found, settings: read?.settings, cleared: read?.cleared };
    });
    const session = summaryToSession(summary);
    const also = cleared ? { cleared } : {};
    if (!settings) return { session, messages, ...also };
    // The system message may have changed since the first turn.
    const { system } = settings;
    const first: readonly SessionMessage[] =
      system === undefined ? [] : [{ role: 'system', content: system }];
    const said = messages.filter(({ role }) => role !== 'system');
    return { session, messages: [...first, ...said], settings, ...also };
  }

  async create(
    session: Session,
    messages: readonly SessionMessage[] = [],
    settings?: ConversationSettings,
  ): Promise<Session> {
    const { id, title, cwd, model, createdAt } = session;
    const { redact } = this.#options;
    const header: SessionHeader = withoutUndefined({ type: 'session', version: 1, id, createdAt, cwd });
    const { line = '', mark } = settings ? settingsToLine(redact(settings)) : {};
    const begun = withoutUndefined<SessionState>({ type: 'state', title, model, settings: mark, turns: 0 });
    const state = stateAfter(begun, messages);
    const lines = [
      recordToLine(redact(header)),
      line,
      ...messages.map((message) => messageToLine(redact(message))),
    ];
    await orDiskProblem(this.#prepareFolder());
    const file = await orDiskProblem(open(this.#pathOf(id), 'wx', 0o600));
    try {
      await orDiskProblem(file.writeFile(lines.join('') + stateToLine(redact(state))));
      const now = this.#tick();
      await file.utimes(now, now);
      return withoutUndefined<Session>({
        ...session,
        title: state.title,
        model: state.model,
        turns: state.turns,
        updatedAt: now.toISOString(),
      });
    } finally {
      await file.close();
    }
  }

  /**
   * Adds messages and the state after them, either all of them or none: after the whole part of the file, or from there
   * on, in the place of everything that is there. The title stays.
   */
  async extend(id: string, ...[add, from]: SessionChange): Promise<Extension> {
    return this.#with(id, 'write', async (file) => {
      const found = await readSummary(file, id);
      if (!found) return undefined;
      const place = (from === 'lastTurn' ? await findLastTurn(file) : undefined) ?? found;
      const start = typeof from === 'number' ? Math.min(from, found.end) : place.end;
      const { lines, state } = add({ ...place.state, title: found.state.title });
      const end = start + Buffer.byteLength(lines);
      const last = stateToLine(state);
      if (end + last.length > maxFile) throw tooLarge();
      await replaceAfter(file, start, lines + last);
      const now = this.#tick();
      await file.utimes(now, now);
      return { before: found, after: { state, end } };
    });
  }

  async retitle(id: string, title: string): Promise<void> {
    const { redact } = this.#options;
    await this.extend(id, (state) => ({ lines: '', state: redact({ ...state, title }) }));
  }

  async undo(id: string): Promise<void> {
    const { redact } = this.#options;
    await this.extend(id, (state) => ({ lines: '', state: redact(state) }), 'lastTurn');
  }

  async delete(id: string): Promise<void> {
    await orDiskProblem(unlink(this.#pathOf(id)));
    // What the built-in tools have changed in it is of no use without it.
    await rm(join(this.#options.folder, `${id}.edits`), { recursive: true, force: true }).catch(
      () => undefined,
    );
  }

  /**
   * Deletes conversations that are too old or have no room, except those that are open. Returns those that stay, newest
   * first.
   */
  async prune(days: number, isOpen: (id: string) => Promise<boolean>): Promise<readonly FolderEntry[]> {
    const entries = await orDiskProblem(readFolder(this.#options.folder));
    const { kept, expired } = divideByAge(entries, { days, now: this.#options.now() });
    for (const { id } of expired)
      if (!(await isOpen(id))) await this.#deleteExpired(id).catch(() => undefined);
    return kept;
  }

  async #deleteExpired(id: string): Promise<void> {
    // A file that only has the name of a conversation is not ours to delete.
    await this.find(id);
    await this.delete(id);
  }

  async #with<T>(
    id: string,
    access: 'read' | 'write',
    use: (file: FileHandle) => Promise<T | undefined>,
  ): Promise<T> {
    const found = await orDiskProblem(withSessionFile(this.#pathOf(id), access, use));
    if (found === undefined) throw unknownSession();
    return found;
  }

  /** The path of a conversation. Throws unless the text is an id. */
  #pathOf(id: string): string {
    if (!isSessionId(id)) throw unknownSession();
    return join(this.#options.folder, `${id}${fileEnding}`);
  }

  /** A time later than all previous ones, because files are listed by it. */
  #tick(): Date {
    this.#newest = Math.max(this.#newest + 1, this.#options.now());
    return new Date(this.#newest);
  }

  async #prepareFolder(): Promise<void> {
    const { folder } = this.#options;
    await makePrivateFolder(folder);
    if (isOpenToOthers(await stat(folder))) await makePrivate(folder, 0o700).catch(() => undefined);
  }
}

function tooLarge(): RunnerError {
  return new RunnerError(
    'not-supported',
    'The conversation has reached the largest size (64 MB). Start a new one.',
  );
}

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
