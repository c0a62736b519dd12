import { once } from 'node:events';
import { rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { createProcessGroups } from '../../../protocol/base/platform/processGroups.ts';
import type { Launch } from './launch.ts';
import { supervise, takeHolders } from './supervise.ts';

void main();

/**
 * Keeps what was started running as long as somebody holds it. The program that starts this one sends one line of JSON
 * on standard input, reads one line on standard output once holders are taken, and then closes both.
 */
async function main(): Promise<void> {
  // Files and sockets are for this user alone.
  process.umask(0o077);
  const { stdin, stdout, env, platform } = process;
  stdout.on('error', () => undefined);
  const lines = createInterface({ input: stdin });
  const inputEnd = once(lines, 'close').then(() => undefined);
  const [line] = await Promise.race([once(lines, 'line'), inputEnd.then(() => [''])]);
  if (line === '') process.exit(0);
  const launch: Launch = JSON.parse(line);
  const released = new AbortController();
  const holders = await takeHolders(launch.socket, inputEnd, () => released.abort());
  stdout.write('{"state":"listening"}\n');
  const groups = createProcessGroups({ platform, env });
  const { publish } = holders;
  await supervise({ launch, env, groups, publish, now: Date.now }, released.signal);
  holders.close();
  const temporary = dirname(launch.socket);
  if (temporary !== launch.folder) await rmdir(temporary).catch(() => undefined);
  // Nobody must be able to keep this process by not reading.
  setTimeout(() => process.exit(0), endWithin).unref();
}

/** In ms. */
const endWithin = 1_000;
