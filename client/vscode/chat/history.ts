import * as vscode from 'vscode';
import type { Attachment, Message } from '../../../protocol/messages/chat.ts';
import { isAside } from './answerWriter.ts';
import { readMetadata } from './finishedTurn.ts';
import { attachedOnce, isTriedAgain, withoutCodebase, withoutRetryMark, withPrompt } from './prompt.ts';
import { partOf } from './references.ts';

/** What is sent to the model: the earlier turns, and then the prompt. */
export interface Conversation {
  readonly messages: readonly Message[];
  /** Names of attachments that cannot be read, such as a file that is not text. */
  readonly leftOut: readonly string[];
  /** Names of files that look attached, but that the user did not attach. */
  readonly notAttached: readonly string[];
}

/** What is sent in place of what was typed. */
interface SentPrompt {
  readonly prompt?: string | undefined;
  /** Base64. */
  readonly images?: readonly string[];
  /** What was found for it. */
  readonly attachments?: readonly Attachment[];
}

export async function toConversation(
  request: vscode.ChatRequest,
  { history }: vscode.ChatContext,
  { prompt: sent = request.prompt, images = [], attachments = [] }: SentPrompt = {},
): Promise<Conversation> {
  const exchanges = exchangesOf(history);
  const tries = triesOf(request, exchanges);
  const before = await Promise.all(exchanges.slice(0, exchanges.length - tries.length).map(toMessages));
  // The attachments of the first try belong to each further one.
  const references = [...tries.flatMap(({ asked }) => asked.references), ...request.references];
  const { command } = request;
  const { message, ...rest } = await toPrompt({ prompt: sent, images, attachments, command, references });
  return { messages: [...before.flat(), message], ...rest };
}

/** A prompt with its answer. */
interface Exchange {
  readonly asked: vscode.ChatRequestTurn;
  readonly answer: vscode.ChatResponseTurn | undefined;
}

function exchangesOf(history: vscode.ChatContext['history']): readonly Exchange[] {
  return history.flatMap((asked, index) => {
    const next = history[index + 1];
    if (!(asked instanceof vscode.ChatRequestTurn)) return [];
    return [{ asked, answer: next instanceof vscode.ChatResponseTurn ? next : undefined }];
  });
}

/** If this prompt repeats the last exchanges: the one that failed, and each that tried it again. */
function triesOf({ prompt }: vscode.ChatRequest, exchanges: readonly Exchange[]): readonly Exchange[] {
  if (!isTriedAgain(prompt) || !hasFailed(exchanges.at(-1))) return [];
  return exchanges.slice(exchanges.findLastIndex(({ asked }) => !isTriedAgain(asked.prompt)));
}

function hasFailed(exchange: Exchange | undefined): boolean {
  return readMetadata(exchange?.answer?.result.metadata)?.ended === 'failed';
}

/**
 * A prompt without an answer is left out, because two prompts in a row confuse models. If the answer failed, its
 * attachments are left out: they may be the reason, and would make every later request fail too.
 */
async function toMessages(exchange: Exchange): Promise<readonly Message[]> {
  const { asked, answer } = exchange;
  const said = answer ? toAnswer(answer) : [];
  if (said.length === 0) return [];
  const { command } = asked;
  const { sent: prompt = asked.prompt } = readMetadata(answer?.result.metadata) ?? {};
  const references = hasFailed(exchange) ? [] : asked.references;
  return [(await toPrompt({ prompt, command, references })).message, ...said];
}

interface Prompt extends Omit<Conversation, 'messages'> {
  readonly message: Message;
}

/** A prompt of this turn or of an earlier one. */
interface UserPrompt
  extends Pick<vscode.ChatRequest, 'prompt' | 'references'>,
    Pick<SentPrompt, 'images' | 'attachments'> {
  readonly command?: string | undefined;
}

/** The user's prompt, and the attachments apart from its words. */
async function toPrompt({
  prompt,
  images: own = [],
  attachments: found = [],
  command,
  references,
}: UserPrompt): Promise<Prompt> {
  const parts = await Promise.all(references.map(partOf));
  const images = [...new Set([...own, ...parts.flatMap(({ image }) => image ?? [])])];
  const attachments = attachedOnce([...parts.flatMap(({ attachment }) => attachment ?? []), ...found]);
  const isSent = (path: string) => attachments.some((attachment) => attachment.path === path);
  return {
    message: {
      role: 'user',
      content: withPrompt(command, withoutCodebase(withoutRetryMark(prompt))),
      ...(attachments.length === 0 ? {} : { attachments }),
      ...(images.length === 0 ? {} : { images }),
    },
    leftOut: parts.flatMap(({ leftOut }) => leftOut ?? []),
    notAttached: parts.flatMap(({ notAttached }) => notAttached ?? []).filter((path) => !isSent(path)),
  };
}

/** All messages of a turn with tools; otherwise the text that was shown, without the thinking. */
function toAnswer({ response, result }: vscode.ChatResponseTurn): readonly Message[] {
  const { messages } = readMetadata(result.metadata) ?? {};
  if (messages) return messages;
  const content = response.map(answerOf).join('');
  return content === '' ? [] : [{ role: 'assistant', content }];
}

function answerOf(part: vscode.ChatResponseTurn['response'][number]): string {
  return part instanceof vscode.ChatResponseMarkdownPart && !isAside(part.value) ? part.value.value : '';
}
