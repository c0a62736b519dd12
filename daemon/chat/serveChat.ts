import { chatDelta, chatRequest } from '../../protocol/messages/chat.ts';
import { InvalidParamsError } from '../base/errors.ts';
import type { Endpoint } from '../rpc/endpoint.ts';
import type { Servers } from '../runner/servers.ts';
import type { StatusMonitor } from '../status/status.ts';
import type { Chat } from './chat.ts';
import { chatParamsSchema } from './params.ts';

interface ChatParts {
  readonly chat: Chat;
  readonly servers: Servers;
  readonly status: StatusMonitor;
  /** @throws {InvalidParamsError} if a name is not that of a tool server. */
  readonly requireTools: (servers: 'all' | readonly string[]) => Promise<void>;
}

/**
 * Answers the request for a turn and sends its deltas. Two turns must not have the same `streamId`, because a client
 * could not distinguish them.
 */
export function serveChat(endpoint: Endpoint, { chat, servers, status, requireTools }: ChatParts): void {
  const streams = new Set<string>();
  endpoint.onRequest(chatRequest, chatParamsSchema, async (params, signal) => {
    const server = servers.server(params.server);
    if (streams.has(params.streamId))
      throw new InvalidParamsError('streamId', 'another running chat already uses it');
    streams.add(params.streamId);
    // The status is that of the default server.
    const isDefault = server.name === servers.server().name;
    let done: (() => void) | undefined;
    try {
      if (params.hostedTools !== undefined) await requireTools(params.hostedTools);
      const runner = await servers.runner(params.server, signal);
      if (isDefault) done = status.beginWork();
      return await chat(runner, params, (delta) => endpoint.notify(chatDelta, delta), signal);
    } finally {
      done?.();
      streams.delete(params.streamId);
    }
  });
}
