import { isAbsolute } from 'node:path';
import * as z from 'zod/mini';
import type { SerialQueue } from '../../protocol/base/keyedWork.ts';
import { messageOf } from '../../protocol/base/text.ts';
import { type ElicitResult, elicitRequest } from '../../protocol/messages/elicit.ts';
import {
  type ApproveToolResult,
  allowCheckRequest,
  approveToolRequest,
  type EditsParams,
  type FinishLoginParams,
  finishLoginRequest,
  type ListToolsParams,
  type LoginParams,
  listChecksRequest,
  listEditsRequest,
  listToolsRequest,
  loginRequest,
  logoutRequest,
  redoEditsRequest,
  type SuggestedCheck,
  suggestChecksRequest,
  type ToolCapabilities,
  undoEditsRequest,
} from '../../protocol/messages/tools.ts';
import type { Log } from '../base/log.ts';
import { exact, type Schema } from '../base/validate.ts';
import type { AskApproval, AskElicitation } from '../chat/daemonTools.ts';
import type { Endpoint } from '../rpc/endpoint.ts';
import { isSessionId } from '../sessions/sessionId.ts';
import type { HostedServers } from './hostedServers.ts';

export function serveTools(endpoint: Endpoint, tools: HostedServers): void {
  endpoint.onRequest(listToolsRequest, listToolsSchema, ({ servers }, signal) => tools.list(servers, signal));
  endpoint.onRequest(loginRequest, loginSchema, (params, signal) => tools.login(params, signal));
  endpoint.onRequest(finishLoginRequest, finishLoginSchema, (params, signal) =>
    tools.finishLogin(params, signal),
  );
  endpoint.onRequest(listEditsRequest, editsSchema, async ({ session, prompt }) =>
    (await tools.edits()).list(session, prompt),
  );
  endpoint.onRequest(undoEditsRequest, editsSchema, async ({ session, prompt }, signal) =>
    (await tools.edits()).undo(session, prompt, signal),
  );
  endpoint.onRequest(redoEditsRequest, redoSchema, async ({ session }, signal) =>
    (await tools.edits()).redo(session, signal),
  );
  endpoint.onRequest(listChecksRequest, nothingSchema, async () => ({
    checks: await (await tools.checks()).list(),
  }));
  endpoint.onRequest(suggestChecksRequest, nothingSchema, async () => ({
    suggestions: await (await tools.checks()).suggest(),
  }));
  endpoint.onRequest(allowCheckRequest, allowCheckSchema, async (params) => {
    await (await tools.checks()).allow(params);
    return {};
  });
  endpoint.onRequest(logoutRequest, loginSchema, (params, signal) => tools.logout(params, signal));
}

/** The folders whose files the built-in tools use: those of the workspace, or else the one that a client names. */
export function builtinFolders(
  workspace: readonly string[],
  client: ToolCapabilities | undefined,
): readonly string[] {
  const folder: unknown = client?.folder;
  if (workspace.length > 0) return workspace;
  return typeof folder === 'string' && isAbsolute(folder) ? [folder] : [];
}

/**
 * Asks the user before a call, if the client has said that it asks its user: one question at a time for each chat,
 * whoever else asks by the same queue.
 */
export function createApprovalRequests(
  endpoint: Endpoint,
  { questions, log }: { readonly questions: SerialQueue; readonly log: Log },
) {
  let approvesTools = false;
  const ask: AskApproval = (params, signal) =>
    questions.run(params.streamId, async () => {
      const answer = endpoint.request(approveToolRequest, approveToolSchema, { params, signal });
      return answer.catch((error: unknown) => {
        if (!signal.aborted)
          log.warn(`${approveToolRequest.method}: ${messageOf(error)} The call counts as denied.`);
        throw error;
      });
    });
  return {
    start(client: ToolCapabilities | undefined): void {
      approvesTools = client?.approvesTools === true;
    },
    /** Undefined if nobody can be asked. */
    ask: () => (approvesTools ? ask : undefined),
  };
}

/** Asks through the client, one question at a time for each chat, whoever else asks by the same queue. */
export function elicitThrough(endpoint: Endpoint, questions: SerialQueue): AskElicitation {
  return (params, signal) =>
    questions.run(params.streamId, () => endpoint.request(elicitRequest, elicitSchema, { params, signal }));
}

const listToolsSchema: Schema<ListToolsParams> = exact(
  z.object({ servers: z.exactOptional(z.array(z.string())) }),
);

/** It becomes a part of a path. */
const session = z.string().check(z.refine(isSessionId, 'it is not the id of a conversation'));
const editsSchema: Schema<EditsParams> = exact(z.object({ session, prompt: z.int().check(z.gte(1)) }));
const redoSchema: Schema<Pick<EditsParams, 'session'>> = exact(z.object({ session }));

const nothingSchema: Schema<Record<string, never>> = exact(z.object({}));
const allowCheckSchema: Schema<Pick<SuggestedCheck, 'folder' | 'name' | 'hash'>> = exact(
  z.object({ folder: z.string(), name: z.string(), hash: z.string() }),
);

const loginSchema: Schema<LoginParams> = exact(z.object({ server: z.string() }));

const finishLoginSchema: Schema<FinishLoginParams> = exact(
  z.object({ server: z.string(), redirectedTo: z.exactOptional(z.string()) }),
);

const approveToolSchema: Schema<ApproveToolResult> = exact(
  z.object({
    decision: z.enum(['once', 'session', 'always', 'answer', 'deny', 'stop']),
    reason: z.exactOptional(z.string()),
  }),
);

const value = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]);

/** What a client answers. */
export const elicitSchema: Schema<ElicitResult> = exact(
  z.object({
    action: z.enum(['accept', 'decline', 'cancel']),
    content: z.exactOptional(z.record(z.string(), value)),
  }),
);
