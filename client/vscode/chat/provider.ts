import * as vscode from 'vscode';
import { messageOf } from '../../../protocol/base/text.ts';
import type { ChatDelta, ChatParams, Message, Usage } from '../../../protocol/messages/chat.ts';
import { runnerOptions } from '../../../protocol/messages/modelfile.ts';
import { createTokenCounter } from '../convert/contextSizes.ts';
import { errorDataOf } from '../convert/failure.ts';
import { toMessages, toTools } from '../convert/messages.ts';
import type { Parts } from '../parts.ts';
import { thinkingFormat } from '../settings.ts';
import { remediesFor } from '../ui/remedies.ts';
import { type ChatNotices, createCancelWarning, createNotices, isBuiltInChat, isChat } from './notices.ts';
import { type RunnerModelInformation, vendor } from './picker.ts';
import { taskOf } from './rounds.ts';
import { thinkFor } from './thinking.ts';

type ProviderParts = Pick<Parts, 'ask' | 'askBehind' | 'memory' | 'offered' | 'reporter'>;

/** Offers the runner's models to the editor's own chat and to other extensions. */
export function registerProvider(parts: ProviderParts): vscode.Disposable {
  return vscode.lm.registerLanguageModelChatProvider(vendor, new RunnerProvider(parts));
}

class RunnerProvider implements vscode.LanguageModelChatProvider<RunnerModelInformation> {
  readonly onDidChangeLanguageModelChatInformation: vscode.Event<void>;
  readonly #parts: ProviderParts;
  readonly #tokens = createTokenCounter();
  readonly #warn: () => void;
  readonly #notices = createNotices((sentence) => void vscode.window.showInformationMessage(sentence));

  constructor(parts: ProviderParts) {
    this.#parts = parts;
    this.#warn = createCancelWarning({
      version: vscode.version,
      memory: parts.memory,
      show: (sentence) => void vscode.window.showInformationMessage(sentence),
    });
    this.onDidChangeLanguageModelChatInformation = parts.offered.onDidChange;
  }

  provideLanguageModelChatInformation(): RunnerModelInformation[] {
    return [...this.#parts.offered.current];
  }

  async provideLanguageModelChatResponse(
    { id, model, tooltip }: RunnerModelInformation,
    messages: readonly vscode.LanguageModelChatRequestMessage[],
    options: vscode.ProvideLanguageModelChatResponseOptions,
    progress: vscode.Progress<vscode.LanguageModelResponsePart>,
    token: vscode.CancellationToken,
  ): Promise<void> {
    const { offered, ask, askBehind, reporter } = this.#parts;
    const answering = model ?? offered.preferred;
    if (!answering) throw vscode.LanguageModelError.NotFound(tooltip ?? '');
    const thinkingPart = thinkingFormat() === 'quote' ? undefined : thinkingPartOfEditor();
    const partFor = { thinkingPart, notices: this.#notices, initiator: initiatorOf(options) };
    const params = paramsOf(answering, this.#notices.remove(toMessages(messages)), options);
    const isOfChat = isChat(partFor.initiator);
    if (isOfChat) this.#warn();
    const task = isBuiltInChat(partFor.initiator) ? taskOf(params.messages) : 'chat';
    const think = thinkFor(answering.name, offered.find(answering.name, answering.server), task);
    try {
      const { usage } = await (task === 'utility' ? askBehind : ask)(
        {
          ...params,
          ...(think !== undefined && { think }),
          // The editor's own chat joins its blocks and the user's words into one text. Others get what they send.
          ...(isOfChat ? { context: 'leading' } : { dropContextTags: false }),
          thinkingFormat: thinkingPart ? 'separate' : 'quote',
        },
        (delta) => {
          const part = toPart(delta, partFor);
          if (part) progress.report(part);
        },
        token,
      );
      progress.report(toUsagePart(usage));
      this.#tokens.learn(id, charactersOf(params.messages), usage);
    } catch (error) {
      const failure = toLanguageModelError(error);
      const data = errorDataOf(error);
      // An error in the editor's own chat has no buttons.
      if (data?.kind === 'context-exceeded' && remediesFor(data).length > 0)
        reporter.report(error, { showToUser: true });
      throw isOfChat ? withoutStack(failure) : failure;
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
    ...(tools.length === 0 ? {} : { tools: toTools(tools) }),
    ...(toolMode === vscode.LanguageModelChatToolMode.Required ? { toolChoice: 'required' } : {}),
    ...(Object.keys(options).length === 0 ? {} : { options }),
  };
}

/** The options of a caller that are passed on: only the runner's own, because the editor adds private fields. */
function knownOptions(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(given).filter(([name]) => Object.hasOwn(runnerOptions, name)));
}

/** The error in the form of the editor's language-model API, so that it is never shown as an answer. */
function toLanguageModelError(error: unknown): Error {
  if (error instanceof vscode.LanguageModelError) return error;
  const message = messageOf(error);
  const kind = errorDataOf(error)?.kind;
  if (kind === 'model-not-found') return vscode.LanguageModelError.NotFound(message);
  if (kind === 'unauthorized') return vscode.LanguageModelError.NoPermissions(message);
  return new vscode.LanguageModelError(message);
}

/**
 * The editor's own chat shows an error with its stack, and gives a {@link vscode.LanguageModelError} a stack of its
 * own.
 */
function withoutStack({ message }: Error): Error {
  const error = new Error(message);
  error.stack = '';
  return error;
}

/** The id of the extension that asks, or `core`; it is in no stable typing. */
function initiatorOf(options: vscode.ProvideLanguageModelChatResponseOptions): string | undefined {
  const initiator: unknown = Reflect.get(options, 'requestInitiator');
  return typeof initiator === 'string' ? initiator : undefined;
}

function charactersOf(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + textOf(message).length, 0);
}

function textOf({ content, toolCalls = [] }: Message): string {
  return content + toolCalls.map((call) => JSON.stringify(call.arguments)).join('');
}

/** The class of newer editors for thinking; it is in no stable typing. */
type ThinkingPart = new (value: string) => vscode.LanguageModelResponsePart;

function thinkingPartOfEditor(): ThinkingPart | undefined {
  const part: unknown = Reflect.get(vscode, 'LanguageModelThinkingPart');
  return typeof part === 'function' ? (part as ThinkingPart) : undefined;
}

interface PartOptions {
  readonly thinkingPart: ThinkingPart | undefined;
  readonly notices: ChatNotices;
  /** The id of the extension that asks, if the editor names it. */
  readonly initiator: string | undefined;
}

/** The editor's part for a delta, if it has one. */
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
    case 'notice': {
      const quote = notices.show(delta.notice, initiator);
      return quote === undefined ? undefined : new vscode.LanguageModelTextPart(quote);
    }
  }
}

/** The usage of a turn in the form that the editor's own chat reads; others ignore a type that they do not know. */
function toUsagePart({ promptTokens, completionTokens }: Usage): vscode.LanguageModelDataPart {
  const usage = {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
  return new vscode.LanguageModelDataPart(new TextEncoder().encode(JSON.stringify(usage)), 'usage');
}
