import {
  type ChatDelta,
  type ChatParams,
  type ChatResult,
  chatDelta,
  chatRequest,
} from '../../../protocol/messages/chat.ts';
import { elicitRequest } from '../../../protocol/messages/elicit.ts';
import { approveToolRequest, toolProgress } from '../../../protocol/messages/tools.ts';
import type { DaemonClient } from '../daemon/daemon.ts';
import { BackpressureQueue } from '../daemon/daemon.ts';
import type { Approve } from './approval.ts';
import type { Elicit } from './elicit.ts';
import type { WaitingNote } from './waitingNote.ts';

/** Asks for one answer. All deltas are handled, one at a time, before it settles, even if it fails. */
export type AskForTurn = (
  params: Omit<ChatParams, 'streamId'>,
  listener: TurnListener,
  signal: AbortSignal,
) => Promise<ChatResult>;

export interface TurnListener {
  readonly take: (delta: ChatDelta) => Promise<void>;
  readonly waiting: WaitingNote;
}

/** `daemon` is called at each turn, because the daemon may have been replaced. */
export function createTurns(
  daemon: () => DaemonClient,
  { approve, elicit }: { readonly approve: Approve; readonly elicit?: Elicit },
): AskForTurn {
  let count = 0;
  return async (params, { take, waiting }, signal) => {
    const current = daemon();
    const streamId = `terminal-${count++}`;
    const ended = new AbortController();
    let question: Promise<unknown> = Promise.resolve();
    // While a person is asked, other calls may go on. Their results would be written into the line of the question.
    const deltas = new BackpressureQueue<ChatDelta>(current, async (delta) => {
      await question;
      await take(delta);
    });
    const stop = current.onNotification(chatDelta, (delta) => {
      if (delta.streamId === streamId) deltas.push(delta);
    });
    const stopWatching = current.onNotification(toolProgress, (report) => {
      if (report.streamId === streamId) waiting.progress(report);
    });
    const askPerson = async <T>(
      asked: AbortSignal,
      ask: (withdrawn: AbortSignal) => Promise<T>,
    ): Promise<T> => {
      // The call must be on the screen before the question.
      await deltas.settle();
      const withdrawn = AbortSignal.any([asked, ended.signal]);
      const answer = waiting.during(() => ask(withdrawn));
      question = answer.catch(() => undefined);
      return answer;
    };
    const stopAnswering = current.onRequest(approveToolRequest, (call, asked) =>
      askPerson(asked, (withdrawn) => approve(call, withdrawn)),
    );
    const stopEliciting =
      elicit &&
      current.onRequest(elicitRequest, (wanted, asked) =>
        askPerson(asked, (withdrawn) => elicit(wanted, withdrawn)),
      );
    try {
      return await current.request(chatRequest, { streamId, ...params }, signal);
    } finally {
      stop();
      stopWatching();
      stopAnswering();
      stopEliciting?.();
      ended.abort();
      await deltas.settle();
    }
  };
}
