import type { InitializationOptions } from '../../protocol/messages/initialize.ts';
import { type PairClient, type PairOptions, startPair } from './daemonPair.ts';
import { type RunnerStandIn, type StandInOptions, startStandIn } from './runnerStandIn.ts';

/** What a test hands over to have both ended with it. */
export interface Teardown {
  teardown(done: () => Promise<void>): void;
}

/** A daemon in this process and the stand-in of a runner that it talks to. */
export async function startDaemonWithRunner(
  test: Teardown,
  options: InitializationOptions = {},
  more: { standIn?: StandInOptions; pair?: PairOptions } = {},
): Promise<{ runner: RunnerStandIn; daemon: PairClient }> {
  const runner = await startStandIn(more.standIn);
  const daemon = await startPair({ host: runner.url, ...options }, more.pair);
  test.teardown(async () => {
    await daemon.close().finally(() => runner.close());
  });
  return { runner, daemon };
}
