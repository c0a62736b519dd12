import type { Memento } from 'vscode';
import type { Usage } from '../../../protocol/messages/chat.ts';
import type { Model } from '../../../protocol/messages/models.ts';
import { sourceWords } from '../../shared/words.ts';

/**
 * A model's context window in words, the same in every view: the current size, or the size once the model is loaded,
 * and the maximum. Such as `4,096 of at most 40,960 tokens`; `""` if nothing is known. `expected` is the size for the
 * next question in tokens, where it is known.
 */
export function describeContext(
  { context, running }: Pick<Model, 'context' | 'running'>,
  expected?: number,
): string {
  const { allocated, configured, maximum } = context;
  const isLoaded = running !== undefined || allocated !== undefined;
  // Some servers do not report the size that they gave to a loaded model.
  const next = isLoaded && allocated === undefined ? undefined : (expected ?? allocated ?? configured);
  if (next === undefined) return maximum === undefined ? '' : `at most ${inTokens(maximum)}`;
  const most = maximum !== undefined && maximum > next ? ` of at most ${inWords(maximum)}` : '';
  const when =
    allocated === undefined ? ' once loaded' : next === allocated ? '' : `, ${inWords(allocated)} now`;
  return `${inWords(next)}${most} tokens${when}`;
}

/** The same, with where it was learnt. */
export function windowWithSource(model: Pick<Model, 'context' | 'running'>): string {
  const words = describeContext(model);
  const { from } = model.context;
  return words === '' || from === undefined ? words : `${words}, ${sourceWords[from]}`;
}

export function inTokens(count: number): string {
  return `${inWords(count)} tokens`;
}

function inWords(count: number): string {
  return count.toLocaleString('en-US');
}

/** What decides the context size of a model that is not loaded. */
export interface ContextSizing {
  /** In tokens, from the settings; 0 leaves the size to the runner. */
  readonly contextLength: number;
  /** In tokens: what a server allocates if nobody asks for a size, once that was seen. */
  readonly usual: (server: string) => number | undefined;
}

/**
 * The size that is reported to the editor for a model whose server has shown none yet, in tokens. Its agent begins
 * with about 17,000: with a smaller window, it would summarize a conversation that may well fit.
 */
const assumedSize = 32_768;

/** In tokens: the size in the settings, up to the model's maximum; else the allocated or the usual size. */
export function contextSizeOf(
  { server, remote, context }: Model,
  { contextLength, usual }: ContextSizing,
): number {
  const { allocated, configured, maximum } = context;
  if (contextLength > 0) return Math.min(contextLength, maximum ?? contextLength);
  const promised = allocated ?? configured ?? (remote && maximum);
  return promised ?? Math.min(usual(server) ?? assumedSize, maximum ?? assumedSize);
}

/** Whether the size is a mere assumption: nobody has said one, and the server has shown none. */
export function isAssumedSize(
  { server, remote, context: { allocated, configured, maximum, from } }: Model,
  { contextLength, usual }: ContextSizing,
): boolean {
  if (contextLength > 0) return false;
  const isPromised = (allocated ?? configured ?? (remote && maximum)) !== undefined;
  return isPromised ? from === 'assumed' : usual(server) === undefined;
}

const memoryKey = 'runner.usualWindows';

/** The tokens that a server allocates to a model if nobody asks for a number: its most recent choice. */
export function createUsualContextSizes(memory: Memento) {
  let known = memory.get<Readonly<Record<string, number>>>(memoryKey) ?? {};
  return {
    /** Undefined until one of its models was seen loaded. */
    of: (server: string): number | undefined => known[server],
    learn(models: readonly Model[]): void {
      const learnt = { ...known };
      for (const { server, context } of models) {
        const tokens = usualSize(context, learnt[server]);
        if (tokens !== undefined) learnt[server] = tokens;
      }
      if (JSON.stringify(learnt) === JSON.stringify(known)) return;
      known = learnt;
      void memory.update(memoryKey, known);
    },
  };
}

/** A model that gets its own maximum only shows that the server allocates at least as much. */
function usualSize(
  { allocated, configured, maximum }: Model['context'],
  before: number | undefined,
): number | undefined {
  if (allocated === undefined || configured !== undefined) return undefined;
  return allocated === maximum ? Math.max(allocated, before ?? 0) : allocated;
}

/** Characters per token for a model of which nothing is known. */
const usualRatio = 4;

/** Estimates tokens from the characters of a text, corrected by the runner's counts for the same model. */
export function createTokenCounter() {
  const ratios = new Map<string, number>();
  return {
    count: (model: string, text: string): number =>
      Math.ceil(text.length / (ratios.get(model) ?? usualRatio)),
    learn(model: string, characters: number, { promptTokens }: Usage): void {
      // A prompt in the runner's cache is only partly counted, and a short one is mostly template.
      if (characters < 200 || promptTokens < 50) return;
      const now = Math.min(8, Math.max(1.5, characters / promptTokens));
      const before = ratios.get(model) ?? now;
      ratios.set(model, before * 0.7 + now * 0.3);
    },
  };
}
