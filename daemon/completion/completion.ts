import type { InlineCompletionItem, InlineCompletionParams } from '../../protocol/completion.ts';
import type { CapabilityName } from '../../protocol/models.ts';
import { RunnerError } from '../errors.ts';
import { type ModelKnowledge, modelId } from '../models/knowledge.ts';
import { parseModelName } from '../models/name.ts';
import type { RunnerClient } from '../runner/client.ts';
import { type AnswerContext, answerContextOf } from './answerContext.ts';
import { AnswerReader } from './answerReader.ts';
import { dropReason, isTooLarge } from './dropReason.ts';
import { itemOf } from './item.ts';
import { pause } from './pause.ts';
import { completionRequestBody } from './requestBody.ts';
import type { WhyNotSendable } from './sendable.ts';
import { type Surroundings, surroundingsAt, type TextSource } from './surroundings.ts';
import { type Way, waysToAsk } from './ways.ts';

export interface CompletionDependencies {
  /** An open document, as it is now. */
  readonly document: (uri: string) => OpenDocument | undefined;
  /** The runner that completions are asked of. */
  readonly client: () => RunnerClient;
  readonly settings: () => CompletionSettings;
  readonly whyNotSendable: WhyNotSendable;
  readonly knowledge: ModelKnowledge;
  /** Makes sure that these capabilities are known, as far as the runner tells them. */
  readonly learn: (
    client: RunnerClient,
    model: string,
    names: readonly CapabilityName[],
    signal: AbortSignal,
  ) => Promise<void>;
  /** The identifier of a new suggestion. */
  readonly createId: () => string;
}

export interface OpenDocument extends TextSource {
  readonly version: number;
  getText(range?: Parameters<TextSource['getText']>[0]): string;
}

export interface CompletionSettings {
  readonly completionModel?: string;
  readonly keepAlive?: string | number;
  readonly contextLength?: number;
}

/** What came of a request. */
export type Outcome =
  | { readonly kind: 'item'; readonly item: InlineCompletionItem }
  /** The runner answered, and nothing of it is worth showing. */
  | { readonly kind: 'nothing' }
  /** The runner was not asked, and why. */
  | { readonly kind: 'dropped'; readonly reason: string };

/** Throws a `RunnerError` where the runner let it fail, and the reason of the signal where that was aborted. */
export type Complete = (params: InlineCompletionParams, signal: AbortSignal) => Promise<Outcome>;

/**
 * One completion from the request to the item. What is typed through belongs between the surroundings and the pause,
 * the text of other files into the prompt of a way, the next prefetch after the item.
 */
export function createCompletion(dependencies: CompletionDependencies): Complete {
  const { whyNotSendable, settings } = dependencies;
  const answering = createAnsweringModels(dependencies);
  return async ({ textDocument: { uri }, position, context }, signal) => {
    const { completionModel: model } = settings();
    if (model === undefined) return dropped('no completion model is set');
    const document = dependencies.document(uri);
    if (!document) return dropped('the document is not open');
    if (isTooLarge(document.getText())) return dropped('the document is above 10 MB');
    // Now: a document changes in its place while others wait.
    const { version } = document;
    const around = surroundingsAt(document, position);
    const isInvoked = context?.triggerKind === invoked;
    const reason = dropReason(around, isInvoked) ?? (await whyNotSendable(uri));
    if (reason !== undefined) return dropped(reason);
    await pause(isInvoked, signal);
    const item = await ask(dependencies, answering, { model, around, signal });
    if (dependencies.document(uri)?.version !== version) return dropped('the document is another one by now');
    return item ? { kind: 'item', item } : { kind: 'nothing' };
  };
}

/** LSP's `InlineCompletionTriggerKind.Invoked`. */
const invoked = 1;

function dropped(reason: string): Outcome {
  return { kind: 'dropped', reason };
}

interface Question {
  readonly model: string;
  readonly around: Surroundings;
  readonly signal: AbortSignal;
}

/** Asks in the best way that the model knows; where it refuses to insert, that is remembered and the next one is tried. */
async function ask(
  dependencies: CompletionDependencies,
  answering: AnsweringModels,
  { model, around, signal }: Question,
): Promise<InlineCompletionItem | undefined> {
  const { knowledge, createId } = dependencies;
  parseModelName(model);
  const client = dependencies.client();
  await answering.learn(client, model, signal);
  const insert = knowledge.capability(client.server, model, 'insert').value;
  for (const way of waysToAsk(model, insert)) {
    const context = answerContextOf(around, way.stops);
    const { isMultiline } = context;
    const body = completionRequestBody(way, around, { ...dependencies.settings(), model, isMultiline });
    try {
      const answer = await readAnswer((stop) => client.generate(body, stop), context, signal);
      answering.answered(client, model);
      return itemOf(answer, around, { context, createId });
    } catch (error) {
      if (!isRefusal(error, way)) throw error;
      knowledge.observe(client.server, model, { capability: 'insert', value: false });
    }
  }
  throw cannotFill(client, model);
}

/** The models that answered in some way: a server that does not say what they can is not asked so at every key. */
interface AnsweringModels {
  learn(client: RunnerClient, model: string, signal: AbortSignal): Promise<void>;
  answered(client: RunnerClient, model: string): void;
}

function createAnsweringModels({ learn }: CompletionDependencies): AnsweringModels {
  const known = new Set<string>();
  return {
    async learn(client, model, signal) {
      if (!known.has(modelId(client.server, model))) await learn(client, model, ['insert'], signal);
    },
    answered: ({ server }, model) => void known.add(modelId(server, model)),
  };
}

function isRefusal(error: unknown, way: Way): boolean {
  return way.name === 'suffix' && error instanceof RunnerError && error.details.capability === 'insert';
}

function cannotFill({ server }: RunnerClient, model: string): RunnerError {
  return new RunnerError(
    'not-supported',
    `${model} cannot fill in the middle; choose a model with insert for inline completion.`,
    { details: { capability: 'insert', server: server.name, model } },
  );
}

type Lines = ReturnType<RunnerClient['generate']>;

/** Reads until enough is there, and then closes the runner's socket: it need not think further. */
async function readAnswer(
  begin: (signal: AbortSignal) => Lines,
  context: AnswerContext,
  signal: AbortSignal,
): Promise<string> {
  signal.throwIfAborted();
  const reader = new AnswerReader(context);
  const stop = new AbortController();
  const follow = () => stop.abort(signal.reason);
  signal.addEventListener('abort', follow, { once: true });
  try {
    for await (const lines of begin(stop.signal)) {
      for (const { text } of lines) reader.push(text);
      const last = lines.at(-1);
      if (last?.done && last.doneReason === 'length') reader.cut();
      if (last?.done) break;
      if (!reader.isOver) continue;
      stop.abort();
      break;
    }
    return reader.text();
  } finally {
    signal.removeEventListener('abort', follow);
  }
}
