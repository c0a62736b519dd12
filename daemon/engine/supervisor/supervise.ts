import type { ProcessGroups } from '../../../protocol/base/platform/processGroups.ts';
import { removeRunning, writeLast, writeRunning } from '../engineFile.ts';
import { commandOf, type Launch } from './launch.ts';
import { CannotStartError, type Ready, startRun } from './run.ts';

/** What a supervisor sends to its holders, one JSON object a line. */
export type SupervisorState =
  | { readonly state: 'starting'; readonly percent?: number }
  | { readonly state: 'ready'; readonly pid: number; readonly url: string; readonly context?: number }
  | { readonly state: 'failed'; readonly message: string };

export interface SupervisionOptions {
  readonly launch: Launch;
  readonly env: NodeJS.ProcessEnv;
  readonly groups: ProcessGroups;
  readonly publish: (state: SupervisorState) => void;
  readonly now: () => number;
}

/** After so many ends in a row it is not started again. */
const maxEnds = 3;
/** A process that was ready for so long, in ms, was well: its end is the first of a new row. */
const well = 10 * 60_000;

/** Keeps one process running until `released` is aborted, or it has ended too often. */
export async function supervise(options: SupervisionOptions, released: AbortSignal): Promise<void> {
  const { launch, publish, now } = options;
  try {
    for (let ends = 0; !released.aborted; ) {
      const begun = now();
      const end = await runOnce(options, released, ends > 0);
      ends = now() - begun > well ? 1 : ends + 1;
      if (ends === maxEnds && !released.aborted)
        throw new Error(`It ended ${maxEnds} times in a row, the last time with ${end}.`);
    }
  } catch (error) {
    if (released.aborted) return;
    const message = error instanceof Error ? error.message : String(error);
    await writeLast(launch.folder, { ...launch.asked, failure: message }).catch(() => undefined);
    publish({ state: 'failed', message });
  }
}

/**
 * Starts the process, makes it known while it is ready, and waits for its end. Returns how it ended.
 * @throws {Error} if it said that it cannot start, or ended before it was ready for the first time.
 */
async function runOnce(
  { launch, env, groups, publish }: SupervisionOptions,
  released: AbortSignal,
  isAgain: boolean,
): Promise<string> {
  publish({ state: 'starting' });
  const command = await commandOf(launch, env);
  const run = startRun(command, groups, (percent) => publish({ state: 'starting', percent }));
  const release = whenAborted(released);
  try {
    const ready = await Promise.race([run.ready, release]);
    await command.cleanUp?.();
    if (ready === undefined) return 'its release';
    await makeKnown(launch, ready, command.key);
    publish({ state: 'ready', pid: process.pid, ...ready });
    return (await Promise.race([run.ended, release])) ?? 'its release';
  } catch (error) {
    if (error instanceof CannotStartError || !isAgain) throw error;
    return run.ended;
  } finally {
    await command.cleanUp?.();
    await removeRunning(launch.folder, process.pid);
    await groups.close();
  }
}

async function makeKnown(launch: Launch, ready: Ready, key: string | undefined): Promise<void> {
  const { folder, socket, asked } = launch;
  const { product, alias: model } = asked;
  await writeRunning(folder, {
    pid: process.pid,
    product,
    socket,
    ...ready,
    ...(key !== undefined && { key }),
    ...(model !== undefined && { model }),
  });
}

function whenAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}
