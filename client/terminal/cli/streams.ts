import type { Readable, Writable } from 'node:stream';
import type { StdioToolServer } from '../../../protocol/messages/tools.ts';
import type { DaemonProcess } from '../daemon/daemonProcess.ts';
import type { ColoursFor } from '../screen/codeFence.ts';
import { wrapText } from '../screen/wordWrap.ts';
import { TerminalError } from './failure.ts';

/** What a program has of its surroundings, handed in so that tests run it in process. */
export interface Surroundings {
  readonly stdin: Readable & { readonly isTTY?: boolean; readonly setRawMode?: (isRaw: boolean) => unknown };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder in which the program was started. */
  readonly cwd: string;
  readonly version: string;
  /** Milliseconds from any start. */
  readonly now: () => number;
  /** For how long nothing comes, in ms, until a note on the screen says what is waited for; never without. */
  readonly patience?: number;
  /** What the clock on the wall shows. */
  readonly today: () => Date;
  /** The tool server of the project's own pages, where they are there. */
  readonly documents?: StdioToolServer;
  /** Opens an address in the user's browser, where there is one. */
  readonly openAddress?: (url: string) => void;
  /** Colours for code, loaded when the first of it comes. */
  readonly coloursFor?: ColoursFor;
  /** Starts `runnerd --stdio` with further flags. */
  readonly spawnDaemon: (flags: readonly string[]) => DaemonProcess;
  /** Stops the process, and whatever shares its group, as Ctrl-Z does. Fulfilled when it goes on. */
  readonly suspend: () => Promise<void>;
  /** Calls back each time that the process goes on after a stop, until the returned function is called. */
  readonly onContinue: (take: () => void) => () => void;
  /** Calls back at each SIGINT until the returned function is called. */
  readonly onInterrupt: (take: () => void) => () => void;
}

/** Writes and waits until there is room for more. A reader that went away (EPIPE) is no error. */
export async function write(stream: Writable, text: string): Promise<void> {
  if (text === '' || stream.destroyed || stream.write(text)) return;
  const events = ['drain', 'close', 'error'];
  await new Promise<void>((resolve) => {
    const goOn = () => {
      for (const event of events) stream.off(event, goOn);
      resolve();
    };
    for (const event of events) stream.on(event, goOn);
  });
}

export async function writeLine(stream: Writable, text: string): Promise<void> {
  await write(stream, `${text}\n`);
}

/** Sentences for a person: on a screen, its edge parts no word. */
export function writeText(stream: Surroundings['stdout'], text: string): Promise<void> {
  return writeLine(stream, stream.isTTY ? wrapText(text, stream.columns || 80) : text);
}

/**
 * All of a stream as text, up to a limit of bytes.
 * @throws {TerminalError} beyond the limit.
 */
export async function readAll(stream: Readable, limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > limit) {
      const megabytes = limit / 1024 / 1024;
      throw new TerminalError('usage', `What comes on standard input is larger than ${megabytes} MB.`);
    }
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}
