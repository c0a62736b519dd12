import { formatShare } from '../../protocol/base/bytes.ts';
import { createSharedWork } from '../../protocol/base/sharedWork.ts';
import type { PartProgress } from '../../protocol/messages/progress.ts';
import type { Report, WorkState } from '../rpc/workDoneProgress.ts';
import { required } from '../runner/abilities.ts';
import type { Runner, WorkStep } from '../runner/runner.ts';
import { modelId } from './modelCapabilities.ts';
import { checkModelName } from './name.ts';

/** Downloads. Two callers that pull the same model share one download. */
export type Pulls = ReturnType<typeof createPulls>;

/** `onPulled` is called once for each successful download. */
export function createPulls(onPulled: (runner: Runner) => void) {
  const downloads = createSharedWork<void, WorkState>();
  return {
    /**
     * Settles when the model is installed. After an abort the download goes on for other callers, if there are any. The
     * runner keeps what it has downloaded, and continues from there next time.
     */
    async pull(
      runner: Runner,
      model: string,
      watcher: { report: Report; signal: AbortSignal },
    ): Promise<void> {
      checkModelName(runner, model);
      const startPull = required(runner, 'pull');
      const download = async (signal: AbortSignal, report: Report) => {
        const progressOf = createDownloadProgress();
        for await (const lines of startPull(model, signal))
          for (const line of lines) report(progressOf(line));
        onPulled(runner);
      };
      await downloads.join(modelId(runner.server, model), download, watcher);
    },
  };
}

/** No model has more layers. Further ones are not counted. */
const maxLayers = 4096;
const maxParts = 64;

/** Plain words for the runner's texts. Other texts are shown unchanged. */
const texts: ReadonlyMap<string, string> = new Map([
  ['pulling manifest', 'Looking up the model'],
  ['verifying sha256 digest', 'Checking the download'],
  ['writing manifest', 'Writing the manifest'],
  ['removing unused layers', 'Removing layers that are no longer used'],
  ['success', 'Done'],
]);

/**
 * Turns the lines of a pull or a create into a state. The runner does not announce the layers in advance, so the total
 * grows as they start. A layer that starts again lowers the count.
 */
export function createDownloadProgress(): (line: WorkStep) => WorkState {
  const layers = new Map<string, PartProgress>();
  let [completed, total] = [0, 0];

  const note = (digest: string, line: WorkStep): PartProgress | undefined => {
    const before = layers.get(digest);
    if (!before && layers.size >= maxLayers) return undefined;
    const size = Math.max(line.total ?? 0, before?.total ?? 0);
    const layer = { name: nameOf(digest), completed: Math.min(line.completed ?? 0, size), total: size };
    completed += layer.completed - (before?.completed ?? 0);
    total += layer.total - (before?.total ?? 0);
    layers.set(digest, layer);
    return layer;
  };

  return (line) => {
    const layer = line.digest !== undefined && line.total ? note(line.digest, line) : undefined;
    const message = layer ? messageOf(line.status, layer) : textOf(line.status);
    if (total === 0) return { message };
    return { message, completed, total, parts: [...layers.values()].slice(-maxParts) };
  };
}

function messageOf(status: string, layer: PartProgress): string {
  const verb = /^pulling /.test(status) ? `Downloading ${layer.name}` : textOf(status);
  return `${verb}: ${formatShare(layer.completed, layer.total)}`;
}

/** The first twelve digits, as in the runner's own texts, or the name of a file. */
function nameOf(digest: string): string {
  const [, digits] = /^sha256:(.{0,12})/.exec(digest) ?? [];
  return plain(digits ?? digest.slice(0, 100));
}

/** The text comes from the runner, so it is bounded and freed of control characters. */
function textOf(status: string): string {
  const clean = status
    .slice(0, 200)
    .replace(/\p{Cc}/gu, ' ')
    .trim();
  return texts.get(clean) ?? (clean.charAt(0).toUpperCase() + clean.slice(1) || 'Working');
}

/** The text comes from the runner, so control characters are removed. */
function plain(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ');
}
