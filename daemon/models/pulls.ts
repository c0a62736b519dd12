import { createSharedWork } from '../../protocol/base/sharedWork.ts';
import type { Report, WorkState } from '../rpc/work.ts';
import type { RunnerClient } from '../runner/client.ts';
import { createDownloadProgress } from './downloadProgress.ts';
import { modelId } from './knowledge.ts';
import { parseModelName } from './name.ts';

/** Downloads. Two callers that pull the same model share one download. */
export interface Pulls {
  /**
   * Settles when the model is installed. After an abort the download goes on for other callers, if there are any. The
   * runner keeps what it has downloaded, and continues from there next time.
   */
  pull(client: RunnerClient, model: string, watcher: { report: Report; signal: AbortSignal }): Promise<void>;
}

/** `onPulled` is called once for each successful download. */
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
