import pg from 'pg';
import { SerialQueue } from '../../../protocol/base/keyedWork.ts';
import {
  connectionOptions,
  createPool,
  endConnection,
  inTransaction,
  toUnavailable,
} from '../../base/postgresConnection.ts';
import {
  type DocumentIndex,
  type IndexChanges,
  IndexUnavailableError,
  type IndexWriter,
  passOn,
  type WriterLease,
} from '../documentIndex.ts';
import { type AnalysedDocument, analyseDocument } from '../documentWords.ts';
import { createChanges, type IndexDatabase, type LibraryState } from '../indexDatabase.ts';
import { IndexReader } from '../indexReader.ts';
import { schemaVersion } from '../indexSchema.ts';
import { type AnalysedChanges, applyChanges, isComplete, readFiles } from '../indexWriter.ts';
import { PostingQueue } from '../postingChanges.ts';
import type { KeptStatistics } from '../searchStore.ts';
import { locks, makeLookups, migrate, toIndexDatabase } from './tables.ts';

/** The index in PostgreSQL, which several instances may share. Throws where the address has a password. */
export function createPostgresIndex(url: string, log: (message: string) => void) {
  const pool = createPool(url, log);
  // A change may take its 120 s, and more on its way.
  const writing = createPool(url, log, { max: 2, query_timeout: 150_000 });
  const changes = createChanges();
  const states = new StateReader(pool, writing, changes.onState);
  const look = () => states.read(async () => undefined);
  const listener = listenForChanges(url, () => void look().catch(() => undefined));
  const postings = new PostingQueue();
  const apply = async (wanted: IndexChanges): Promise<void> => {
    await states.prepare();
    const put: AnalysedDocument[] = [];
    for (const document of wanted.put ?? []) {
      put.push(analyseDocument(document));
      // Requests have their turn.
      await new Promise(setImmediate);
    }
    await inTransaction(writing, IndexUnavailableError, (client) =>
      write(client, { ...wanted, put }, postings),
    ).catch(states.forgetIfMissing);
    await look();
  };
  /** Changes are made one after another, as they were asked for. */
  const queue = new SerialQueue();
  return {
    /** For other data in the same database. It ends with `close`. */
    pool,
    get generation() {
      return changes.generation();
    },
    ...passOn((name, asked) =>
      states.read(async (database, { kept }) => {
        const reader = new IndexReader(database, kept);
        return Reflect.apply(reader[name], reader, asked);
      }),
    ),
    files: () => states.read(readFiles),
    indexId: () => states.read(async (_, { indexId }) => indexId),
    apply: (wanted) => queue.run('', () => apply(wanted)),
    onDidChange: changes.onDidChange,
    /** The right to call `apply`, if no other instance has it. */
    tryBecomeWriter: async () => {
      await states.prepare();
      return tryTakeLease(url).catch(toUnavailable(IndexUnavailableError));
    },
    close: async () => {
      changes.clear();
      await Promise.all([listener.close(), pool.end(), writing.end()]);
    },
  } satisfies DocumentIndex & IndexWriter & { readonly pool: pg.Pool; tryBecomeWriter(): unknown };
}

/** Reads one state of the index at a time, from tables that are made first. */
class StateReader {
  /** The state that was read last, with what is kept of it. */
  #latest = { indexId: '', changes: 0, kept: new Map() as KeptStatistics };
  #migrated: Promise<void> | undefined;

  constructor(
    private readonly pool: pg.Pool,
    private readonly writing: pg.Pool,
    private readonly onState: (state: LibraryState) => void,
  ) {}

  prepare(): Promise<void> {
    this.#migrated ??= migrate(this.writing).catch((error) => this.#forget(error));
    return this.#migrated;
  }

  async read<T>(
    work: (database: IndexDatabase, state: LibraryState & { readonly kept: KeptStatistics }) => Promise<T>,
  ): Promise<T> {
    await this.prepare();
    const answer = async (client: pg.ClientBase, [, found]: readonly pg.QueryResult[]) => {
      const meta = new Map<string, string>(found?.rows.map(({ name, value }) => [name, value]));
      if (meta.get('version') !== schemaVersion)
        throw new IndexUnavailableError('Another version of the program uses this index. Restart this one.');
      const state = { indexId: meta.get('indexId') ?? '', changes: Number(meta.get('changes') ?? 0) };
      if (this.#latest.indexId !== state.indexId || this.#latest.changes !== state.changes)
        this.#latest = { ...state, kept: new Map() };
      const value = await work(toIndexDatabase(client), this.#latest);
      this.onState(state);
      return value;
    };
    const reading = inTransaction(this.pool, IndexUnavailableError, answer, beginReading);
    return reading.catch(this.forgetIfMissing);
  }

  /** If somebody has dropped the tables, the next call creates them again. */
  readonly forgetIfMissing = (error: unknown): never => {
    if (error instanceof Error && 'code' in error && error.code === '42P01')
      this.#forget(new IndexUnavailableError('The index was deleted. Try again.'));
    throw error;
  };

  #forget(error: unknown): never {
    this.#migrated = undefined;
    throw error;
  }
}

async function write(client: pg.ClientBase, changes: AnalysedChanges, postings: PostingQueue): Promise<void> {
  // Longer than for readers: nobody waits for this, and a piece may have hundreds of documents.
  await client.query("SET LOCAL statement_timeout = '120s'");
  await client.query('SELECT pg_advisory_xact_lock($1)', [locks.writing]);
  const database = toIndexDatabase(client);
  const wasComplete = await isComplete(database);
  const isSeen = await applyChanges(database, changes, postings);
  if (!wasComplete && (await isComplete(database))) await makeLookups(client);
  // Listeners get it when the transaction is over.
  if (isSeen) await client.query('SELECT pg_notify($1, $2)', [changeChannel, '']);
}

/** The channel on which changes of the index are announced. */
const changeChannel = 'docs_index';

/** The state comes first: reading it begins the snapshot. */
const beginReading = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
  SELECT name, value FROM docs_meta WHERE name IN ('version', 'indexId', 'changes')`;

/**
 * Calls `onChange` whenever another connection has changed the index, and whenever such a change may have been missed.
 * A broken connection is replaced, at most once a second.
 */
function listenForChanges(url: string, onChange: () => void): { close(): Promise<void> } {
  let isClosed = false;
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;

  const again = (broken: pg.Client) => {
    if (isClosed || client !== broken) return;
    client = undefined;
    void endConnection(broken);
    timer = setTimeout(connect, betweenAttempts);
    timer.unref();
  };
  const connect = async () => {
    const made = new pg.Client(connectionOptions(url));
    client = made;
    made.on('error', () => again(made));
    made.on('end', () => again(made));
    made.on('notification', onChange);
    try {
      await made.connect();
      await made.query(`LISTEN ${changeChannel}`);
      onChange();
    } catch {
      again(made);
    }
  };
  void connect();
  return {
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      if (client) await endConnection(client);
    },
  };
}

/** In ms. */
const betweenAttempts = 1_000;

/**
 * The lease, if nobody else has it. It is a lock that ends with its connection. The server checks every few seconds
 * whether this end still exists, so that another instance can take over within 10 s. Ask again every few seconds.
 */
async function tryTakeLease(url: string): Promise<WriterLease | undefined> {
  const client = new pg.Client(connectionOptions(url));
  const lost = new AbortController();
  client.on('error', () => lost.abort());
  client.on('end', () => lost.abort());
  const end = () => endConnection(client);
  let isTaken = false;
  try {
    await client.connect();
    await client.query(
      'SET tcp_keepalives_idle = 3; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 2',
    );
    const statement = 'SELECT pg_try_advisory_lock($1) AS taken';
    const { rows } = await client.query<{ taken: boolean }>(statement, [locks.lease]);
    isTaken = rows[0]?.taken === true;
  } finally {
    if (!isTaken) await end();
  }
  return isTaken ? { lost: lost.signal, dispose: end } : undefined;
}
