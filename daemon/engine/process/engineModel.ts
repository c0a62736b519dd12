import { totalmem } from 'node:os';
import { availableMemory, constrainedMemory } from 'node:process';
import { setTimeout } from 'node:timers/promises';
import * as z from 'zod/mini';
import { messageOf } from '../../../protocol/base/text.ts';
import { openRegularFile } from '../../base/regularFile.ts';
import { ChatPrompts } from './chatPrompt.ts';
import {
  type Context,
  type Llama,
  type NativeLibrary,
  type NativeModelHandle,
  openLibrary,
  type Sequence,
  startLlama,
} from './library.ts';
import { PromptTokens } from './promptTokens.ts';

/** What a conversation gets that leaves it open. */
const defaults = z.object({
  /** The system message. */
  system: z.optional(z.string()),
  temperature: z.optional(z.number()),
  top_p: z.optional(z.number()),
  repeat_penalty: z.optional(z.number()),
  /** The most tokens of an answer. */
  max_tokens: z.optional(z.int()),
});

/** What the engine is told when it starts. */
export const engineOptions = z.object({
  /** The folder whose `node_modules` have the library. */
  library: z.string(),
  model: z.string(),
  alias: z.string(),
  /** Tokens of the window; by default 8,192. It never exceeds what the model was trained for, or the memory. */
  context: z.optional(z.int().check(z.gte(1))),
  threads: z.optional(z.int().check(z.gte(1))),
  /** After so long without a request the model leaves the memory; never, if it is missing or negative. */
  keepAliveSeconds: z.optional(z.number()),
  defaults: z.optional(defaults),
  key: z.string().check(z.minLength(16, 'it is too short')),
});

/** A model in memory. */
export interface LoadedModel {
  readonly library: NativeLibrary;
  readonly llama: Llama;
  readonly model: NativeModelHandle;
  readonly sequence: Sequence;
  readonly window: number;
  readonly prompts: ChatPrompts;
  readonly tokens: PromptTokens;
  readonly defaults: z.output<typeof defaults>;
  dispose(): Promise<void>;
}

/** Is told of what happens to the model. */
export interface ModelListener {
  loading(percent: number): void;
  ready(loaded: LoadedModel): void;
  unloaded(): void;
}

/** What is wrong with a model or with the engine's files, in words for a person. */
class LoadError extends Error {
  override readonly name = 'LoadError';
}

const defaultWindow = 8_192;

/**
 * Keeps the model in memory while requests use it, and for some time after. It is disposed within the process: what
 * stays is mostly the library itself, and a new process would have to check its binary again, which takes most of a
 * start.
 */
export class NativeModel {
  #started: Promise<{ readonly library: NativeLibrary; readonly llama: Llama }> | undefined;
  #loaded: Promise<LoadedModel> | undefined;
  #unloading: Promise<void> | undefined;
  #users = 0;
  #state: 'unloaded' | 'loading' | 'loaded' = 'unloaded';
  #timer: NodeJS.Timeout | undefined;
  /** What the library logged while it loaded. Its errors say less, and the first line says most. */
  #complaints: string[] = [];

  constructor(
    private readonly options: Omit<z.output<typeof engineOptions>, 'alias' | 'key'>,
    private readonly listener: ModelListener,
  ) {}

  /** As the list of llama.cpp's router has it. */
  get state(): 'unloaded' | 'loading' | 'loaded' {
    return this.#state;
  }

  /**
   * Runs work with the model, which is loaded first if necessary, and stays until the work is done.
   * @throws {LoadError} if it cannot be loaded.
   */
  async use<T>(work: (loaded: LoadedModel) => Promise<T> | T): Promise<T> {
    this.#users += 1;
    clearTimeout(this.#timer);
    try {
      this.#loaded ??= this.#load();
      const loading = this.#loaded;
      // What failed may succeed later, for example once there is enough memory.
      const loaded = await loading.catch((error) => {
        if (this.#loaded === loading) this.#loaded = undefined;
        this.#state = 'unloaded';
        throw error;
      });
      return await work(loaded);
    } finally {
      this.#users -= 1;
      if (this.#users === 0) this.#unloadLater();
    }
  }

  #unloadLater(): void {
    const { keepAliveSeconds: seconds = -1 } = this.options;
    if (seconds < 0 || seconds > maxTimerSeconds) return;
    this.#timer = globalThis.setTimeout(() => {
      this.#unloading = this.#unload();
    }, seconds * 1_000);
  }

  async #unload(): Promise<void> {
    const loaded = this.#loaded;
    this.#loaded = undefined;
    this.#state = 'unloaded';
    await (await loaded)?.dispose();
    this.listener.unloaded();
  }

  async #load(): Promise<LoadedModel> {
    this.#state = 'loading';
    await this.#unloading;
    await requireModelFile(this.options.model);
    this.#started ??= this.#start();
    const { library, llama } = await this.#started;
    // The library does not know the limits of a container.
    const isContained = constrainedMemory() > 0 && constrainedMemory() < totalmem();
    if (isContained) await llama.setRamCap(availableMemory());
    let model: NativeModelHandle | undefined;
    this.#complaints = [];
    try {
      const { model: modelPath } = this.options;
      model = await llama.loadModel({ modelPath, gpuLayers: 0, onLoadProgress: this.#progress() });
      return this.#prepared(library, llama, model, await this.#createContext(llama, model));
    } catch (error) {
      await model?.dispose();
      // Its log comes from another thread.
      await setTimeout(logDelay);
      throw new LoadError(sentenceFor(error, this.#complaints[0]));
    }
  }

  async #start() {
    try {
      const library = await openLibrary(this.options.library);
      const llama = await startLlama(library, (message) => this.#complaints.push(message));
      return { library, llama };
    } catch (error) {
      throw new LoadError(
        `The engine's library cannot be loaded on this machine: ${messageOf(error).split('\n')[0]}. Install the engine again, or use another runner.`,
      );
    }
  }

  #createContext(llama: Llama, model: NativeModelHandle): Promise<Context> {
    const { context = defaultWindow, threads = Math.max(1, llama.cpuMathCores - 1) } = this.options;
    return model.createContext({
      // It becomes smaller where the memory is not enough.
      contextSize: { max: Math.min(context, model.trainContextSize) },
      batchSize,
      threads,
    });
  }

  #prepared(library: NativeLibrary, llama: Llama, model: NativeModelHandle, context: Context): LoadedModel {
    const window = Math.min(context.contextSize, model.trainContextSize);
    const sequence = context.getSequence({ contextShift: { strategy: refuseShift } });
    const tokens = new PromptTokens(model);
    const prompts = new ChatPrompts(library, model, tokens);
    const dispose = () => context.dispose().then(() => model.dispose());
    const { defaults = {} } = this.options;
    const loaded = { library, llama, model, sequence, window, prompts, tokens, defaults, dispose };
    this.#state = 'loaded';
    this.listener.ready(loaded);
    return loaded;
  }

  #progress(): (share: number) => void {
    let last = -1;
    return (share) => {
      const percent = Math.floor(share * 100);
      if (percent > last) this.listener.loading(percent);
      last = Math.max(last, percent);
    };
  }
}

/**
 * How many tokens are evaluated at once: an answer that is cancelled ends after one batch at the latest. A processor
 * reads batches of 128 no faster, and those of 32 take half as much work again for each token.
 */
export const batchSize = 64;

/** In ms. */
const logDelay = 100;

/** A timer takes at most 24 days. */
const maxTimerSeconds = 2_000_000;

/** By default the library drops old text where a window is full. */
function refuseShift(): never {
  throw new Error('The context window is full.');
}

/** @throws {LoadError} unless the file begins as a model does. */
async function requireModelFile(path: string): Promise<void> {
  const magic = Buffer.alloc(4);
  try {
    const file = await openRegularFile(path);
    await file.read(magic, 0, 4, 0).finally(() => file.close());
  } catch (error) {
    throw new LoadError(`${path} cannot be read: ${messageOf(error)}. Choose another model file.`);
  }
  if (magic.toString('latin1') !== 'GGUF')
    throw new LoadError(`${path} is not a model in the GGUF format. Choose a .gguf file.`);
}

function sentenceFor(error: unknown, complaint: string | undefined): string {
  const kind = error instanceof Error ? error.constructor.name : '';
  const reason = messageOf(error).split('\n')[0] ?? '';
  if (kind === 'InsufficientMemoryError')
    return 'There is not enough free memory for this model. Close other programs, or choose a smaller model.';
  // What reads the header assumes that it is whole.
  const cause = complaint ?? (kind === 'Error' ? reason : 'its header cannot be read');
  const plain = cause.trim().replace(/^\w+: (?:error loading model: )?|\.$/g, '');
  return `The model cannot be loaded: ${plain}. The file may be damaged, or of a kind that this engine does not know: get it again, or choose another one.`;
}
