import * as vscode from 'vscode';
import type { Message } from '../../../protocol/messages/chat.ts';
import { isAside } from './answerWriter.ts';
import { readMetadata } from './finishedTurn.ts';
import { attachedOnce, isTriedAgain, withoutRetryMark, withPrompt } from './question.ts';
import { partOf } from './references.ts';

/** What is sent to the model: the earlier turns, and then the question. */
export interface Conversation {
  readonly messages: readonly Message[];
  /** Names of attachments that cannot be read, such as a file that is not text. */
  readonly leftOut: readonly string[];
  /** Names of files that look attached, but that the user did not attach. */
  readonly notAttached: readonly string[];
}

export async function toConversation(
  request: vscode.ChatRequest,
  { history }: vscode.ChatContext,
): Promise<Conversation> {
  const exchanges = exchangesOf(history);
  const tries = triesOf(request, exchanges);
  const before = await Promise.all(exchanges.slice(0, exchanges.length - tries.length).map(toMessages));
  // The attachments of the first try belong to each further one.
  const references = [...tries.flatMap(({ asked }) => asked.references), ...request.references];
  const { prompt, command } = request;
  const { message, ...rest } = await toQuestion({ prompt, command, references });
  return { messages: [...before.flat(), message], ...rest };
}

/** A question with its answer. */
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

/** If this question repeats the last exchanges: the one that failed, and each that tried it again. */
function triesOf({ prompt }: vscode.ChatRequest, exchanges: readonly Exchange[]): readonly Exchange[] {
  if (!isTriedAgain(prompt) || !hasFailed(exchanges.at(-1))) return [];
  return exchanges.slice(exchanges.findLastIndex(({ asked }) => !isTriedAgain(asked.prompt)));
}

function hasFailed(exchange: Exchange | undefined): boolean {
  return readMetadata(exchange?.answer?.result.metadata)?.ended === 'failed';
}

/**
 * A question without an answer is left out, because two questions in a row confuse models. If the answer failed, its
 * attachments are left out: they may be the reason, and would make every later request fail too.
 */
async function toMessages(exchange: Exchange): Promise<readonly Message[]> {
  const { asked, answer } = exchange;
  const said = answer ? toAnswer(answer) : [];
  if (said.length === 0) return [];
  const { prompt, command } = asked;
  const references = hasFailed(exchange) ? [] : asked.references;
  return [(await toQuestion({ prompt, command, references })).message, ...said];
}

interface Question extends Omit<Conversation, 'messages'> {
  readonly message: Message;
}

/** A question that is being asked, or was asked in an earlier turn. */
interface Asked extends Pick<vscode.ChatRequest, 'prompt' | 'references'> {
  readonly command?: string | undefined;
}

/** The user's question, and the attachments apart from its words. */
async function toQuestion({ prompt, command, references }: Asked): Promise<Question> {
  const parts = await Promise.all(references.map(partOf));
  const images = [...new Set(parts.flatMap(({ image }) => image ?? []))];
  const attachments = attachedOnce(parts.flatMap(({ attachment }) => attachment ?? []));
  const isSent = (path: string) => attachments.some((attachment) => attachment.path === path);
  return {
    message: {
      role: 'user',
      content: withPrompt(command, withoutRetryMark(prompt)),
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
