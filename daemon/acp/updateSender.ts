import type { SessionUpdate } from '@agentclientprotocol/sdk';
import type { AdviceMessage } from '../../protocol/messages/advice.ts';
import type { ChatDelta, FileDiff, ToolCall, Usage } from '../../protocol/messages/chat.ts';
import type { Model } from '../../protocol/messages/models.ts';
import type { ToolProgress } from '../../protocol/messages/tools.ts';
import type { DaemonTool } from '../chat/daemonTools.ts';
import { forAgentClient } from './advice.ts';
import { endedCall, locationsOf, progressedCall, startedCall, toolCallOf } from './toolCallUpdates.ts';

interface UpdateSenderOptions {
  /** The folder of the session. */
  readonly cwd: string;
  readonly update: (update: SessionUpdate) => Promise<void>;
  /** The client shows notices apart from the conversation. */
  readonly takesNotices: boolean;
  /** Of the turn. Nothing is sent once it is aborted. */
  readonly signal: AbortSignal;
}

export type UpdateSender = ReturnType<typeof createUpdateSender>;

/** Sends the client one answer as it arrives. Each promise settles when the update was written. */
export function createUpdateSender({ cwd, update, takesNotices, signal }: UpdateSenderOptions) {
  let last = '';
  /** The calls that run. A report of a call may arrive after its result. */
  const running = new Set<string>();
  /** What calls change, which is more than their result says. */
  const diffs = new Map<string, FileDiff>();
  const send = async (next: SessionUpdate) => {
    if (!signal.aborted) await update(next);
  };
  const sendText = (text: string) => {
    last = text;
    return send({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
  };
  const notice = (advised: AdviceMessage) => {
    const title = forAgentClient(advised);
    return takesNotices
      ? send({ sessionUpdate: 'notice', severity: 'warning', title })
      : sendText(`${paragraphBreakAfter(last)}> ${title}\n\n`);
  };

  return {
    notice,
    /** The model calls a tool; the call has not run yet. */
    call: (call: ToolCall, tool: DaemonTool | undefined) =>
      send({ ...toolCallOf(call, tool), ...locationsOf(call, tool, cwd) }),
    /** The call is allowed, and runs next. */
    started(call: ToolCall): Promise<void> {
      running.add(call.id);
      return send(startedCall(call));
    },
    /** The user was shown what the call would change. */
    shown: (callId: string, diff: FileDiff) => void diffs.set(callId, diff),
    /** The call has come so far. */
    async progress(progress: ToolProgress): Promise<void> {
      if (running.has(progress.id)) await send(progressedCall(progress));
    },
    async delta(delta: ChatDelta): Promise<void> {
      if (delta.kind === 'text') await sendText(delta.text);
      if (delta.kind === 'thinking')
        await send({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: delta.text } });
      if (delta.kind === 'toolResult') {
        running.delete(delta.toolResult.id);
        const { diff = diffs.get(delta.toolResult.id) } = delta.toolResult;
        await send(endedCall({ ...delta.toolResult, ...(diff ? { diff } : {}) }));
      }
      // The log has that a conversation is not kept: no client of this protocol asks for it.
      if (delta.kind === 'notice' && delta.notice.code !== 'session-not-kept') await notice(delta.notice);
    },
    async usage(
      { promptTokens, completionTokens, contextLength }: Usage,
      model: Model | undefined,
    ): Promise<void> {
      const size = contextLength ?? model?.context.configured ?? model?.context.maximum;
      if (size === undefined) return;
      await send({ sessionUpdate: 'usage_update', used: promptTokens + completionTokens, size });
    },
  };
}

/** The line feeds that are missing for the next text to begin a new paragraph. */
function paragraphBreakAfter(before: string): string {
  if (before === '' || before.endsWith('\n\n')) return '';
  return before.endsWith('\n') ? '\n' : '\n\n';
}
