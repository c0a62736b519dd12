import * as vscode from 'vscode';
import type { Status } from '../../../protocol/messages/status.ts';
import { errorDataOf } from '../convert/failure.ts';
import { messageOf } from '../errorText.ts';
import { plain } from '../notificationText.ts';
import { openNamedSetting, pullModel, setAddress, showDoctor, type WayOut, waysOutOf } from '../waysOut.ts';
import { toAside } from './answerWriter.ts';
import type { TurnMetadata } from './turnMetadata.ts';

/** What a turn was about that came to nothing. */
export interface FailedTurn {
  readonly model: string;
  /** So that it can be asked again. */
  readonly prompt: string;
}

/** The part of the answer that had arrived stays. The sentence says what to do next, and buttons do it. */
export function endFailed(
  stream: vscode.ChatResponseStream,
  turn: FailedTurn,
  error: unknown,
): vscode.ChatResult {
  const failure = errorDataOf(error);
  const isOurs = error instanceof vscode.LanguageModelError;
  if (!isOurs) addButtons(stream, failure === undefined ? [showDoctor] : waysOutOf(failure));
  const isTold = failure !== undefined || isOurs;
  const message = isTold ? messageOf(error) : `The answer failed: ${messageOf(error)}`;
  return { errorDetails: { message }, metadata: metadataOf(turn) };
}

/** Nobody can answer: the runner is down, or it has no model that can chat. The status is asked for only now. */
export async function endWithoutModel(
  stream: vscode.ChatResponseStream,
  prompt: string,
  ask: () => Promise<Status>,
): Promise<vscode.ChatResult> {
  try {
    const { state, message } = await ask();
    const isOffline = state === 'offline';
    stream.markdown(toAside(plain(isOffline ? message : `${message} ${noModel}`)));
    addButtons(stream, isOffline ? [setAddress(), showDoctor] : [pullModel]);
  } catch (error) {
    stream.markdown(toAside(plain(messageOf(error))));
    addButtons(stream, openNamedSetting(error) ?? [showDoctor]);
  }
  return { metadata: metadataOf({ model: '', prompt }) };
}

const noModel =
  'It has no model that can chat yet. Pull one, such as qwen3:4b. A model that runs elsewhere answers only if you choose it.';

function addButtons(stream: vscode.ChatResponseStream, ways: readonly WayOut[]): void {
  for (const { command, title, arguments: given = [] } of ways)
    stream.button({ command, title, arguments: [...given] });
}

function metadataOf({ model, prompt }: FailedTurn): TurnMetadata {
  return { model, ended: 'failed', prompt };
}
