import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { isOpenToOthers } from '../../protocol/base/platform/privateFile.ts';
import { runProgram } from '../../protocol/base/platform/program.ts';
import { messageOf } from '../../protocol/base/text.ts';
import type { SecretLine } from '../../protocol/messages/initialize.ts';
import type { Log } from '../base/log.ts';
import { readRegularFile } from '../base/regularFile.ts';
import { parseSecretLine, type SecretStore } from './secrets.ts';
import type { UserAuth } from './userFile.ts';

/** Where secrets come from, and where they are stored. */
export interface SecretSources {
  readonly store: SecretStore;
  /** The address of the default server. An entry without an origin belongs to it. */
  readonly url: string;
  /** The entries of the user's own configuration. */
  readonly auth: readonly UserAuth[];
  readonly log: Log;
}

/** Fills the store from the descriptor of `--secrets-fd`, or else from the sources in the user's own configuration. */
export async function readSecrets({ store, url, log, auth }: SecretSources, fd?: number): Promise<void> {
  if (fd !== undefined) {
    return readSecretsDescriptor(fd, {
      set: (line) => store.set(line),
      onProblem: (problem) => log.warn(problem),
    });
  }
  try {
    for (const source of auth) {
      for (const line of await readUserAuth(source, new URL(url).origin)) store.set(line);
    }
  } catch (error) {
    log.warn(messageOf(error), { code: 'configuration' });
  }
}

const commandTimeout = 30_000;
/** How much a command may print and a file may hold. */
const maxSecretBytes = 1024 * 1024;

/** How long the first requests wait for a first line, in ms: an editor writes it before `initialize`. */
const firstLineWait = 100;

interface SecretLineSink {
  set(line: SecretLine): void;
  /** Called with a problem for a line that cannot be read, without its text. */
  onProblem(problem: string): void;
}

/**
 * Reads lines from the descriptor until it ends. Settles with the first line or an error, or after a moment without
 * either.
 */
function readSecretsDescriptor(fd: number, { set, onProblem }: SecretLineSink): Promise<void> {
  return new Promise((resolve) => {
    // Lines that have arrived by then are read first, even if the process was busy all the time.
    setTimeout(() => setImmediate(resolve), firstLineWait).unref();
    const stream = openDescriptor(fd);
    stream.on('error', (error) => {
      onProblem(`The secrets descriptor ${fd} cannot be read: ${error.message}`);
      resolve();
    });
    const lines = createInterface({ input: stream });
    // It repeats the error of its input, and one that nobody hears would end the process.
    lines.on('error', () => undefined);
    lines.on('line', (line) => {
      takeLine(line, { set, onProblem });
      resolve();
    });
  });
}

/** A pipe is read as a socket, because a waiting thread would keep the process from ending. */
function openDescriptor(fd: number): Readable {
  try {
    return new Socket({ fd, readable: true, writable: false }).unref();
  } catch {
    return createReadStream('', { fd });
  }
}

function takeLine(line: string, { set, onProblem }: SecretLineSink): void {
  if (line.trim() === '') return;
  try {
    set(parseSecretLine(line));
  } catch (error) {
    onProblem(
      `A line of the secrets descriptor is left out: ${error instanceof Error ? error.message : 'unreadable'}.`,
    );
  }
}

/**
 * Secrets that the user's own configuration names: the output of a command, or a file that no one else may read.
 * The text is the token alone, for the entry's origin, or secret lines as on the descriptor. Only the entry itself can
 * allow plain http, and only for the origin that it names.
 * @throws {Error} with a sentence for the log.
 */
async function readUserAuth(auth: UserAuth, defaultOrigin: string): Promise<SecretLine[]> {
  const text = (auth.command ? await runCommand(auth.command) : await readPrivateFile(auth.file)).trim();
  if (text === '') return [];
  const lines = text.startsWith('{')
    ? text.split('\n').filter((line) => line.trim() !== '')
    : [JSON.stringify({ origin: auth.origin ?? defaultOrigin, secret: text })];
  return lines.map((line) => withAllowance(parseSecretLine(line), auth));
}

function withAllowance(line: SecretLine, { origin, allowPlainHttp = false }: UserAuth): SecretLine {
  const isNamed = origin !== undefined && new URL(origin).origin === new URL(line.origin).origin;
  return { ...line, allowPlainHttp: allowPlainHttp && isNamed };
}

async function runCommand([program, ...args]: readonly [string, ...string[]]): Promise<string> {
  try {
    const { stdout } = await runProgram(program, args, {
      timeout: commandTimeout,
      maxBuffer: maxSecretBytes,
    });
    return stdout;
  } catch (error) {
    // The command's own message may hold what it printed.
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    throw new Error(`The command of "auth" in the configuration failed${code}. Run it by hand to see why.`);
  }
}

async function readPrivateFile(path: string): Promise<string> {
  const status = await stat(path).catch((error: unknown) => {
    throw new Error(`The "file" of "auth" in the configuration cannot be read: ${messageOf(error)}.`);
  });
  if (isOpenToOthers(status)) {
    throw new Error(`The secret file ${path} can be read by others. Run: chmod 600 ${path}`);
  }
  return readRegularFile(path, maxSecretBytes);
}
