import { orAborted } from '../../../protocol/base/abort.ts';
import { RunnerError } from '../../base/errors.ts';
import { detailsOf } from '../http/answerFailure.ts';
import type { LoadOptions, ShownModel, WorkStep } from '../runner.ts';
import { failedToLoad } from './errorTexts.ts';
import { LlamaRunner } from './llamaRunner.ts';
import { type Entries, isLoaded, type ModelEntry, parseEntries } from './modelList.ts';
import { shownModel } from './openaiRunner.ts';
import { type DownloadBytes, type RouterEvent, RouterEvents } from './routerEvents.ts';

/** The list is looked at after each event, and at least so often, in ms. */
const lookEvery = 500;
/** The router ends an answer that runs after 10 s. This is longer, in ms. */
const unloadWithin = 30_000;
/** How long the end of a download may take to be taken, in ms. */
const cancelWithin = 2_000;
/** A client is notified each time that a load has come so much further. */
const percentStep = 5;

/**
 * The router of llama.cpp: a `llama-server` that was started without a model. It answers before the work is done, so
 * each operation waits for what the list says.
 */
export class LlamaRouter extends LlamaRunner {
  readonly #events = new RouterEvents(this.transport);

  async load(model: string, { onProgress }: LoadOptions, signal: AbortSignal): Promise<void> {
    const entry = await this.find(model, signal);
    if (!isLoaded(entry)) await this.#load(entry, onProgress, signal);
  }

  async ready(model: string, onWait: () => void, signal: AbortSignal): Promise<void> {
    const entry = await this.tryFind(model, signal);
    if (!entry || isLoaded(entry)) return;
    onWait();
    await this.#load(entry, undefined, signal);
  }

  async unload(model: string, signal: AbortSignal): Promise<void> {
    const { name } = await this.find(model, signal);
    const late = AbortSignal.timeout(unloadWithin);
    let runs = true;
    const begin = async () => {
      runs = await this.#order('/models/unload', name, signal, /not running/);
    };
    const isOver = (entry?: ModelEntry) =>
      !runs || late.aborted || !entry || !(entry.state === 'loading' || isLoaded(entry));
    await this.#follow(name, { begin, isOver }, signal);
  }

  async remove(model: string, signal: AbortSignal): Promise<void> {
    const { name, isRemovable } = await this.find(model, signal);
    if (isRemovable === false) throw notRemovable(name).with(detailsOf(this.transport.subject(name)));
    const path = `/models?model=${encodeURIComponent(name)}`;
    await this.transport.json({ method: 'DELETE', path, model: name, wait: 'work', signal });
  }

  /** Follows a download until the list has the model. If it ends without, there is no such repository. */
  async *pull(model: string, signal: AbortSignal): AsyncGenerator<readonly WorkStep[]> {
    const pulse = createPulse();
    let files: ReadonlyMap<string, DownloadBytes> = new Map();
    let hasFailed = false;
    const end = this.#events.follow(model, (said) => {
      files = said.files ?? files;
      hasFailed ||= said.event === 'download_failed';
      pulse.beat();
    });
    let isOurs = true;
    try {
      yield [{ status: 'pulling manifest' }];
      isOurs = await this.#order('/models', model, signal, /already exists/);
      for (;;) {
        const entry = await this.tryFind(model, signal);
        if (hasFailed || !entry)
          throw failedDownload(model, hasFailed).with(detailsOf(this.transport.subject(model)));
        if (entry.state !== 'downloading') break;
        yield [...files].map(([url, file]) => stepOf(url, file));
        await pulse.next(signal);
      }
      isOurs = false;
      yield [{ status: 'success' }];
    } finally {
      end();
      // A router goes on with a download that nobody waits for. What another client began is not ended.
      if (isOurs && signal.aborted)
        await this.#order('/models/unload', model, AbortSignal.timeout(cancelWithin)).catch(() => undefined);
    }
  }

  /** How far the models have come that it loads. What an unloaded one can do is known in part. */
  protected override async entries(signal: AbortSignal): Promise<Entries> {
    const { models, leftOut } = parseEntries(await this.get('/v1/models', signal));
    const isLoading = ({ state }: ModelEntry) => state === 'loading';
    const states = this.#events.loadingStates(models.filter(isLoading).map(({ name }) => name));
    const routed = models.map((entry) => {
      const { capabilities, ...rest } = entry;
      if (isLoaded(entry)) return rest;
      const loading = isLoading(entry) ? { loading: states.get(entry.name) ?? {} } : {};
      return { ...entry, capabilities: capabilities ?? ['completion'], ...loading };
    });
    return { models: routed, leftOut };
  }

  protected override async describe(
    entry: ModelEntry,
    model: string,
    signal: AbortSignal,
  ): Promise<ShownModel> {
    return isLoaded(entry) ? super.describe(entry, model, signal) : { ...shownModel(entry), isPartial: true };
  }

  #load({ name }: ModelEntry, onProgress: (() => void) | undefined, signal: AbortSignal): Promise<void> {
    let shown = 0;
    const begin = async () => {
      await this.#order('/models/load', name, signal, /already running/);
      onProgress?.();
    };
    const isOver = (entry: ModelEntry | undefined) => {
      if (entry?.state === 'loading') return false;
      if (entry && isLoaded(entry)) return true;
      const subject = this.transport.subject(name);
      throw failedToLoad(`llama.cpp ended while it loaded ${name}`).with(detailsOf(subject));
    };
    const onEvent = ({ percent = 0 }: RouterEvent) => {
      if (percent < shown + percentStep) return;
      shown = percent;
      onProgress?.();
    };
    return this.#follow(name, { begin, isOver, onEvent }, signal);
  }

  /** False if the router answers with the word that says that nothing is to be done. */
  async #order(path: string, model: string, signal: AbortSignal, word?: RegExp): Promise<boolean> {
    try {
      await this.transport.json({ method: 'POST', path, body: { model }, model, wait: 'work', signal });
      return true;
    } catch (error) {
      if (error instanceof RunnerError && word?.test(error.message)) return false;
      throw error;
    }
  }

  /** Begins something, and looks at the model after each event about it until it is over. */
  async #follow(name: string, { begin, isOver, onEvent }: RouterWork, signal: AbortSignal): Promise<void> {
    const pulse = createPulse();
    const end = this.#events.follow(name, (event) => {
      onEvent?.(event);
      pulse.beat();
    });
    try {
      await begin();
      while (!isOver(await this.tryFind(name, signal))) await pulse.next(signal);
    } finally {
      end();
    }
  }
}

/** Work that goes on in the router after its request was answered. */
interface RouterWork {
  readonly begin: () => Promise<void>;
  readonly isOver: (entry: ModelEntry | undefined) => boolean;
  readonly onEvent?: (event: RouterEvent) => void;
}

function stepOf(url: string, { done, total }: DownloadBytes): WorkStep {
  const file = url.split('/').at(-1) ?? url;
  return { status: `pulling ${file}`, digest: file, completed: done, total };
}

/** Waits for a beat, or for the time after which one looks anyway. A beat that came before counts. */
function createPulse(): { beat(): void; next(signal: AbortSignal): Promise<void> } {
  let hasBeaten = false;
  let wake: (() => void) | undefined;
  return {
    beat() {
      hasBeaten = true;
      wake?.();
    },
    async next(signal) {
      let timer: NodeJS.Timeout | undefined;
      const due = new Promise<void>((resolve) => {
        wake = resolve;
        timer = setTimeout(resolve, hasBeaten ? 0 : lookEvery);
      });
      await orAborted(due, signal).finally(() => clearTimeout(timer));
      hasBeaten = false;
    },
  };
}

function notRemovable(model: string): RunnerError {
  return new RunnerError(
    'not-supported',
    `llama.cpp did not download ${model}, so it does not delete it. Delete its file on the machine of the runner.`,
    { details: { capability: 'delete' } },
  );
}

function failedDownload(model: string, hasFailed: boolean): RunnerError {
  return hasFailed
    ? new RunnerError(
        'runner-failed',
        `llama.cpp could not download ${model}. Check the network of its machine and its log, and try again.`,
      )
    : new RunnerError(
        'model-not-found',
        `llama.cpp found no model ${model} to download. Name a repository of Hugging Face and a quantization, such as ggml-org/gemma-3-4b-it-GGUF:Q4_K_M.`,
      );
}
