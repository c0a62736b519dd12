import * as vscode from 'vscode';
import { messageOf } from '../../../protocol/base/text.ts';
import type {
  Attachment,
  ChatParams,
  ChatResult,
  Message,
  Tool,
  ToolCall,
} from '../../../protocol/messages/chat.ts';
import { toResult, toTools } from '../convert/messages.ts';
import { createAnswerWriter, type ThinkingPage, toAside } from './answerWriter.ts';
import { describeAnswer, isKeptWhole, type TurnMetadata, toKept } from './finishedTurn.ts';
import { placesOf, toConversation } from './history.ts';
import { labelOf, type NamedModel } from './picker.ts';
import type { AskForRound } from './rounds.ts';

/** What a button below an answer passes: the lines of a file, counted from 0, and what to do with them. */
export interface ProposedEdit {
  readonly uri: string;
  readonly first: number;
  readonly last: number;
  readonly instruction: string;
}

/** A prompt to `@runner`, as the editor passes it on. */
export interface Turn {
  readonly request: vscode.ChatRequest;
  readonly context: vscode.ChatContext;
  readonly stream: vscode.ChatResponseStream;
  readonly token: vscode.CancellationToken;
  /** The text of the prompt that the user has called by its name, in place of what was typed. */
  readonly sent?: string | undefined;
  /** Pictures that this prompt has, in base64. */
  readonly images?: readonly string[] | undefined;
  /** What was found in the workspace for the prompt. */
  readonly found?: readonly Attachment[] | undefined;
}

/** A turn with what its model needs besides. */
export interface ModelTurn extends Turn {
  /** Absent leaves it to the model. */
  readonly think?: ChatParams['think'];
  readonly thoughts: ThinkingPage;
}

/** How often the model may call tools before it must answer with what it knows. */
const maxRounds = 8;

/** Asks the model, runs the tools that it calls and asks again, until it answers or the rounds are used up. */
export async function answerWithTools(
  ask: AskForRound,
  { name, server }: NamedModel,
  turn: ModelTurn,
): Promise<vscode.ChatResult> {
  const { request, context, stream, token, sent, images = [], found = [], think, thoughts } = turn;
  const asked = { prompt: sent, images, attachments: found };
  const { messages: before, leftOut, notAttached } = await toConversation(request, context, asked);
  if (leftOut.length > 0)
    stream.markdown(toAside(`Left out, because it is neither text nor a picture: ${listed(leftOut)}`));
  if (notAttached.length > 0)
    stream.markdown(toAside(`Not sent, because you did not attach it: ${listed(notAttached)}`));
  if (isEmpty(before.at(-1))) {
    stream.markdown(toAside('There is no question yet. Write it after @runner.'));
    return {};
  }
  const tools = toolsFor(request);
  const added: Message[] = [];
  for (let round = 0; ; round++) {
    const isLast = round === maxRounds;
    const writer = createAnswerWriter(stream, thoughts);
    const params = {
      model: name,
      server,
      messages: [...before, ...added],
      ...(think !== undefined && { think }),
    };
    const asking = ask({ ...params, ...(isLast ? {} : { tools }) }, writer.write, token);
    // The thinking stays even if the answer failed.
    const result = await asking.finally(writer.end);
    added.push(result.message);
    const calls = result.message.toolCalls ?? [];
    const isDone = isLast || result.finishReason !== 'toolCalls' || calls.length === 0;
    if (isDone) {
      offerToApply(stream, request, result.message.content);
      const model = { name, server };
      return finish(turn, result, { model, added, isLast, milliseconds: writer.elapsed });
    }
    added.push(...(await callTools(calls, tools, turn)));
  }
}

/** A question without words, attachments and pictures. */
function isEmpty(question: Message | undefined): boolean {
  const { content = '', attachments = [], images = [] } = question ?? {};
  return content.trim() === '' && attachments.length === 0 && images.length === 0;
}

function listed(names: readonly string[]): string {
  return names.map((name) => `\`${name.replaceAll('`', "'")}\``).join(', ');
}

/** More tools than this fill a small model's window with descriptions. */
const maxTools = 16;

/** The tools that the user named in this prompt and those in the setting; never every tool of the editor. */
function toolsFor({ toolReferences }: vscode.ChatRequest): readonly Tool[] {
  const wanted = vscode.workspace.getConfiguration('runner').get<readonly string[]>('tools') ?? [];
  const names = new Set([...toolReferences.map(({ name }) => name), ...wanted]);
  return toTools(vscode.lm.tools.filter(({ name }) => names.has(name)).slice(0, maxTools));
}

/**
 * Calls the tools one after another, because one may build on the result of another; the editor asks for consent. A
 * model may name any tool: only those that it was offered are called.
 */
async function callTools(
  calls: readonly ToolCall[],
  offered: readonly Tool[],
  { request: { toolInvocationToken }, token }: Turn,
): Promise<readonly Message[]> {
  const results: Message[] = [];
  for (const { id: callId, name, arguments: input } of calls) {
    const isOffered = offered.some((tool) => tool.name === name);
    const content = isOffered
      ? await contentOf(() => vscode.lm.invokeTool(name, { input, toolInvocationToken }, token), token)
      : [new vscode.LanguageModelTextPart(`There is no tool ${name} among those that were offered.`)];
    results.push(toResult({ callId, content }, name));
  }
  return results;
}

/** The result of the tool. A failure, or the user's refusal, is a result for the model too. */
async function contentOf(
  call: () => Thenable<vscode.LanguageModelToolResult>,
  token: vscode.CancellationToken,
): Promise<unknown[]> {
  try {
    return (await call()).content;
  } catch (error) {
    if (token.isCancellationRequested) throw error;
    return [new vscode.LanguageModelTextPart(`The tool failed: ${messageOf(error)}`)];
  }
}

/** A button that changes the lines that the user attached, or selected, as the answer says. */
function offerToApply(
  stream: vscode.ChatResponseStream,
  { command = '', references }: vscode.ChatRequest,
  answer: string,
): void {
  const [place, ...more] = placesOf(references);
  const [block] = /^```[\s\S]*?^```/m.exec(answer) ?? [];
  if (!place || more.length > 0 || block === undefined || command === 'explain' || command === 'tests')
    return;
  const { start, end } = place.range;
  const proposed: ProposedEdit = {
    uri: place.uri.toString(),
    ...{ first: start.line, last: end.character === 0 && end.line > start.line ? end.line - 1 : end.line },
    instruction: `Make exactly the change that is proposed here, and keep everything else:\n\n${block}`,
  };
  stream.button({ command: 'runner.edit', title: 'Apply…', arguments: [proposed] });
}

/** `added` are the messages of the turn. */
function finish(
  { stream, sent }: Turn,
  { usage, finishReason }: ChatResult,
  {
    model,
    added,
    isLast,
    milliseconds,
  }: { model: NamedModel; added: readonly Message[]; isLast: boolean; milliseconds: number },
) {
  if (isLast) stream.markdown(toAside(`The limit of ${maxRounds} rounds of tools was reached.`));
  if (finishReason === 'length')
    stream.markdown(toAside('The answer was cut: it reached its limit of tokens.'));
  const messages = toKept(added);
  const reason = isLast ? 'rounds' : finishReason === 'length' ? 'length' : undefined;
  const metadata: TurnMetadata = {
    model: model.name,
    usage,
    ...(reason && { ended: reason }),
    ...(messages && { messages }),
    ...(isKeptWhole(sent) && { sent }),
  };
  // The editor shows `details` below a finished answer; it is in no stable typing.
  return { metadata, details: describeAnswer(labelOf(model), usage, milliseconds) };
}
