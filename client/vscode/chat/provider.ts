import * as vscode from 'vscode';
import type { ChatDelta, ChatParams, Message, Usage } from '../../../protocol/messages/chat.ts';
import { errorDataOf, toLanguageModelError } from '../convert/failure.ts';
import { toMessages, toTools } from '../convert/messages.ts';
import type { RunnerModelInformation } from '../convert/modelInformation.ts';
import { thinkingFormat } from '../settings.ts';
import { createWindowOffer } from './contextLength.ts';
import { createNotices, isChat, type Notices } from './notices.ts';
import type { OfferedModels } from './offeredModels.ts';
import { createTokenCounter } from './tokenCounter.ts';
import type { AskForTurn } from './turn.ts';

/** The vendor id under which other extensions and the editor's own chat find the runner's models. */
export const vendor = 'runner';

/** The class of newer editors for thinking; it is in no stable typing. */
type ThinkingPart = new (value: string) => vscode.LanguageModelResponsePart;

export function registerProvider(offered: OfferedModels, ask: AskForTurn): vscode.Disposable {
  return vscode.lm.registerLanguageModelChatProvider(vendor, new RunnerProvider(offered, ask));
}

class RunnerProvider implements vscode.LanguageModelChatProvider<RunnerModelInformation> {
  readonly onDidChangeLanguageModelChatInformation: vscode.Event<void>;
  readonly #offered: OfferedModels;
  readonly #ask: AskForTurn;
  readonly #tokens = createTokenCounter();
  readonly #offerLargerWindow = createWindowOffer();
  readonly #notices = createNotices();

  constructor(offered: OfferedModels, ask: AskForTurn) {
    this.#offered = offered;
    this.#ask = ask;
    this.onDidChangeLanguageModelChatInformation = offered.onDidChange;
  }

  provideLanguageModelChatInformation(): RunnerModelInformation[] {
    return [...this.#offered.current];
  }

  async provideLanguageModelChatResponse(
    { id, model, tooltip }: RunnerModelInformation,
    messages: readonly vscode.LanguageModelChatRequestMessage[],
    options: vscode.ProvideLanguageModelChatResponseOptions,
    progress: vscode.Progress<vscode.LanguageModelResponsePart>,
    token: vscode.CancellationToken,
  ): Promise<void> {
    const answering = model ?? this.#offered.preferred;
    if (!answering) throw vscode.LanguageModelError.NotFound(tooltip ?? '');
    const thinkingPart = thinkingFormat() === 'quote' ? undefined : thinkingPartOf();
    const params = paramsOf(answering, this.#notices.remove(toMessages(messages)), options);
    const partFor = { thinkingPart, notices: this.#notices, initiator: initiatorOf(options) };
    try {
      const { usage } = await this.#ask(
        { ...params, thinkingFormat: thinkingPart ? 'separate' : 'quote' },
        (delta) => {
          const part = toPart(delta, partFor);
          if (part) progress.report(part);
        },
        token,
      );
      progress.report(usagePart(usage));
      this.#tokens.learn(id, charactersOf(params.messages), usage);
    } catch (error) {
      const failure = toLanguageModelError(error);
      if (errorDataOf(error)?.kind === 'context-exceeded') void this.#offerLargerWindow(failure.message);
      throw isChat(partFor.initiator) ? withoutStack(failure) : failure;
    }
  }

  async provideTokenCount(
    { id }: RunnerModelInformation,
    text: string | vscode.LanguageModelChatRequestMessage,
  ): Promise<number> {
    const words = typeof text === 'string' ? text : toMessages([text]).map(textOf).join('');
    return this.#tokens.count(id, words);
  }
}

function paramsOf(
  { name, server }: { readonly name: string; readonly server: string },
  messages: readonly Message[],
  { tools = [], toolMode, modelOptions = {} }: vscode.ProvideLanguageModelChatResponseOptions,
): Omit<ChatParams, 'streamId'> {
  const options = knownOptions(modelOptions);
  return {
    model: name,
    server,
    messages,
    // The editor's own chat joins its blocks and the user's words into one text.
    context: 'leading',
    ...(tools.length === 0 ? {} : { tools: toTools(tools) }),
    ...(toolMode === vscode.LanguageModelChatToolMode.Required ? { toolChoice: 'required' } : {}),
    ...(Object.keys(options).length === 0 ? {} : { options }),
  };
}

/** The options of a caller that are passed on: only the runner's own, because the editor adds private fields. */
const optionNames = [
  ...['temperature', 'top_p', 'top_k', 'min_p', 'seed', 'stop', 'num_predict', 'num_ctx'],
  ...['repeat_penalty', 'presence_penalty', 'frequency_penalty'],
];

function knownOptions(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(optionNames.flatMap((name) => (name in given ? [[name, given[name]]] : [])));
}

interface PartOptions {
  readonly thinkingPart: ThinkingPart | undefined;
  readonly notices: Notices;
  readonly initiator: string | undefined;
}

function toPart(
  delta: ChatDelta,
  { thinkingPart, notices, initiator }: PartOptions,
): vscode.LanguageModelResponsePart | undefined {
  switch (delta.kind) {
    case 'text':
      return new vscode.LanguageModelTextPart(delta.text);
    case 'thinking':
      return thinkingPart ? new thinkingPart(delta.text) : undefined;
    case 'toolCall': {
      const { id, name, arguments: input } = delta.toolCall;
      return new vscode.LanguageModelToolCallPart(id, name, input);
    }
    // The editor runs its tools itself.
    case 'toolResult':
      return undefined;
    case 'notice':
      return notices.show(delta.notice, initiator);
  }
}

/** The editor's own chat shows an error with its stack, and gives a {@link vscode.LanguageModelError} a stack of its own. */
function withoutStack({ message }: Error): Error {
  const error = new Error(message);
  error.stack = '';
  return error;
}

/** The usage of a turn in the form that the editor's own chat reads; others ignore a type that they do not know. */
function usagePart({ promptTokens, completionTokens }: Usage): vscode.LanguageModelDataPart {
  const usage = {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
  return new vscode.LanguageModelDataPart(new TextEncoder().encode(JSON.stringify(usage)), 'usage');
}

/** The id of the extension that asks, or `core`; it is in no stable typing. */
function initiatorOf(options: vscode.ProvideLanguageModelChatResponseOptions): string | undefined {
  const initiator: unknown = Reflect.get(options, 'requestInitiator');
  return typeof initiator === 'string' ? initiator : undefined;
}

function thinkingPartOf(): ThinkingPart | undefined {
  const part: unknown = Reflect.get(vscode, 'LanguageModelThinkingPart');
  return typeof part === 'function' ? (part as ThinkingPart) : undefined;
}

function charactersOf(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + textOf(message).length, 0);
}

function textOf({ content, toolCalls = [] }: Message): string {
  return content + toolCalls.map((call) => JSON.stringify(call.arguments)).join('');
}
