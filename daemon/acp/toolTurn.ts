import type { ChatDelta } from '../../protocol/messages/chat.ts';
import type { Chat } from '../chat/chat.ts';
import type { HostedTool } from '../chat/hostedTools.ts';
import type { AskUser } from '../chat/toolCalls.ts';
import { createToolLoop } from '../chat/toolLoop.ts';
import type { RunningTools } from './sessionTools.ts';
import type { Teller } from './teller.ts';

export interface ToolTurnParts {
  /** One turn of the model alone. */
  readonly chat: Chat;
  readonly tools: RunningTools;
  readonly ask: AskUser;
  readonly createId: () => string;
  readonly teller: Teller;
}

export interface ToolTurn {
  readonly chat: Chat;
  /** Sends what comes, the calls with what is known of their tools. */
  readonly send: (delta: ChatDelta) => Promise<void>;
}

/** A turn whose model may call the tools of its session. */
export function createToolTurn({ chat, tools, ask, createId, teller }: ToolTurnParts): ToolTurn {
  let offered: readonly HostedTool[] = [];
  const hosted: Pick<RunningTools, 'offer'> = {
    async offer(...wanted) {
      const offer = await tools.offer(...wanted);
      offered = offer.tools;
      return offer;
    },
  };
  return {
    chat: createToolLoop({ chat, hosted, ask: () => ask, createId, onDidAllow: teller.started }),
    send: (delta) =>
      delta.kind === 'toolCall'
        ? teller.call(
            delta.toolCall,
            offered.find(({ name }) => name === delta.toolCall.name),
          )
        : teller.delta(delta),
  };
}
