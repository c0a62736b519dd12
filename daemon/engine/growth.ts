import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { formatShare } from '../../protocol/base/bytes.ts';
import type { WorkState } from '../rpc/workDoneProgress.ts';

/** How often, in ms. */
const lookEvery = 700;

/**
 * Reports how far a program has come that downloads into this folder, from what it has written there, until the
 * returned function is called.
 */
export function reportGrowth(
  folder: string,
  total: number,
  what: string,
  report: (state: WorkState) => void,
): () => void {
  report({ message: what });
  let [isLooking, isOver] = [false, false];
  const timer = setInterval(async () => {
    if (isLooking) return;
    isLooking = true;
    const completed = Math.min(total, await bytesIn(folder));
    isLooking = false;
    if (!isOver) report({ message: `${what}: ${formatShare(completed, total)}`, completed, total });
  }, lookEvery);
  return () => {
    isOver = true;
    clearInterval(timer);
  };
}

/** What changes while it is looked at counts or does not. */
async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  let sum = 0;
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) sum += await bytesIn(path);
    else if (entry.isFile()) sum += (await lstat(path).catch(() => undefined))?.size ?? 0;
  }
  return sum;
}
