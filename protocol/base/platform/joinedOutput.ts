import type { ChildProcess, StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { thisPlatform } from './folders.ts';

/**
 * Makes one pipe of both output streams of a child, whose input is empty, so that what is read has the order in which
 * it was written. On Windows, and where no socket can be made, there are two, and the order is only nearly that.
 */
export async function openJoinedOutput(platform = thisPlatform) {
  const pair = platform === 'win32' ? undefined : await openSocketPair().catch(() => undefined);
  const open: Readable[] = [];
  const stdio: StdioOptions = pair ? ['ignore', pair.writing, pair.writing] : ['ignore', 'pipe', 'pipe'];
  return {
    stdio,
    /** Called once the child was started. Settles when no process has the output open any more. */
    async read({ stdout, stderr }: ChildProcess, onChunk: (chunk: Buffer) => void): Promise<void> {
      // The child has its own handles of it.
      pair?.writing.destroy();
      open.push(...[pair?.reading, stdout, stderr].filter((stream) => !!stream));
      const ended = open.map((stream) => {
        stream.on('error', () => undefined);
        return new Promise<void>((resolve) => stream.once('close', resolve).on('data', onChunk));
      });
      await Promise.all(ended);
    },
    /** Nothing more is read. */
    destroy(): void {
      for (const stream of [pair?.writing, pair?.reading, ...open]) stream?.destroy();
    },
  };
}

/** Two sockets that are connected to each other. Nobody else can reach the folder in which they meet. */
async function openSocketPair(): Promise<{ readonly reading: Socket; readonly writing: Socket }> {
  const folder = await mkdtemp(join(tmpdir(), 'runner-'));
  const server = createServer();
  try {
    const path = join(folder, 'output');
    server.listen(path);
    await once(server, 'listening');
    const writing = connect(path);
    const [[reading]] = await Promise.all([once(server, 'connection'), once(writing, 'connect')]);
    return { reading, writing };
  } finally {
    server.close();
    await rm(folder, { recursive: true, force: true });
  }
}
