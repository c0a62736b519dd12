import type { LanguageModelChatInformation } from 'vscode';
import { canChat, type Model } from '../../../protocol/messages/models.ts';
import { defaultServerName } from '../../../protocol/messages/settings.ts';
import {
  type ContextSizing,
  contextSizeOf,
  describeContext,
  isAssumedSize,
} from '../convert/contextSizes.ts';
import { idOf } from '../models/modelRow.ts';

/** A model in the editor's picker, with what a request for it needs. */
export interface RunnerModelInformation extends LanguageModelChatInformation {
  /** Absent on the entry that is shown when there is no model. */
  readonly model?: { readonly name: string; readonly server: string };
}

export interface InformationOptions {
  /** Whether the models of this server are the last known ones. */
  readonly isStale: (server: string) => boolean;
  readonly sizing: ContextSizing;
}

export interface PickerOptions extends InformationOptions {
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
  { remembered, isAllowed, ...options }: PickerOptions,
): readonly RunnerModelInformation[] {
  const local = models.filter(({ remote }) => !remote);
  const remote = models.filter((model) => model.remote && isAllowed(model));
  const own = toModelInformation(local, options);
  // The agent lists only models with tools. Without any entry, `@runner` could not even explain that.
  const isMissing = !own.some(({ capabilities }) => capabilities.toolCalling);
  const wanted = [
    ...own,
    ...(isMissing ? [placeholder(models.some(canChat))] : []),
    ...toModelInformation(remote, options),
  ];
  const here = new Set(wanted.map(({ id }) => id));
  const gone = remembered.filter((id) => !here.has(id)).slice(0, maxGone);
  return [...wanted, ...gone.map(substitute)];
}

/** The models that can chat, newest first. */
function toModelInformation(models: readonly Model[], options: InformationOptions): RunnerModelInformation[] {
  return models.filter(canChat).map((model) => toInformation(model, options));
}

/** Room for the answer. The editor summarises a conversation that nearly fills the rest. */
const maxAnswerTokens = 4_096;

function toInformation(model: Model, { isStale, sizing }: InformationOptions): RunnerModelInformation {
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
export const placeholderId = 'none';

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
