import type { InitializationOptions } from '../../../protocol/messages/initialize.ts';
import { logNotification } from '../../../protocol/messages/log.ts';
import { type Status, statusRequest } from '../../../protocol/messages/status.ts';
import type { ClientCapabilities } from '../../../protocol/messages/tools.ts';
import type { CommandLine } from '../cli/commandLine.ts';
import { refusedParameter, TerminalError } from '../cli/failure.ts';
import { type Surroundings, writeLine, writeText } from '../cli/streams.ts';
import { showLine } from '../screen/controlCharacters.ts';
import { styleFor } from '../screen/style.ts';
import { type Daemon, startDaemon } from './daemon.ts';

/** A daemon, and whether the runner behind it is the practice runner. */
export interface Connection {
  readonly daemon: Daemon;
  readonly isPractice: boolean;
  /** Takes a new daemon in the place of one that died. */
  renew(): Promise<void>;
}

/**
 * A daemon for the runner that the command line or the environment names, else for the default one. `OLLAMA_HOST` is
 * handed on like `--server`, so that one that cannot be read is told and never passed over for the default address.
 */
export async function connect(
  surroundings: Surroundings,
  commandLine: CommandLine,
  options: InitializationOptions = {},
  client?: ClientCapabilities,
): Promise<Daemon> {
  if (commandLine.practice) {
    const practice = await startPractice(surroundings, options, client);
    sayFaults(surroundings, practice);
    return practice;
  }
  const named = namedRunner(surroundings, commandLine);
  try {
    const host = named === undefined ? {} : { host: named.host };
    const daemon = await startDaemon(
      surroundings.spawnDaemon([]),
      { logLevel: 'warn', ...options, ...host },
      client,
    );
    sayFaults(surroundings, daemon);
    return daemon;
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

/** The faults of the user's configuration, as the daemon finds them: in the same command's own words they would be lost. */
function sayFaults({ stderr, env }: Surroundings, daemon: Daemon): void {
  daemon.onNotification(logNotification, ({ code, message }) => {
    if (code === 'configuration') void writeText(stderr, styleFor(stderr, env).yellow(showLine(message)));
  });
}

/** Has a daemon for as long as `use` takes. */
export async function withDaemon<T>(
  surroundings: Surroundings,
  { commandLine, ...options }: InitializationOptions & { readonly commandLine: CommandLine },
  use: (daemon: Daemon) => Promise<T>,
): Promise<T> {
  const daemon = await connect(surroundings, commandLine, options);
  try {
    return await use(daemon);
  } finally {
    await daemon.close();
  }
}

export interface ChatOptions {
  readonly options: InitializationOptions;
  readonly client: ClientCapabilities;
}

/**
 * A connection for chatting. Where nobody named a runner and none answers at the default address, the built-in
 * practice runner takes its place for people, and standard error says so. A script never takes its words for an answer.
 */
export async function connectForChat(
  surroundings: Surroundings,
  commandLine: CommandLine,
  { options, client }: ChatOptions,
): Promise<Connection> {
  const start = () => connect(surroundings, commandLine, options, client);
  const daemon = await start();
  const { practice } = commandLine;
  const isNamed = practice || daemon.isHostNamed || namedRunner(surroundings, commandLine) !== undefined;
  if (isNamed) return createConnection(daemon, start, practice);
  const status = await daemon.request(statusRequest, {});
  if (status.state !== 'offline') return createConnection(daemon, start, false);
  await daemon.close();
  if (!isForPeople(surroundings, commandLine)) throw noRunnerForScript(status);
  for (const line of noRunner(status)) await writeLine(surroundings.stderr, line);
  const practise = () => startPractice(surroundings, options, client);
  return createConnection(await practise(), practise, true);
}

/** Who sees the answer on a screen, or only started the program to see what it does. */
function isForPeople({ stdout }: Surroundings, { json, isCommandNamed }: CommandLine): boolean {
  return !isCommandNamed || (stdout.isTTY === true && !json);
}

/** The faults of the user's configuration were said by the daemon before it, where there was one. */
function startPractice(
  surroundings: Surroundings,
  options: InitializationOptions,
  client?: ClientCapabilities,
): Promise<Daemon> {
  return startDaemon(surroundings.spawnDaemon(['--practice']), { logLevel: 'warn', ...options }, client);
}

function createConnection(first: Daemon, start: () => Promise<Daemon>, isPractice: boolean): Connection {
  let daemon = first;
  return {
    get daemon() {
      return daemon;
    },
    isPractice,
    async renew() {
      daemon = await start();
    },
  };
}

interface NamedRunner {
  readonly by: '--server' | 'OLLAMA_HOST';
  readonly host: string;
}

/** The runner that somebody named, and how. */
export function namedRunner({ env }: Surroundings, { server }: CommandLine): NamedRunner | undefined {
  if (server !== undefined) return { by: '--server', host: server };
  const host = (env['OLLAMA_HOST'] ?? '').trim();
  return host === '' ? undefined : { by: 'OLLAMA_HOST', host };
}

function noRunnerForScript(status: Status): TerminalError {
  return new TerminalError(
    'server-unreachable',
    `${firstSentence(status)}. Start one, or name yours with --server URL or OLLAMA_HOST. "runner chat --practice" tries Runner without one.`,
  );
}

/** In lines that fit a narrow terminal. */
function noRunner(status: Status): readonly string[] {
  return [
    `${firstSentence(status)}.`,
    'So this is the practice runner, which is built in and no language model.',
    'To get a real one: install Ollama from https://ollama.com/download,',
    'then run "ollama pull qwen3:4b". If yours is elsewhere: set OLLAMA_HOST.',
    '',
  ];
}

/** With the address that was tried. */
function firstSentence({ kind, message }: Status): string {
  return kind === 'error' ? (message.split('. ')[0] ?? message) : 'No runner answers';
}
