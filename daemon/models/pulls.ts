import type { Report, WorkState } from '../rpc/work.ts';
import type { RunnerClient } from '../runner/client.ts';
import { SharedWork } from '../sharedWork.ts';
import { createDownloadProgress } from './downloadProgress.ts';
import { modelId } from './knowledge.ts';
import { parseModelName } from './name.ts';

/** Downloads, of which two that ask for one model share one. */
export interface Pulls {
  /**
   * Settles once the model is installed. An abort leaves the download to the others who asked for it; the runner keeps
   * what it has got, and goes on from there next time.
   */
  pull(client: RunnerClient, model: string, watch: { report: Report; signal: AbortSignal }): Promise<void>;
}

/** `onPulled` is called once for each download that ended well. */
export function createPulls(onPulled: (client: RunnerClient) => void): Pulls {
  const running = new Map<string, SharedWork<void, WorkState>>();

  const begin = (client: RunnerClient, model: string, id: string): SharedWork<void, WorkState> => {
    const download = new SharedWork<void, WorkState>(async (signal, report) => {
      try {
        const progressOf = createDownloadProgress();
        for await (const lines of client.pull(model, signal))
          for (const line of lines) report(progressOf(line));
        onPulled(client);
      } finally {
        // Another may have begun when this one was given up.
        if (running.get(id) === download) running.delete(id);
      }
    });
    running.set(id, download);
    return download;
  };

  return {
    async pull(client, model, { report, signal }) {
      parseModelName(model);
      signal.throwIfAborted();
      const id = modelId(client.server, model);
      const known = running.get(id);
      const download = known && !known.isAborted ? known : begin(client, model, id);
      await download.join(signal, report);
    },
  };
}
