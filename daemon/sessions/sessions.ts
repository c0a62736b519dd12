import { chmod, mkdir, open, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as waitFor } from 'node:timers/promises';
import type {
  CreateSessionParams,
  ListSessionsParams,
  ListSessionsResult,
  ReadSessionResult,
  Session,
  SessionMessage,
} from '../../protocol/sessions.ts';
import { RunnerError } from '../errors.ts';
import { fileEnding, readFolder } from './folderEntries.ts';
import { recordToLine, type SessionHeader } from './records.ts';
import { divideByAge } from './retention.ts';
import {
  type FileSummary,
  maxFile,
  readSession,
  readSummary,
  summaryToSession,
  withSessionFile,
} from './sessionFile.ts';
import { createSessionId, isSessionId } from './sessionId.ts';
import { listPage } from './sessionList.ts';
import { createSessionLocks } from './sessionLocks.ts';
import { oneLine } from './title.ts';
import { isWorthKeeping, type KeptTurn, stateToLine, turnToLines } from './turnRecords.ts';
import { unknownSession } from './unknownSession.ts';
import type { SessionSettings } from './userSettings.ts';

export interface SessionsOptions {
  /** Absent where there is none: nothing is kept then. */
  readonly folder?: string;
  readonly settings: () => SessionSettings;
  /** Takes secrets out of what is written. */
  readonly redact: <T extends object>(value: T) => T;
  /** Settles once all secrets are known that there were at the start. */
  readonly secretsAreRead: () => Promise<unknown>;
  readonly onDidChange: () => void;
  readonly now: () => number;
  readonly random: () => number;
}

/** The conversations that are kept; an id that is unknown is an `InvalidParamsError` with the path `id`. */
export interface Sessions {
  /** False: nothing is written, and nothing is listed. */
  readonly isKeeping: boolean;
  /** One that is written at once. */
  create(params: CreateSessionParams): Promise<Session>;
  /** One that is written with its first turn. */
  begin(params: CreateSessionParams): Session;
  list(params: ListSessionsParams, signal: AbortSignal): Promise<ListSessionsResult>;
  read(id: string): Promise<ReadSessionResult>;
  /** What a list says of it. */
  find(id: string): Promise<Session>;
  update(id: string, title: string): Promise<Session>;
  delete(id: string): Promise<void>;
  /** This process alone may go on with it from now on; throws `busy` where another does. */
  open(id: string): Promise<void>;
  /** Others may go on with it. */
  release(id: string): Promise<void>;
  /** What a turn has added; nothing where nothing came. */
  append(id: string, turn: KeptTurn): Promise<Session | undefined>;
  /** Runs work that is aborted, and waited for, when the daemon ends. */
  during<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** How long the turns that are under way may take to end, in ms. */
const closingLimit = 1_000;
/** So many conversations may be begun without a turn. */
const maxBegun = 1000;

export function createSessions(options: SessionsOptions): Sessions {
  return new SessionStore(options);
}

class SessionStore implements Sessions {
  readonly #options: SessionsOptions;
  readonly #folder: string;
  readonly #locks: ReturnType<typeof createSessionLocks>;
  /** Begun, and not written yet. */
  readonly #begun = new Map<string, Session>();
  /** The writing that is under way, by conversation. */
  readonly #writing = new Map<string, Promise<unknown>>();
  readonly #working = new Set<Promise<unknown>>();
  readonly #ending = new AbortController();
  #newest = 0;
  #hasSwept = false;

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#folder = options.folder ?? '';
    this.#locks = createSessionLocks(join(this.#folder, 'locks'));
  }

  get isKeeping(): boolean {
    return this.#folder !== '' && this.#options.settings().keepSessions;
  }

  async create(params: CreateSessionParams): Promise<Session> {
    const session = this.begin(params);
    if (!this.isKeeping) return session;
    const written = await this.#inOrder(session.id, () => this.#write(session));
    await this.#prune();
    this.#options.onDidChange();
    return written;
  }

  begin({ title, cwd }: CreateSessionParams): Session {
    const now = this.#options.now();
    const at = new Date(now).toISOString();
    const id = createSessionId(now, this.#options.random);
    const session: Session = {
      ...{ id, title: oneLine(title ?? '') },
      ...(cwd === undefined ? {} : { cwd }),
      ...{ createdAt: at, updatedAt: at, turns: 0 },
    };
    this.#begun.set(id, session);
    for (const oldest of this.#begun.keys()) {
      if (this.#begun.size <= maxBegun) break;
      this.#begun.delete(oldest);
    }
    return session;
  }

  async list(params: ListSessionsParams, signal: AbortSignal): Promise<ListSessionsResult> {
    if (!this.isKeeping) return { sessions: [] };
    return listPage(await this.#prune(), params, signal);
  }

  async read(id: string): Promise<ReadSessionResult> {
    const begun = this.#begun.get(id);
    if (begun) return { session: begun, messages: [] };
    await this.#writing.get(id);
    const messages: SessionMessage[] = [];
    const summary = await this.#withFile(id, 'read', async (file) => {
      const found = await readSummary(file, id);
      if (found) await readSession(file, (message) => messages.push(message));
      return found;
    });
    return { session: summaryToSession(summary), messages };
  }

  async find(id: string): Promise<Session> {
    const begun = this.#begun.get(id);
    if (begun) return begun;
    await this.#writing.get(id);
    return summaryToSession(await this.#withFile(id, 'read', (file) => readSummary(file, id)));
  }

  async update(id: string, title: string): Promise<Session> {
    const begun = this.#begun.get(id);
    const session = begun ? { ...begun, title: oneLine(title) } : undefined;
    if (session) this.#begun.set(id, session);
    else await this.#withLock(id, () => this.#inOrder(id, () => this.#retitle(id, oneLine(title))));
    this.#options.onDidChange();
    return session ?? this.find(id);
  }

  async delete(id: string): Promise<void> {
    if (!this.#begun.delete(id))
      await this.#withLock(id, () => this.#inOrder(id, () => unlink(this.#pathOf(id))));
    await this.#locks.release(id);
    this.#options.onDidChange();
  }

  async open(id: string): Promise<void> {
    if (this.#begun.has(id)) return;
    await this.#withFile(id, 'read', (file) => readSummary(file, id));
    const other = await orDiskProblem(this.#locks.take(id));
    if (other !== undefined) throw openElsewhere(other);
  }

  async release(id: string): Promise<void> {
    if (!isSessionId(id) || this.#folder === '') return;
    await this.#writing.get(id);
    await this.#locks.release(id);
  }

  async append(id: string, turn: KeptTurn): Promise<Session | undefined> {
    if (!this.isKeeping || !isWorthKeeping(turn)) return undefined;
    const session = await this.#inOrder(id, () => this.#append(id, turn));
    this.#options.onDidChange();
    return session;
  }

  async during<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    const stop = () => controller.abort();
    const signals = [signal, this.#ending.signal];
    for (const each of signals) each.addEventListener('abort', stop, { once: true });
    if (signals.some(({ aborted }) => aborted)) stop();
    const running = work(controller.signal);
    this.#working.add(running);
    try {
      return await running;
    } finally {
      this.#working.delete(running);
      for (const each of signals) each.removeEventListener('abort', stop);
    }
  }

  async close(): Promise<void> {
    this.#ending.abort();
    // A client that does not read keeps its turn from ending.
    await Promise.race([
      Promise.allSettled([...this.#working]),
      waitFor(closingLimit, undefined, { ref: false }),
    ]);
    await Promise.allSettled([...this.#writing.values()]);
    await this.#locks.close();
  }

  /** Only for what is an id. */
  #pathOf(id: string): string {
    if (!isSessionId(id)) throw unknownSession();
    return join(this.#folder, `${id}${fileEnding}`);
  }

  async #withFile<T>(
    id: string,
    access: Parameters<typeof withSessionFile>[1],
    use: (file: Parameters<Parameters<typeof withSessionFile>[2]>[0]) => Promise<T | undefined>,
  ): Promise<T> {
    const found = this.isKeeping
      ? await orDiskProblem(withSessionFile(this.#pathOf(id), access, use))
      : undefined;
    if (found === undefined) throw unknownSession();
    return found;
  }

  /** With a lock that stays where it was there before. */
  async #withLock<T>(id: string, work: () => Promise<T>): Promise<T> {
    const wasOpen = this.#locks.has(id);
    await this.open(id);
    try {
      return await orDiskProblem(work());
    } finally {
      if (!wasOpen) await this.#locks.release(id);
    }
  }

  /** One after the other for each conversation. */
  async #inOrder<T>(id: string, work: () => Promise<T>): Promise<T> {
    const before = this.#writing.get(id) ?? Promise.resolve();
    const after = before.then(work, work);
    this.#writing.set(id, after);
    try {
      return await after;
    } finally {
      if (this.#writing.get(id) === after) this.#writing.delete(id);
    }
  }

  async #write(session: Session): Promise<Session> {
    await this.#options.secretsAreRead();
    const { id, title, cwd, createdAt } = session;
    const header: SessionHeader = {
      ...{ type: 'session', version: 1, id, createdAt },
      ...(cwd === undefined ? {} : { cwd }),
    };
    const state = { type: 'state', title, turns: 0 } as const;
    const lines = recordToLine(this.#options.redact(header)) + stateToLine(this.#options.redact(state));
    await orDiskProblem(this.#prepareFolder());
    const file = await orDiskProblem(open(this.#pathOf(id), 'wx', 0o600));
    try {
      await orDiskProblem(file.writeFile(lines));
      const now = this.#tick();
      await file.utimes(now, now);
      this.#begun.delete(id);
      return { ...session, updatedAt: now.toISOString() };
    } finally {
      await file.close();
    }
  }

  async #append(id: string, turn: KeptTurn): Promise<Session> {
    const begun = this.#begun.get(id);
    if (begun) await this.#write(begun);
    await this.open(id);
    const at = new Date(this.#options.now()).toISOString();
    const { redact } = this.#options;
    return this.#extend(id, ({ state }) => turnToLines(turn, { state, at, redact }));
  }

  #retitle(id: string, title: string): Promise<Session> {
    return this.#extend(id, ({ state }) => stateToLine(this.#options.redact({ ...state, title })));
  }

  /** Adds lines behind what is whole of the file, all of them or none. */
  async #extend(id: string, linesFor: (summary: FileSummary) => string): Promise<Session> {
    await this.#withFile(id, 'append', async (file) => {
      const summary = await readSummary(file, id);
      if (!summary) return undefined;
      const lines = linesFor(summary);
      if (summary.end + Buffer.byteLength(lines) > maxFile) throw tooLarge();
      await file.truncate(summary.end);
      try {
        await file.appendFile(lines);
      } catch (error) {
        await file.truncate(summary.end).catch(() => undefined);
        throw error;
      }
      const now = this.#tick();
      await file.utimes(now, now);
      return summary;
    });
    return summaryToSession(await this.#withFile(id, 'read', (file) => readSummary(file, id)));
  }

  /** Later than every moment before: files are listed by it. */
  #tick(): Date {
    this.#newest = Math.max(this.#newest + 1, this.#options.now());
    return new Date(this.#newest);
  }

  async #prepareFolder(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const { mode } = await stat(this.#folder);
    if ((mode & 0o077) !== 0) await chmod(this.#folder, 0o700).catch(() => undefined);
  }

  /** Removes what is too old or has no room, but what somebody has open. Returns what stays, newest first. */
  async #prune() {
    const { now, settings } = this.#options;
    const { kept, expired } = divideByAge(await orDiskProblem(readFolder(this.#folder)), {
      days: settings().sessionDays,
      now: now(),
    });
    for (const { id } of expired) await this.#removeExpired(id).catch(() => undefined);
    if (!this.#hasSwept) await this.#locks.sweep();
    this.#hasSwept = true;
    return kept;
  }

  async #removeExpired(id: string): Promise<void> {
    if (await this.#locks.isOpen(id)) return;
    // What only has the name of one is not ours to delete.
    await this.#withFile(id, 'read', (file) => readSummary(file, id));
    await unlink(this.#pathOf(id));
  }
}

function openElsewhere(pid: number): RunnerError {
  return new RunnerError(
    'busy',
    `This conversation is open in another program (process ${pid}). Close it there, or begin a new one.`,
  );
}

function tooLarge(): RunnerError {
  return new RunnerError(
    'not-supported',
    'The conversation is as large as one may be (64 MB). Begin a new one to have more of it kept.',
  );
}

/** What the system says of a file, in a sentence. */
async function orDiskProblem<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && 'syscall' in error)) throw error;
    throw new RunnerError(
      'not-supported',
      `Conversations cannot be kept in the state folder (${String(error.code)}). Make it writable and free some room, or set keepSessions to false.`,
      { cause: error },
    );
  }
}
