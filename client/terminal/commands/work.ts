import { randomUUID } from 'node:crypto';
import { showLine } from '../../../protocol/base/controlCharacters.ts';
import type { RequestMessage, WorkDoneParams } from '../../../protocol/messages/messageTypes.ts';
import { progressNotification } from '../../../protocol/messages/progress.ts';
import type { CommandContext } from '../cli/command.ts';
import { interruptible } from '../cli/signals.ts';
import { BackpressureQueue } from '../daemon/backpressureQueue.ts';
import type { Daemon } from '../daemon/daemon.ts';
import { createProgressOutput, type ProgressOutput } from '../screen/progressOutput.ts';

/** Long work on a model that reports its progress. */
export interface Work<P extends WorkDoneParams> {
  readonly request: RequestMessage<P, { readonly model: string }>;
  readonly params: P & { readonly model: string };
  /** What happened to the model, such as `Pulled`. */
  readonly done: string;
  /** Its progress is not shown. */
  readonly isQuiet?: true;
  /** What is shown if Ctrl-C cancelled it. */
  readonly stopped: string;
}

/** Does the work and shows its progress. Ctrl-C cancels it. Returns the exit code. */
export async function runWork<P extends WorkDoneParams>(
  { terminal, commandLine: { json } }: CommandContext,
  daemon: Daemon,
  { request, params, done, stopped, isQuiet }: Work<P>,
): Promise<number> {
  const { stdout, stderr } = terminal;
  const output = createProgressOutput(terminal, json);
  const outcome = await interruptible(terminal, (signal) =>
    isQuiet
      ? daemon.request(request, params, signal)
      : withProgress(daemon, output, (token) => daemon.request(request, { ...params, ...token }, signal)),
  );
  if (outcome.kind === 'interrupted') {
    await (json ? stdout.writeJson({ event: 'cancelled', model: params.model }) : stderr.writeLine(stopped));
    return 130;
  }
  const { model } = outcome.value;
  await (json ? stdout.writeJson({ event: 'done', model }) : stderr.writeLine(`${done} ${showLine(model)}.`));
  return 0;
}

/** Settles only after all progress is shown, in order, even if the work fails. */
async function withProgress<T>(
  daemon: Daemon,
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
