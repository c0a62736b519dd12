import * as vscode from 'vscode';
import { messageOf } from '../../../protocol/base/text.ts';
import { canChat } from '../../../protocol/messages/models.ts';
import type { FilledPrompt } from '../../../protocol/messages/prompts.ts';
import { defaultServerName } from '../../../protocol/messages/settings.ts';
import { statusRequest } from '../../../protocol/messages/status.ts';
import { errorDataOf } from '../convert/failure.ts';
import { possible } from '../daemon/servers.ts';
import type { Parts } from '../parts.ts';
import { chatModel } from '../settings.ts';
import {
  chooseAnotherModel,
  chooseChatModel,
  inEditorWords,
  openNamedSetting,
  pullModel,
  type Remedy,
  remediesFor,
  remediesForOffline,
  showDoctor,
} from '../ui/remedies.ts';
import { plain } from '../ui/safeText.ts';
import { stepDone } from '../walkthrough/walkthrough.ts';
import { toAside } from './answerWriter.ts';
import { answerWithTools, type Turn } from './editorToolLoop.ts';
import { followUps, type TurnMetadata } from './finishedTurn.ts';
import { findPrompt } from './keptPrompts.ts';
import type { AnswerNote, NamedModel } from './picker.ts';
import { findNamedModel, withoutRetryMark } from './prompt.ts';
import { changeThinking, thinkFor } from './thinking.ts';
import { rulesOfWorkspace, searchCodebase } from './workspaceContext.ts';

type ParticipantParts = Pick<
  Parts,
  'ask' | 'daemon' | 'facts' | 'models' | 'offered' | 'reporter' | 'thoughts'
>;

/** `@runner`: answers with a model of the runner, whatever model the picker shows. */
export function registerParticipant(options: ParticipantParts): vscode.Disposable {
  const showNote = createNoteWriter();
  const participant = vscode.chat.createChatParticipant(
    'runner.participant',
    (request, context, stream, token) => answer(options, { request, context, stream, token }, showNote),
  );
  participant.iconPath = new vscode.ThemeIcon('server-process');
  participant.followupProvider = followUps;
  return participant;
}

async function answer(options: ParticipantParts, turn: Turn, showNote: ShowNote): Promise<vscode.ChatResult> {
  const { daemon, offered, models, ask, reporter, thoughts } = options;
  const { request, stream } = turn;
  if (request.command === 'model') return changeModel(options, turn);
  if (request.command === 'prompts') return listPrompts(stream);
  if (request.command === 'think') return setThinking(options, turn);
  // The runner may have started, or a model may have been pulled, since the last request.
  if (!offered.preferred) await offered.refresh();
  const { model: usual, note } = await models.answering(request.model);
  if (!usual) return endWithoutModel(options, turn);
  let model: NamedModel = usual;
  try {
    const prompt = await keptPrompt(options, turn);
    if (prompt === 'ended') return {};
    if (prompt?.model !== undefined) model = { name: prompt.model, server: defaultServerName };
    const known = offered.find(model.name, model.server);
    if (!known?.running && !known?.remote) stream.progress(`Loading ${model.name}`);
    const asked = { ...turn, sent: prompt?.text, images: prompt?.images };
    const window = offered.windowOf(model.name, model.server);
    const excerpts = await searchCodebase(daemon, asked, window);
    if (excerpts === undefined) return {};
    // Without a question, the rules would look like one.
    const rules = request.prompt.trim() === '' ? [] : await rulesOfWorkspace(window);
    const found = [...rules, ...excerpts];
    const think = thinkFor(model.name, known, request.command === 'doc' ? 'small' : 'chat');
    const result = await answerWithTools(ask, model, { ...asked, found, think, thoughts });
    if (note !== undefined) showNote(stream, note);
    if (prompt?.model === undefined) void models.answered(model);
    void vscode.commands.executeCommand(...stepDone('hasAnswered'));
    return result;
  } catch (error) {
    if (turn.token.isCancellationRequested) return {};
    // The chat shows the error in place of the answer.
    reporter.report(error, { during: '@runner', showToUser: false });
    addFailure(options, stream, error);
    return failedTurn(model.name, request.prompt);
  }
}

/** The prompt that the user has called by its name; `ended` if nothing is to be sent, which the user then knows. */
async function keptPrompt(
  { daemon, models }: ParticipantParts,
  { request: { command, prompt: typed }, stream, token }: Turn,
): Promise<FilledPrompt | 'ended' | undefined> {
  if (command !== undefined) return undefined;
  const found = await findPrompt(daemon, withoutRetryMark(typed), token);
  if (found.kind === 'typed') return undefined;
  const { prompt, message } = { prompt: undefined, message: 'Nothing was sent.', ...found };
  const name = prompt?.model;
  const isRefused = name !== undefined && !(await models.mayAnswer({ name, server: defaultServerName }));
  if (prompt && !isRefused) return prompt;
  stream.markdown(toAside(plain(message)));
  return 'ended';
}

type ShowNote = (stream: vscode.ChatResponseStream, note: AnswerNote) => void;

/** Each note is shown once in a window, below an answer: the editor folds what stands above it. */
function createNoteWriter(): ShowNote {
  const shown = new Set<string>();
  return (stream, { sentence, remedies }) => {
    if (shown.has(sentence)) return;
    shown.add(sentence);
    stream.markdown(toAside(plain(sentence)));
    addButtons(stream, remedies);
  };
}

/** `/model` with a name, or without one, which asks for it. */
async function changeModel(
  { offered, models }: ParticipantParts,
  { request, stream }: Turn,
): Promise<vscode.ChatResult> {
  const name = request.prompt.trim();
  const found = name === '' ? undefined : findNamedModel(name, offered.models);
  if (name !== '' && !found) {
    const none = `${name} is not installed. Ask /model without a name to see the list.`;
    stream.markdown(toAside(plain(none)));
    return {};
  }
  const before = chatModel();
  if (found) await models.choose(found);
  else await vscode.commands.executeCommand('runner.chooseChatModel');
  const now = chatModel();
  const answering = now === '' ? 'The model in the picker' : now;
  stream.markdown(
    toAside(now === before ? 'The model stays as it is.' : `${answering} answers from now on.`),
  );
  return {};
}

/** `/think` with a word, or without one, which asks for it. */
async function setThinking(
  { offered, models }: ParticipantParts,
  { request, stream }: Turn,
): Promise<vscode.ChatResult> {
  const { model } = await models.answering(request.model);
  const known = model && (await offered.lookUp(model.name, model.server));
  const none = 'No model answers, so none can think.';
  const sentence = known ? await changeThinking(known, request.prompt.trim()) : none;
  stream.markdown(toAside(plain(sentence ?? 'The thinking stays as it is.')));
  return {};
}

/** The editor has no way to offer names of files behind its slash. */
function listPrompts(stream: vscode.ChatResponseStream): vscode.ChatResult {
  stream.markdown(toAside('The prompt that you choose in the list goes into the box below.'));
  // The box is filled once this answer has ended.
  void vscode.commands.executeCommand('runner.usePrompt');
  return {};
}

/**
 * The part of the answer that had arrived stays. The sentence says what to do next, and the buttons below it do it. The
 * editor would show its own field for errors below the buttons.
 */
function addFailure({ facts }: ParticipantParts, stream: vscode.ChatResponseStream, error: unknown): void {
  const isWorded = errorDataOf(error) !== undefined || error instanceof vscode.LanguageModelError;
  const message = isWorded ? messageOf(error) : `The answer failed: ${messageOf(error)}`;
  stream.markdown(toAside(plain(message), 'error'));
  addButtons(stream, possible(facts, remediesOf(error)));
}

function remediesOf(error: unknown): readonly Remedy[] {
  // The user did not allow the model.
  if (error instanceof vscode.LanguageModelError) return [chooseAnotherModel];
  const failure = errorDataOf(error);
  if (failure === undefined) return [showDoctor];
  const remedies = remediesFor(failure);
  // No window of this model is large enough.
  const isTooLong = failure.kind === 'context-exceeded' && failure.advice?.contextLength === 0;
  return failure.kind === 'model-not-found' || isTooLong ? [...remedies, chooseAnotherModel] : remedies;
}

/** Nobody can answer: the runner is down, or it has no model that can chat. */
async function endWithoutModel(
  { daemon, offered, facts }: ParticipantParts,
  { request: { prompt }, stream }: Turn,
): Promise<vscode.ChatResult> {
  try {
    const current = await daemon.request(statusRequest, {});
    const isOffline = current.state === 'offline';
    const sentence = inEditorWords(current);
    // Those that are left run elsewhere.
    const choices = offered.models.some(canChat) ? [pullModel, chooseChatModel] : [pullModel];
    const none = facts.can('pull') ? noModel : noModelThere;
    stream.markdown(toAside(plain(isOffline ? sentence : `${sentence} ${none}`)));
    addButtons(stream, isOffline ? remediesForOffline(current) : possible(facts, choices));
  } catch (error) {
    stream.markdown(toAside(plain(messageOf(error)), 'error'));
    addButtons(stream, openNamedSetting(error) ?? [showDoctor]);
  }
  return failedTurn('', prompt);
}

const noModel =
  'It has no model that can chat yet. Pull one, such as qwen3:4b. A model that runs elsewhere answers only if you choose it.';

const noModelThere = 'It has no model that can chat. Load one in the program that serves the models.';

function addButtons(stream: vscode.ChatResponseStream, remedies: readonly Remedy[]): void {
  for (const { command, title, arguments: given = [] } of remedies)
    stream.button({ command, title, arguments: [...given] });
}

/** With the prompt, so that it can be asked again. */
function failedTurn(model: string, prompt: string): vscode.ChatResult {
  const metadata: TurnMetadata = { model, ended: 'failed', prompt };
  return { metadata };
}
