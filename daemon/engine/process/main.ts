import { Console } from 'node:console';
import { createInterface } from 'node:readline';
import { tryJson } from '../../../protocol/base/json.ts';
import { messageOf } from '../../../protocol/base/text.ts';
import { serveEngine } from './server.ts';

void main();

/**
 * The engine: one model behind llama.cpp's API on loopback. Whoever starts it holds its standard input: its end is the
 * end of the process. Events are lines of JSON on standard output.
 */
async function main(): Promise<void> {
  // Standard output belongs to the events: what a library prints goes to standard error.
  Object.defineProperty(globalThis, 'console', { value: new Console(process.stderr) });
  // Nobody is left to read it.
  process.stdout.on('error', () => process.exit(0));
  const input = createInterface({ input: process.stdin });
  input.once('close', () => process.exit(0));
  // The key comes this way because arguments and variables can be read by others.
  const line = await new Promise<string>((resolve) => input.once('line', resolve));
  try {
    await serveEngine(tryJson(line), report);
  } catch (error) {
    // A pipe may take it later, and nothing must be lost at the exit.
    process.stdout.write(`${JSON.stringify({ event: 'failed', message: messageOf(error) })}\n`, () =>
      process.exit(1),
    );
  }
}

function report(event: object): void {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}
