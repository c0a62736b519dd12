import { showLine } from '../../../protocol/base/controlCharacters.ts';
import type { RequestMessage, WorkDoneParams } from '../../../protocol/messages/messageTypes.ts';
import type { CommandContext } from '../cli/command.ts';
import { interruptible } from '../cli/signals.ts';
import type { DaemonClient } from '../daemon/daemon.ts';
import { requestWork } from '../daemon/work.ts';

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
  context: CommandContext,
  daemon: DaemonClient,
  { request, params, done, stopped, isQuiet }: Work<P>,
): Promise<number> {
  const { terminal, commandLine } = context;
  const { json } = commandLine;
  const { stdout, stderr } = terminal;
  const outcome = await (isQuiet
    ? interruptible(terminal, (signal) => daemon.request(request, params, signal))
    : requestWork(context, daemon, { request, params }));
  if (outcome.kind === 'interrupted') {
    await (json ? stdout.writeJson({ event: 'cancelled', model: params.model }) : stderr.writeLine(stopped));
    return 130;
  }
  const { model } = outcome.value;
  await (json ? stdout.writeJson({ event: 'done', model }) : stderr.writeLine(`${done} ${showLine(model)}.`));
  return 0;
}
