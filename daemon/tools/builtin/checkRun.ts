import { once } from 'node:events';
import { withTimeLimit } from '../../../protocol/base/abort.ts';
import { openJoinedOutput } from '../../../protocol/base/platform/joinedOutput.ts';
import type { ProcessGroups } from '../../../protocol/base/platform/processGroups.ts';
import { startProgram } from '../../../protocol/base/platform/program.ts';
import { cutText } from '../../../protocol/base/text.ts';
import type { CallListener } from '../../chat/daemonTools.ts';
import { createCheckOutput } from './checkOutput.ts';

export interface CheckRunOptions {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  readonly groups: ProcessGroups;
  /** In ms. */
  readonly limit: number;
  readonly now: () => number;
  /** Reports the last line of the output, twice a second if there is a new one. */
  readonly onProgress?: CallListener['onProgress'];
}

/** How a check has ended. */
interface CheckEnd {
  /** In words. */
  readonly ended: string;
  /** Null if it has not ended by itself. */
  readonly exitCode: number | null;
  /** The user has to do something about it. */
  readonly isFailed?: boolean;
}

export type CheckRun = Awaited<ReturnType<typeof runCheck>>;

/** How long a group that was asked to end has for it, in ms. */
const killAfter = 2_000;
/** How long a process that has left the group may hold the output open, in ms. */
const drainLimit = 1_000;
/** How often progress is reported, in ms, and how many characters a report has at most. */
const reportEvery = 500;
const maxMessage = 1_000;

const late = new Error('The check took too long, and was ended');

/**
 * Runs a program to its end, without a shell and without input, and ends every process of its group. Rejects with the
 * reason of an aborted signal once they have ended.
 */
export async function runCheck(options: CheckRunOptions, signal: AbortSignal) {
  const { command, groups, now, limit, onProgress, ...place } = options;
  const [program = '', ...args] = command;
  const pipe = await openJoinedOutput(place.platform);
  try {
    signal.throwIfAborted();
    const begun = now();
    const output = createCheckOutput();
    const child = startProgram(program, args, { ...place, leadsGroup: true, stdio: pipe.stdio });
    groups.add(child, killAfter);
    const closed = pipe.read(child, output.push);
    let reported = 0;
    const reporting = setInterval(() => {
      const { lines, last } = output.soFar();
      if (lines > reported) onProgress?.({ progress: lines, message: cutText(last, maxMessage) });
      reported = lines;
    }, reportEvery).unref();
    const exit = () => once(child, 'exit');
    const end = await withTimeLimit({ limit, reason: late, signal }, exit).then(exitOf, failureOf);
    clearInterval(reporting);
    const ms = now() - begun;
    await groups.end(child);
    await withTimeLimit({ limit: drainLimit, reason: late, signal }, () => closed).catch(() => undefined);
    signal.throwIfAborted();
    return { ...end, output: output.end(), ms };
  } finally {
    pipe.destroy();
  }
}

function exitOf([code, by]: readonly unknown[]): CheckEnd {
  if (typeof code === 'number') return { ended: `exit code ${code}`, exitCode: code };
  return { ended: `ended by ${by ?? 'a signal'}`, exitCode: null };
}

function failureOf(error: NodeJS.ErrnoException): CheckEnd {
  if (error === late) return { ended: late.message, exitCode: null, isFailed: true };
  const whys = { ENOENT: 'its program does not exist', EACCES: 'its program is not executable' };
  const why = whys[error.code as keyof typeof whys] ?? error.code ?? 'unknown error';
  return { ended: `The check cannot be started: ${why}. Tell the user.`, exitCode: null, isFailed: true };
}
