import { Console } from 'node:console';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import * as z from 'zod/mini';
import { messageOf } from '../../../protocol/base/errorText.ts';
import { tryJson } from '../../../protocol/base/json.ts';
import { exact, validate } from '../../base/validate.ts';
import { NativeModel } from './engineModel.ts';
import { factsOf, type ModelFacts } from './modelFacts.ts';
import { createRoutes } from './routes.ts';
import { listen } from './server.ts';

/** The first line on standard input. The key comes this way because arguments and variables can be read by others. */
const firstLine = z.object({
  library: z.string(),
  model: z.string(),
  alias: z.string(),
  context: z.optional(z.int().check(z.gte(1))),
  threads: z.optional(z.int().check(z.gte(1))),
  keepAliveSeconds: z.optional(z.number()),
  defaults: z.optional(
    z.object({
      system: z.optional(z.string()),
      temperature: z.optional(z.number()),
      top_p: z.optional(z.number()),
      repeat_penalty: z.optional(z.number()),
      max_tokens: z.optional(z.int()),
    }),
  ),
  key: z.string().check(z.minLength(16, 'it is too short')),
});

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
  const line = await new Promise<string>((resolve) => input.once('line', resolve));
  try {
    await serve(line);
  } catch (error) {
    // A pipe may take it later, and nothing must be lost at the exit.
    process.stdout.write(`${JSON.stringify({ event: 'failed', message: messageOf(error) })}\n`, () =>
      process.exit(1),
    );
  }
}

async function serve(line: string): Promise<void> {
  const { alias, key, ...options } = validate(exact(firstLine), tryJson(line));
  let facts: ModelFacts | undefined;
  let port = 0;
  const engine = new NativeModel(options, {
    loading: (percent) => report({ event: 'loading', percent }),
    ready(loaded) {
      facts ??= factsOf(loaded, alias);
      report({ event: 'ready', port, context: loaded.window, trainedContext: loaded.model.trainContextSize });
    },
    unloaded: () => report({ event: 'unloaded' }),
  });
  const server = await listen({
    key,
    isReady: () => facts !== undefined,
    routes: createRoutes(engine, alias, () => facts),
  });
  port = (server.address() as AddressInfo).port;
  report({ event: 'listening', port });
  await engine.use(() => undefined);
}

function report(event: object): void {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}
