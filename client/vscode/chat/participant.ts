import * as vscode from 'vscode';
import type { ChatDelta, ChatResult, Message, Tool, ToolCall } from '../../../protocol/chat.ts';
import { errorDataOf } from '../convert/failure.ts';
import { toHistory, toQuestion } from '../convert/history.ts';
import { formatError } from '../errorReporter.ts';
import type { OfferedModels } from './offeredModels.ts';
import { vendor } from './provider.ts';
import type { AskForTurn } from './turn.ts';

const participantId = 'runner.participant';

/** How often the model may call tools before it must answer with what it has. */
const maxRounds = 8;
/** More tools than this fill a small model's window with descriptions. */
const maxTools = 16;

export interface ParticipantOptions {
  readonly offered: OfferedModels;
  readonly ask: AskForTurn;
  readonly log: vscode.LogOutputChannel;
  readonly icon: vscode.IconPath;
}

/** `@runner`: answers with a model of the runner, whatever the picker shows. */
export function registerParticipant(options: ParticipantOptions): vscode.Disposable {
  const participant = vscode.chat.createChatParticipant(participantId, (request, context, stream, token) =>
    answer(options, { request, context, stream, token }),
  );
  participant.iconPath = options.icon;
  return participant;
}

interface Turn {
  readonly request: vscode.ChatRequest;
  readonly context: vscode.ChatContext;
  readonly stream: vscode.ChatResponseStream;
  readonly token: vscode.CancellationToken;
}

async function answer({ offered, ask, log }: ParticipantOptions, turn: Turn): Promise<vscode.ChatResult> {
  const { request, context, stream, token } = turn;
  const model = modelFor(request, offered);
  if (!model) return noModel(stream);
  if (request.model.vendor !== vendor)
    stream.progress(`${model.name} answers; the picker shows another vendor's model.`);
  const messages: Message[] = [...(await toHistory(context)), await toQuestion(request)];
  const tools = toolsFor(request);
  try {
    for (let round = 0; ; round++) {
      const isLast = round === maxRounds;
      const result = await ask(
        {
          model: model.name,
          server: model.server,
          messages,
          context: 'leading',
          ...(isLast ? {} : { tools }),
        },
        (delta) => show(stream, delta),
        token,
      );
      const calls = result.message.toolCalls ?? [];
      if (result.finishReason !== 'toolCalls' || calls.length === 0 || isLast)
        return ended(stream, result, isLast);
      messages.push(result.message, ...(await callTools(calls, turn)));
    }
  } catch (error) {
    log.error(`@runner: ${formatError(error)}`);
    return { errorDetails: { message: sentenceOf(error) } };
  }
}

/** The picker's model where it is ours; else one that is loaded, else the newest. */
function modelFor({ model }: vscode.ChatRequest, offered: OfferedModels) {
  const chosen =
    model.vendor === vendor ? offered.current.find(({ id }) => id === model.id)?.model : undefined;
  return chosen ?? offered.preferred;
}

function noModel(stream: vscode.ChatResponseStream): vscode.ChatResult {
  stream.markdown('There is no model that can chat yet. Start your runner, or pull a model.');
  stream.button({ command: 'runner.pullModel', title: 'Pull a Model' });
  stream.button({ command: 'runner.doctor', title: 'What Is Wrong?' });
  return {};
}

function show(stream: vscode.ChatResponseStream, delta: ChatDelta): void {
  if (delta.kind === 'text') stream.markdown(delta.text);
  if (delta.kind === 'notice') stream.progress(delta.notice.message);
}

function ended(stream: vscode.ChatResponseStream, result: ChatResult, isLast: boolean): vscode.ChatResult {
  if (isLast) stream.markdown(`\n\n*The limit of ${maxRounds} rounds of tools was reached.*`);
  if (result.finishReason === 'length')
    stream.markdown('\n\n*The answer was cut: it reached its limit of tokens.*');
  return { metadata: { usage: result.usage } };
}

/** The tools that the user named, and those of the setting; never all that the editor has. */
function toolsFor({ toolReferences }: vscode.ChatRequest): readonly Tool[] {
  const wanted = vscode.workspace.getConfiguration('runner').get<readonly string[]>('tools') ?? [];
  const names = new Set([...toolReferences.map(({ name }) => name), ...wanted]);
  return vscode.lm.tools
    .filter(({ name }) => names.has(name))
    .slice(0, maxTools)
    .map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema: (inputSchema as Record<string, unknown> | undefined) ?? { type: 'object', properties: {} },
    }));
}

async function callTools(calls: readonly ToolCall[], turn: Turn): Promise<readonly Message[]> {
  const results: Message[] = [];
  for (const call of calls) {
    results.push({
      role: 'tool',
      content: await callTool(call, turn),
      toolCallId: call.id,
      toolName: call.name,
    });
  }
  return results;
}

/** What the tool said. That it failed, or that the user did not allow it, is an answer for the model too. */
async function callTool({ name, arguments: input }: ToolCall, { request, token }: Turn): Promise<string> {
  try {
    const { toolInvocationToken } = request;
    const { content } = await vscode.lm.invokeTool(name, { input, toolInvocationToken }, token);
    return content.map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : '')).join('');
  } catch (error) {
    if (token.isCancellationRequested) throw error;
    return `The tool failed: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function sentenceOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return errorDataOf(error) ? message : `The answer could not be had: ${message}`;
}
