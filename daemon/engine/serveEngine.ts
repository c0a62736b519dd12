import * as z from 'zod/mini';
import {
  type EngineModelsParams,
  type EngineStartParams,
  engineInstallRequest,
  engineModelsRequest,
  engineNames,
  engineOffersRequest,
  engineRemoveRequest,
  engineSampleRequest,
  engineStartRequest,
  engineStatusRequest,
  engineStopRequest,
} from '../../protocol/messages/engine.ts';
import type { WorkDoneParams } from '../../protocol/messages/messageTypes.ts';
import type { Lazy } from '../base/lazily.ts';
import { exact, type Schema } from '../base/validate.ts';
import type { Endpoint } from '../rpc/endpoint.ts';
import type { Report, Works } from '../rpc/workDoneProgress.ts';
import type { Engine } from './engine.ts';

const token = z.exactOptional(z.union([z.string(), z.number()]));
const workSchema: Schema<WorkDoneParams> = exact(z.object({ workDoneToken: token }));
const nothing = exact(z.object({}));
const modelsSchema: Schema<EngineModelsParams> = exact(z.object({ path: z.exactOptional(z.string()) }));
const positive = z.int().check(z.positive());
const startSchema: Schema<EngineStartParams> = exact(
  z.object({
    product: z.exactOptional(z.enum(['runner-engine', 'llama.cpp', 'ollama'])),
    model: z.exactOptional(z.string().check(z.minLength(1))),
    context: z.exactOptional(positive),
    threads: z.exactOptional(positive),
    keep: z.exactOptional(z.boolean()),
    workDoneToken: token,
  }),
);

/** Answers the requests about what Runner can start on this machine. */
export function serveEngine(
  endpoint: Endpoint,
  {
    engine,
    works,
    onDidChange,
  }: {
    readonly engine: Lazy<Engine>;
    readonly works: Works;
    /** Something was started or stopped, so the usual runner may be another one. */
    readonly onDidChange: (signal: AbortSignal) => Promise<void>;
  },
): void {
  const work = async <T>(
    title: string,
    { workDoneToken }: WorkDoneParams,
    signal: AbortSignal,
    begin: (made: Engine, watcher: { report: Report; signal: AbortSignal }) => Promise<T>,
  ): Promise<T> => {
    const made = await engine.get();
    return works.run({ title, token: workDoneToken, signal }, (report, working) =>
      begin(made, { report, signal: working }),
    );
  };
  endpoint.onRequest(engineStatusRequest, nothing, async () => (await engine.get()).status());
  endpoint.onRequest(engineOffersRequest, nothing, async () => (await engine.get()).offers());
  endpoint.onRequest(engineModelsRequest, modelsSchema, async ({ path }) =>
    (await engine.get()).models(path),
  );
  endpoint.onRequest(engineInstallRequest, workSchema, async (params, signal) => ({
    folder: await work('Installing the engine', params, signal, (made, watcher) => made.install(watcher)),
  }));
  endpoint.onRequest(engineSampleRequest, workSchema, async (params, signal) => ({
    path: await work('Fetching a small model', params, signal, (made, watcher) => made.fetchSample(watcher)),
  }));
  endpoint.onRequest(engineStartRequest, startSchema, async (params, signal) => {
    const title = `Starting ${params.product === undefined ? 'a model' : engineNames[params.product]}`;
    const status = await work(title, params, signal, (made, watcher) => made.start(params, watcher));
    await onDidChange(signal);
    return status;
  });
  endpoint.onRequest(engineStopRequest, nothing, async (_, signal) => {
    const wasRunning = await (await engine.get()).stop();
    await onDidChange(signal);
    return { wasRunning };
  });
  endpoint.onRequest(engineRemoveRequest, nothing, async (_, signal) => {
    const wasThere = await (await engine.get()).remove();
    await onDidChange(signal);
    return { wasThere };
  });
}
