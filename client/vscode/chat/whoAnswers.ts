import type { LanguageModelChat } from 'vscode';
import type { ChatModelResult } from '../../../protocol/messages/models.ts';
import { chooseAnotherModel, letPickerDecide, openModelPicker, type Remedy } from '../ui/remedies.ts';
import { labelOf, placeholderId } from './pickerEntries.ts';

/** The vendor id under which other extensions and the editor's own chat find the runner's models. */
export const vendor = 'runner';

export interface NamedModel {
  readonly name: string;
  readonly server: string;
}

/** No model if nobody can answer. */
export interface Answering {
  readonly model?: NamedModel;
  readonly note?: AnswerNote;
}

/** Why another model answers than the user would expect, and what changes that. */
export interface AnswerNote {
  readonly sentence: string;
  readonly remedies: readonly Remedy[];
}

export interface AnsweringFacts {
  /** The daemon's rule; empty if it was not asked, or did not answer. */
  readonly rule: ChatModelResult;
  /** What the picker shows, where the prompt comes from the chat. */
  readonly picked?: Pick<LanguageModelChat, 'id' | 'vendor' | 'name'> | undefined;
  /** The model that it stands for, if it is an installed one of ours. */
  readonly inPicker?: NamedModel | undefined;
  /** Answers if nothing else says who does. */
  readonly preferred?: NamedModel | undefined;
}

/** The setting decides, else the picker, else the rest of the daemon's rule. */
export function whoAnswers({ rule, picked, inPicker, preferred }: AnsweringFacts): Answering {
  const { model: ruled, from, missing } = rule;
  if (ruled && from === 'setting') return withNote(ruled, inPicker && noteOfSetting(ruled, inPicker));
  const gone = missing === undefined ? '' : `runner.chatModel names ${missing}, which cannot answer here. `;
  if (inPicker) return withNote(inPicker, gone === '' ? undefined : noteOfMissing(gone, inPicker));
  const model = ruled ?? preferred;
  return model ? withNote(model, picked && noteOfPicker(gone, model, picked)) : {};
}

function withNote(model: NamedModel, note: AnswerNote | undefined) {
  return { model, ...(note && { note }) };
}

/** The setting takes precedence over the picker, which shows another model. */
function noteOfSetting(ruled: NamedModel, inPicker: NamedModel): AnswerNote | undefined {
  if (ruled.name === inPicker.name && ruled.server === inPicker.server) return undefined;
  const sentence = `${labelOf(ruled)} answers, because the setting runner.chatModel names it. The picker shows ${labelOf(inPicker)}.`;
  return { sentence, remedies: [letPickerDecide] };
}

function noteOfMissing(gone: string, model: NamedModel): AnswerNote {
  return { sentence: `${gone}${labelOf(model)} answers.`, remedies: [chooseAnotherModel, letPickerDecide] };
}

/** The picker shows a model of somebody else, or one that is gone. */
function noteOfPicker(
  gone: string,
  model: NamedModel,
  picked: NonNullable<AnsweringFacts['picked']>,
): AnswerNote {
  const isGone = picked.vendor === vendor && picked.id !== placeholderId;
  const after = isGone ? ', which is not there any more' : '';
  const sentence = `${gone}${labelOf(model)} answers; the picker shows ${picked.name}${after}.`;
  return { sentence, remedies: gone === '' ? [openModelPicker] : [chooseAnotherModel] };
}
