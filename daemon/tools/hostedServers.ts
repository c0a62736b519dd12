import { withoutUndefined } from '../../protocol/base/json.ts';
import type { AdviceMessage } from '../../protocol/messages/advice.ts';
import type { AgentMode, Tool } from '../../protocol/messages/chat.ts';
import type { ToolTimeouts } from '../../protocol/messages/settings.ts';
import {
  type Approvals,
  builtinServer,
  type Checks,
  type FinishLoginParams,
  type FinishLoginResult,
  type ListToolsResult,
  type LoginParams,
  type LoginResult,
  type LogoutResult,
  type ToolServers,
} from '../../protocol/messages/tools.ts';
import { InvalidParamsError, RunnerError } from '../base/errors.ts';
import { createEmitter } from '../base/event.ts';
import { lazily } from '../base/lazily.ts';
import type { DaemonToolOffer, DaemonTools, ElicitMode } from '../chat/daemonTools.ts';
import type { SecretStore } from '../config/secrets.ts';
import { emptyUserConfig, type UserConfig } from '../config/userFile.ts';
import type { BuiltinContext } from './builtin/builtinServer.ts';
import type { CheckRequests, ChecksContext } from './builtin/checks.ts';
import type { EditHistory } from './builtin/editHistory.ts';
import type { McpRuntime, McpRuntimeOptions, ToolStores } from './mcpRuntime.ts';
import { type BuiltinEntry, type HttpServerEntry, readServerEntry, type ServerEntry } from './serverEntry.ts';
import type { StartableEntry } from './serverTransport.ts';
import { offerTools, ownAdvice } from './toolOffer.ts';
import { type AskableServer, type ServerState, type ToolServer, toListed } from './toolServer.ts';

export interface HostedServersOptions
  extends Pick<
    McpRuntimeOptions,
    'env' | 'headersFor' | 'log' | 'now' | 'platform' | 'sessionsFolder' | 'userFolder' | 'version'
  > {
  /** What the editor has passed, as it is now. */
  readonly settings: () => {
    readonly mcpServers: ToolServers;
    /** Those of them that the editor itself gives, for which its approvals are meant. */
    readonly editorServers: ToolServers;
    /** Those of them that are the user's own and no workspace's, which may take variables of the environment. */
    readonly ownServers: ToolServers;
    readonly approvals: Approvals;
    readonly builtinTools: boolean;
    readonly checks: Checks;
    readonly trusted: boolean;
    readonly timeouts: ToolTimeouts;
  };
  /** What the user's own configuration says now. */
  readonly readUserConfig: () => Promise<Pick<UserConfig, 'tools'>>;
  readonly secrets: Pick<SecretStore, 'redact' | 'redaction'>;
  /** How the client asks its user what a server wants to know. It is known before a server starts. */
  readonly elicitModes: () => readonly ElicitMode[];
  /** What the built-in tools need of the client. */
  readonly builtin: BuiltinContext;
  /** The stores, if several sets of servers share them. Their owner closes them after the sets. */
  readonly openStores?: () => Promise<ToolStores>;
}

/** Entries that nobody has checked. */
type Servers = Readonly<Record<string, unknown>>;

/**
 * The servers whose tools the daemon calls: those of MCP, of the editor and of the user's own file, and the built-in
 * one. What speaks MCP is a bundle of its own: it is loaded, and a server is started, when a server is first needed.
 */
export class HostedServers implements DaemonTools {
  readonly #options: HostedServersOptions;
  readonly #runtime = lazily(() => this.#load());
  readonly #changes = createEmitter<void>();
  /** Servers that were used, with their entry as text: another entry is another server. */
  readonly #known = new Map<string, { readonly entry: string; readonly server: ToolServer }>();
  readonly #closing = new Set<Promise<void>>();
  readonly #warnings = new Set<string>();
  #isLoaded = false;
  /** The entries of the settings, as text; undefined before the start. */
  #settled: string | undefined;
  #user = emptyUserConfig.tools;
  #root: string | undefined;
  #folders: readonly string[] = [];

  constructor(options: HostedServersOptions) {
    this.#options = options;
  }

  /** A server started or ended, its tools changed, a login began or ended, or the settings have other servers. */
  readonly onDidChange = this.#changes.event;

  /**
   * `root` is the editor's folder, where servers start that name none; `folders` are those whose files the built-in
   * tools use.
   */
  start(root: string | undefined, folders: readonly string[]): void {
    this.#root = root;
    this.#folders = folders;
  }

  /** @throws {InvalidParamsError} if a name of `servers` is not that of a tool server. */
  async list(servers: readonly string[] | undefined, signal: AbortSignal): Promise<ListToolsResult> {
    await this.#readUser();
    this.#check(servers ?? [], 'servers');
    const states = await this.#statesOf(servers ?? 'all', signal);
    return { servers: states.map(toListed) };
  }

  /** Reads the user's servers. @throws {InvalidParamsError} if a name is not that of a tool server. */
  async require(servers: 'all' | readonly string[]): Promise<void> {
    await this.#readUser();
    if (servers !== 'all') this.#check(servers, 'hostedTools');
  }

  /** @throws {RunnerError} a sentence, if nobody may work in this mode here. */
  async requireMode(mode: AgentMode | undefined, signal: AbortSignal): Promise<void> {
    if (mode !== 'auto') return;
    if (!this.#options.settings().trusted)
      throw new RunnerError(
        'not-supported',
        'The mode auto needs a workspace that you trust. Trust it, or choose the mode edit.',
      );
    // The built-in tools do not work in a home folder at all.
    const [builtin] = await this.#statesOf([builtinServer], signal);
    if (builtin?.state === 'failed')
      throw new RunnerError('not-supported', `The mode auto is not possible here. ${builtin.message}`);
  }

  async offer(
    servers: 'all' | readonly string[],
    clientTools: readonly Tool[],
    { mode, signal }: Parameters<DaemonTools['offer']>[2],
  ): Promise<DaemonToolOffer> {
    const states = await this.#statesOf(servers, signal);
    const problems = states.flatMap(({ entry, state, advice, message }) => {
      if (state === 'ready' || (servers === 'all' && entry.kind === 'disabled')) return [];
      const sentence = message ?? `The tool server ${entry.name} is disabled.`;
      return withoutUndefined<AdviceMessage>({ message: sentence, advice });
    });
    if (states.length === 0) return { tools: [], problems };
    const runtime = await this.#runtime.get();
    const { env, log, settings } = this.#options;
    const tools = offerTools(states, clientTools, {
      ...runtime,
      // Servers of a workspace's settings are left out: an approval of their name is not meant for them.
      named: () => ({
        user: this.#user.approvals,
        client: settings().approvals,
        entryOf: (name) => {
          const servers: Servers = { ...settings().editorServers, ...this.#user.mcpServers };
          return Object.hasOwn(servers, name) ? this.#read(name, servers[name]) : undefined;
        },
      }),
      mode,
      decisions: this.#options.builtin.decisions?.(),
      root: this.#root,
      env,
      log,
      warnOnce: this.#warnOnce,
    });
    return withoutUndefined<DaemonToolOffer>({ tools, problems, ...(await ownAdvice(states, tools)) });
  }

  /** The servers that can be asked for prompts and resources. None is started; `known` are those that were used. */
  async askable(which: 'all' | 'known'): Promise<readonly AskableServer[]> {
    if (which === 'known') return [...this.#known].map(([name, { server }]) => ({ name, server }));
    await this.#readUser();
    const usable = () => this.#entries().filter((entry) => entry.kind === 'stdio' || entry.kind === 'http');
    if (usable().length === 0) return [];
    const runtime = await this.#runtime.get();
    this.update();
    return usable().map((entry) => ({ name: entry.name, server: this.#serverOf(entry, runtime) }));
  }

  has(servers: 'all' | readonly string[]): boolean {
    return this.#entries().some(
      ({ name, kind }) => kind !== 'disabled' && (servers === 'all' || servers.includes(name)),
    );
  }

  /** The edits of the built-in tools. @throws {InvalidParamsError} if there are none. */
  async edits(): Promise<EditHistory> {
    const { edits } = await this.#builtin();
    if (edits) return edits;
    throw new InvalidParamsError('session', 'no edits are kept, because the built-in tools are off');
  }

  /** The checks of the built-in tools. @throws {InvalidParamsError} if they are off. */
  async checks(): Promise<CheckRequests> {
    const { checks } = await this.#builtin();
    if (checks) return checks;
    throw new InvalidParamsError('builtinTools', 'the built-in tools are off');
  }

  async #builtin(): Promise<Pick<ToolServer, 'checks' | 'edits'>> {
    await this.#readUser();
    const entry = this.#entries().find(({ kind }) => kind === 'builtin');
    return entry?.kind === 'builtin' ? this.#serverOf(entry, await this.#runtime.get()) : {};
  }

  /** Begins a login. @throws {InvalidParamsError} if the server is not one at an address. */
  async login({ server }: LoginParams, signal: AbortSignal): Promise<LoginResult> {
    const entry = await this.#httpEntry(server);
    return (await this.#runtime.get()).logins.begin(entry, signal);
  }

  async finishLogin(
    { server, redirectedTo }: FinishLoginParams,
    signal: AbortSignal,
  ): Promise<FinishLoginResult> {
    return (await this.#runtime.get()).logins.finish(server, redirectedTo, signal);
  }

  async logout({ server }: LoginParams, signal: AbortSignal): Promise<LogoutResult> {
    const entry = await this.#httpEntry(server);
    return (await this.#runtime.get()).logins.end(entry, signal);
  }

  /** The settings may have changed: servers that are not entered any more are ended. */
  update(): void {
    const before = this.#settled;
    this.#settled = JSON.stringify(this.#options.settings().mcpServers);
    // Clients may show the list of servers. The first settings are those of the start.
    if (before !== undefined && before !== this.#settled) this.#changes.fire();
    const entries = this.#entries();
    const current = new Map(entries.map((entry) => [entry.name, JSON.stringify(entry)]));
    for (const [name, { entry }] of this.#known) if (current.get(name) !== entry) this.#end(name);
    // Nobody is warned of servers that nothing has needed so far.
    if (!this.#isLoaded) return;
    for (const entry of entries)
      if (entry.kind === 'wrong')
        this.#warnOnce(`The tool server ${entry.name} is left out. ${entry.problem}`);
  }

  close(): Promise<void> {
    return this.#runtime.close();
  }

  async #load(): Promise<McpRuntime> {
    const { createMcpRuntime } = await import('./mcpRuntime.ts');
    const { settings, secrets, openStores } = this.#options;
    const runtime = createMcpRuntime({
      ...this.#options,
      stores: await openStores?.(),
      redact: secrets.redact,
      hide: this.#hide,
      timeouts: () => settings().timeouts,
      onDidChange: () => this.#changes.fire(),
    });
    this.#isLoaded = true;
    const close = async () => {
      for (const name of [...this.#known.keys()]) this.#end(name);
      runtime.logins.close();
      await Promise.all(this.#closing);
      await runtime.close();
    };
    return { ...runtime, close };
  }

  readonly #hide = (secret: string) => this.#options.secrets.redaction.add(secret);

  readonly #warnOnce = (sentence: string) => {
    if (this.#warnings.has(sentence)) return;
    this.#warnings.add(sentence);
    this.#options.log.warn(sentence);
  };

  async #readUser(): Promise<void> {
    this.#user = (await this.#options.readUserConfig()).tools;
  }

  /** In the order in which they were entered first. Values of headers are hidden from every message. */
  #entries(): readonly ServerEntry[] {
    const { mcpServers, builtinTools } = this.#options.settings();
    const servers: Servers = { ...mcpServers, ...this.#user.mcpServers };
    const entered = Object.entries(servers).map(([name, value]) => this.#read(name, value));
    for (const entry of entered)
      if (entry.kind === 'http') for (const value of Object.values(entry.headers)) this.#hide(value);
    return builtinTools || this.#user.builtinTools ? this.#withBuiltin(entered) : entered;
  }

  #read(name: string, value: unknown): ServerEntry {
    const own: Servers = { ...this.#options.settings().ownServers, ...this.#user.mcpServers };
    // A workspace's entry may have the name of an own one.
    return readServerEntry(name, value, own[name] === value ? this.#options.env : undefined);
  }

  #withBuiltin(entered: readonly ServerEntry[]): readonly ServerEntry[] {
    const taken = entered.find(({ name }) => name === builtinServer);
    if (taken?.kind === 'wrong')
      this.#warnOnce(`The tool server ${builtinServer} of the settings is left out. ${taken.problem}`);
    const builtin: ServerEntry = { name: builtinServer, kind: 'builtin', folders: this.#folders };
    return [builtin, ...entered.filter((entry) => entry !== taken)];
  }

  #check(names: readonly string[], parameter: string): void {
    const known = new Set(this.#entries().map(({ name }) => name));
    const index = names.findIndex((name) => !known.has(name));
    if (index === -1) return;
    const problem = `there is no tool server "${names[index]}"${choiceOf([...known])}`;
    throw new InvalidParamsError(`${parameter}[${index}]`, problem);
  }

  async #httpEntry(name: string): Promise<HttpServerEntry> {
    await this.#readUser();
    const entries = this.#entries();
    const entry = entries.find((known) => known.name === name);
    if (entry?.kind === 'http') return entry;
    throw new InvalidParamsError('server', loginProblem(name, entry, entries));
  }

  async #statesOf(names: 'all' | readonly string[], signal: AbortSignal): Promise<readonly ServerState[]> {
    if (this.#entries().length === 0) return [];
    const runtime = await this.#runtime.get();
    this.update();
    const wanted = this.#entries().filter(({ name }) => names === 'all' || names.includes(name));
    return Promise.all(wanted.map((entry) => this.#stateOf(entry, runtime, signal)));
  }

  async #stateOf(entry: ServerEntry, runtime: McpRuntime, signal: AbortSignal): Promise<ServerState> {
    if (entry.kind === 'disabled') return { entry, state: 'disabled', tools: [] };
    if (entry.kind !== 'wrong') return this.#serverOf(entry, runtime).state(signal);
    const message = `The entry of ${entry.name} is wrong. ${entry.problem}`;
    return { entry, state: 'failed', message, tools: [] };
  }

  /** The one that is known, or a new one. */
  #serverOf(entry: BuiltinEntry | StartableEntry, runtime: McpRuntime): ToolServer {
    const found = this.#known.get(entry.name)?.server;
    if (found) return found;
    const server =
      entry.kind === 'builtin'
        ? runtime.createBuiltinServer(entry, this.#options.builtin, this.#checks)
        : runtime.createMcpServer(entry, this.#root);
    this.#known.set(entry.name, { entry: JSON.stringify(entry), server });
    return server;
  }

  readonly #checks: Omit<ChecksContext, 'groups' | 'kept'> = {
    configuredChecks: () => [this.#user.checks, this.#options.settings().checks],
    isTrusted: () => this.#options.settings().trusted,
    toolTotal: () => this.#options.settings().timeouts.toolTotal,
  };

  #end(name: string): void {
    const ended = this.#known.get(name)?.server.close();
    this.#known.delete(name);
    if (!ended) return;
    const done = ended.catch(() => undefined).finally(() => this.#closing.delete(done));
    this.#closing.add(done);
  }
}

function choiceOf(names: readonly string[]): string {
  return names.length === 0 ? '' : `; there are: ${names.slice(0, 50).join(', ')}`;
}

function loginProblem(name: string, entry: ServerEntry | undefined, all: readonly ServerEntry[]): string {
  const web = all.filter(({ kind }) => kind === 'http').map((known) => known.name);
  if (!entry) return `there is no tool server "${name}" at an address${choiceOf(web)}`;
  if (entry.kind === 'disabled') return `the tool server "${name}" is disabled`;
  if (entry.kind === 'wrong') return `the entry of "${name}" is wrong. ${entry.problem.replace(/\.$/, '')}`;
  if (entry.kind === 'builtin') return `the tool server "${name}" is built in, and needs no login`;
  return `the tool server "${name}" is a program on this machine, which needs no login`;
}
