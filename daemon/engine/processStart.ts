import { readFile } from 'node:fs/promises';
import { runProgram } from '../../protocol/base/platform/program.ts';

/** The kernel counts in hundredths of a second for programs, on every Linux. */
const msPerTick = 10;

/** Whether a process with this number lives. One of another user counts. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

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
