import { orAborted } from '../../../protocol/base/abort.ts';
import { RunnerError } from '../../base/errors.ts';
import { detailsOf } from '../http/answerFailure.ts';
import type { Transport } from '../http/transport.ts';
import type { Runner, WorkStep } from '../runner.ts';
import { failedToLoad } from './errorTexts.ts';
import { isLoaded, type ModelEntry } from './modelList.ts';
import type { Downloaded, RouterEvent, RouterEvents } from './routerEvents.ts';

/** What only the router of llama.cpp does: a `llama-server` that was started without a model. */
export type RouterOperations = Required<Pick<Runner, 'load' | 'unload' | 'remove' | 'pull' | 'ready'>>;

interface RouterDependencies {
  readonly transport: Transport;
  readonly events: RouterEvents;
  /** The entry of a model, also under its aliases; undefined if the router does not have it. */
  readonly find: (model: string, signal: AbortSignal) => Promise<ModelEntry | undefined>;
  readonly require: (model: string, signal: AbortSignal) => Promise<ModelEntry>;
}

/** The list is looked at after each event, and at least so often, in ms. */
const lookEvery = 500;
/** The router ends an answer that runs after 10 s. This is longer, in ms. */
const unloadWithin = 30_000;
/** How long the end of a download may take to be taken, in ms. */
const cancelWithin = 2_000;
/** A client is notified each time that a load has come so much further. */
const percentStep = 5;

/** The router answers before the work is done, so each operation waits for what the list says. */
export function createRouter({ transport, events, find, require }: RouterDependencies): RouterOperations {
  const post = (path: string, model: string, signal: AbortSignal, word?: RegExp) =>
    transport
      .json({ method: 'POST', path, body: { model }, model, wait: 'work', signal })
      .then(() => true)
      .catch((error) => {
        if (error instanceof RunnerError && word?.test(error.message)) return false;
        throw error;
      });

  /** Begins something, and looks at the model after each event about it until it is over. */
  const follow = async (name: string, { begin, isOver, onEvent }: Followed, signal: AbortSignal) => {
    const pulse = createPulse();
    const end = events.follow(name, (event) => {
      onEvent?.(event);
      pulse.beat();
    });
    try {
      await begin();
      while (!isOver(await find(name, signal))) await pulse.next(signal);
    } finally {
      end();
    }
  };

  const load = ({ name }: ModelEntry, onProgress: (() => void) | undefined, signal: AbortSignal) => {
    let shown = 0;
    const begin = async () => {
      await post('/models/load', name, signal, /already running/);
      onProgress?.();
    };
    const isOver = (entry: ModelEntry | undefined) => {
      if (entry?.state === 'loading') return false;
      if (entry && isLoaded(entry)) return true;
      throw failedToLoad(`llama.cpp ended while it loaded ${name}`).with(detailsOf(transport.subject(name)));
    };
    const onEvent = ({ percent = 0 }: RouterEvent) => {
      if (percent < shown + percentStep) return;
      shown = percent;
      onProgress?.();
    };
    return follow(name, { begin, isOver, onEvent }, signal);
  };

  return {
    async load(model, { onProgress }, signal) {
      const entry = await require(model, signal);
      if (!isLoaded(entry)) await load(entry, onProgress, signal);
    },
    async ready(model, onWait, signal) {
      const entry = await find(model, signal);
      if (!entry || isLoaded(entry)) return;
      onWait();
      await load(entry, undefined, signal);
    },
    async unload(model, signal) {
      const { name } = await require(model, signal);
      const late = AbortSignal.timeout(unloadWithin);
      let runs = true;
      const begin = async () => {
        runs = await post('/models/unload', name, signal, /not running/);
      };
      const isOver = (entry?: ModelEntry) =>
        !runs || late.aborted || !entry || !(entry.state === 'loading' || isLoaded(entry));
      await follow(name, { begin, isOver }, signal);
    },
    async remove(model, signal) {
      const { name, isRemovable } = await require(model, signal);
      if (isRemovable === false) throw notRemovable(name).with(detailsOf(transport.subject(name)));
      const path = `/models?model=${encodeURIComponent(name)}`;
      await transport.json({ method: 'DELETE', path, model: name, wait: 'work', signal });
    },
    pull: (model, signal) => download({ transport, events, find }, { model, signal, post }),
  };
}

/** Work that goes on in the router after its request was answered. */
interface Followed {
  readonly begin: () => Promise<void>;
  readonly isOver: (entry: ModelEntry | undefined) => boolean;
  readonly onEvent?: (event: RouterEvent) => void;
}

interface Download {
  readonly model: string;
  readonly signal: AbortSignal;
  readonly post: (path: string, model: string, signal: AbortSignal, word?: RegExp) => Promise<boolean>;
}

/** Follows a download until the list has the model. If it ends without, there is no such repository. */
async function* download(
  { transport, events, find }: Omit<RouterDependencies, 'require'>,
  { model, signal, post }: Download,
): AsyncGenerator<readonly WorkStep[]> {
  const pulse = createPulse();
  let files: ReadonlyMap<string, Downloaded> = new Map();
  let hasFailed = false;
  const end = events.follow(model, (said) => {
    files = said.files ?? files;
    hasFailed ||= said.event === 'download_failed';
    pulse.beat();
  });
  let isOurs = true;
  try {
    yield [{ status: 'pulling manifest' }];
    isOurs = await post('/models', model, signal, /already exists/);
    for (;;) {
      const entry = await find(model, signal);
      if (hasFailed || !entry)
        throw failedDownload(model, hasFailed).with(detailsOf(transport.subject(model)));
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
      await post('/models/unload', model, AbortSignal.timeout(cancelWithin)).catch(() => undefined);
  }
}

function stepOf(url: string, { done, total }: Downloaded): WorkStep {
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
