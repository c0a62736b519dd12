import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { writePrivateFile } from '../../../protocol/base/platform/privateFile.ts';
import type { LastEngine } from '../engineFile.ts';

/** What a supervisor is given on its standard input, as one line of JSON. */
export interface Launch {
  readonly asked: LastEngine;
  /** The user's folder for the state of programs. */
  readonly folder: string;
  /** Where it takes holders. */
  readonly socket: string;
  /** The program of the engine, or the one that the user has installed. */
  readonly program: string;
  /** For the engine: the folder with its library, and the runtime that runs it. */
  readonly library?: string;
  readonly runtime?: string;
  /** For the engine: what a conversation gets that leaves it open. */
  readonly defaults?: {
    readonly system?: string;
    readonly temperature?: number;
    readonly top_p?: number;
    readonly repeat_penalty?: number;
    readonly max_tokens?: number;
  };
  /** For the engine: after so long without a request the model leaves the memory; otherwise it stays. */
  readonly keepAliveSeconds?: number;
}

/** One process to start, and how it becomes known that it is ready. */
export interface LaunchCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Written to its standard input, which stays open. */
  readonly input: string;
  readonly key?: string;
  /** Its base address, and what answers with 200 there once it is ready. Absent: it reports events. */
  readonly probe?: { readonly url: string; readonly path: string };
  /** Removes what only its start needs. */
  readonly cleanUp?: () => Promise<void>;
}

/** Where Ollama's own clients look for it. */
const ollamaPort = 11434;
/** Enough for a conversation, and small enough for most machines. */
const usualContext = 8192;

/** Each process gets an address and a key of its own. */
export async function commandOf(launch: Launch, env: NodeJS.ProcessEnv): Promise<LaunchCommand> {
  switch (launch.asked.product) {
    case 'runner-engine':
      return engineCommand(launch, env);
    case 'llama.cpp':
      return llamaCommand(launch, env);
    case 'ollama':
      return ollamaCommand(launch, env);
  }
}

function engineCommand(launch: Launch, env: NodeJS.ProcessEnv): LaunchCommand {
  const { program, runtime = process.execPath, library, defaults, keepAliveSeconds, asked } = launch;
  const { model, alias, context, threads } = asked;
  const key = createKey();
  const options = { library, model, alias, context, threads, defaults, keepAliveSeconds };
  const input = `${JSON.stringify({ ...options, key })}\n`;
  return { file: runtime, args: [program], env, input, key };
}

async function llamaCommand(launch: Launch, env: NodeJS.ProcessEnv): Promise<LaunchCommand> {
  const { program, folder, asked } = launch;
  const { model = '', alias, context = usualContext, threads } = asked;
  const port = await freePort(0);
  const key = createKey();
  // Other users can read arguments, but not this file.
  const keyFile = join(folder, `engineKey-${process.pid}`);
  await writePrivateFile(keyFile, `${key}\n`);
  const args = ['-m', model, '-c', String(context), '-t', String(threads ?? usualThreads())];
  const where = ['--host', '127.0.0.1', '--port', String(port), '--api-key-file', keyFile, '--offline'];
  const named = alias === undefined ? [] : ['--alias', alias];
  return {
    file: program,
    args: [...args, ...where, ...named],
    env,
    input: '',
    key,
    probe: { url: `http://127.0.0.1:${port}`, path: '/health' },
    cleanUp: () => rm(keyFile, { force: true }),
  };
}

async function ollamaCommand({ program }: Launch, env: NodeJS.ProcessEnv): Promise<LaunchCommand> {
  const address = `127.0.0.1:${await freePort(ollamaPort)}`;
  return {
    file: program,
    args: ['serve'],
    env: { ...env, OLLAMA_HOST: address },
    input: '',
    probe: { url: `http://${address}`, path: '/' },
  };
}

function createKey(): string {
  return randomBytes(24).toString('base64url');
}

/** One is left for everything else. */
function usualThreads(): number {
  return Math.max(1, availableParallelism() - 1);
}

/** This port if it is free, or else any that is. */
async function freePort(wanted: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', (error) => (wanted === 0 ? reject(error) : resolve(freePort(0))));
    server.listen(wanted, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
