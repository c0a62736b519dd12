import { randomUUID } from 'node:crypto';
import type { RequestMessage, WorkDoneParams } from '../../../protocol/messages/messageTypes.ts';
import { progressNotification } from '../../../protocol/messages/progress.ts';
import type { CommandContext } from '../cli/command.ts';
import { interruptible } from '../cli/signals.ts';
import { createProgressOutput, type ProgressOutput } from '../screen/progressOutput.ts';
import type { DaemonClient } from './daemon.ts';
import { BackpressureQueue } from './daemon.ts';

/** Sends a request and shows its progress. Ctrl-C cancels it: the result is undefined then. */
export async function requestWork<P extends WorkDoneParams, R>(
  { terminal, commandLine: { json } }: Pick<CommandContext, 'terminal' | 'commandLine'>,
  daemon: DaemonClient,
  { request, params }: { readonly request: RequestMessage<P, R>; readonly params: P },
): Promise<R | undefined> {
  const output = createProgressOutput(terminal, json);
  return interruptible(terminal, (signal) =>
    withProgress(daemon, output, (token) => daemon.request(request, { ...params, ...token }, signal)),
  );
}

/** Settles only after all progress is shown, in order, even if the work fails. */
async function withProgress<T>(
  daemon: DaemonClient,
  output: ProgressOutput,
  work: (token: WorkDoneParams) => Promise<T>,
): Promise<T> {
  const workDoneToken = randomUUID();
  const waiting = new BackpressureQueue(daemon, output.take);
  const stop = daemon.onNotification(progressNotification, ({ token, value }) => {
    if (token === workDoneToken) waiting.push(value);
  });
  try {
    return await work({ workDoneToken });
  } finally {
    stop();
    await waiting.settle();
    await output.end();
  }
}
