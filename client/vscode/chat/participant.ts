import * as vscode from 'vscode';
import type { ChatResult, Message } from '../../../protocol/messages/chat.ts';
import type { Status } from '../../../protocol/messages/status.ts';
import type { ErrorReporter } from '../errorReporter.ts';
import { plain } from '../notificationText.ts';
import { chatModel } from '../settings.ts';
import { stepDone } from '../stepKeys.ts';
import { describeAnswer } from './answerDetails.ts';
import { createAnswerWriter, toAside } from './answerWriter.ts';
import type { ChatModels, NamedModel } from './chatModel.ts';
import { endFailed, endWithoutModel } from './failedTurn.ts';
import { followUps } from './followUps.ts';
import { toConversation } from './history.ts';
import type { OfferedModels } from './offeredModels.ts';
import { registerThoughts } from './thoughts.ts';
import { callTools, toolsFor } from './tools.ts';
import type { AskForTurn } from './turn.ts';
import { type TurnMetadata, toKept } from './turnMetadata.ts';
import { findWanted } from './wantedModel.ts';

const participantId = 'runner.participant';

/** How often the model may call tools before it must answer with what it knows. */
const maxRounds = 8;

export interface ParticipantOptions {
  readonly offered: OfferedModels;
  readonly models: ChatModels;
  readonly ask: AskForTurn;
  readonly reporter: ErrorReporter;
  readonly icon: vscode.IconPath;
  /** How the runner is; asked for where there is no model. */
  readonly status: () => Promise<Status>;
}

/** `@runner`: answers with a model of the runner, whatever model the picker shows. */
export function registerParticipant(options: ParticipantOptions): vscode.Disposable {
  const participant = vscode.chat.createChatParticipant(participantId, (request, context, stream, token) =>
    answer(options, { request, context, stream, token }),
  );
  participant.iconPath = options.icon;
  participant.followupProvider = followUps;
  return vscode.Disposable.from(participant, registerThoughts());
}

interface Turn {
  readonly request: vscode.ChatRequest;
  readonly context: vscode.ChatContext;
  readonly stream: vscode.ChatResponseStream;
  readonly token: vscode.CancellationToken;
}

async function answer(options: ParticipantOptions, turn: Turn): Promise<vscode.ChatResult> {
  const { offered, models, ask, reporter, status } = options;
  const { request, stream } = turn;
  if (request.command === 'model') return changeModel(options, turn);
  // The runner may have started, or a model may have been pulled, since the last request.
  if (!offered.preferred) await offered.refresh();
  const { model, note } = await models.answering(request.model);
  if (!model) return endWithoutModel(stream, request.prompt, status);
  if (note !== undefined) stream.progress(note);
  const { running, remote } = offered.find(model.name, model.server) ?? {};
  if (!running && !remote) stream.progress(`Loading ${model.name}`);
  try {
    const result = await converse(ask, model, turn);
    // A step of the first steps.
    void vscode.commands.executeCommand(...stepDone('hasAnswered'));
    return result;
  } catch (error) {
    if (turn.token.isCancellationRequested) return {};
    // The chat shows the error in place of the answer.
    reporter.report(error, { during: '@runner', showToUser: false });
    return endFailed(stream, { model: model.name, prompt: request.prompt }, error);
  }
}

/** `/model` with a name, or without one, which asks for it. */
async function changeModel(
  { offered, models }: ParticipantOptions,
  { request, stream }: Turn,
): Promise<vscode.ChatResult> {
  const wanted = request.prompt.trim();
  const found =
    wanted === '' ? undefined : findWanted({ name: wanted, setting: chatModel() }, offered.models);
  if (found && 'advice' in found) {
    stream.markdown(toAside(plain(found.advice)));
    return {};
  }
  const before = chatModel();
  if (found) await models.choose(found.model.name);
  else await vscode.commands.executeCommand('runner.chooseChatModel');
  const now = chatModel();
  stream.markdown(toAside(now === before ? 'The model stays as it is.' : `${now} answers from now on.`));
  return {};
}

/** Asks the model, runs the tools that it calls and asks again, until it answers or the rounds are used up. */
async function converse(
  ask: AskForTurn,
  { name, server }: NamedModel,
  turn: Turn,
): Promise<vscode.ChatResult> {
  const { request, context, stream, token } = turn;
  const { messages: before, leftOut, notAttached } = await toConversation(request, context);
  if (leftOut.length > 0)
    stream.markdown(toAside(`Left out, because it is neither text nor a picture: ${quoted(leftOut)}`));
  if (notAttached.length > 0)
    stream.markdown(toAside(`Not sent, because you did not attach it: ${quoted(notAttached)}`));
  const tools = toolsFor(request);
  const said: Message[] = [];
  for (let round = 0; ; round++) {
    const isLast = round === maxRounds;
    const writer = createAnswerWriter(stream, Date.now);
    const params = { model: name, server, messages: [...before, ...said] };
    const asking = ask({ ...params, ...(isLast ? {} : { tools }) }, writer.write, token);
    // The thinking stays even if the answer failed.
    const result = await asking.finally(writer.end);
    said.push(result.message);
    const calls = result.message.toolCalls ?? [];
    const isDone = isLast || result.finishReason !== 'toolCalls' || calls.length === 0;
    if (isDone) return ended(stream, result, { model: name, said, isLast, milliseconds: writer.elapsed });
    said.push(...(await callTools(calls, { request, offered: tools, token })));
  }
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `\`${name.replaceAll('`', "'")}\``).join(', ');
}

interface Ending {
  readonly model: string;
  readonly said: readonly Message[];
  readonly isLast: boolean;
  readonly milliseconds: number;
}

function ended(
  stream: vscode.ChatResponseStream,
  { usage, finishReason }: ChatResult,
  { model, said, isLast, milliseconds }: Ending,
): ShownResult {
  if (isLast) stream.markdown(toAside(`The limit of ${maxRounds} rounds of tools was reached.`));
  if (finishReason === 'length')
    stream.markdown(toAside('The answer was cut: it reached its limit of tokens.'));
  const messages = toKept(said);
  const reason = isLast ? 'rounds' : finishReason === 'length' ? 'length' : undefined;
  const metadata: TurnMetadata = {
    model,
    usage,
    ...(reason && { ended: reason }),
    ...(messages && { messages }),
  };
  return { metadata, details: describeAnswer({ model, usage, milliseconds }) };
}

/** The editor shows `details` below a finished answer; it is in no stable typing. */
interface ShownResult extends vscode.ChatResult {
  readonly details: string;
}
