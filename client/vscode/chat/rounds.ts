import type * as vscode from 'vscode';
import {
  type ChatDelta,
  type ChatParams,
  type ChatResult,
  chatDelta,
  chatRequest,
} from '../../../protocol/messages/chat.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { inEditorWords } from '../ui/remedies.ts';

/**
 * Asks for one round of a turn: one answer of the model. All of its deltas arrive in order, before it settles. Tags of
 * context blocks are removed, because the editor's chat and other extensions expect none.
 */
export type AskForRound = (
  params: Omit<ChatParams, 'streamId'>,
  take: (delta: ChatDelta) => void,
  token: vscode.CancellationToken,
) => Promise<ChatResult>;

export function createRounds(daemon: DaemonConnection): AskForRound & vscode.Disposable {
  const takers = new Map<string, (delta: ChatDelta) => void>();
  const listening = daemon.onNotification(chatDelta, (delta) => takers.get(delta.streamId)?.(delta));
  let count = 0;
  const ask: AskForRound = async (params, take, token) => {
    const streamId = `vscode-${++count}`;
    takers.set(streamId, (delta) => take(inWords(delta)));
    try {
      return await daemon.request(chatRequest, { dropContextTags: true, ...params, streamId }, token);
    } finally {
      takers.delete(streamId);
    }
  };
  return Object.assign(ask, { dispose: () => listening.dispose() });
}

function inWords(delta: ChatDelta): ChatDelta {
  if (delta.kind !== 'notice') return delta;
  const { notice } = delta;
  return { ...delta, notice: { ...notice, message: inEditorWords(notice) } };
}
