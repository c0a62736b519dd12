import { RunnerError } from '../base/errors.ts';
import { type ModelCapabilities, modelId } from '../models/modelCapabilities.ts';
import type { Models } from '../models/models.ts';
import { checkModelName } from '../models/name.ts';
import type { Runner } from '../runner/runner.ts';
import { readAnswer } from './answerReader.ts';
import { answerContextOf, less } from './cursorContext.ts';
import { fillRequest, type PromptStrategy, promptStrategies } from './fillInTheMiddle.ts';
import { suggestionOf } from './filters.ts';
import type { Neighbours } from './neighbours.ts';
import type { CompletionPoint } from './suggestions.ts';

interface CompletionRunnerDependencies {
  /** The runner that answers completions. */
  readonly runner: (signal: AbortSignal) => Promise<Runner>;
  readonly settings: () => { readonly keepAlive?: string | number; readonly contextLength?: number };
  readonly knowledge: ModelCapabilities;
  /** Asks the runner for these capabilities if they are not known. They may stay unknown. */
  readonly learn: Models['learn'];
  readonly neighbours: Neighbours;
}

/**
 * Asks the runner for a suggestion at a place. `receive` gets the answer as it arrives. Returns what is worth showing;
 * `""` means nothing. Throws a `RunnerError` if the runner failed, and the reason of the signal if that was aborted.
 */
export type AskRunner = (
  place: CompletionPoint,
  signal: AbortSignal,
  receive: (text: string) => void,
) => Promise<string>;

/**
 * Makes the runner evaluate the prompt of a place before anybody asks there. Returns whether that was worth it.
 * `isGuess` means that the position of the cursor is not known.
 */
export type WarmRunner = (
  warming: { readonly place: CompletionPoint; readonly isGuess: boolean },
  signal: AbortSignal,
) => Promise<boolean>;

/** A prompt shorter than this is not warmed, in characters: it is evaluated in no time. */
const minWarmed = 500;

/**
 * Asks with the best prompt that the model supports. If the model refuses to insert, the next strategy is tried. If its
 * window has no room for the whole prompt, less is sent. Both are remembered.
 */
export class CompletionRunner {
  readonly #dependencies: CompletionRunnerDependencies;
  /** Identifiers of the models that have answered. They are not asked for their capabilities at every keystroke. */
  readonly #answered = new Set<string>();
  /** Identifiers of the models whose window is too small for a whole prompt. */
  readonly #small = new Set<string>();

  constructor(dependencies: CompletionRunnerDependencies) {
    this.#dependencies = dependencies;
  }

  readonly ask: AskRunner = async (place, signal, receive) => {
    const { model } = place;
    const { knowledge } = this.#dependencies;
    const runner = await this.#dependencies.runner(signal);
    for (const strategy of await this.#strategiesFor(runner, model, signal)) {
      const text = await this.#try(strategy, { runner, place, signal, receive });
      if (text !== undefined) {
        knowledge.noteUsed(runner.server, model);
        return text;
      }
      knowledge.observe(runner.server, model, { capability: 'insert', value: false });
    }
    throw cannotFill(runner, model);
  };

  readonly warm: WarmRunner = async ({ place, isGuess }, signal) => {
    const { model } = place;
    const runner = await this.#dependencies.runner(signal);
    const [strategy] = await this.#strategiesFor(runner, model, signal);
    // With the suffix first, the whole prompt depends on the place.
    if (!strategy || (isGuess && strategy.isSuffixFirst)) return false;
    const isSmall = this.#small.has(modelId(runner.server, model));
    const { around, before } = await this.#textsAt(place, { isSmall, isWarming: true });
    if (before.length + around.prefix.length < minWarmed) return false;
    const settings = this.#dependencies.settings();
    const request = fillRequest(strategy, around, { ...settings, model, wanted: 'nothing', before });
    for await (const lines of runner.fill(request, signal)) if (lines.at(-1)?.done) break;
    return true;
  };

  async #strategiesFor(runner: Runner, model: string, signal: AbortSignal) {
    const { knowledge, learn } = this.#dependencies;
    checkModelName(runner, model);
    if (!this.#answered.has(modelId(runner.server, model))) await learn(runner, model, ['insert'], signal);
    if (knowledge.isRemote(runner.server, model)) throw runsElsewhere(runner, model);
    const { value, from } = knowledge.capability(runner.server, model, 'insert');
    return value === false && from === 'configured' ? [] : promptStrategies(model, value);
  }

  /** Returns undefined if the model refuses this strategy. */
  async #try(
    strategy: PromptStrategy,
    { runner, place, signal, receive }: CompletionRequest,
  ): Promise<string | undefined> {
    const { model } = place;
    const id = modelId(runner.server, model);
    const isSmall = this.#small.has(id);
    const { around, before } = await this.#textsAt(place, { isSmall, isWarming: false });
    const context = answerContextOf({ ...place, around }, strategy.stops);
    const wanted = context.isMultiline ? 'block' : 'line';
    const settings = this.#dependencies.settings();
    const request = fillRequest(strategy, around, { ...settings, model, wanted, before });
    const begin = (stop: AbortSignal) => runner.fill(request, stop);
    try {
      const answer = await readAnswer(begin, { context, receive }, signal);
      this.#answered.add(id);
      return suggestionOf(answer, around, context);
    } catch (error) {
      if (isRefusal(error, strategy)) return undefined;
      if (isSmall || !isTooLong(error)) throw error;
      this.#small.add(id);
      return this.#try(strategy, { runner, place, signal, receive });
    }
  }

  /** The texts of a prompt, as much as the model has room for. */
  async #textsAt(
    place: CompletionPoint,
    { isSmall, isWarming }: { readonly isSmall: boolean; readonly isWarming: boolean },
  ) {
    const before = isSmall ? '' : await this.#dependencies.neighbours.textFor(place, isWarming);
    return { around: isSmall ? less(place.around) : place.around, before };
  }
}

interface CompletionRequest {
  readonly runner: Runner;
  readonly place: CompletionPoint;
  readonly signal: AbortSignal;
  readonly receive: (text: string) => void;
}

function isRefusal(error: unknown, strategy: PromptStrategy): boolean {
  return strategy.name === 'suffix' && error instanceof RunnerError && error.details.capability === 'insert';
}

function isTooLong(error: unknown): boolean {
  return error instanceof RunnerError && error.kind === 'context-exceeded';
}

/** Every document in which somebody types would be sent to another host. */
function runsElsewhere({ server }: Runner, model: string): RunnerError {
  return new RunnerError(
    'not-supported',
    `${model} runs on another host, so your files are not sent to it. Choose a model on your own runner for inline completion.`,
    { details: { capability: 'insert', server: server.name, model } },
  );
}

function cannotFill({ server }: Runner, model: string): RunnerError {
  return new RunnerError(
    'not-supported',
    `${model} cannot fill in the middle. Choose a model with insert for inline completion.`,
    { details: { capability: 'insert', server: server.name, model } },
  );
}
