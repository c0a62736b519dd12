import {
  approveToolRequest,
  type ClientCapabilities,
  finishLoginRequest,
  listToolsRequest,
  loginRequest,
  logoutRequest,
} from '../../protocol/messages/tools.ts';
import type { AskUser } from '../chat/daemonTools.ts';
import type { Endpoint } from '../rpc/endpoint.ts';
import { approveToolSchema, finishLoginSchema, listToolsSchema, loginSchema } from './params.ts';
import type { Tools } from './tools.ts';

export function serveTools(endpoint: Endpoint, tools: Tools): void {
  endpoint.onRequest(listToolsRequest, listToolsSchema, ({ servers }, signal) => tools.list(servers, signal));
  endpoint.onRequest(loginRequest, loginSchema, tools.login);
  endpoint.onRequest(finishLoginRequest, finishLoginSchema, tools.finishLogin);
  endpoint.onRequest(logoutRequest, loginSchema, tools.logout);
}

/** Questions before calls, once it is known that the client answers them. */
export interface Questions {
  start(client: ClientCapabilities | undefined): void;
  /** Undefined where nobody can be asked. */
  readonly ask: () => AskUser | undefined;
}

export function createQuestions(endpoint: Endpoint): Questions {
  let approvesTools = false;
  const ask: AskUser = async (params, signal) => {
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
