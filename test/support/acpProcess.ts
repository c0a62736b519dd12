import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AcpClient, type AcpClientOptions, connectAcpClient } from './acpClient.ts';
import { runnerdPath } from './daemonProcess.ts';
import type { Teardown } from './daemonWithRunner.ts';

/** The built agent in a process of its own, initialized. */
export interface AcpProcess extends AcpClient {
  readonly child: ChildProcess;
  readonly stderr: () => string;
}

export interface AcpProcessOptions extends AcpClientOptions {
  readonly host: string;
  readonly args?: readonly string[];
  /** The user's state folder; default: one that cannot be made, so that nothing is kept. */
  readonly state?: string;
  /** The user's own folder of configurations; default: there is none. */
  readonly config?: string;
}

export function spawnAcp({ host, args = [], state = '/dev/null', config = '/dev/null' }: AcpProcessOptions) {
  return spawn(process.execPath, [runnerdPath, '--acp', ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      ...{ PATH: process.env['PATH'], HOME: '/nonexistent' },
      ...{ XDG_STATE_HOME: state, XDG_CONFIG_HOME: config, OLLAMA_HOST: host },
    },
  });
}

export async function startAcpProcess(test: Teardown, options: AcpProcessOptions): Promise<AcpProcess> {
  const child = spawnAcp(options);
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  const { initialize, disconnect } = connectAcpClient(child.stdout, child.stdin, options);
  test.teardown(async () => {
    const ended = child.exitCode === null ? once(child, 'close') : undefined;
    child.stdin.destroy();
    await ended;
    disconnect();
  });
  return { ...(await initialize()), child, stderr: () => stderr };
}
