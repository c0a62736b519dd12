import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../../../protocol/base/json.ts';
import { showLine } from '../../../protocol/base/text.ts';
import { engineStartRequest } from '../../../protocol/messages/engine.ts';
import type { InitializationOptions } from '../../../protocol/messages/initialize.ts';
import { logNotification } from '../../../protocol/messages/log.ts';
import { listSettingsRequest } from '../../../protocol/messages/settings.ts';
import {
  discoverRequest,
  type Status,
  serversRequest,
  statusRequest,
} from '../../../protocol/messages/status.ts';
import type { ToolCapabilities } from '../../../protocol/messages/tools.ts';
import type { CommandContext } from '../cli/command.ts';
import type { CommandLine } from '../cli/commandLine.ts';
import { refusedParameter, TerminalError } from '../cli/failure.ts';
import { canAsk } from '../cli/terminal.ts';
import type { Output } from '../screen/output.ts';
import { isOwnStopped, startOwn } from './advice.ts';
import { type DaemonClient, startDaemon } from './daemon.ts';
import { chooseFound, offerStart } from './firstStart.ts';

/** Starts a daemon, passes it to `use`, and closes it afterwards. */
export async function withDaemon<T>(
  context: CommandContext,
  options: InitializationOptions,
  use: (daemon: DaemonClient) => Promise<T>,
): Promise<T> {
  const daemon = await connect(context, options);
  reportFaults(context.terminal.stderr, daemon);
  try {
    return await use(daemon);
  } finally {
    await daemon.close();
  }
}

/**
 * A daemon for the runner that the command line or the environment names, or else for the default one. `OLLAMA_HOST` is
 * passed on like `--server`: if it cannot be read, that is an error, and the default address is not used instead.
 */
export async function connect(
  context: CommandContext,
  options: InitializationOptions = {},
  client?: ToolCapabilities,
): Promise<DaemonClient> {
  const { commandLine, program, terminal } = context;
  const named = commandLine.practice ? undefined : namedRunner(context);
  const host = named === undefined ? {} : { host: named.host };
  // Who names a server means no other.
  const alone = commandLine.practice || named?.by === '--server' ? { servers: [] } : {};
  try {
    return await startDaemon(
      program.spawnDaemon(commandLine.practice ? ['--practice'] : []),
      { logLevel: 'warn', ...options, ...host, ...alone },
      { showsDiffs: true, folder: terminal.cwd, ...client },
    );
  } catch (error) {
    const refused = refusedParameter(error);
    if (named === undefined || refused?.path !== 'initializationOptions.host') throw error;
    throw new TerminalError(
      named.by === '--server' ? 'usage' : 'invalid-request',
      `The address in ${named.by} cannot be used: ${refused.problem}.`,
      { cause: error },
    );
  }
}

/** Shows what the daemon finds wrong in the user's configuration, and what it waits for. */
function reportFaults(stderr: Output, daemon: DaemonClient): void {
  daemon.onNotification(logNotification, ({ code, message }) => {
    if (code === 'configuration' || code === 'tool-server') void stderr.writeWarning(showLine(message));
  });
}

interface NamedRunner {
  readonly by: '--server' | 'OLLAMA_HOST';
  readonly host: string;
}

/** The runner that the user named, and how. */
export function namedRunner({ terminal, commandLine }: CommandContext): NamedRunner | undefined {
  const { server } = commandLine;
  if (server !== undefined) return { by: '--server', host: server };
  const host = (terminal.env['OLLAMA_HOST'] ?? '').trim();
  return host === '' ? undefined : { by: 'OLLAMA_HOST', host };
}

/** A daemon, and whether the runner behind it is the practice runner. */
export class TerminalConnection {
  readonly #start: () => Promise<DaemonClient>;
  readonly isPractice: boolean;
  daemon: DaemonClient;

  constructor(first: DaemonClient, start: () => Promise<DaemonClient>, isPractice: boolean) {
    this.daemon = first;
    this.#start = start;
    this.isPractice = isPractice;
  }

  /** Replaces a daemon that died. */
  async renew(): Promise<void> {
    this.daemon = await this.#start();
  }
}

export interface ChatConnectionOptions {
  readonly client: ToolCapabilities;
  /** The options, given the user's own tool servers. They are undefined until a daemon has named them. */
  readonly optionsFor: (toolServers?: readonly string[]) => InitializationOptions;
}

/**
 * A connection for chatting. If no runner answers at the address of the user's configuration, or at the default one,
 * a person at a terminal is offered what else answers on this machine. If nobody named a runner, such a person is
 * offered what can be started here; the built-in practice runner answers people in the end, and standard error says so.
 * A script never gets its answers.
 */
export async function connectForChat(
  context: CommandContext,
  options: ChatConnectionOptions,
): Promise<TerminalConnection> {
  const { terminal, commandLine } = context;
  const { practice } = commandLine;
  const start = async () => {
    const daemon = await connectWithTools(context, options);
    reportFaults(terminal.stderr, daemon);
    return daemon;
  };
  const daemon = await start();
  const connection = new TerminalConnection(daemon, start, practice);
  const isNamed = practice || namedRunner(context) !== undefined;
  if (isNamed || (daemon.isHostNamed && !canOffer(context))) return connection;
  const status = await daemon.request(statusRequest, {});
  if (status.state !== 'offline' || (await answersElsewhere(daemon))) return connection;
  const isOffered = canOffer(context);
  const { found, isProblemShown } = isOffered
    ? await orClosed(daemon, () => offerFound(context, daemon, problemOf(status)))
    : { found: undefined, isProblemShown: false };
  if (found === undefined && daemon.isHostNamed) return connection;
  const said = isProblemShown ? undefined : problemOf(status);
  const mayStart = isOffered && found === undefined;
  const choice = mayStart ? await orClosed(daemon, () => offerStart(context, daemon, said)) : undefined;
  if (choice === 'started' || (await startKept(context, daemon, status))) return connection;
  await daemon.close();
  // The first daemon has reported the faults of the configuration already.
  const startWith = (changed: Partial<CommandLine>) => () =>
    connectWithTools({ ...context, commandLine: { ...commandLine, ...changed } }, options);
  if (found !== undefined) {
    const startThere = startWith({ server: found });
    return new TerminalConnection(await startThere(), startThere, false);
  }
  if (!isForPeople(context)) throw noRunnerForScript(context, status);
  if (said !== undefined && choice === undefined) await terminal.stderr.writeLine(said);
  for (const line of aboutPractice) await terminal.stderr.writeLine(line);
  const practise = startWith({ practice: true });
  return new TerminalConnection(await practise(), practise, true);
}

/** Whether a further server of the configuration answers. */
async function answersElsewhere(daemon: DaemonClient): Promise<boolean> {
  const { servers } = await daemon.request(serversRequest, {});
  return servers.slice(1).some(({ status }) => status.state !== 'offline');
}

/** A person who sees everything and has a keyboard. */
function canOffer(context: CommandContext): boolean {
  return isForPeople(context) && context.terminal.stdout.isScreen && canAsk(context.terminal);
}

/** Closes the daemon if the work fails, such as after Ctrl-C. */
async function orClosed<T>(daemon: DaemonClient, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await daemon.close();
    throw error;
  }
}

/**
 * The address of another runner on this machine that the user agreed to, and whether the offer began with what is wrong
 * with the usual runner.
 */
async function offerFound({ terminal }: CommandContext, daemon: DaemonClient, problem: string) {
  const { runners } = await daemon.request(discoverRequest, {});
  const found = await chooseFound(terminal, daemon, { runners, problem });
  return { found, isProblemShown: runners.length > 0 };
}

/** Starts the daemon again if the user's own tool servers change its options. Nothing has run by then. */
async function connectWithTools(
  context: CommandContext,
  { client, optionsFor }: ChatConnectionOptions,
): Promise<DaemonClient> {
  const expected = optionsFor();
  const daemon = await connect(context, expected, client);
  return orClosed(daemon, async () => {
    const options = optionsFor(daemon.toolServers);
    if (isDeepStrictEqual(options, expected)) return daemon;
    await daemon.close();
    return connect(context, options, client);
  });
}

/** Whether the answer goes to a screen, or the program was only started to see what it does. */
function isForPeople({ terminal, commandLine }: CommandContext): boolean {
  return !commandLine.isCommandNamed || (terminal.stdout.isScreen && !commandLine.json);
}

function noRunnerForScript({ terminal }: CommandContext, status: Status): TerminalError {
  const problem = problemOf(status);
  const start = isOwnStopped(problem, terminal.env) ? startOwn : 'Start one';
  return new TerminalError(
    'server-unreachable',
    `${problem} ${start}, or name yours with --server URL or OLLAMA_HOST. "runner chat --practice" tries Runner without one.`,
  );
}

/** A script starts the engine again if the user wants it to keep running. Returns whether it runs. */
async function startKept(context: CommandContext, daemon: DaemonClient, status: Status): Promise<boolean> {
  if (isForPeople(context) || !isOwnStopped(problemOf(status), context.terminal.env)) return false;
  const { settings } = await daemon.request(listSettingsRequest, {});
  const engine = settings.find(({ name }) => name === 'engine')?.value;
  if (!isRecord(engine) || engine['keepRunning'] !== true) return false;
  await daemon.request(engineStartRequest, { keep: true });
  return true;
}

/** In lines that fit a narrow terminal. */
const aboutPractice = [
  'So this is the practice runner, which is built in and no language model.',
  'To get a real one: install Ollama from https://ollama.com/download,',
  'then run "ollama pull qwen3:4b". If yours is elsewhere: set OLLAMA_HOST.',
  '',
];

/** With the address that was tried. */
function problemOf({ message, advice }: Status): string {
  return advice?.problem ?? message;
}
