import { showLine } from '../../../protocol/base/controlCharacters.ts';
import {
  type ChatDelta,
  type ChatParams,
  type ChatResult,
  chatDelta,
  chatRequest,
} from '../../../protocol/messages/chat.ts';
import {
  type ApproveToolParams,
  approveToolRequest,
  type ToolDecision,
  toolProgress,
} from '../../../protocol/messages/tools.ts';
import { BackpressureQueue } from '../daemon/backpressureQueue.ts';
import type { Daemon } from '../daemon/daemon.ts';
import type { Output } from '../screen/output.ts';
import { describeArguments, isCallCut } from '../screen/tools.ts';
import type { LineEditor } from './lineEditor.ts';
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
export function createTurns(daemon: () => Daemon, approve: Approve): AskForTurn {
  let count = 0;
  return async (params, { take, waiting }, signal) => {
    const current = daemon();
    const streamId = `terminal-${count++}`;
    const deltas = new BackpressureQueue(current, take);
    const stop = current.onNotification(chatDelta, (delta) => {
      if (delta.streamId === streamId) deltas.push(delta);
    });
    const stopWatching = current.onNotification(toolProgress, (report) => {
      if (report.streamId === streamId) waiting.progress(report);
    });
    const stopAnswering = current.onRequest(approveToolRequest, async (call, asked) => {
      // The call must be on the screen before the question.
      await deltas.settle();
      return { decision: await waiting.during(() => approve(call, asked)) };
    });
    try {
      return await current.request(chatRequest, { streamId, ...params }, signal);
    } finally {
      stop();
      stopWatching();
      stopAnswering();
      await deltas.settle();
    }
  };
}

/** Asks a person before a call of a tool. An aborted signal withdraws the question. */
export type Approve = (call: ApproveToolParams, signal: AbortSignal) => Promise<ToolDecision>;

const decisions: ReadonlyMap<string, ToolDecision> = new Map([
  ['y', 'once'],
  ['yes', 'once'],
  ['s', 'session'],
  ['session', 'session'],
  ['a', 'always'],
  ['always', 'always'],
  ['n', 'deny'],
  ['no', 'deny'],
]);

/**
 * Asks at the prompt: a letter or its whole word, and Enter. Anything else repeats the question. The arguments are shown
 * if the line of the call leaves some of them out, or is not on this screen.
 */
export function approveThrough(editor: LineEditor, stdout: Output, isCallShown = true): Approve {
  return async ({ toolCall, server }, signal) => {
    if (!isCallShown || isCallCut(toolCall)) await stdout.writeLine(describeArguments(toolCall));
    for (;;) {
      const prompt = `allow ${showLine(toolCall.name)} of ${showLine(server)}? [y]es, for this [s]ession, [a]lways, [n]o `;
      const entry = await editor.question(prompt, signal);
      if (entry.kind === 'leave') return 'deny';
      const decision = decisions.get(entry.text.trim().toLowerCase());
      if (decision) return decision;
    }
  };
}
