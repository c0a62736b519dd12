import type * as vscode from 'vscode';
import {
  type ChatDelta,
  type ChatParams,
  type ChatResult,
  chatDelta,
  chatRequest,
} from '../../../protocol/messages/chat.ts';
import type { DaemonConnection } from '../daemon/connection.ts';

/**
 * Asks for one answer. Its deltas arrive in order, all of them before it settles. No tag of a context block is in it,
 * because the editor's chat and other extensions expect none.
 */
export type AskForTurn = (
  params: Omit<ChatParams, 'streamId'>,
  take: (delta: ChatDelta) => void,
  token: vscode.CancellationToken,
) => Promise<ChatResult>;

export function createTurns(daemon: DaemonConnection): AskForTurn & vscode.Disposable {
  const takers = new Map<string, (delta: ChatDelta) => void>();
  const listening = daemon.onNotification(chatDelta, (delta) => takers.get(delta.streamId)?.(delta));
  let count = 0;
  const ask: AskForTurn = async (params, take, token) => {
    const streamId = `vscode-${++count}`;
    takers.set(streamId, take);
    try {
      return await daemon.request(chatRequest, { dropContextTags: true, ...params, streamId }, token);
    } finally {
      takers.delete(streamId);
    }
  };
  return Object.assign(ask, { dispose: () => listening.dispose() });
}
