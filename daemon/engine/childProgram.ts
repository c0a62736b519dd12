import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { formatShare } from '../../protocol/base/bytes.ts';
import { messageOf } from '../../protocol/base/errorText.ts';
import type { ProcessGroups } from '../../protocol/base/platform/processGroups.ts';
import { startProgram } from '../../protocol/base/platform/program.ts';
import { plainText } from '../base/programOutput.ts';
import type { WorkState } from '../rpc/workDoneProgress.ts';

export interface ChildOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  /** The program ends with this process, however that ends. */
  readonly groups: Pick<ProcessGroups, 'add' | 'end'>;
  /** Ends the program. */
  readonly signal: AbortSignal;
}

/** How much of what a program writes is kept, in characters. */
const kept = 16_000;

/**
 * Runs a program to its end, without a shell, and returns what it wrote to standard output.
 * @throws {Error} with the line of its standard error that says what went wrong.
 */
export async function runChild(
  file: string,
  args: readonly string[],
  options: ChildOptions,
): Promise<string> {
  const { cwd, env, platform, groups, signal } = options;
  signal.throwIfAborted();
  const child = startProgram(file, args, {
    cwd,
    env,
    platform,
    leadsGroup: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  groups.add(child);
  const end = () => void groups.end(child);
  signal.addEventListener('abort', end, { once: true });
  let [said, wrong] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-kept);
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    wrong = (wrong + text).slice(-kept);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  }).finally(() => signal.removeEventListener('abort', end));
  signal.throwIfAborted();
  await groups.end(child);
  if (code === 0) return said;
  throw new Error(reasonIn(wrong) ?? `It ended with exit code ${code}.`);
}

/** npm says first what went wrong, and then where its log is; pip says it in its first error, Node above the stack. */
function reasonIn(text: string): string | undefined {
  const lines = text.split('\n').map((line) => plainText(line).trim());
  const errors = lines.flatMap((line) => errorLine.exec(line)?.[1] ?? []);
  return (errors[0] ?? lines.findLast((line) => line !== ''))?.slice(0, 300);
}

const errorLine = /^(?:npm error(?! code| errno)|ERROR:|\w*Error:|.*(?=symbol lookup error)) ?(.+)/;

/** The reason of a failure as a sentence, to be put behind a colon. */
export function reasonOf(error: unknown): string {
  const text = messageOf(error);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

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
