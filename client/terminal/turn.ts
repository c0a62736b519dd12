import {
  type ChatDelta,
  type ChatParams,
  type ChatResult,
  chatDelta,
  chatRequest,
} from '../../protocol/chat.ts';
import type { Daemon } from './daemon.ts';

/** Takes what comes; it is not called again before it has settled. */
export type TakeDelta = (delta: ChatDelta) => Promise<void>;

/** Asks for one answer. All deltas are taken, in order, before it settles, also when it fails. */
export type AskForTurn = (
  params: Omit<ChatParams, 'streamId'>,
  take: TakeDelta,
  signal: AbortSignal,
) => Promise<ChatResult>;

export function createTurns(daemon: Daemon): AskForTurn {
  let count = 0;
  let current: { readonly id: string; readonly push: (delta: ChatDelta) => void } | undefined;
  daemon.onNotification(chatDelta, (delta) => {
    if (delta.streamId === current?.id) current.push(delta);
  });
  return async (params, take, signal) => {
    const id = `terminal-${count++}`;
    let taken: Promise<void> = Promise.resolve();
    current = {
      id,
      push: (delta) => {
        taken = taken.then(() => take(delta));
      },
    };
    try {
      return await daemon.request(chatRequest, { streamId: id, ...params }, signal);
    } finally {
      await taken;
    }
  };
}
