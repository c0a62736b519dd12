import {
  type ChatDelta,
  type ChatParams,
  type ChatResult,
  chatDelta,
  chatRequest,
} from '../../../protocol/messages/chat.ts';
import { approveToolRequest } from '../../../protocol/messages/tools.ts';
import type { Daemon } from '../daemon/daemon.ts';
import type { Approve } from './approval.ts';
import { TakeQueue } from './takeQueue.ts';

/** Takes what comes; it is not called again before it has settled. */
export type TakeDelta = (delta: ChatDelta) => Promise<void>;

/** Asks for one answer. All deltas are taken, in order, before it settles, also when it fails. */
export type AskForTurn = (
  params: Omit<ChatParams, 'streamId'>,
  take: TakeDelta,
  signal: AbortSignal,
) => Promise<ChatResult>;

/** `daemon` is asked for at each turn: it may be another by then. */
export function createTurns(daemon: () => Daemon, approve: Approve): AskForTurn {
  let count = 0;
  return async (params, take, signal) => {
    const current = daemon();
    const streamId = `terminal-${count++}`;
    const deltas = new TakeQueue(current, take);
    const stop = current.onNotification(chatDelta, (delta) => {
      if (delta.streamId === streamId) deltas.push(delta);
    });
    const stopAnswering = current.onRequest(approveToolRequest, async (question, asked) => {
      // The call is on the screen before its question is.
      await deltas.taken();
      return { decision: await approve(question, asked) };
    });
    try {
      return await current.request(chatRequest, { streamId, ...params }, signal);
    } finally {
      stop();
      stopAnswering();
      await deltas.taken();
    }
  };
}
