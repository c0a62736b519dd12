import type {
  PermissionOption,
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionUpdate,
} from '@agentclientprotocol/sdk';
import type { ToolDecision } from '../../protocol/messages/tools.ts';
import type { AskApproval } from '../chat/daemonTools.ts';
import { askedCall } from './toolCallUpdates.ts';

/**
 * Sends an update of a session. Settles when it was written, which is the back-pressure; rejects when the client is
 * gone.
 */
export type Update = (sessionId: string, update: SessionUpdate) => Promise<void>;

/** The client, as long as it waits for the answer to one request. */
export interface Client {
  readonly update: Update;
  readonly signal: AbortSignal;
}

/** The client that has sent a prompt: it can be asked whether a tool may run. */
export interface PromptClient extends Client {
  readonly askPermission: (question: RequestPermissionRequest) => Promise<RequestPermissionResponse>;
}

/** `always` holds beyond the session, until the tool changes. */
const permissionOptions = [
  { optionId: 'once', kind: 'allow_once', name: 'Allow once' },
  { optionId: 'always', kind: 'allow_always', name: 'Always allow' },
  { optionId: 'deny', kind: 'reject_once', name: 'Deny' },
] as const satisfies readonly (PermissionOption & { readonly optionId: ToolDecision })[];

/** Asks the user through the client. A cancelled question, or an answer that is none of the options, is a denial. */
export function createAskApproval(
  sessionId: string,
  askPermission: PromptClient['askPermission'],
): AskApproval {
  return async ({ toolCall, ...tool }) => {
    const { outcome } = await askPermission({
      sessionId,
      toolCall: askedCall(toolCall, tool),
      options: [...permissionOptions],
    });
    if (outcome.outcome !== 'selected') return 'deny';
    return permissionOptions.find(({ optionId }) => optionId === outcome.optionId)?.optionId ?? 'deny';
  };
}
