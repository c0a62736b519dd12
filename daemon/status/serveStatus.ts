import * as z from 'zod/mini';
import { withTimeLimit } from '../../protocol/base/abort.ts';
import { withoutUndefined } from '../../protocol/base/json.ts';
import { messageOf } from '../../protocol/base/text.ts';
import { parseAddress } from '../../protocol/messages/settings.ts';
import {
  discoverRequest,
  type FoundRunner,
  type ProbeParams,
  probeRequest,
  type ServerStatus,
  type SetHostParams,
  serversRequest,
  setHostRequest,
  statusRequest,
} from '../../protocol/messages/status.ts';
import { advise, InvalidParamsError, RunnerError } from '../base/errors.ts';
import { exact, type Schema } from '../base/validate.ts';
import type { UserFile } from '../config/userFile.ts';
import { serverParamsSchema } from '../models/params.ts';
import type { Endpoint } from '../rpc/endpoint.ts';
import type { Runner, Server } from '../runner/runner.ts';
import type { Servers } from '../runner/servers.ts';
import { offlineStatus, type StatusMonitor } from './status.ts';

const probeParamsSchema: Schema<ProbeParams> = exact(
  z.object({ server: z.exactOptional(z.string()), url: z.string() }),
);

const setHostSchema: Schema<SetHostParams> = exact(z.object({ url: z.string() }));

/** How long somebody waits who typed an address, or wants to see what each server is, in ms. */
const answerWithin = 4_000;

/** Answers the requests for the status of a server, and for what answers at an address that the user has typed. */
export function serveStatus(
  endpoint: Endpoint,
  {
    status,
    servers,
    userFile,
  }: { readonly status: StatusMonitor; readonly servers: Servers; readonly userFile: UserFile },
): void {
  endpoint.onRequest(statusRequest, serverParamsSchema, ({ server }, signal) =>
    status.check(servers.server(server), signal),
  );
  endpoint.onRequest(serversRequest, exact(z.object({})), async (_, signal) => ({
    servers: await Promise.all(servers.all.map((server) => statusInTime(status, server, signal))),
  }));
  endpoint.onRequest(discoverRequest, exact(z.object({})), async (_, signal) => ({
    runners: await discoverRunners(servers, signal),
  }));
  endpoint.onRequest(setHostRequest, setHostSchema, async ({ url }) => {
    const { keepHost } = await import('../config/userHost.ts');
    return { path: await keepHost(userFile, readAddress(url)) };
  });
  endpoint.onRequest(probeRequest, probeParamsSchema, async (params, requested) => {
    const url = readAddress(params.url);
    const reason = new RunnerError('timeout', `Nothing at ${url} answered within ${answerWithin / 1_000} s.`);
    return withTimeLimit({ limit: answerWithin, reason, signal: requested }, async (signal) => {
      const runner = await servers.runnerAt(url, params.server, signal);
      try {
        const { version = '' } = await runner.identify(signal);
        const { product } = runner.facts;
        if (version !== '' || product !== 'ollama') return { version, product };
      } finally {
        // An answer that is still being read was aborted with its time limit.
        void runner.close();
      }
      throw new RunnerError('bad-response', `Something other than a runner answers at ${url}.`);
    });
  });
}

/** A check that takes longer goes on, so that the status of the default server is published in the end. */
async function statusInTime(
  monitor: StatusMonitor,
  server: Server,
  signal: AbortSignal,
): Promise<ServerStatus> {
  const { name, url } = server;
  const late = new RunnerError(
    'timeout',
    advise(`${url} did not answer within ${answerWithin / 1_000} s.`, 'start-runner'),
  );
  try {
    const limit = { limit: answerWithin, reason: late, signal };
    return { name, url, status: await withTimeLimit(limit, () => monitor.check(server, signal)) };
  } catch (error) {
    if (error !== late) throw error;
    return { name, url, status: offlineStatus(late) };
  }
}

function readAddress(text: string): string {
  try {
    return parseAddress(text);
  } catch (error) {
    throw new InvalidParamsError('url', messageOf(error));
  }
}

/**
 * The ports at which runners listen if nobody chooses another one: Ollama, llama.cpp and its packages, LM Studio, vLLM,
 * Docker Model Runner, Lemonade, Jan, KoboldCpp and SGLang.
 */
const ports = [11434, 8080, 9931, 8012, 1234, 8000, 12434, 13305, 1337, 5001, 30000];

/** The runners on this machine. No token goes along. */
async function discoverRunners(
  servers: Pick<Servers, 'discover'>,
  signal: AbortSignal,
): Promise<readonly FoundRunner[]> {
  const urls = ports.map((port) => `http://127.0.0.1:${port}`);
  const runners = await servers.discover(urls, signal);
  return Promise.all(runners.map((runner) => describe(runner, signal)));
}

async function describe(runner: Runner, signal: AbortSignal): Promise<FoundRunner> {
  try {
    const list = await runner.list(signal).catch((error) => {
      if (error instanceof RunnerError) return undefined;
      throw error;
    });
    return withoutUndefined({
      url: runner.server.url,
      product: runner.facts.product,
      models: list?.models.length,
    });
  } finally {
    void runner.close();
  }
}
