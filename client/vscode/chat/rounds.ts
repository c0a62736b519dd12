import type * as vscode from 'vscode';
import type { CancellationToken } from 'vscode';
import {
  type ChatDelta,
  type ChatParams,
  type ChatResult,
  chatDelta,
  chatRequest,
  type Message,
} from '../../../protocol/messages/chat.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { inEditorWords } from '../ui/remedies.ts';
import type { ThinkingTask } from './thinking.ts';

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

/** The editor's own chat puts the user's words between such tags, or says who it is. */
const ofUser = /<(userRequest|prompt)>|you must respond with "GitHub Copilot"/;
const ofInlineChat = /used for quick, inline code changes/;
const ofSummary = /^The conversation has grown too large for the context window/;
const ofEditor = /^You are an expert in /;

/** Whether the editor's own chat asks for the user, or for itself: a title, a progress message, a summary. */
export function taskOf(messages: readonly Message[]): ThinkingTask {
  const has = (mark: RegExp) => messages.some(({ content }) => mark.test(content));
  const [first, last] = [messages[0]?.content ?? '', messages.at(-1)?.content ?? ''];
  if (ofEditor.test(first) || ofSummary.test(last) || !has(ofUser)) return 'utility';
  return has(ofInlineChat) ? 'small' : 'chat';
}

/** In ms: the editor asks for a title just before it sends the prompt, and an agent's next round soon follows. */
const pause = 1_000;

/**
 * Requests of the user, and requests of the editor itself. Those wait until no request of the user has run for a
 * moment: a runner with one slot would answer them first.
 */
export function createOrder(ask: AskForRound): {
  readonly ask: AskForRound;
  readonly askBehind: AskForRound;
} {
  let running = 0;
  let lastAt = 0;
  const isQuiet = () => running === 0 && Date.now() - lastAt >= pause;
  const untilQuiet = async (token: CancellationToken) => {
    const begun = Date.now();
    while (!token.isCancellationRequested && (!isQuiet() || Date.now() - begun < pause))
      await new Promise((resolve) => setTimeout(resolve, pause / 10));
  };
  return {
    async ask(...given) {
      running += 1;
      try {
        return await ask(...given);
      } finally {
        running -= 1;
        lastAt = Date.now();
      }
    },
    async askBehind(params, take, token) {
      await untilQuiet(token);
      return ask(params, take, token);
    },
  };
}
