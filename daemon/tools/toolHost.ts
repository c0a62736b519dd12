import type { Advice, Advised } from '../../protocol/messages/advice.ts';
import type { ListedTool, ListedToolServer, ListToolsResult } from '../../protocol/messages/tools.ts';
import type { Log } from '../base/log.ts';
import type { DaemonTools } from '../chat/daemonTools.ts';
import { createRedaction } from '../config/redaction.ts';
import { createApprovals, type NamedApprovals } from './approvals.ts';
import { createArgumentsCheck } from './argumentsCheck.ts';
import { createAccessTokens } from './oauth/accessTokens.ts';
import { createLogins, type Logins } from './oauth/logins.ts';
import { offeredTools, type ServerOffer } from './offeredTools.ts';
import { createProcessGroups } from './processGroups.ts';
import type { ServerEntry } from './serverEntry.ts';
import { createToolServer, type ToolServer, type ToolServerLimits } from './toolServer.ts';
import { ToolServerError } from './toolServerError.ts';
import { openToolStores, type ToolStores } from './toolStores.ts';

export interface ToolHostOptions {
  /** In their order, as they are now. */
  readonly entries: () => readonly ServerEntry[];
  /** What the user allows, as it is now. */
  readonly approvals: () => NamedApprovals;
  /** A folder of the user's alone. */
  readonly userFolder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  readonly version: string;
  /** The workspace's root. */
  readonly root: () => string | undefined;
  readonly headersFor: (url: string) => Promise<Readonly<Record<string, string>>>;
  readonly timeouts: () => { readonly tool: number; readonly toolTotal: number };
  readonly redact: (text: string) => string;
  /** Takes a secret out of all that is said from now on. */
  readonly hide: (secret: string) => void;
  readonly onDidChange: () => void;
  readonly log: Log;
  readonly now: () => number;
  readonly limits?: ToolServerLimits;
  /** Of who has several hosts in one process, and closes them after those. */
  readonly stores?: ToolStores | undefined;
}

/** The tool servers that run, and what they offer. */
export interface ToolHost extends DaemonTools {
  readonly logins: Logins;
  list(names: readonly string[] | undefined, signal: AbortSignal): Promise<ListToolsResult>;
  /** The entries may have changed: what is no longer entered is ended. */
  update(): void;
  close(): Promise<void>;
}

const standardLimits: ToolServerLimits = { wait: 15_000, start: 120_000 };

interface KnownServer {
  /** The entry as text: another one is another server. */
  readonly key: string;
  readonly server: ToolServer;
}

export function createToolHost(options: ToolHostOptions): ToolHost {
  const { env, platform, log } = options;
  const groups = createProcessGroups({ platform, env });
  const check = createArgumentsCheck();
  const { hide, now } = options;
  const stores = options.stores ?? openToolStores(options);
  const { logins: store } = stores;
  const approvals = createApprovals(stores.approvals);
  const tokens = createAccessTokens({ store, hide, warn: log.warn, now });
  const logins = createLogins({ store, hide, now, onDidChange: options.onDidChange });
  const known = new Map<string, KnownServer>();
  const closing = new Set<Promise<void>>();
  const told = new Set<string>();

  const sayOnce = (sentence: string) => {
    if (told.has(sentence)) return;
    told.add(sentence);
    log.warn(sentence);
  };
  const end = (name: string) => {
    const ended = known.get(name)?.server.close();
    known.delete(name);
    if (!ended) return;
    const done = ended.catch(() => undefined).finally(() => closing.delete(done));
    closing.add(done);
  };
  const update = () => {
    const entries = new Map(options.entries().map((entry) => [entry.name, JSON.stringify(entry)]));
    for (const [name, { key }] of known) if (entries.get(name) !== key) end(name);
    for (const entry of options.entries())
      if (entry.kind === 'wrong') sayOnce(`The tool server ${entry.name} is left out. ${entry.problem}`);
  };
  const serverOf = (entry: ServerEntry): ToolServer | undefined => {
    if (entry.kind === 'disabled' || entry.kind === 'wrong') return undefined;
    const found = known.get(entry.name);
    if (found) return found.server;
    const server = createToolServer({
      ...options,
      entry,
      root: options.root(),
      groups,
      tokens,
      redact: createEntryRedaction(entry, options.redact),
      limits: options.limits ?? standardLimits,
    });
    known.set(entry.name, { key: JSON.stringify(entry), server });
    return server;
  };
  const stateOf = async (entry: ServerEntry, signal: AbortSignal): Promise<ServerState> => {
    const server = serverOf(entry);
    if (!server) return stateWithout(entry);
    try {
      return { entry, server, state: 'ready', tools: await server.tools(signal) };
    } catch (error) {
      signal.throwIfAborted();
      const { needsLogin, advice } = error instanceof ToolServerError ? error : {};
      return {
        ...{ entry, state: 'failed', message: messageOf(error), tools: [] },
        ...(needsLogin ? { needsLogin } : {}),
        ...(advice === undefined ? {} : { advice }),
      };
    }
  };
  const wanted = (names: readonly string[] | undefined, signal: AbortSignal) => {
    update();
    const entries = options.entries().filter(({ name }) => names === undefined || names.includes(name));
    return Promise.all(entries.map((entry) => stateOf(entry, signal)));
  };

  return {
    update,
    logins,
    async list(names, signal) {
      const states = await wanted(names, signal);
      return { servers: states.map(listedServer) };
    },
    async offer(names, own, signal) {
      const states = await wanted(names === 'all' ? undefined : names, signal);
      const isMeant = ({ entry }: ServerState) => names !== 'all' || entry.kind !== 'disabled';
      const problems = states.flatMap((state) =>
        state.state === 'ready' || !isMeant(state) ? [] : [problemOf(state)],
      );
      return { tools: offeredTools(states, own, { options, approvals, check, sayOnce }), problems };
    },
    async close() {
      for (const name of [...known.keys()]) end(name);
      logins.close();
      await Promise.all(closing);
      await Promise.all([groups.close(), options.stores ? undefined : stores.close()]);
    },
  };
}

interface ServerState extends ServerOffer {
  readonly state: ListedToolServer['state'];
  readonly message?: string;
  readonly advice?: Advice;
  readonly needsLogin?: boolean;
}

function stateWithout(entry: ServerEntry): ServerState {
  return entry.kind === 'wrong'
    ? { entry, state: 'failed', message: `The entry of ${entry.name} is wrong. ${entry.problem}`, tools: [] }
    : { entry, state: 'disabled', tools: [] };
}

function problemOf({ entry, message, advice }: ServerState): Advised {
  const sentence = message ?? `The tool server ${entry.name} is disabled.`;
  return advice === undefined ? { message: sentence } : { message: sentence, advice };
}

function listedServer({ entry, state, message, advice, needsLogin, tools }: ServerState): ListedToolServer {
  const listed = tools.map(({ fingerprint: _, ...tool }): ListedTool => tool);
  return {
    ...{ name: entry.name, state, tools: listed },
    ...(message === undefined ? {} : { message }),
    ...(advice === undefined ? {} : { advice }),
    ...(needsLogin ? { needsLogin } : {}),
  };
}

/** Values of `env` and `headers` are taken out of everything that is said about a server, in every form in which it may quote them. */
function createEntryRedaction(entry: ServerEntry, redact: (text: string) => string) {
  const redaction = createRedaction();
  const secrets = entry.kind === 'stdio' ? entry.env : entry.kind === 'http' ? entry.headers : {};
  for (const value of Object.values(secrets)) {
    redaction.add(value);
    // A token is echoed with the name of its scheme, or without.
    redaction.add(value.slice(value.lastIndexOf(' ') + 1));
    // A key of several lines is echoed line by line.
    for (const line of value.split(/\r?\n/)) redaction.add(line);
  }
  return (text: string) => redact(redaction.redact(text));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
