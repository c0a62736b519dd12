import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LanguageModelChat, LanguageModelChatInformation, Memento } from 'vscode';
import { isRecord } from '../../../protocol/base/json.ts';
import { writePrivateFile } from '../../../protocol/base/platform/privateFile.ts';
import { type ChatModelResult, canChat, type Model } from '../../../protocol/messages/models.ts';
import { defaultServerName } from '../../../protocol/messages/settings.ts';
import {
  type ContextSizing,
  contextSizeOf,
  describeContext,
  isAssumedSize,
} from '../convert/contextSizes.ts';
import { idOf } from '../models/modelRow.ts';
import { chooseAnotherModel, letPickerDecide, openModelPicker, type Remedy } from '../ui/remedies.ts';

/** A model in the editor's picker, with what a request for it needs. */
export interface RunnerModelInformation extends LanguageModelChatInformation {
  /** Absent on the entry that is shown when there is no model. */
  readonly model?: NamedModel;
}

/** What is known besides the models. */
interface PickerFacts {
  /** Whether the models of this server are the last known ones. */
  readonly isStale: (server: string) => boolean;
  readonly sizing: ContextSizing;
  /**
   * Ids that were offered before, the most recently removed last. The picker may still hold one of those, and a
   * prompt to an id that is gone would reach nobody.
   */
  readonly remembered: readonly string[];
  /** Whether prompts may go to this model. */
  readonly isAllowed: (model: Model) => boolean;
}

/** How a model is called where models of several servers are shown. */
export function labelOf({ name, server }: Pick<Model, 'name' | 'server'>): string {
  return server === defaultServerName ? name : `${name} (${server})`;
}

/** How many removed models are still offered. */
const maxGone = 5;

/**
 * The entries of the picker: the models that can chat, local ones before remote ones. The editor may choose any entry
 * by itself, so remote models are listed only once the user has allowed them. If there is no local model, an entry says
 * what to do.
 */
export function toPickerEntries(
  models: readonly Model[],
  facts: PickerFacts,
): readonly RunnerModelInformation[] {
  const { remembered, isAllowed } = facts;
  const local = models.filter(({ remote }) => !remote);
  const remote = models.filter((model) => model.remote && isAllowed(model));
  const own = toModelInformation(local, facts);
  // The agent lists only models with tools. Without any entry, `@runner` could not even explain that.
  const isMissing = !own.some(({ capabilities }) => capabilities.toolCalling);
  const wanted = [
    ...own,
    ...(isMissing ? [placeholder(models.some(canChat))] : []),
    ...toModelInformation(remote, facts),
  ];
  const here = new Set(wanted.map(({ id }) => id));
  const gone = remembered.filter((id) => !here.has(id)).slice(0, maxGone);
  return [...wanted, ...gone.map(substitute)];
}

/** The models that can chat, newest first. */
function toModelInformation(models: readonly Model[], facts: PickerFacts): RunnerModelInformation[] {
  return models.filter(canChat).map((model) => toInformation(model, facts));
}

/** Room for the answer. The editor summarises a conversation that nearly fills the rest. */
const maxAnswerTokens = 4_096;

function toInformation(model: Model, { isStale, sizing }: PickerFacts): RunnerModelInformation {
  const { name, server, family, digest, capabilities, remote } = model;
  const size = contextSizeOf(model, sizing);
  const maxOutputTokens = Math.min(maxAnswerTokens, Math.floor(size / 4));
  const details = [
    server === defaultServerName ? '' : server,
    remote ? 'remote' : '',
    isStale(server) ? 'offline' : '',
  ];
  return {
    id: idOf(model),
    name: labelOf(model),
    family,
    version: digest?.slice(0, 12) ?? 'unknown',
    // With less than half of the window, the editor would send nothing at all.
    maxInputTokens: size - maxOutputTokens,
    maxOutputTokens,
    capabilities: {
      imageInput: capabilities.vision.value === true,
      // The specification says: offer tools until the model refuses them.
      toolCalling: capabilities.tools.value !== false,
    },
    detail: details.filter(Boolean).join(', '),
    tooltip: `${tooltipOf(model, size)}${isAssumedSize(model, sizing) ? ', assumed' : ''}`,
    model: { name, server },
  };
}

/** The same words as in the views, with the size for the next prompt. */
function tooltipOf({ name, details, context, running, remote }: Model, size: number): string {
  const variant = details ? ` ${details.parameterSize} ${details.quantization}` : '';
  const known = remote ? { ...context, allocated: context.allocated ?? size } : context;
  const words = describeContext({ context: known, ...(running && { running }) }, size);
  return `${name}${variant}${words && `, a window of ${words}`}`;
}

/**
 * For an id that was offered before: a user who still has it chosen gets an answer from an existing model, and nobody
 * else sees it in the picker. The editor reads that from a field which is in no stable typing.
 */
function substitute(id: string): RunnerModelInformation {
  return {
    ...placeholder(true),
    id,
    name: id === placeholderId ? 'Runner: any model' : id,
    detail: id === placeholderId ? '' : 'not installed',
    tooltip: 'Another model answers: a loaded one on your machine, or else the newest.',
    ...unlisted,
  };
}

const unlisted = { isUserSelectable: false };

/** The id of the entry that is shown when no model of ours can answer an agent. */
const placeholderId = 'none';

function placeholder(hasModels: boolean): RunnerModelInformation {
  return {
    id: placeholderId,
    name: hasModels ? 'Runner: no local model with tools' : 'Runner: no model yet',
    family: 'none',
    version: '0',
    maxInputTokens: 4096,
    maxOutputTokens: 4096,
    capabilities: { toolCalling: true },
    tooltip: hasModels
      ? 'None of your own models supports tools. Ask @runner, pull a model that supports tools, or allow one that runs elsewhere with **Choose the Chat Model**.'
      : 'Start your runner, or pull a model.',
  };
}

const memoryKey = 'runner.offeredIds';

/**
 * The ids that the picker was last offered. It may still have one of them chosen, and a question to an id that nobody
 * offers fails in the editor, before Runner learns of it. They are kept in the editor and in a file of the user's state
 * folder: the editor forgets what an extension kept when it is uninstalled, but not which model is chosen.
 */
export function createOfferedIds(memory: Memento, stateFolder: string) {
  const path = join(stateFolder, 'vscodeModels.json');
  let last = memory.get<readonly string[]>(memoryKey) ?? readIds(path);
  return {
    get last(): readonly string[] {
      return last;
    },
    /** Settles once they are kept. */
    async keep(ids: readonly string[]): Promise<void> {
      if (ids.join(' ') === last.join(' ')) return;
      last = ids;
      const text = `${JSON.stringify({ ids })}\n`;
      await Promise.all([memory.update(memoryKey, ids), writePrivateFile(path, text)]);
    },
  };
}

/** Empty if there is no file, or if it is broken: then only the editor remembers. */
function readIds(path: string): readonly string[] {
  try {
    const kept: unknown = JSON.parse(readFileSync(path, 'utf8'));
    const ids: unknown = isRecord(kept) ? kept['ids'] : undefined;
    return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : [];
  } catch {
    return [];
  }
}

/** The vendor id under which other extensions and the editor's own chat find the runner's models. */
export const vendor = 'runner';

export interface NamedModel {
  readonly name: string;
  readonly server: string;
}

/** No model if nobody can answer. */
export interface AnswerChoice {
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
export function whoAnswers({ rule, picked, inPicker, preferred }: AnsweringFacts): AnswerChoice {
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
