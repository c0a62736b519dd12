import type { Report, WorkState } from '../rpc/work.ts';
import type { RunnerClient } from '../runner/client.ts';
import { createSharedWork } from '../sharedWork.ts';
import { createDownloadProgress } from './downloadProgress.ts';
import { modelId } from './knowledge.ts';
import { parseModelName } from './name.ts';

/** Downloads, of which two that ask for one model share one. */
export interface Pulls {
  /**
   * Settles once the model is installed. An abort leaves the download to the others who asked for it; the runner keeps
   * what it has got, and goes on from there next time.
   */
  pull(client: RunnerClient, model: string, watcher: { report: Report; signal: AbortSignal }): Promise<void>;
}

/** `onPulled` is called once for each download that ended well. */
export function createPulls(onPulled: (client: RunnerClient) => void): Pulls {
  const downloads = createSharedWork<void, WorkState>();
  return {
    async pull(client, model, watcher) {
      parseModelName(model);
      const download = async (signal: AbortSignal, report: Report) => {
        const progressOf = createDownloadProgress();
        for await (const lines of client.pull(model, signal))
          for (const line of lines) report(progressOf(line));
        onPulled(client);
      };
      await downloads.join(modelId(client.server, model), download, watcher);
    },
  };
}
