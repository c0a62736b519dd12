import { join, resolve } from 'node:path';
import { setTimeout as waitFor } from 'node:timers/promises';
import { linkedSignal } from '../../protocol/base/abort.ts';
import { withoutUndefined } from '../../protocol/base/json.ts';
import { SerialQueue } from '../../protocol/base/keyedWork.ts';
import type { Message } from '../../protocol/messages/chat.ts';
import type {
  ConversationSettings,
  CreateSessionParams,
  ListSessionsParams,
  ListSessionsResult,
  ReadSessionResult,
  Session,
  SessionMessage,
  UndoTurnResult,
} from '../../protocol/messages/sessions.ts';
import { RunnerError } from '../base/errors.ts';
import { ProcessLocks } from '../base/processLocks.ts';
import { ConversationMemory, startOfLastTurn } from './conversationMemory.ts';
import { oneLine } from './records.ts';
import { RunningTurn } from './runningTurn.ts';
import { type Extension, orDiskProblem, type SessionChange, SessionFiles } from './sessionFiles.ts';
import { type FolderEntry, listPage } from './sessionFolder.ts';
import { createSessionId, isSessionId, unknownSession } from './sessionId.ts';
import type { TurnPrompt } from './turnRecords.ts';

export interface SessionSettings {
  readonly keepSessions: boolean;
  /** A conversation is deleted after this many days without a turn. */
  readonly sessionDays: number;
}

export interface SessionsOptions {
  /** Absent if there is no folder: then nothing is kept. */
  readonly folder?: string;
  readonly settings: () => SessionSettings;
  /** Removes secrets from what is written. */
  readonly redact: <T extends object>(value: T) => T;
  /** Settles when all secrets that existed at the start are known. */
  readonly secretsAreRead: () => Promise<unknown>;
  readonly onDidChange: () => void;
  readonly now: () => number;
  readonly random: () => number;
  /** Aborted when the client is gone: then the process ends, too. */
  readonly closed: AbortSignal;
}

export type TurnWork<T> = (
  turn: {
    /** Settles when the turns have ended that had begun before. */
    readonly earlier: Promise<unknown>;
    readonly begin: (prompt: TurnPrompt) => RunningTurn;
  },
  signal: AbortSignal,
) => Promise<T>;

/** How long the end of running turns may take, in ms. */
const closingLimit = 1_000;
/** The most conversations that may exist without a turn. */
const maxBegun = 1000;

type Content = [messages?: readonly SessionMessage[], settings?: ConversationSettings];

/** A turn whose work goes on. */
interface OpenTurn {
  readonly id: string;
  /** Absent while it waits for earlier ones. */
  turn?: RunningTurn;
  result: Promise<unknown>;
}

/** The kept conversations: who may write which file, and when. An unknown id is an `InvalidParamsError` at `id`. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #files: SessionFiles;
  readonly #locks: ProcessLocks;
  /** Conversations that are not written yet. */
  readonly #begun = new Map<string, Session>();
  /** A conversation without a file ends with what is remembered of it. */
  readonly #memory = new ConversationMemory((id) => this.#begun.delete(id));
  /** The work on each conversation runs one after another. */
  readonly #queue = new SerialQueue();
  readonly #working = new Set<OpenTurn>();
  readonly #ending = new AbortController();
  #hasSwept = false;

  constructor(options: SessionsOptions) {
    const { folder = '', redact, now } = options;
    this.#options = options;
    this.#files = new SessionFiles({ folder, redact, now });
    this.#locks = new ProcessLocks(join(folder, 'locks'), (id) => this.#turnsOf(id).length === 0);
    options.closed.addEventListener('abort', () => this.#ending.abort(), { once: true });
  }

  /** False if nothing is written and nothing is listed. */
  get isKeeping(): boolean {
    return Boolean(this.#options.folder) && this.#options.settings().keepSessions;
  }

  /** Creates a conversation and writes it at once. */
  async create(params: CreateSessionParams): Promise<Session> {
    const session = this.begin(params);
    return this.#mayWrite(session) ? this.#add(session) : this.find(session.id);
  }

  /** Creates a conversation that is written with its first turn. */
  begin({ title, cwd, kept = true }: CreateSessionParams): Session {
    const now = this.#options.now();
    const at = new Date(now).toISOString();
    const id = createSessionId(now, this.#options.random);
    const session = withoutUndefined<Session>({
      id,
      title: oneLine(title ?? ''),
      cwd: cwd && resolve(cwd),
      createdAt: at,
      updatedAt: at,
      turns: 0,
      kept: kept ? undefined : false,
    });
    this.#begun.set(id, session);
    for (const oldest of this.#begun.keys()) {
      if (this.#begun.size <= maxBegun) break;
      this.#begun.delete(oldest);
      this.#memory.forget(oldest);
    }
    return session;
  }

  async list(params: ListSessionsParams, signal: AbortSignal): Promise<ListSessionsResult> {
    if (!this.isKeeping) return { sessions: [] };
    return listPage(await this.#prune(), params, signal);
  }

  async read(id: string): Promise<ReadSessionResult> {
    if (this.#begun.has(id)) return { session: await this.find(id), messages: this.#memory.get(id) ?? [] };
    return this.#queue.run(id, () => this.#kept.read(id));
  }

  /** What the next prompt of the conversation follows, as the models have read it. */
  async history(id: string): Promise<readonly Message[]> {
    const known = this.#remembered(id);
    if (known) return known;
    const { messages } = await this.read(id);
    return messages.map(({ at: _, model: __, partial: ___, ...message }) => message);
  }

  /** What a list says about it. */
  async find(id: string): Promise<Session> {
    const begun = this.#begun.get(id);
    if (begun)
      return withoutUndefined<Session>({
        ...begun,
        turns: promptsIn(this.#memory.get(id) ?? []),
        kept: this.#mayWrite(begun) ? undefined : false,
      });
    return this.#queue.run(id, () => this.#kept.find(id));
  }

  async update(id: string, title: string): Promise<Session> {
    const begun = this.#begun.get(id);
    if (begun) this.#begun.set(id, { ...begun, title: oneLine(title) });
    else await this.#withLock(id, () => this.#kept.retitle(id, oneLine(title)));
    this.#options.onDidChange();
    return this.find(id);
  }

  /** Takes the last turn out. */
  async undo(id: string): Promise<UndoTurnResult> {
    const messages = await this.history(id);
    const prompt = messages.findLast(({ role }) => role === 'user');
    const isBegun = this.#begun.has(id);
    if (!isBegun) await this.#withLock(id, () => this.#kept.undo(id));
    if (this.#memory.get(id)) this.#memory.set(id, messages.slice(0, startOfLastTurn(messages)));
    if (prompt || !isBegun) this.#options.onDidChange();
    return withoutUndefined<UndoTurnResult>({ session: await this.find(id), prompt });
  }

  /** Begins a new conversation with these first turns of another one. */
  async fork(id: string, turns = Number.POSITIVE_INFINITY): Promise<ReadSessionResult> {
    const { session, messages, settings } = await this.read(id);
    const first = firstTurns(messages, turns);
    const known = this.#remembered(id);
    const forked = withoutUndefined<Session>({ ...this.begin(session), model: session.model });
    if (this.#mayWrite(forked)) await this.#add(forked, first, settings);
    if (known) {
      await this.open(forked.id);
      this.#memory.set(forked.id, firstTurns(known, turns));
    }
    return withoutUndefined<ReadSessionResult>({
      session: await this.find(forked.id),
      messages: first,
      settings,
    });
  }

  async delete(id: string): Promise<void> {
    if (!this.#begun.delete(id)) await this.#withLock(id, () => this.#kept.delete(id));
    this.#memory.forget(id);
    await this.#locks.release(id);
    this.#options.onDidChange();
  }

  /** From now on only this process may continue it. Throws `busy` if another process has it open. */
  async open(id: string): Promise<void> {
    if (this.#begun.has(id)) return;
    await this.#kept.find(id);
    // Another process may have changed it.
    if (!this.#locks.has(id)) this.#memory.forget(id);
    const other = await orDiskProblem(this.#locks.take(id));
    if (other !== undefined) throw openElsewhere(other);
  }

  /** From now on others may continue it; if a turn is running, when it has ended. */
  async release(id: string): Promise<void> {
    await Promise.allSettled(this.#turnsOf(id).map(({ result }) => result));
    this.#memory.forget(id);
    if (!isSessionId(id) || !this.#options.folder) return;
    await this.#queue.run(id, () => this.#locks.release(id));
  }

  #mayWrite(session: Session | undefined): boolean {
    return this.isKeeping && session?.kept !== false;
  }

  /** What is known of a conversation that no other process can have changed. */
  #remembered(id: string): readonly Message[] | undefined {
    return this.#begun.has(id) || this.#locks.has(id) ? this.#memory.get(id) : undefined;
  }

  #turnsOf(id: string): readonly OpenTurn[] {
    return [...this.#working].filter((working) => working.id === id);
  }

  /**
   * Runs the work of a turn, which is kept while it goes on. When the daemon ends, the work is aborted, and the daemon
   * waits for it. With `replacesLastTurn` it takes the place of the last turn, once its answer is whole.
   */
  async keepTurn<T>(
    { id, signal, replacesLastTurn }: { id: string; signal: AbortSignal; replacesLastTurn: boolean },
    work: TurnWork<T>,
  ): Promise<T> {
    const { redact, now, onDidChange } = this.#options;
    const linked = linkedSignal(signal, this.#ending.signal);
    // Two turns of one conversation are kept one after another.
    const earlier = Promise.allSettled(this.#turnsOf(id).map(({ result }) => result));
    const working: OpenTurn = { id, result: earlier };
    const begin = (prompt: TurnPrompt) => {
      working.turn = new RunningTurn(prompt, {
        replacesLastTurn,
        before: earlier,
        remember: (messages) => this.#memory.set(id, messages),
        write: async (...change) => {
          if (!this.#mayWrite(this.#begun.get(id))) return undefined;
          return this.#queue.run(id, () => this.#extend(id, ...change));
        },
        recording: () => ({ at: new Date(now()).toISOString(), redact }),
        isEnding: () => this.#ending.signal.aborted,
        onDidChange,
      });
      return working.turn;
    };
    this.#working.add(working);
    try {
      const result = work({ earlier, begin }, linked.signal);
      working.result = result;
      return await result;
    } finally {
      this.#working.delete(working);
      linked.unlink();
    }
  }

  async close(): Promise<void> {
    this.#ending.abort();
    // A client that does not read would keep its turn from ending, and so would a disk that does not answer.
    await Promise.race([this.#settle(), waitFor(closingLimit, undefined, { ref: false })]);
  }

  async #settle(): Promise<void> {
    await Promise.allSettled([...this.#working].flatMap(({ turn, result }) => [turn?.save(), result]));
    await this.#queue.settle();
    await this.#locks.close();
  }

  /** The files. If nothing is kept, no conversation is known. */
  get #kept(): SessionFiles {
    if (!this.isKeeping) throw unknownSession();
    return this.#files;
  }

  /** Does work while the lock is held. The lock stays if it was held before. */
  async #withLock<T>(id: string, work: () => Promise<T>): Promise<T> {
    const wasOpen = this.#locks.has(id);
    await this.open(id);
    try {
      return await this.#queue.run(id, work);
    } finally {
      if (!wasOpen) await this.#locks.release(id);
    }
  }

  async #add(session: Session, ...content: Content): Promise<Session> {
    const written = await this.#queue.run(session.id, () => this.#write(session, ...content));
    await this.#prune();
    this.#options.onDidChange();
    return written;
  }

  async #write(session: Session, ...content: Content): Promise<Session> {
    await this.#options.secretsAreRead();
    const written = await this.#files.create(session, ...content);
    this.#begun.delete(session.id);
    return written;
  }

  async #extend(id: string, ...change: SessionChange): Promise<Extension> {
    const begun = this.#begun.get(id);
    if (begun) await this.#write(begun);
    else await this.#options.secretsAreRead();
    if (!this.#locks.has(id)) await this.open(id);
    return this.#kept.extend(id, ...change);
  }

  async #prune(): Promise<readonly FolderEntry[]> {
    const { sessionDays } = this.#options.settings();
    const kept = await this.#files.prune(sessionDays, (id) => this.#locks.isOpen(id));
    if (!this.#hasSwept) await this.#locks.sweep();
    this.#hasSwept = true;
    return kept;
  }
}

function promptsIn(messages: readonly Message[]): number {
  return messages.filter(({ role }) => role === 'user').length;
}

/** The messages before the prompt that follows this number of prompts. */
function firstTurns<T extends Message>(messages: readonly T[], turns: number): readonly T[] {
  let prompts = 0;
  const end = messages.findIndex(({ role }) => role === 'user' && ++prompts > turns);
  return end === -1 ? messages : messages.slice(0, end);
}

function openElsewhere(pid: number): RunnerError {
  return new RunnerError(
    'busy',
    `This conversation is open in another program (process ${pid}). Close it there, or start a new one.`,
  );
}
