import type { PermissionOption, RequestPermissionResponse } from '@agentclientprotocol/sdk';
import type { ToolDecision } from '../../protocol/messages/tools.ts';
import type { AskUser } from '../chat/toolCalls.ts';
import type { PromptClient } from './client.ts';
import { askedCall } from './toolCallUpdates.ts';

/** `allow_always` is kept beyond the session, until the tool changes. */
const options = [
  { optionId: 'once', kind: 'allow_once', name: 'Allow once' },
  { optionId: 'always', kind: 'allow_always', name: 'Always allow' },
  { optionId: 'deny', kind: 'reject_once', name: 'Deny' },
] as const satisfies readonly (PermissionOption & { readonly optionId: ToolDecision })[];

/** Asks the user through the client. A question that was cancelled, and an answer that is none of the options, is a denial. */
export function createAskUser(sessionId: string, askPermission: PromptClient['askPermission']): AskUser {
  return async ({ toolCall, ...tool }) =>
    decisionOf(
      await askPermission({ sessionId, toolCall: askedCall(toolCall, tool), options: [...options] }),
    );
}

function decisionOf({ outcome }: RequestPermissionResponse): ToolDecision {
  if (outcome.outcome !== 'selected') return 'deny';
  return options.find(({ optionId }) => optionId === outcome.optionId)?.optionId ?? 'deny';
}
