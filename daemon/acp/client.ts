import type {
  CreateElicitationRequest,
  CreateElicitationResponse,
  FileSystemCapabilities,
  PermissionOption,
  ReadTextFileRequest,
  ReadTextFileResponse,
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionUpdate,
  WriteTextFileRequest,
} from '@agentclientprotocol/sdk';
import type { FileDiff } from '../../protocol/messages/chat.ts';
import type { ToolDecision } from '../../protocol/messages/tools.ts';
import type { AskApproval } from '../chat/daemonTools.ts';
import type { EditorFiles } from '../tools/builtin/fileStore.ts';
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

/**
 * The client that has sent a prompt: it can be asked whether a tool may run, what a tool server wants to know, and for
 * its files.
 */
export interface PromptClient extends Client {
  readonly readTextFile: (file: ReadTextFileRequest) => Promise<ReadTextFileResponse>;
  readonly writeTextFile: (file: WriteTextFileRequest) => Promise<unknown>;
  readonly askPermission: (question: RequestPermissionRequest) => Promise<RequestPermissionResponse>;
  /** An aborted signal withdraws the question. */
  readonly elicit: (
    question: CreateElicitationRequest,
    signal: AbortSignal,
  ) => Promise<CreateElicitationResponse>;
}

/** `always` holds beyond the session, until the tool changes; `answer` is for edits alone. */
const permissionOptions = [
  { optionId: 'once', kind: 'allow_once', name: 'Allow once' },
  { optionId: 'answer', kind: 'allow_always', name: 'Allow all edits of this answer' },
  { optionId: 'always', kind: 'allow_always', name: 'Always allow' },
  { optionId: 'deny', kind: 'reject_once', name: 'Deny' },
] as const satisfies readonly (PermissionOption & { readonly optionId: ToolDecision })[];

interface ApprovalDependencies extends Pick<PromptClient, 'askPermission'> {
  /** The question shows what the call would change. */
  readonly onDidShow: (callId: string, diff: FileDiff) => void;
}

/** Asks the user through the client. A cancelled question, or an answer that is none of the options, is a denial. */
export function createAskApproval(
  sessionId: string,
  { askPermission, onDidShow }: ApprovalDependencies,
): AskApproval {
  return async ({ toolCall, decisions, ...tool }) => {
    if (tool.diff) onDidShow(toolCall.id, tool.diff);
    const { outcome } = await askPermission({
      sessionId,
      toolCall: askedCall(toolCall, tool),
      options: permissionOptions.filter(
        ({ optionId }) => decisions?.includes(optionId) ?? optionId !== 'answer',
      ),
    });
    const chosen = outcome.outcome === 'selected' ? outcome.optionId : 'deny';
    return { decision: permissionOptions.find(({ optionId }) => optionId === chosen)?.optionId ?? 'deny' };
  };
}

/** The file system of the editor for a session, as far as the editor has announced one. */
export function editorFilesOf(
  sessionId: string,
  { readTextFile, writeTextFile }: Pick<PromptClient, 'readTextFile' | 'writeTextFile'>,
  capabilities: FileSystemCapabilities | undefined,
): EditorFiles {
  return {
    ...(capabilities?.readTextFile === true
      ? { read: async (path) => (await readTextFile({ sessionId, path })).content }
      : {}),
    ...(capabilities?.writeTextFile === true
      ? { write: async (path, content) => void (await writeTextFile({ sessionId, path, content })) }
      : {}),
  };
}
