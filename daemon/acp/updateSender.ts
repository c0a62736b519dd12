import type { SessionUpdate } from '@agentclientprotocol/sdk';
import type { Advised } from '../../protocol/messages/advice.ts';
import type { ChatDelta, Notice, ToolCall, Usage } from '../../protocol/messages/chat.ts';
import type { Model } from '../../protocol/messages/models.ts';
import type { DaemonTool } from '../chat/daemonTools.ts';
import { forAgentClient } from './advice.ts';
import { endedCall, startedCall, toolCallOf } from './toolCallUpdates.ts';

/** Sends the client one answer as it arrives. Each promise settles when the update was written. */
export interface UpdateSender {
  delta(delta: ChatDelta): Promise<void>;
  notice(notice: Advised): Promise<void>;
  /** The model calls a tool; the call has not run yet. */
  call(call: ToolCall, tool: DaemonTool | undefined): Promise<void>;
  /** The call is allowed, and runs next. */
  started(call: ToolCall): Promise<void>;
  usage(usage: Usage, model: Model | undefined): Promise<void>;
}

interface UpdateSenderOptions {
  readonly update: (update: SessionUpdate) => Promise<void>;
  /** The client shows notices apart from the conversation. */
  readonly takesNotices: boolean;
  /** The problems with tools that the session has shown so far. Each is shown once. */
  readonly shownProblems: Set<string>;
  /** Of the turn. Nothing is sent once it is aborted. */
  readonly signal: AbortSignal;
}

export function createUpdateSender({
  update,
  takesNotices,
  shownProblems,
  signal,
}: UpdateSenderOptions): UpdateSender {
  let last = '';
  const send = async (next: SessionUpdate) => {
    if (!signal.aborted) await update(next);
  };
  const sendText = (text: string) => {
    last = text;
    return send({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
  };
  const notice: UpdateSender['notice'] = (advised) => {
    const title = forAgentClient(advised);
    return takesNotices
      ? send({ sessionUpdate: 'notice', severity: 'warning', title })
      : sendText(`${paragraphBreakAfter(last)}> ${title}\n\n`);
  };

  const isNew = ({ code, message, advice }: Notice) => {
    // The log has it: no client of this protocol asks for a conversation to be kept.
    if (code === 'session-not-kept') return false;
    if (code !== 'tools-disabled' && code !== 'tools-unavailable') return true;
    // The same problem with another time of the next attempt is not new.
    const problem = advice?.problem ?? message;
    const wasShown = shownProblems.has(problem);
    shownProblems.add(problem);
    return !wasShown;
  };

  return {
    notice,
    call: (call, tool) => send(toolCallOf(call, tool)),
    started: (call) => send(startedCall(call)),
    async delta(delta) {
      if (delta.kind === 'text') await sendText(delta.text);
      if (delta.kind === 'thinking')
        await send({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: delta.text } });
      if (delta.kind === 'toolResult') await send(endedCall(delta.toolResult));
      if (delta.kind === 'notice' && isNew(delta.notice)) await notice(delta.notice);
    },
    async usage({ promptTokens, completionTokens, contextLength }, model) {
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
