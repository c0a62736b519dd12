import * as vscode from 'vscode';
import { messageOf } from '../../../protocol/base/errorText.ts';
import type { Status } from '../../../protocol/messages/status.ts';
import { errorDataOf } from '../convert/failure.ts';
import { chatModel } from '../settings.ts';
import type { ErrorReporter } from '../ui/errorReporter.ts';
import {
  inEditorWords,
  openNamedSetting,
  pullModel,
  type Remedy,
  remediesFor,
  setAddress,
  showDoctor,
} from '../ui/remedies.ts';
import { plain } from '../ui/safeText.ts';
import { stepDone } from '../walkthrough/stepKeys.ts';
import type { AnsweringModels } from './answeringModel.ts';
import { registerThinkingPage, toAside } from './answerWriter.ts';
import { answerWithTools, type Turn } from './editorToolLoop.ts';
import { followUps, type TurnMetadata } from './finishedTurn.ts';
import type { OfferedModels } from './offeredModels.ts';
import { findNamedModel } from './question.ts';
import type { AskForRound } from './rounds.ts';

export interface ParticipantOptions {
  readonly offered: OfferedModels;
  readonly models: AnsweringModels;
  readonly ask: AskForRound;
  readonly reporter: ErrorReporter;
  readonly icon: vscode.IconPath;
  /** The state of the runner; requested only if there is no model. */
  readonly status: () => Promise<Status>;
}

/** `@runner`: answers with a model of the runner, whatever model the picker shows. */
export function registerParticipant(options: ParticipantOptions): vscode.Disposable {
  const participant = vscode.chat.createChatParticipant(
    'runner.participant',
    (request, context, stream, token) => answer(options, { request, context, stream, token }),
  );
  participant.iconPath = options.icon;
  participant.followupProvider = followUps;
  return vscode.Disposable.from(participant, registerThinkingPage());
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
    const result = await answerWithTools(ask, model, turn);
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
  const name = request.prompt.trim();
  const found = name === '' ? undefined : findNamedModel({ name, setting: chatModel() }, offered.models);
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

interface FailedTurn {
  readonly model: string;
  /** So that it can be asked again. */
  readonly prompt: string;
}

/** The part of the answer that had arrived stays. The sentence says what to do next, and buttons do it. */
function endFailed(stream: vscode.ChatResponseStream, turn: FailedTurn, error: unknown): vscode.ChatResult {
  const failure = errorDataOf(error);
  const isOurs = error instanceof vscode.LanguageModelError;
  if (!isOurs) addButtons(stream, failure === undefined ? [showDoctor] : remediesFor(failure));
  const isWorded = failure !== undefined || isOurs;
  const message = isWorded ? messageOf(error) : `The answer failed: ${messageOf(error)}`;
  return { errorDetails: { message }, metadata: metadataOf(turn) };
}

/** Nobody can answer: the runner is down, or it has no model that can chat. */
async function endWithoutModel(
  stream: vscode.ChatResponseStream,
  prompt: string,
  status: () => Promise<Status>,
): Promise<vscode.ChatResult> {
  try {
    const current = await status();
    const isOffline = current.state === 'offline';
    const sentence = inEditorWords(current);
    stream.markdown(toAside(plain(isOffline ? sentence : `${sentence} ${noModel}`)));
    addButtons(stream, isOffline ? [setAddress(), showDoctor] : [pullModel]);
  } catch (error) {
    stream.markdown(toAside(plain(messageOf(error))));
    addButtons(stream, openNamedSetting(error) ?? [showDoctor]);
  }
  return { metadata: metadataOf({ model: '', prompt }) };
}

const noModel =
  'It has no model that can chat yet. Pull one, such as qwen3:4b. A model that runs elsewhere answers only if you choose it.';

function addButtons(stream: vscode.ChatResponseStream, remedies: readonly Remedy[]): void {
  for (const { command, title, arguments: given = [] } of remedies)
    stream.button({ command, title, arguments: [...given] });
}

function metadataOf({ model, prompt }: FailedTurn): TurnMetadata {
  return { model, ended: 'failed', prompt };
}
