import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { withoutUndefined } from '../protocol/base/json.ts';
import { dataHome, stateFolder, thisPlatform, userConfigFile } from '../protocol/base/platform/folders.ts';
import { type AgentMode, agentModes } from '../protocol/messages/chat.ts';
import { ErrorOutput } from './compose/errorOutput.ts';
import type { DaemonOptions } from './compose/handshake.ts';

declare const RUNNER_VERSION: string;

const minimumMajor = 20;

/** The time by which a daemon has started and answered its editor's first requests, in ms. */
const startTime = 3_000;

const help = `runnerd ${RUNNER_VERSION}: the daemon behind every client of Runner; each editor starts its own

  runnerd --stdio               JSON-RPC over standard input and output (LSP frames); docs/PROTOCOL.md has the messages
    --secrets-fd N              read access tokens, one JSON object a line, from this descriptor
    --trace FILE                append all traffic to this file, without secrets; it holds prompts and answers
    --practice                  talk to the built-in practice runner where the editor names no other
  runnerd --acp                 an agent of the Agent Client Protocol, for Zed, JetBrains, Emacs and others; docs/ACP.md
                                the runner is OLLAMA_HOST's; takes the same three flags
    --model NAME                the model that answers until another is chosen
    --tools builtin             models may use the built-in tools: they read, edit and check files of the project
    --mode MODE                 what they do without a question in new sessions: ${agentModes.join(', ')}
  runnerd --practice            serve the practice runner on loopback and print its address
  runnerd --version | --help
`;

const errorOutput = new ErrorOutput(() => process.stderr);
useErrorConsole();

void main();

async function main(): Promise<void> {
  const major = Number(process.versions.node.split('.', 1)[0]);
  if (major < minimumMajor) {
    process.stderr.write(`runnerd needs Node ${minimumMajor} or newer; this is ${process.versions.node}.\n`);
    process.exit(minimumMajor);
  }
  // Older ones have no cache to turn on.
  if (major >= 22) await keepCompiled();
  const flags = readFlags(process.argv.slice(2));
  if (flags.help) return print(help);
  if (flags.version) return print(`${RUNNER_VERSION}\n`);
  if (flags.stdio) return serveStdio(flags);
  if (flags.acp) return serveAcp(flags);
  if (flags.practice) return servePractice();
  process.stderr.write(
    `runnerd: say how to speak: --stdio or --acp. "runnerd --help" explains the options.\n`,
  );
  process.exit(2);
}

/** Standard output belongs to the protocol: what a library prints goes to standard error. Most starts print nothing. */
function useErrorConsole(): void {
  const { Console } = globalThis.console;
  let made: Console | undefined;
  Object.defineProperty(globalThis, 'console', {
    configurable: true,
    get() {
      made ??= new Console(errorOutput);
      return made;
    },
  });
}

async function keepCompiled(): Promise<void> {
  const { useCompileCache, writeCompileCache } = await import('./compose/compileCache.ts');
  useCompileCache({ platform: thisPlatform, env: process.env });
  setTimeout(writeCompileCache, startTime).unref();
}

interface Flags {
  readonly stdio: boolean;
  readonly acp: boolean;
  readonly practice: boolean;
  readonly version: boolean;
  readonly help: boolean;
  readonly secretsFd?: number;
  readonly trace?: string;
  readonly model?: string;
  readonly tools?: string;
  readonly mode?: AgentMode;
}

function readFlags(args: readonly string[]): Flags {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        stdio: { type: 'boolean', default: false },
        acp: { type: 'boolean', default: false },
        practice: { type: 'boolean', default: false },
        version: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
        'secrets-fd': { type: 'string' },
        trace: { type: 'string' },
        model: { type: 'string' },
        tools: { type: 'string' },
        mode: { type: 'string' },
        // Editors' client libraries add it; `initialize` says the same.
        clientProcessId: { type: 'string' },
      },
    });
    const fd = values['secrets-fd'];
    if (fd !== undefined && !/^\d{1,5}$/.test(fd))
      throw new TypeError('--secrets-fd needs the number of a descriptor');
    const { stdio, acp, practice, version, help, trace, model, tools } = values;
    if (tools !== undefined && tools !== 'builtin')
      throw new TypeError('--tools knows only "builtin"; other servers are entered in "mcpServers"');
    const mode = agentModes.find((one) => one === values.mode);
    if (mode === undefined && values.mode !== undefined)
      throw new TypeError(`--mode is one of ${agentModes.join(', ')}`);
    return withoutUndefined({
      stdio,
      acp,
      practice,
      version,
      help,
      secretsFd: fd === undefined ? undefined : Number(fd),
      trace,
      model,
      tools,
      mode,
    });
  } catch (error) {
    process.stderr.write(`runnerd: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(2);
  }
}

function print(text: string): void {
  process.stdout.write(text);
}

async function serveStdio(flags: Flags): Promise<void> {
  const { startDaemon } = await import('./compose/handshake.ts');
  const options = await optionsOf(flags);
  const wait = async (milliseconds: number, signal: AbortSignal) => {
    const { setTimeout: waitFor } = await import('node:timers/promises');
    return waitFor(milliseconds, undefined, { signal });
  };
  await liveWith(startDaemon({ ...options, platform: thisPlatform, env: process.env, wait }));
}

async function serveAcp(flags: Flags): Promise<void> {
  const { startAcp } = await packed(import('./compose/acpServer.ts'), '--acp');
  const writeLog = (line: string) => void errorOutput.write(line);
  const { model, mode } = flags;
  const builtinTools = flags.tools === 'builtin';
  const { platform, env } = process;
  const common = await optionsOf(flags);
  const starting = startAcp(
    withoutUndefined({ ...common, platform, env, model, builtinTools, mode, writeLog }),
  );
  const leave = await liveWith(starting);
  (await starting).signal.addEventListener('abort', leave, { once: true });
}

type CommonOptions = Omit<DaemonOptions, 'platform' | 'env' | 'wait'>;

/** What the daemon is given, whatever protocol it speaks. */
async function optionsOf({ secretsFd, practice, trace }: Flags): Promise<CommonOptions> {
  const runner = practice ? await startPractice() : undefined;
  const state = stateFolder(process.env);
  return withoutUndefined<CommonOptions>({
    input: process.stdin,
    output: process.stdout,
    version: RUNNER_VERSION,
    host: runner?.url ?? process.env['OLLAMA_HOST'],
    // An editor that hands secrets over has settings of its own, too.
    userFile: { path: userConfigFile(process.env), clientHasSettings: secretsFd !== undefined },
    traceFile: trace,
    readSecrets: async (sources) => {
      // The answer to `initialize` goes first: only the first request to a runner waits for this.
      await new Promise(setImmediate);
      const { readSecrets } = await import('./config/secretSources.ts');
      await readSecrets(sources, secretsFd);
    },
    sessionsFolder: join(state, 'sessions'),
    promptAnswersFolder: join(state, 'promptFolders'),
    chatModelFile: join(state, 'chatModel.json'),
    engine: {
      state,
      data: join(dataHome(process.env), 'runner'),
      programs: {
        engine: join(__dirname, 'engine.cjs'),
        supervisor: join(__dirname, 'runnerd', 'engineSupervisor.cjs'),
        lock: join(__dirname, 'runnerd', 'engineLock'),
      },
      platform: thisPlatform,
      env: process.env,
      own: process.execPath,
    },
    now: Date.now,
    random: Math.random,
  });
}

interface LivingDaemon {
  readonly redact: (text: string) => string;
  close(): Promise<void>;
}

/** The process lives as long as its editor, even while the daemon starts. Returns a function that ends it early. */
async function liveWith(starting: Promise<LivingDaemon>): Promise<() => void> {
  const leave = () => {
    // Sockets that stay open must not keep a daemon that has no editor. A child that will not end has a second.
    void starting.then((daemon) => daemon.close()).finally(() => process.exit(0));
    setTimeout(() => process.exit(0), 1_500).unref();
  };
  process.stdin.on('end', leave);
  process.stdin.on('close', leave);
  process.stdout.on('error', leave);
  errorOutput.redactWith((await starting).redact);
  // Signals have no listener, so they end the process even while it is busy; its children end when their input does.
  process.on('uncaughtException', reportDefect);
  process.on('unhandledRejection', reportDefect);
  return leave;
}

/** One feature's failure never ends the daemon. */
function reportDefect(error: unknown): void {
  errorOutput.write(
    `runnerd: a defect: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
}

async function servePractice(): Promise<void> {
  const { url, close } = await startPractice();
  print(`${url}\n`);
  const leave = () => void close().finally(() => process.exit(0));
  process.on('SIGTERM', leave);
  process.on('SIGINT', leave);
}

async function startPractice() {
  const { startPracticeRunner } = await packed(import('./practice/practiceRunner.ts'), '--practice');
  return startPracticeRunner({ docs: join(__dirname, '..', 'docs') });
}

/** The extension of VS Code is packed without what it never starts: `.ci/package.mjs` lists that. */
async function packed<Module>(loading: Promise<Module>, flag: string): Promise<Module> {
  try {
    return await loading;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    process.stderr.write(
      `runnerd: the one inside the extension for VS Code has no ${flag}. Use the runnerd of the package.\n`,
    );
    process.exit(2);
  }
}
