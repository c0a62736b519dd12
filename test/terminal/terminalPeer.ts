import { EventEmitter, once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { Test } from 'tap';
import {
  type CancellationToken,
  createMessageConnection,
  ResponseError,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-jsonrpc/node';
import type { Program } from '../../client/terminal/cli/command.ts';
import { runProgram } from '../../client/terminal/cli/program.ts';
import type { Terminal } from '../../client/terminal/cli/terminal.ts';
import type { DaemonProcess } from '../../client/terminal/daemon/daemon.ts';
import { Output } from '../../client/terminal/screen/output.ts';
import {
  type ChatDelta,
  type ChatParams,
  type ChatResult,
  chatDelta,
  chatRequest,
} from '../../protocol/messages/chat.ts';
import { type ElicitParams, type ElicitResult, elicitRequest } from '../../protocol/messages/elicit.ts';
import type { InitializationOptions } from '../../protocol/messages/initialize.ts';
import {
  chatModelRequest,
  listModelsRequest,
  type Model,
  preferredModel,
} from '../../protocol/messages/models.ts';
import { getPromptRequest, listPromptsRequest } from '../../protocol/messages/prompts.ts';
import {
  discoverRequest,
  type Status,
  serversRequest,
  statusRequest,
} from '../../protocol/messages/status.ts';
import {
  type ApproveToolParams,
  type ApproveToolResult,
  approveToolRequest,
  listToolsRequest,
  type ToolProgress,
  toolProgress,
} from '../../protocol/messages/tools.ts';
import { modelLike } from '../support/modelLike.ts';
import { createPeerConversations } from './peerConversations.ts';

type Unnumbered<T> = T extends unknown ? Omit<T, 'streamId' | 'seq'> : never;
/** A delta without what the peer adds. */
export type Piece = Unnumbered<ChatDelta>;

export interface Turn {
  readonly params: ChatParams;
  readonly token: CancellationToken;
  readonly send: (piece: Piece) => Promise<void>;
  /** Reports how far a call has come. */
  readonly report: (progress: Omit<ToolProgress, 'streamId'>) => Promise<void>;
  /** Asks the client whether a call may run. */
  readonly approve: (question: Omit<ApproveToolParams, 'streamId'>) => Promise<ApproveToolResult>;
  readonly elicit: (question: Omit<ElicitParams, 'streamId'>) => Promise<ElicitResult>;
  /** The daemon dies here. */
  readonly die: (said: string) => void;
}

/** What a request that a test answers comes with. */
export interface Asked {
  readonly params: Readonly<Record<string, unknown>>;
  readonly token: CancellationToken;
  readonly notify: (method: string, params: object) => Promise<void>;
  /** The daemon dies here. */
  readonly die: (said: string) => void;
}

/** What the daemon of a test answers. */
export interface PeerScript {
  /** By method; before all others. */
  readonly answers?: Readonly<Record<string, (asked: Asked) => unknown>>;
  readonly models?: readonly Model[];
  readonly status?: Status;
  /** The user's configuration names the runner. */
  readonly isHostNamed?: boolean;
  /** The tool servers in the user's configuration. */
  readonly toolServers?: readonly string[];
  readonly chat?: (turn: Turn) => Promise<unknown>;
}

export interface Started {
  readonly flags: readonly string[];
  options: InitializationOptions;
  approvesTools: boolean;
  elicits: boolean;
  showsDiffs: boolean;
  decisions: readonly string[];
  folder: string | undefined;
  isPaused(): boolean;
  wasKilled: boolean;
  hasEnded: boolean;
  /** Ends it as a crash would, with its last words. */
  die(last: string): void;
}

/** A daemon in memory: both ends are vscode-jsonrpc, and the frames go through streams. */
function startPeer(
  {
    conversations,
    ...script
  }: PeerScript & { readonly conversations: ReturnType<typeof createPeerConversations> },
  started: Started[],
  flags: readonly string[],
): DaemonProcess {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const connection = createMessageConnection(new StreamMessageReader(input), new StreamMessageWriter(output));
  let end: (how: string) => void = () => undefined;
  let said = '';
  const ended = new Promise<string>((resolve) => {
    end = (how) => {
      self.hasEnded = true;
      resolve(how);
    };
  });
  const self: Started = {
    flags,
    options: {},
    approvesTools: false,
    elicits: false,
    showsDiffs: false,
    decisions: [],
    folder: undefined,
    isPaused: () => output.isPaused(),
    wasKilled: false,
    hasEnded: false,
    die(last) {
      said = last;
      output.end();
      end('exit code 3');
    },
  };
  started.push(self);
  const { die } = self;
  connection.onRequest('initialize', ({ initializationOptions, capabilities: client }) => {
    self.options = initializationOptions;
    self.elicits = client.experimental.runner.elicits === true;
    self.decisions = client.experimental.runner.decisions ?? [];
    self.approvesTools = client.experimental.runner.approvesTools === true;
    self.showsDiffs = client.experimental.runner.showsDiffs === true;
    self.folder = client.experimental.runner.folder;
    if (self.options.host?.includes(' ')) {
      const message = 'The parameter "initializationOptions.host" is not valid: it is not an address.';
      return new ResponseError(-32602, message, {
        path: 'initializationOptions.host',
        problem: 'it is not an address',
      });
    }
    const { isHostNamed = false, toolServers = [] } = script;
    const capabilities = { experimental: { runner: { protocolVersion: 1, isHostNamed, toolServers } } };
    return { capabilities, serverInfo: { name: 'runnerd', version: '9.9.9' } };
  });
  connection.onRequest(statusRequest.method, () => script.status ?? online);
  connection.onRequest(serversRequest.method, () => ({
    servers: [{ name: 'default', url: 'http://127.0.0.1:11434', status: script.status ?? online }],
  }));
  connection.onRequest(discoverRequest.method, () => ({ runners: [] }));
  connection.onRequest(chatModelRequest.method, () => ({ model: preferredModel(script.models ?? []) }));
  connection.onRequest(listModelsRequest.method, () => ({ models: script.models ?? [] }));
  connection.onRequest(listToolsRequest.method, () => ({ servers: [] }));
  connection.onRequest(listPromptsRequest.method, () => ({ prompts: [], problems: [] }));
  connection.onRequest(getPromptRequest.method, () => ({ kind: 'none', near: [] }));
  connection.onRequest(chatRequest.method, async (sent: ChatParams, token) => {
    let seq = 0;
    const params = conversations.whole(sent);
    const { streamId } = params;
    const send = (piece: Piece) =>
      connection.sendNotification(chatDelta.method, { streamId, seq: seq++, ...piece });
    const approve = (question: object) =>
      connection.sendRequest<ApproveToolResult>(approveToolRequest.method, { streamId, ...question }, token);
    const elicit = (question: object) =>
      connection.sendRequest<ElicitResult>(elicitRequest.method, { streamId, ...question }, token);
    const report = (progress: object) =>
      connection.sendNotification(toolProgress.method, { streamId, ...progress });
    const turn = { params, token, send, report, approve, elicit, die };
    const result = await script.chat?.(turn).catch((error: unknown) => error);
    conversations.note(params, result);
    if (result instanceof Error) throw result;
    return result;
  });
  const notify = (method: string, params: object) => connection.sendNotification(method, params);
  for (const [method, answer] of Object.entries(script.answers ?? {}))
    connection.onRequest(method, (params, token) => answer({ params, token, notify, die }));
  for (const [name, own] of Object.entries(conversations.answers)) {
    const scripted = script.answers?.[`runner/sessions/${name}`];
    connection.onRequest(`runner/sessions/${name}`, async (params, token) =>
      scripted
        ? conversations.merged(
            name as keyof typeof conversations.answers,
            params,
            await scripted({ params, token, notify, die }),
          )
        : own(params),
    );
  }
  connection.onRequest('shutdown', () => null);
  connection.onNotification('exit', () => end('exit code 0'));
  connection.listen();
  const kill = () => {
    self.wasKilled = true;
    end('SIGKILL');
  };
  return { input, output, said: () => said, ended, kill };
}

const online: Status = { state: 'online', kind: 'ok', message: 'The runner answers.', version: '1.2.3' };
export const offline: Status = {
  state: 'offline',
  kind: 'error',
  message: 'No runner answers at X. Start it.',
  advice: { code: 'start-runner', problem: 'No runner answers at X.', text: 'Start it.' },
};

export interface TerminalOptions extends PeerScript {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Piped in; without it standard input is a terminal. */
  readonly input?: string;
  /** Standard output and standard error are terminals. */
  readonly isScreen?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  readonly cwd?: string;
  /** The clipboard of the system. */
  readonly copyText?: (text: string) => Promise<boolean>;
  /** The editor of the user. */
  readonly editText?: (text: string) => Promise<string>;
  /** In ms. */
  readonly patience?: number;
}

/** The whole program in this process, with what it wrote and a keyboard. */
export function startTerminal({
  args = [],
  env = {},
  input,
  isScreen = false,
  columns = 80,
  rows = 24,
  cwd = '/projects/here',
  copyText,
  editText,
  patience,
  ...script
}: TerminalOptions) {
  const started: Started[] = [];
  const modes: boolean[] = [];
  const stdin = Object.assign(new PassThrough(), {
    isTTY: input === undefined,
    setRawMode: (on: boolean) => void modes.push(on),
  });
  if (input !== undefined) stdin.end(input);
  const size = { isTTY: isScreen, columns, rows };
  const [stdout, stderr] = [createSink(size), createSink(size)];
  const interrupts = new Set<() => void>();
  const continues = new Set<() => void>();
  const suspended: (() => void)[] = [];
  const opened: string[] = [];
  let clock = 0;
  const timers = new Set<() => void>();
  const begun = new EventEmitter();
  const conversations = createPeerConversations();
  /** Ends all that waits for a time. */
  const passTime = () => {
    for (const end of timers) end();
  };
  const allEnv = { HOME: '/dev/null', XDG_STATE_HOME: '/dev/null', ...env };
  const program: Program = {
    version: '0.0.0',
    documents: { command: 'runner-docs' },
    openAddress: (url) => void opened.push(url),
    ...(copyText && { copyText }),
    ...(editText && { editText }),
    spawnDaemon: (flags) => startPeer({ ...script, conversations }, started, flags),
  };
  const outputs = {
    stdout: new SlowOutput(stdout.stream, allEnv),
    stderr: new SlowOutput(stderr.stream, allEnv),
  };
  const terminal: Terminal = {
    stdin,
    ...outputs,
    env: allEnv,
    cwd,
    now: () => (clock += 1000),
    after(milliseconds, work) {
      const stop = () => {
        clearTimeout(timer);
        timers.delete(end);
      };
      const end = () => {
        stop();
        work();
      };
      const timer = setTimeout(end, milliseconds);
      timers.add(end);
      begun.emit('timer');
      return stop;
    },
    ...(patience === undefined ? {} : { patience }),
    today: () => new Date('2026-11-21T12:00:00Z'),
    suspend: () => new Promise((resolve) => suspended.push(resolve)),
    onContinue(take) {
      continues.add(take);
      return () => continues.delete(take);
    },
    onInterrupt(take) {
      interrupts.add(take);
      return () => interrupts.delete(take);
    },
  };
  const run = async () => {
    const code = await runProgram(terminal, program, args);
    const hasty = [...outputs.stdout.hasty, ...outputs.stderr.hasty].map(({ text }) => text);
    // Whoever leaves at once waits for nothing, and what a daemon says unasked is shown when it comes.
    const wrong = hasty.filter((text) => code !== 130 && !text.includes('The configuration '));
    if (wrong.length > 0) throw new Error(`Nothing has waited until this was written: ${wrong.join()}`);
    if (started.some(({ hasEnded }) => !hasEnded)) throw new Error('A daemon is left behind.');
    return code;
  };
  const ended = run();
  return {
    ended,
    started,
    stdout,
    stderr,
    type: (text: string) => void stdin.write(text),
    /** Types a line, and resolves once that is shown. */
    async enter(line: string, shown: RegExp) {
      stdin.write(`${line}\r`);
      await stdout.until(shown);
    },
    /** Ctrl-D at an empty prompt. */
    quit() {
      stdin.write('\u0004');
      return ended;
    },
    passTime,
    /** Resolves when what was typed before cannot be part of a paste any more. */
    async pause() {
      if (timers.size === 0) await once(begun, 'timer');
      passTime();
    },
    suspended,
    /** In a browser. */
    opened,
    /** Of the keyboard: whether each key is handed over at once. */
    modes,
    goOn: () => {
      for (const take of [...continues, ...suspended]) take();
    },
    interrupt: () => {
      for (const take of interrupts) take();
    },
  };
}

/** An answer of 20 tokens. */
export function resultOf(content: string, more: Partial<ChatResult> = {}): ChatResult {
  const usage = { promptTokens: 3, completionTokens: 20 };
  return { finishReason: 'stop', message: { role: 'assistant', content }, usage, notices: [], ...more };
}

/** A run without a keyboard, and what came of it. */
export async function runOnce(options: TerminalOptions) {
  const { ended, stdout, stderr, started } = startTerminal({ input: '', ...options });
  const code = await ended;
  return { code, out: stdout.text(), error: stderr.text(), events: stdout.events, started };
}

/** A conversation, in which each prompt is answered with "ok" unless a test says otherwise. */
export async function converse(options: TerminalOptions = {}) {
  const turns: ChatParams[] = [];
  const run = startTerminal({
    ...{ isScreen: true, models: [modelLike('m:1b')] },
    async chat({ params, send }) {
      turns.push(params);
      const text = `ok ${turns.length}`;
      await send({ kind: 'text', text });
      return resultOf(text);
    },
    ...options,
  });
  await run.stdout.until(/› $/);
  /** What is shown after an entry, up to the next prompt or question. */
  const say = async (entry: string) => {
    const from = run.stdout.plain().length;
    run.type(`${entry}\r`);
    await run.stdout.until({ test: (text) => /(?:› |: |\] |\[n\]o |\[WHY\] )$/.test(text.slice(from)) });
    return run.stdout.plain().slice(from).replace(/\s+/g, ' ');
  };
  const leave = async (t: Test) => {
    run.type('\u0003\u0004');
    t.equal(await run.ended, 0);
  };
  return { ...run, turns, say, leave };
}

/**
 * Holds the program back as a slow reader does: whatever it writes, it waits for that before it writes more or ends.
 * A screen is quick, and so a key and what it shows may meet there.
 */
class SlowOutput extends Output {
  /** What was written although what came before was not read, and what nothing waits for. */
  readonly hasty = new Set<{ readonly text: string }>();
  #unread = 0;

  override write(text: string): Promise<void> {
    if (text === '') return super.write(text);
    if (this.#unread > 0 && !this.isScreen) this.hasty.add({ text });
    const note = { text };
    this.hasty.add(note);
    this.#unread += 1;
    return new Proxy(this.#isRead(super.write(text)), {
      get: (promise, name) => {
        if (name === 'then') this.hasty.delete(note);
        const found = Reflect.get(promise, name);
        return typeof found === 'function' ? found.bind(promise) : found;
      },
    });
  }

  async #isRead(written: Promise<void>): Promise<void> {
    await written;
    if (!this.isScreen) await new Promise<void>((resolve) => setImmediate(resolve));
    this.#unread -= 1;
  }
}

function createSink(size: { isTTY: boolean; columns: number; rows: number }) {
  const stream = Object.assign(new PassThrough({ highWaterMark: 1024 }), { ...size });
  let text = '';
  const waiting = new Set<() => void>();
  const plain = () => text.replace(/\u001b\[[?0-9; ]*[a-zA-Z]/g, '');
  stream.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
    for (const look of waiting) look();
  });
  return {
    stream,
    text: () => text,
    /** As a person sees it. */
    plain,
    events: () => text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)])),
    async until(pattern: Pick<RegExp, 'test'>): Promise<void> {
      while (!pattern.test(plain())) {
        await new Promise<void>((resolve) => {
          const look = () => {
            waiting.delete(look);
            resolve();
          };
          waiting.add(look);
        });
      }
    },
  };
}
