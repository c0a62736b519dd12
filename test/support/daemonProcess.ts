import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { InitializationOptions } from '../../protocol/messages/initialize.ts';
import { connectClient, type DaemonClient } from './daemonClient.ts';

export const runnerdPath = join('dist', 'runnerd.cjs');

export interface DaemonProcess extends DaemonClient {
  readonly child: ChildProcess;
  /** All that was written to standard error so far. */
  readonly stderr: () => string;
}

export interface DaemonProcessOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Written to the descriptor 3 of the daemon, which is then its `--secrets-fd`. */
  readonly secrets?: string;
  /** LSP's `ClientCapabilities`. */
  readonly capabilities?: object;
  /** For `NODE_OPTIONS` alone: without what the test runner loads into each Node that it sees started. */
  readonly nodeOptions?: string;
}

/** The built daemon in a process of its own, initialized. */
export async function startDaemonProcess(
  options: InitializationOptions,
  { args = [], env = {}, secrets, capabilities = {}, nodeOptions }: DaemonProcessOptions = {},
): Promise<DaemonProcess> {
  const flags = secrets === undefined ? [] : ['--secrets-fd', '3'];
  const daemon = [runnerdPath, '--stdio', ...flags, ...args];
  const [command, words] =
    nodeOptions === undefined
      ? [process.execPath, daemon]
      : ['env', [`NODE_OPTIONS=${nodeOptions}`, process.execPath, ...daemon]];
  const child = spawn(command, words, {
    stdio: ['pipe', 'pipe', 'pipe', ...(secrets === undefined ? [] : ['pipe' as const])],
    env: { PATH: process.env['PATH'], HOME: '/nonexistent', ...env },
  });
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text) => (stderr += text));
  const secretsPipe = child.stdio[3];
  if (secrets !== undefined && secretsPipe && 'write' in secretsPipe) secretsPipe.write(secrets);
  if (!child.stdout || !child.stdin) throw new Error('The daemon has no pipes.');
  const client = connectClient(child.stdout, child.stdin);
  await client.connection.sendRequest('initialize', {
    processId: process.pid,
    rootUri: null,
    capabilities,
    initializationOptions: options,
  });
  await client.connection.sendNotification('initialized', {});
  return {
    ...client,
    child,
    stderr: () => stderr,
    async close() {
      const ended = new Promise((resolve) => child.once('close', resolve));
      child.stdin?.end();
      await ended;
      client.disconnect();
    },
  };
}
