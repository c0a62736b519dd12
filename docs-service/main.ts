import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { stackOf } from '../protocol/base/text.ts';
import { runProgram } from './cli/program.ts';

declare const RUNNER_VERSION: string;

const minimumMajor = 20;

void main();

async function main(): Promise<void> {
  const major = Number(process.versions.node.split('.', 1)[0]);
  if (major < minimumMajor) {
    process.stderr.write(
      `runner-docs needs Node ${minimumMajor} or newer; this is ${process.versions.node}.\n`,
    );
    process.exit(minimumMajor);
  }
  const ending = new AbortController();
  // The last two: its terminal is closed, and Ctrl-Break on Windows.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGBREAK'] as const)
    process.once(signal, () => ending.abort());
  process.on('uncaughtException', reportDefect);
  process.on('unhandledRejection', reportDefect);
  // A reader that went away, such as "head", is not an error. A log without a reader is no reason to end.
  process.stdout.on('error', () => process.exit(0));
  process.stderr.on('error', () => undefined);
  const code = await runProgram(process.argv.slice(2), {
    env: process.env,
    version: RUNNER_VERSION,
    program: __filename,
    parts: join(__dirname, 'docs-service'),
    sample: join(__dirname, '..', 'docs'),
    now: Date.now,
    print: (text) => void process.stdout.write(text),
    note: (text) => void process.stderr.write(text),
    readLine,
    protocolStreams: () => ({ input: process.stdin, output: process.stdout }),
    isTerminal: process.stderr.isTTY ?? false,
    ending: ending.signal,
  });
  await new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
  process.exit(code);
}

/** One feature's failure never ends the service. */
function reportDefect(error: unknown): void {
  process.stderr.write(`runner-docs: an internal error: ${stackOf(error)}\n`);
}

/** In characters: nobody types a longer line on purpose. */
const maxLineLength = 10_000;

/** The first line of standard input, without its end. In a terminal, it asks for the line and does not show it. */
async function readLine(question: string): Promise<string | undefined> {
  const { stdin, stderr } = process;
  const isTerminal = stdin.isTTY ?? false;
  if (isTerminal) stderr.write(question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: silent, terminal: isTerminal });
  try {
    return await new Promise<string | undefined>((resolve, reject) => {
      lines.once('line', resolve);
      lines.once('close', () => resolve(undefined));
      lines.once('SIGINT', () => reject(new Error('nothing was changed.')));
      let length = 0;
      stdin.on('data', (chunk: Buffer | string) => {
        length += chunk.length;
        if (length > maxLineLength) reject(new Error('the first line of standard input is too long.'));
      });
    });
  } finally {
    lines.close();
    stdin.destroy();
    if (isTerminal) stderr.write('\n');
  }
}
