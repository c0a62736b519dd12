import { setTimeout as pause } from 'node:timers/promises';
import { openJoinedOutput } from '../../../protocol/base/platform/joinedOutput.ts';
import type { ProcessGroups } from '../../../protocol/base/platform/processGroups.ts';
import { startProgram } from '../../../protocol/base/platform/program.ts';
import { cutText } from '../../../protocol/base/text.ts';
import type { CallListener } from '../../chat/daemonTools.ts';
import { type CheckOutput, createCheckOutput } from './checkOutput.ts';

export interface CheckRunOptions {
  readonly command: readonly [program: string, ...args: readonly string[]];
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

export interface CheckRun {
  readonly ended: CheckEnd;
  readonly output: CheckOutput;
  readonly ms: number;
}

type CheckEnd =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'killed'; readonly by: string }
  | { readonly kind: 'late' }
  | { readonly kind: 'unstarted'; readonly why: string };

/** How long a group that was asked to end has for it, in ms. */
const killAfter = 2_000;
/** How long a process that has left the group may hold the output open, in ms. */
const drainLimit = 1_000;

/**
 * Runs a program to its end, without a shell and without input, and ends every process of its group. Rejects with the
 * reason of an aborted signal once they have ended.
 */
export async function runCheck(options: CheckRunOptions, signal: AbortSignal): Promise<CheckRun> {
  const { command, groups, now, onProgress, ...place } = options;
  const [program, ...args] = command;
  const pipe = await openJoinedOutput(place.platform);
  try {
    signal.throwIfAborted();
    const begun = now();
    const output = createCheckOutput();
    const child = startProgram(program, args, { ...place, leadsGroup: true, stdio: pipe.stdio });
    groups.add(child, killAfter);
    const closed = pipe.read(child, output.push);
    const reporting = onProgress && reportEach(output.soFar, onProgress);
    const ended = await new Promise<CheckEnd>((resolve) => {
      const timer = setTimeout(() => resolve({ kind: 'late' }), place.limit);
      const settle = (end: CheckEnd) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', stop);
        resolve(end);
      };
      const stop = () => settle({ kind: 'killed', by: 'the user' });
      signal.addEventListener('abort', stop, { once: true });
      child.once('error', (error) => settle({ kind: 'unstarted', why: reasonOf(error) }));
      child.once('exit', (code, by) =>
        settle(code === null ? { kind: 'killed', by: by ?? 'a signal' } : { kind: 'exited', code }),
      );
    });
    clearInterval(reporting);
    const ms = now() - begun;
    await groups.end(child);
    const drained = new AbortController();
    const late = pause(drainLimit, undefined, { signal: drained.signal }).catch(() => undefined);
    await Promise.race([closed, late]);
    drained.abort();
    signal.throwIfAborted();
    return { ended, output: output.end(), ms };
  } finally {
    pipe.destroy();
  }
}

/** In ms. */
const reportEvery = 500;

function reportEach(
  soFar: ReturnType<typeof createCheckOutput>['soFar'],
  onProgress: NonNullable<CallListener['onProgress']>,
): NodeJS.Timeout {
  let reported = 0;
  const report = () => {
    const { lines, last } = soFar();
    if (lines > reported) onProgress({ progress: lines, message: cutText(last, maxMessage) });
    reported = lines;
  };
  return setInterval(report, reportEvery).unref();
}

/** As of any report, in characters. */
const maxMessage = 1_000;

function reasonOf({ code }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return 'its program does not exist';
  if (code === 'EACCES') return 'its program is not executable';
  return code ?? 'unknown error';
}
