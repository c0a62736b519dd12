import type { SessionUpdate } from '@agentclientprotocol/sdk';
import type { ChatDelta, Notice, ToolCall, Usage } from '../../protocol/messages/chat.ts';
import type { Model } from '../../protocol/messages/models.ts';
import type { HostedTool } from '../chat/hostedTools.ts';
import { endedCall, startedCall, toolCallOf } from './toolCallUpdates.ts';

/** Tells a client how one answer comes; each promise settles when it was written. */
export interface Teller {
  delta(delta: ChatDelta): Promise<void>;
  notice(notice: Pick<Notice, 'message'>): Promise<void>;
  /** The model calls a tool; nothing is run yet. */
  call(call: ToolCall, tool: HostedTool | undefined): Promise<void>;
  /** The call is allowed, and is run next. */
  started(call: ToolCall): Promise<void>;
  usage(usage: Usage, model: Model | undefined): Promise<void>;
}

export interface TellerOptions {
  readonly update: (update: SessionUpdate) => Promise<void>;
  /** The client shows notices apart from the conversation. */
  readonly takesNotices: boolean;
  /** The problems with tools that were named in the session so far. Each is named once. */
  readonly said: Set<string>;
  /** Of the turn: after a cancel there is silence. */
  readonly signal: AbortSignal;
}

export function createTeller({ update, takesNotices, said, signal }: TellerOptions): Teller {
  let last = '';
  const tell = async (told: SessionUpdate) => {
    if (!signal.aborted) await update(told);
  };
  const say = (text: string) => {
    last = text;
    return tell({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
  };
  const notice: Teller['notice'] = ({ message }) =>
    takesNotices
      ? tell({ sessionUpdate: 'notice', severity: 'warning', title: message })
      : say(`${lineStart(last)}> ${message}\n\n`);

  const isNew = ({ code, message, advice }: Notice) => {
    // That nothing is kept is for the log: nobody asked for it here.
    if (code === 'session-not-kept') return false;
    if (code !== 'tools-disabled' && code !== 'tools-unavailable') return true;
    // When something is tried again is no news.
    const problem = advice?.problem ?? message;
    const wasSaid = said.has(problem);
    said.add(problem);
    return !wasSaid;
  };

  return {
    notice,
    call: (call, tool) => tell(toolCallOf(call, tool)),
    started: (call) => tell(startedCall(call)),
    async delta(delta) {
      if (delta.kind === 'text') await say(delta.text);
      if (delta.kind === 'thinking')
        await tell({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: delta.text } });
      if (delta.kind === 'toolResult') await tell(endedCall(delta.toolResult));
      if (delta.kind === 'notice' && isNew(delta.notice)) await notice(delta.notice);
    },
    async usage({ promptTokens, completionTokens, contextLength }, model) {
      const size = contextLength ?? model?.context.configured ?? model?.context.maximum;
      if (size === undefined) return;
      await tell({ sessionUpdate: 'usage_update', used: promptTokens + completionTokens, size });
    },
  };
}

/** What makes the next text begin a paragraph of its own. */
function lineStart(before: string): string {
  if (before === '' || before.endsWith('\n\n')) return '';
  return before.endsWith('\n') ? '\n' : '\n\n';
}
