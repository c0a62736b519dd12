import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * What the engine uses of `node-llama-cpp` and of the template language that comes with it. Neither is a dependency of
 * this project: they are installed on demand, in a folder of their own, and their versions are pinned there.
 */
export interface NativeLibrary {
  getLlama(options: object): Promise<Llama>;
  readonly LlamaGrammarEvaluationState: new (about: { model: NativeModelHandle; grammar: object }) => object;
  readonly Template: new (source: string) => { render(values: object): string };
}

export type Token = number;

interface Llama {
  readonly cpuMathCores: number;
  readonly llamaCppRelease: { readonly release: string };
  setRamCap(bytes: number): Promise<void>;
  loadModel(options: {
    modelPath: string;
    gpuLayers: 0;
    onLoadProgress(share: number): void;
  }): Promise<NativeModelHandle>;
  createGrammar(options: { grammar: string }): Promise<object>;
  createGrammarForJsonSchema(schema: object): Promise<{ readonly grammar: string }>;
}

export interface NativeModelHandle {
  readonly tokens: {
    readonly bos: Token | null;
    readonly bosString: string | null;
    readonly eosString: string | null;
    readonly shouldPrependBosToken: boolean;
    readonly infill: Readonly<Record<'prefix' | 'suffix' | 'middle', Token | null>>;
  };
  readonly fileInfo: {
    readonly metadata: { readonly tokenizer?: { readonly chat_template?: unknown } };
    readonly fullTensorInfo?: readonly { readonly dimensions: readonly (number | bigint)[] }[];
  };
  readonly typeDescription: string;
  readonly vocabularyType: string;
  readonly trainContextSize: number;
  readonly embeddingVectorSize: number;
  readonly size: number;
  tokenize(text: string, specialTokens: boolean, options?: 'trimLeadingSpace'): Token[];
  detokenize(tokens: readonly Token[], specialTokens: boolean, before?: readonly Token[]): string;
  getTokenAttributes(token: Token): { readonly control: boolean; readonly unknown: boolean };
  iterateAllTokens(): Iterable<Token>;
  isEogToken(token: Token): boolean;
  createContext(options: {
    contextSize: { max: number };
    batchSize: number;
    threads: number;
  }): Promise<Context>;
  dispose(): Promise<void>;
}

interface Context {
  readonly contextSize: number;
  getSequence(options: { contextShift: { strategy: () => never } }): Sequence;
  dispose(): Promise<void>;
}

/** One text in the memory of the model, with what was evaluated of it. */
export interface Sequence {
  readonly nextTokenIndex: number;
  readonly contextTokens: readonly Token[];
  readonly needsCheckpoints: boolean;
  takeCheckpoint(): Promise<void>;
  adaptStateToTokens(tokens: readonly Token[], allowShift: boolean): Promise<void>;
  evaluateWithoutGeneratingNewTokens(tokens: readonly Token[]): Promise<void>;
  evaluate(tokens: readonly Token[], options: EvaluateOptions): AsyncIterable<Token>;
}

export interface EvaluateOptions {
  readonly temperature?: number;
  readonly topK?: number;
  readonly topP?: number;
  readonly minP?: number;
  readonly seed?: number;
  readonly repeatPenalty?: object;
  readonly grammarEvaluationState?: object;
  readonly yieldEogToken?: boolean;
}

/** @param folder the one that has `node_modules` with the library. @throws {Error} if it is not there. */
export async function openLibrary(folder: string): Promise<NativeLibrary> {
  const path = join(folder, 'node_modules', 'node-llama-cpp', 'dist', 'index.js');
  const library = await import(pathToFileURL(path).href);
  // Packages may be nested, so it is looked for as the library itself would.
  const templates = createRequire(path).resolve('@huggingface/jinja');
  const { Template } = await import(pathToFileURL(templates).href);
  const { getLlama, LlamaGrammarEvaluationState } = library;
  return { getLlama, LlamaGrammarEvaluationState, Template };
}

/** With these options it never compiles or downloads anything, and it never prints. */
export async function startLlama(library: NativeLibrary, log: (message: string) => unknown): Promise<Llama> {
  return library.getLlama({
    gpu: false,
    build: 'never',
    skipDownload: true,
    progressLogs: false,
    // A context then has exactly the threads that it asks for.
    maxThreads: 0,
    logLevel: 'error',
    logger: (_level: string, message: string) => log(message),
  });
}

export type { Context, Llama };
