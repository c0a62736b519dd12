import { type Status, statusRequest } from '../../protocol/status.ts';
import type { CommandLine } from './commandLine.ts';
import { type Daemon, startDaemon } from './daemon.ts';
import { type Surroundings, writeLine } from './streams.ts';

/** A daemon, and whether the runner behind it is the practice runner. */
export interface Connection {
  readonly daemon: Daemon;
  readonly isPractice: boolean;
}

export async function connect(surroundings: Surroundings, { server }: CommandLine): Promise<Daemon> {
  return startDaemon(surroundings, { ...(server === undefined ? {} : { host: server }), logLevel: 'error' });
}

/**
 * A connection for chatting. Where nobody named a runner and none answers at the default address, the built-in
 * practice runner takes its place, and standard error says so.
 */
export async function connectForChat(
  surroundings: Surroundings,
  commandLine: CommandLine,
): Promise<Connection> {
  const daemon = await connect(surroundings, commandLine);
  if (isNamed(surroundings, commandLine)) return { daemon, isPractice: false };
  const status = await daemon.request(statusRequest, {});
  if (status.state !== 'offline') return { daemon, isPractice: false };
  await daemon.close();
  for (const line of noRunner(status)) await writeLine(surroundings.stderr, line);
  return { daemon: await startDaemon(surroundings, { logLevel: 'error' }, ['--practice']), isPractice: true };
}

function isNamed({ env }: Surroundings, { server }: CommandLine): boolean {
  return server !== undefined || (env['OLLAMA_HOST'] ?? '').trim() !== '';
}

function noRunner({ kind, message }: Status): readonly string[] {
  const first = kind === 'error' ? (message.split('. ')[0] ?? message) : 'No runner answers';
  return [
    `${first}, so this is the practice runner, which is no language model.`,
    'To get a real one: install Ollama from https://ollama.com/download and run "ollama pull qwen3:4b".',
    '',
  ];
}
