import type {
  Approvals,
  FinishLoginParams,
  FinishLoginResult,
  ListToolsResult,
  LoginParams,
  LoginResult,
  LogoutResult,
  ToolServers,
} from '../../protocol/messages/tools.ts';
import { InvalidParamsError } from '../base/errors.ts';
import { createEmitter, type Event } from '../base/event.ts';
import { lazily } from '../base/lazily.ts';
import type { Log } from '../base/log.ts';
import type { DaemonTools } from '../chat/daemonTools.ts';
import type { SecretStore } from '../config/secrets.ts';
import { emptyUserConfig, type UserConfig } from '../config/userFile.ts';
import { readServerEntry, type ServerEntry } from './serverEntry.ts';
import type { ToolHost, ToolHostOptions } from './toolHost.ts';
import type { ToolStores } from './toolStores.ts';

export interface ToolsOptions extends Pick<ToolHostOptions, 'headersFor' | 'now' | 'userFolder' | 'version'> {
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  /** What the editor has handed over, as it is now. */
  readonly settings: () => {
    readonly mcpServers: ToolServers;
    /** Those of them that the editor itself gives, for which its approvals are meant. */
    readonly editorServers: ToolServers;
    readonly approvals: Approvals;
    readonly timeouts: { readonly tool: number; readonly toolTotal: number };
  };
  /** What the user's own configuration says now. */
  readonly readUserConfig: () => Promise<Pick<UserConfig, 'tools'>>;
  readonly secrets: Pick<SecretStore, 'redact' | 'redaction'>;
  readonly log: Log;
  /** The stores of who has several of these, and closes them after those. */
  readonly openStores?: () => Promise<ToolStores>;
}

/** The tool servers of the editor and of the user's own file. Nothing is read, loaded or started before it is wanted. */
export interface Tools extends DaemonTools {
  /** The editor's folder, where servers start that name none. */
  start(root: string | undefined): void;
  /** @throws {InvalidParamsError} where a name of `servers` is none of a tool server. */
  list(servers: readonly string[] | undefined, signal: AbortSignal): Promise<ListToolsResult>;
  /** @throws {InvalidParamsError} where a name of `hostedTools` is none of a tool server. */
  require(hostedTools: 'all' | readonly string[]): Promise<void>;
  /** Begins a login. @throws {InvalidParamsError} where the server is none at an address. */
  login(params: LoginParams, signal: AbortSignal): Promise<LoginResult>;
  finishLogin(params: FinishLoginParams, signal: AbortSignal): Promise<FinishLoginResult>;
  logout(params: LoginParams, signal: AbortSignal): Promise<LogoutResult>;
  /** A server came, went, or has other tools. */
  readonly onDidChange: Event<void>;
  /** The settings have changed: what is no longer entered is ended. */
  update(): void;
  close(): Promise<void>;
}

export function createTools(options: ToolsOptions): Tools {
  const { settings, secrets } = options;
  const hide = (secret: string) => secrets.redaction.add(secret);
  let user = emptyUserConfig.tools;
  const entries = () => readEntries({ ...settings().mcpServers, ...user.mcpServers }, hide);
  let made: ToolHost | undefined;
  let root: string | undefined;
  const changed = createEmitter<void>();
  const host = lazily(async (): Promise<ToolHost> => {
    const { createToolHost } = await import('./toolHost.ts');
    made = createToolHost({
      ...options,
      stores: await options.openStores?.(),
      redact: secrets.redact,
      hide,
      entries,
      // Entries of a workspace's settings are left out: an approval of their name is not meant for them.
      approvals: () => ({
        given: [user.approvals, settings().approvals],
        servers: { ...settings().editorServers, ...user.mcpServers },
      }),
      timeouts: () => settings().timeouts,
      root: () => root,
      onDidChange: changed.fire,
    });
    return made;
  });
  const readUser = async () => {
    user = (await options.readUserConfig()).tools;
  };
  const check = (names: readonly string[], parameter: string) => {
    const known = new Set(entries().map(({ name }) => name));
    const index = names.findIndex((name) => !known.has(name));
    if (index !== -1)
      throw new InvalidParamsError(
        `${parameter}[${index}]`,
        `there is no tool server "${names[index]}"${known.size === 0 ? '' : `; there are: ${[...known].slice(0, 50).join(', ')}`}`,
      );
  };
  const httpEntry = async (name: string) => {
    await readUser();
    const entry = entries().find((known) => known.name === name);
    if (entry?.kind === 'http') return entry;
    throw new InvalidParamsError('server', loginProblem(name, entry, entries()));
  };
  return {
    onDidChange: changed.event,
    start(folder) {
      root = folder;
    },
    async list(servers, signal) {
      await readUser();
      check(servers ?? [], 'servers');
      return entries().length === 0 ? { servers: [] } : (await host.get()).list(servers, signal);
    },
    async require(hostedTools) {
      await readUser();
      if (hostedTools !== 'all') check(hostedTools, 'hostedTools');
    },
    async offer(servers, own, signal) {
      if (entries().length === 0) return { tools: [], problems: [] };
      return (await host.get()).offer(servers, own, signal);
    },
    async login({ server }, signal) {
      const entry = await httpEntry(server);
      return (await host.get()).logins.begin(entry, signal);
    },
    async finishLogin({ server, redirectedTo }, signal) {
      return (await host.get()).logins.finish(server, redirectedTo, signal);
    },
    async logout({ server }, signal) {
      const entry = await httpEntry(server);
      return (await host.get()).logins.end(entry, signal);
    },
    update: () => made?.update(),
    close: () => host.close(),
  };
}

function loginProblem(name: string, entry: ServerEntry | undefined, all: readonly ServerEntry[]): string {
  const web = all.filter(({ kind }) => kind === 'http').map((known) => known.name);
  const hint = web.length === 0 ? '' : `; there are: ${web.slice(0, 50).join(', ')}`;
  if (!entry) return `there is no tool server "${name}" at an address${hint}`;
  if (entry.kind === 'disabled') return `the tool server "${name}" is disabled`;
  if (entry.kind === 'wrong') return `the entry of "${name}" is wrong. ${entry.problem.replace(/\.$/, '')}`;
  return `the tool server "${name}" is a program on this machine, which needs no login`;
}

/** In the order in which they were entered first. Tokens in headers are hidden from everything that is said. */
function readEntries(
  servers: Readonly<Record<string, unknown>>,
  hide: (secret: string) => void,
): readonly ServerEntry[] {
  const entries = Object.entries(servers).map(([name, value]) => readServerEntry(name, value));
  for (const entry of entries)
    if (entry.kind === 'http') for (const value of Object.values(entry.headers)) hide(value);
  return entries;
}
