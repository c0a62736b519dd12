import { setTimeout as pause } from 'node:timers/promises';
import { linkedSignal } from '../../protocol/base/abort.ts';
import { CommandOutput } from './commandOutput.ts';
import { type Follower, type FollowOptions, NoSourceError } from './follower.ts';
import { type LogChild, startLogChild } from './logChild.ts';
import type { CommandSource } from './logCommands.ts';

/**
 * Follows a command if its first line comes in time; otherwise ends its child.
 * @throws {NoSourceError} if no line comes, or if the first one says that there is no log.
 */
export async function followCommand(source: CommandSource, options: FollowOptions): Promise<Follower> {
  const output = new CommandOutput(source);
  const child = startLogChild(source.command, {
    env: options.env,
    onOutput: (stream, piece) => output.write(stream, piece),
  });
  const problem = await problemOf(output, child, options);
  if (problem !== undefined) {
    await child.end();
    throw new NoSourceError(problem + output.remark);
  }
  output.open(options.lines.take);
  return { source: source.command.join(' '), ended: untilEnd(output, child, options.signal) };
}

/**
 * The problem, decided by what comes first: a line, the child's end, the time limit or the abort. Undefined if there is
 * none.
 */
async function problemOf(
  output: CommandOutput,
  child: LogChild,
  { signal, firstLineWithin }: FollowOptions,
): Promise<string | undefined> {
  const decided = linkedSignal(signal);
  const silence = pause(firstLineWithin, 'said nothing', {
    signal: decided.signal,
  }).catch(() => 'was stopped');
  try {
    return await Promise.race([output.first, child.ended, silence]);
  } finally {
    decided.abort();
  }
}

async function untilEnd(output: CommandOutput, child: LogChild, signal: AbortSignal): Promise<string> {
  const stopped = whenAborted(signal);
  const how = await Promise.race([child.ended, stopped.promise]);
  stopped.dispose();
  if (how === undefined) {
    await child.end();
    return 'was stopped';
  }
  output.end();
  return how;
}

function whenAborted(signal: AbortSignal): { promise: Promise<undefined>; dispose: () => void } {
  let onAbort: () => void = () => undefined;
  const promise = new Promise<undefined>((resolve) => {
    onAbort = () => resolve(undefined);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) resolve(undefined);
  });
  return { promise, dispose: () => signal.removeEventListener('abort', onAbort) };
}
