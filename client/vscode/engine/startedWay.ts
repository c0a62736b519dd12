import {
  type EngineFetch,
  type EngineStatus,
  type EngineWay,
  engineInstallRequest,
  engineSampleRequest,
  engineStartRequest,
} from '../../../protocol/messages/engine.ts';
import type { RequestMessage, WorkDoneParams } from '../../../protocol/messages/messageTypes.ts';
import type { RunnerOptions } from '../../../protocol/messages/settings.ts';
import { statusRequest } from '../../../protocol/messages/status.ts';
import type { DaemonConnection } from '../daemon/connection.ts';

/** Runs a long request under a notification; undefined if it was cancelled. */
type RunWork = <P extends WorkDoneParams, R>(
  title: string,
  request: readonly [RequestMessage<P, R>, P],
) => Promise<R | undefined>;

/** @throws {Error} with a sentence: an editor cannot change its own environment. Ollama gets an address that counts. */
export function refuseBesideEnvironment({ start }: EngineWay, named: string): void {
  if (named === '' || start.product === 'ollama') return;
  throw new Error(
    `OLLAMA_HOST names ${named}, and what is started here is used only without it. Remove it from the environment of the editor, and start the editor again.`,
  );
}

const fetching: Readonly<Record<EngineFetch['what'], [string, RequestMessage<WorkDoneParams, object>]>> = {
  library: ['Fetching the engine', engineInstallRequest],
  sample: ['Fetching a small model', engineSampleRequest],
};

/** Undefined if it was cancelled. What was fetched whole by then stays, and is not fetched again. */
export async function fetchAndStart(
  { fetches, start }: EngineWay,
  run: RunWork,
): Promise<EngineStatus | undefined> {
  for (const { what } of fetches) {
    const [title, request] = fetching[what];
    if (!(await run(title, [request, {}]))) return undefined;
  }
  return run('Starting a model here', [engineStartRequest, start]);
}

/** A runner that the setting names comes first, as long as it is set. The user has agreed that it is not. */
export async function makeUsual(
  daemon: Pick<DaemonConnection, 'request'>,
  settings: () => RunnerOptions,
  update: (name: string, value: undefined) => Promise<void>,
): Promise<void> {
  const { state } = await daemon.request(statusRequest, {});
  const { host, api } = settings();
  if (state !== 'offline' || host === undefined) return;
  // It was about the former runner.
  if (api !== undefined) await update('api', undefined);
  await update('host', undefined);
}
