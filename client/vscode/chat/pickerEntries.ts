import { canChat } from '../../../protocol/messages/choice.ts';
import type { Model } from '../../../protocol/messages/models.ts';
import {
  type InformationOptions,
  type RunnerModelInformation,
  toModelInformation,
} from '../convert/modelInformation.ts';

export interface PickerOptions extends InformationOptions {
  /**
   * Ids that were offered before, the most recently removed last. The picker may still hold one of those, and a
   * question to an id that is gone would reach nobody.
   */
  readonly remembered: readonly string[];
  /** Whether words of the user may go to this model. */
  readonly isAllowed: (model: Model) => boolean;
}

/** How many removed models are still offered. */
const mostGone = 5;

/**
 * The entries of the picker: the models that can chat, the user's own before those that run elsewhere. The editor may
 * choose any entry by itself, so those that run elsewhere come only once the user has allowed them. If there is no
 * model of the user's own, an entry says what to do.
 */
export function toPickerEntries(
  models: readonly Model[],
  { remembered, isAllowed, ...options }: PickerOptions,
): readonly RunnerModelInformation[] {
  const own = toModelInformation(
    models.filter(({ remote }) => !remote),
    options,
  );
  const elsewhere = toModelInformation(
    models.filter((model) => model.remote && isAllowed(model)),
    options,
  );
  // The agent lists only models with tools. Without any entry, `@runner` could not even explain that.
  const isMissing = !own.some(({ capabilities }) => capabilities.toolCalling);
  const wanted = [...own, ...(isMissing ? [placeholder(models.some(canChat))] : []), ...elsewhere];
  const here = new Set(wanted.map(({ id }) => id));
  const gone = remembered.filter((id) => !here.has(id)).slice(0, mostGone);
  return [...wanted, ...gone.map(substitute)];
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
