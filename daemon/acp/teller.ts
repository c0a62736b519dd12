import type { SessionUpdate } from '@agentclientprotocol/sdk';
import type { ChatDelta, Notice, Usage } from '../../protocol/chat.ts';
import type { Model } from '../../protocol/models.ts';

/** Tells a client how one answer comes; each promise settles when it was written. */
export interface Teller {
  delta(delta: ChatDelta): Promise<void>;
  notice(notice: Pick<Notice, 'message'>): Promise<void>;
  usage(usage: Usage, model: Model | undefined): Promise<void>;
}

export interface TellerOptions {
  readonly update: (update: SessionUpdate) => Promise<void>;
  /** The client shows notices apart from the conversation. */
  readonly takesNotices: boolean;
  /** Of the turn: after a cancel there is silence. */
  readonly signal: AbortSignal;
}

export function createTeller({ update, takesNotices, signal }: TellerOptions): Teller {
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

  return {
    notice,
    async delta(delta) {
      if (delta.kind === 'text') await say(delta.text);
      if (delta.kind === 'thinking')
        await tell({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: delta.text } });
      // That nothing is kept is for the log: nobody asked for it here.
      if (delta.kind === 'notice' && delta.notice.code !== 'session-not-kept') await notice(delta.notice);
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
