import {
  approveToolRequest,
  finishLoginRequest,
  listToolsRequest,
  loginRequest,
  logoutRequest,
  type ToolCapabilities,
} from '../../protocol/messages/tools.ts';
import type { AskApproval } from '../chat/daemonTools.ts';
import type { Endpoint } from '../rpc/endpoint.ts';
import type { McpServers } from './mcpServers.ts';
import { approveToolSchema, finishLoginSchema, listToolsSchema, loginSchema } from './params.ts';

export function serveTools(endpoint: Endpoint, tools: McpServers): void {
  endpoint.onRequest(listToolsRequest, listToolsSchema, ({ servers }, signal) => tools.list(servers, signal));
  endpoint.onRequest(loginRequest, loginSchema, (params, signal) => tools.login(params, signal));
  endpoint.onRequest(finishLoginRequest, finishLoginSchema, (params, signal) =>
    tools.finishLogin(params, signal),
  );
  endpoint.onRequest(logoutRequest, loginSchema, (params, signal) => tools.logout(params, signal));
}

/** Asks the user before a call, if the client has said that it asks its user. */
interface ApprovalRequests {
  start(client: ToolCapabilities | undefined): void;
  /** Undefined if nobody can be asked. */
  readonly ask: () => AskApproval | undefined;
}

export function createApprovalRequests(endpoint: Endpoint): ApprovalRequests {
  let approvesTools = false;
  const ask: AskApproval = async (params, signal) => {
    const { decision } = await endpoint.request(approveToolRequest, approveToolSchema, { params, signal });
    return decision;
  };
  return {
    start(client) {
      approvesTools = client?.approvesTools === true;
    },
    ask: () => (approvesTools ? ask : undefined),
  };
}
