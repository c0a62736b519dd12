import { orAborted } from '../../protocol/base/abort.ts';
import { startLogsRequest, stopLogsRequest } from '../../protocol/messages/log.ts';
import type { Lazy } from '../base/lazily.ts';
import type { Log } from '../base/log.ts';
import { serverParamsSchema } from '../models/params.ts';
import type { Endpoint } from '../rpc/endpoint.ts';
import { requireAbility, type Server } from '../runner/runner.ts';
import type { Servers } from '../runner/servers.ts';
import type { ServerLogs } from './serverLogs.ts';

/**
 * Answers the requests for a runner's log. The caller calls the result when the settings are known, and when they
 * change.
 */
export function serveLogs(
  endpoint: Endpoint,
  {
    logs,
    servers,
    log,
    isWanted,
  }: {
    readonly logs: Lazy<ServerLogs>;
    readonly servers: Servers;
    readonly log: Log;
    /** Whether the current settings want the log of the default server. */
    readonly isWanted: () => boolean;
  },
): () => void {
  /** The log of a runner that is down can be read: it was of the usual kind, or says itself what it was. */
  const start = async (server: Server) => {
    requireAbility(await servers.runner(server.name), 'logs');
    return (await logs.get()).start(server);
  };
  const stop = async (server: Server) => (await logs.get()).stop(server);
  /** How many requests wait for a start, by the server's address. */
  const waiting = new Map<string, number>();
  endpoint.onRequest(startLogsRequest, serverParamsSchema, async (params, signal) => {
    const server = servers.server(params.server);
    const count = (by: number) => waiting.set(server.url, (waiting.get(server.url) ?? 0) + by);
    count(1);
    try {
      return await orAborted(start(server), signal);
    } catch (error) {
      // Nobody waits for it any more, so it need not start.
      if (signal.aborted && waiting.get(server.url) === 1) stop(server).catch(() => undefined);
      throw error;
    } finally {
      count(-1);
    }
  });
  endpoint.onRequest(stopLogsRequest, serverParamsSchema, ({ server }) => stop(servers.server(server)));

  /** The server whose log is followed because of the settings. */
  let followed: Server | undefined;
  return () => {
    const wanted = isWanted() ? servers.server() : undefined;
    if (wanted?.url === followed?.url) return;
    if (followed) stop(followed).catch(() => undefined);
    followed = wanted;
    // No request asked for it, so a log that cannot be found is only a log line.
    if (wanted) start(wanted).catch((error: Error) => log.info(error.message));
  };
}
