import { randomUUID } from 'node:crypto';
import type { RequestMessage, WorkDoneParams } from '../../../protocol/messages/messageTypes.ts';
import { progressNotification } from '../../../protocol/messages/progress.ts';
import { type Surroundings, writeLine } from '../cli/streams.ts';
import { interruptible } from '../conversation/interruptible.ts';
import { TakeQueue } from '../conversation/takeQueue.ts';
import type { Daemon } from '../daemon/daemon.ts';
import { showLine } from '../screen/controlCharacters.ts';
import { createProgressOutput, type ProgressOutput } from '../screen/progressOutput.ts';

/** Something about a model that takes long and tells how far it is. */
export interface Work<P extends WorkDoneParams> {
  readonly request: RequestMessage<P, { readonly model: string }>;
  readonly params: P & { readonly model: string };
  readonly json: boolean;
  /** What became of the model, such as `Pulled`. */
  readonly done: string;
  /** What is said when Ctrl-C ended it. */
  readonly stopped: string;
}

/** Runs it with its progress shown; Ctrl-C cancels it. Returns the exit code. */
export async function runWork<P extends WorkDoneParams>(
  surroundings: Surroundings,
  daemon: Daemon,
  work: Work<P>,
): Promise<number> {
  const { stdout, stderr } = surroundings;
  const { json, params, done, stopped } = work;
  const event = (name: string, model: string) => writeLine(stdout, JSON.stringify({ event: name, model }));
  const outcome = await interruptible(surroundings, (signal) =>
    requestWithProgress({ daemon, work, signal, output: createProgressOutput(surroundings, json) }),
  );
  if (outcome.kind === 'interrupted') {
    await (json ? event('cancelled', params.model) : writeLine(stderr, stopped));
    return 130;
  }
  const { model } = outcome.value;
  await (json ? event('done', model) : writeLine(stderr, `${done} ${showLine(model)}.`));
  return 0;
}

interface Asking<P extends WorkDoneParams> {
  readonly daemon: Daemon;
  readonly work: Work<P>;
  readonly signal: AbortSignal;
  readonly output: ProgressOutput;
}

/** All progress is shown, in order, before it settles, also when it fails. */
async function requestWithProgress<P extends WorkDoneParams>({
  daemon,
  work: { request, params },
  signal,
  output,
}: Asking<P>): Promise<{ readonly model: string }> {
  const workDoneToken = randomUUID();
  const waiting = new TakeQueue(daemon, output.take);
  const stop = daemon.onNotification(progressNotification, ({ token, value }) => {
    if (token === workDoneToken) waiting.push(value);
  });
  try {
    return await daemon.request(request, { ...params, workDoneToken }, signal);
  } finally {
    stop();
    await waiting.taken();
    await output.end();
  }
}
