import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { LineSplitter, type SplitLine } from '../../protocol/base/byteStreams.ts';
import { tryJson } from '../../protocol/base/json.ts';
import type { ProcessGroups } from '../../protocol/base/platform/processGroups.ts';
import { startProgram } from '../../protocol/base/platform/program.ts';
import { createYielder } from '../base/yielder.ts';
import { maxMessage, tryServerMessage } from './mcpClient.ts';

export interface StdioTransportOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
  readonly groups: ProcessGroups;
  /** A line of its standard error. */
  readonly onErrorLine: (line: string) => void;
  /** What it wrote last on its standard error, fit to be shown. */
  readonly lastWords: () => string | undefined;
  /** A line of its standard output is not a message. */
  readonly onNoise: () => void;
}

/** How long reading the last lines of a server that has ended may take, in ms. */
const drainLimit = 100;
/** How long a server has to end by itself once its input has ended, in ms. */
const inputEndLimit = 1_000;
/** How much of a line of its standard error is read, in bytes. */
const maxErrorLine = 8192;
/** A program that writes this many lines in a row that are not messages is not an MCP server. */
const maxNoise = 5_000;
const tooLarge = 'sent a message of more than 16 MB';

/**
 * A server as a process that leads a process group of its own. The SDK's transport ends only the leader, and reads in
 * more than linear time.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #options: StdioTransportOptions;
  #child: ChildProcess | undefined;
  #end: Promise<void> | undefined;
  /** How the server ended, as a clause; undefined while it runs. */
  how: string | undefined;
  #hasSpoken = false;
  /** Lines since its last message. */
  #noise = 0;

  constructor(options: StdioTransportOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { command, args, env, cwd, platform, groups } = this.#options;
    const child = startProgram(command, args, { env, cwd, platform, leadsGroup: true, stdio: 'pipe' });
    this.#child = child;
    child.once('spawn', () => groups.add(child));
    child.on('error', (error) => this.#finish(reasonOf(error)));
    child.once('exit', (code, signal) => this.#finishExited(child, signal ?? `code ${code}`));
    this.#read(child);
    await once(child, 'spawn');
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const input = this.#child?.stdin;
    if (!input || this.how !== undefined) throw new Error('The server is not running.');
    if (input.writableLength > maxMessage) {
      this.#finish('does not read its input');
      throw new Error('The server does not read its input.');
    }
    input.write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    this.#finish('was ended');
    await this.#end;
  }

  #read(child: ChildProcess): void {
    // It rejects if the process ends.
    if (child.stdout) this.#readMessages(child.stdout).catch(() => undefined);
    const errorLines = new LineSplitter(maxErrorLine);
    const takeLine = ({ text }: SplitLine) => this.#options.onErrorLine(text.replace(/\r$/, ''));
    child.stderr?.on('data', (chunk: Buffer) => {
      for (const line of errorLines.push(chunk)) takeLine(line);
    });
    child.stderr?.on('end', () => {
      const rest = errorLines.end();
      if (rest) takeLine(rest);
    });
    for (const pipe of child.stdio) pipe?.on('error', () => undefined);
  }

  /** The server waits while other work gets its turn. */
  async #readMessages(output: AsyncIterable<Buffer>): Promise<void> {
    const lines = new LineSplitter(maxMessage);
    const yieldNow = createYielder();
    for await (const chunk of output) {
      for (const { text, isCut } of lines.push(chunk)) {
        if (isCut) this.#finish(tooLarge);
        if (this.how !== undefined) return;
        this.#take(text);
        const pause = yieldNow();
        if (pause) await pause;
      }
      if (lines.pending > maxMessage) return this.#finish(tooLarge);
    }
  }

  #take(line: string): void {
    const message = tryServerMessage(tryJson(line));
    if (!message) return this.#takeNoise(line);
    this.#noise = 0;
    this.#hasSpoken = true;
    this.onmessage?.(message);
  }

  #takeNoise(line: string): void {
    this.#noise += 1;
    if (line.trim() !== '') this.#options.onNoise();
    if (this.#noise < maxNoise) return;
    const lines = maxNoise.toLocaleString('en-US');
    this.#finish(`wrote ${lines} lines in a row to its standard output that are no messages, and was ended`);
  }

  /**
   * If a program ends before its first message, its last line says why. Processes that it started may hold its pipes
   * open, so reading that line has a time limit.
   */
  #finishExited(child: ChildProcess, status: string): void {
    const finish = () => {
      const words = this.#hasSpoken ? undefined : this.#options.lastWords();
      this.#finish(`ended with ${status}${words === undefined ? '' : ` and wrote: "${words}"`}`);
    };
    if (this.#hasSpoken) return finish();
    child.once('close', finish);
    setTimeout(finish, drainLimit).unref();
  }

  #finish(how: string): void {
    if (this.how !== undefined) return;
    this.how = how;
    const child = this.#child;
    if (child) this.#end = this.#endGroup(child);
    this.onclose?.();
  }

  /** As MCP says: a server ends once its input has ended, and is asked and killed only after that. */
  async #endGroup(child: ChildProcess): Promise<void> {
    child.stdin?.end();
    await this.#options.groups.end(child, inputEndLimit);
    for (const pipe of child.stdio) pipe?.destroy();
  }
}

function reasonOf({ code }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT')
    return 'cannot be started: its command, or the folder in which it should start, does not exist';
  if (code === 'EACCES') return 'cannot be started: its command is not executable';
  return `cannot be started (${code ?? 'unknown'})`;
}
