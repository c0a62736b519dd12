import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { tryJson } from '../../protocol/base/json.ts';
import { isLoopback } from '../../protocol/base/loopback.ts';
import { isOpenToOthers, writePrivateFile } from '../../protocol/base/platform/privateFile.ts';
import { runProgram } from '../../protocol/base/platform/program.ts';
import { isAlive } from '../base/processLocks.ts';
import { openRegularFile, tryReadKept } from '../base/regularFile.ts';

const productSchema = z.enum(['runner-engine', 'llama.cpp', 'ollama']);

const runningSchema = z.object({
  /** The supervisor's. */
  pid: z.int().check(z.positive()),
  url: z.string(),
  product: productSchema,
  /** The key of this process alone. */
  key: z.optional(z.string()),
  model: z.optional(z.string()),
  /** Tokens of the window. */
  context: z.optional(z.int()),
  /** Where the supervisor takes holders: a socket, or a pipe of Windows. */
  socket: z.optional(z.string()),
});

/** What the supervisor writes while something that it started is ready. */
export type RunningEngine = z.output<typeof runningSchema>;

const maxBytes = 16 * 1024;
/** The file is as old as the process that wrote it, or younger. Clocks are exact to this many ms. */
const clockTolerance = 3_000;

const pathIn = (folder: string) => join(folder, 'engine.json');

export async function writeRunning(folder: string, running: RunningEngine): Promise<void> {
  await writePrivateFile(pathIn(folder), `${JSON.stringify(running)}\n`);
}

/** Removes it, unless another supervisor has written it since. */
export async function removeRunning(folder: string, pid: number): Promise<void> {
  const kept = await tryReadKept(pathIn(folder), runningSchema, maxBytes);
  if (kept === undefined || kept.pid === pid) await rm(pathIn(folder), { force: true });
}

/**
 * What runs, as far as a file of this user can be believed: nobody else can have written or read it, its process lives
 * and is older than the file, and its address is on this machine. Otherwise undefined.
 */
export async function readRunning(
  folder: string,
  platform: NodeJS.Platform,
): Promise<RunningEngine | undefined> {
  const file = await openRegularFile(pathIn(folder)).catch(() => undefined);
  if (!file) return undefined;
  try {
    const { uid, mode, size, mtimeMs } = await file.stat();
    if (size > maxBytes) return undefined;
    if (platform !== 'win32' && (uid !== process.getuid?.() || isOpenToOthers({ mode }))) return undefined;
    const parsed = runningSchema.safeParse(tryJson(await file.readFile('utf8')));
    if (!parsed.success || !isOurAddress(parsed.data.url) || !isAlive(parsed.data.pid)) return undefined;
    const start = await startOf(parsed.data.pid, platform);
    const isKnown = start !== undefined || platform === 'win32';
    // A later process with the same number was started after the file was written.
    return isKnown && (start ?? 0) <= mtimeMs + clockTolerance ? parsed.data : undefined;
  } finally {
    await file.close();
  }
}

function isOurAddress(url: string): boolean {
  return URL.canParse(url) && new URL(url).protocol === 'http:' && isLoopback(url);
}

const lastSchema = z.object({
  product: productSchema,
  /** The path of the weights, and the name under which they were started. */
  model: z.optional(z.string()),
  alias: z.optional(z.string()),
  context: z.optional(z.int()),
  threads: z.optional(z.int()),
  /** Its supervisor's, which is there also while it is started again. */
  socket: z.optional(z.string()),
  /** Why it is down, as a sentence. */
  failure: z.optional(z.string()),
});

/** What was started last. */
export type LastEngine = z.output<typeof lastSchema>;

const lastPathIn = (folder: string) => join(folder, 'engineLast.json');

export async function readLast(folder: string): Promise<LastEngine | undefined> {
  return tryReadKept(lastPathIn(folder), lastSchema, maxBytes);
}

export async function writeLast(folder: string, last: LastEngine): Promise<void> {
  await writePrivateFile(lastPathIn(folder), `${JSON.stringify(last)}\n`);
}

export async function forgetLast(folder: string): Promise<void> {
  await rm(lastPathIn(folder), { force: true });
}

/** The kernel counts in hundredths of a second for programs, on every Linux. */
const msPerTick = 10;

/**
 * When a process was started, in ms since 1970, exact to a second or so; undefined where the system does not say it, as
 * on Windows.
 */
export async function startOf(pid: number, platform: NodeJS.Platform): Promise<number | undefined> {
  try {
    if (platform === 'linux') return await startInProc(pid);
    if (platform === 'win32') return undefined;
    // Without a language of the user's the date is one that can be read.
    const { stdout } = await runProgram('ps', ['-o', 'lstart=', '-p', String(pid)], {
      env: { PATH: '/bin:/usr/bin', LC_ALL: 'C' },
      timeout: 2_000,
    });
    return whole(Date.parse(stdout.trim()));
  } catch {
    return undefined;
  }
}

/** proc(5): field 22 of `stat` is the start in ticks since the boot, whose time `/proc/stat` has in seconds. */
async function startInProc(pid: number): Promise<number | undefined> {
  const own = await readFile(`/proc/${pid}/stat`, 'utf8');
  const [, boot] = /^btime (\d+)$/m.exec(await readFile('/proc/stat', 'utf8')) ?? [];
  // The second field is the program's name, which may contain anything.
  const ticks = own.slice(own.lastIndexOf(')') + 2).split(' ')[19];
  return whole(Number(boot) * 1000 + Number(ticks) * msPerTick);
}

function whole(time: number): number | undefined {
  return Number.isFinite(time) ? time : undefined;
}
