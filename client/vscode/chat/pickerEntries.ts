import { canChat } from '../../../protocol/choice.ts';
import type { Model } from '../../../protocol/models.ts';
import {
  type InformationOptions,
  type RunnerModelInformation,
  toModelInformation,
} from '../convert/modelInformation.ts';

export interface PickerOptions extends InformationOptions {
  /**
   * What was offered before, what is gone last: the picker may hold on to one of those, and no question reaches one that
   * is not there.
   */
  readonly remembered: readonly string[];
}

/** How many models that are gone are offered all the same. */
const mostGone = 5;

/**
 * What the picker lists: the models that can chat, the user's own before those that run elsewhere, and where there are
 * none of those, what to do.
 */
export function toPickerEntries(
  models: readonly Model[],
  { remembered, ...options }: PickerOptions,
): readonly RunnerModelInformation[] {
  const own = toModelInformation(
    models.filter(({ remote }) => !remote),
    options,
  );
  const elsewhere = toModelInformation(
    models.filter(({ remote }) => remote),
    options,
  );
  // The agent lists only models with tools, and without any model `@runner` could not even say why.
  const isMissing = !own.some(({ capabilities }) => capabilities.toolCalling);
  const wanted = [...own, ...(isMissing ? [placeholder(models.some(canChat))] : []), ...elsewhere];
  const here = new Set(wanted.map(({ id }) => id));
  const gone = remembered.filter((id) => !here.has(id)).slice(0, mostGone);
  return [...wanted, ...gone.map(substitute)];
}

/**
 * For one that was offered before: whoever chose it is answered by the one that is there, and nobody else sees it in the
 * picker. The editor reads that from a field which no stable typing has.
 */
function substitute(id: string): RunnerModelInformation {
  return {
    ...placeholder(true),
    ...{ id, name: id === placeholderId ? 'Runner: any model' : id },
    detail: id === placeholderId ? '' : 'not installed',
    tooltip: 'Another one answers: of your machine, one that is loaded, else the newest.',
    ...{ isUserSelectable: false },
  };
}

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
      ? 'No model of your own takes tools. Ask @runner, pull a model that does, or choose one that runs elsewhere.'
      : 'Start your runner, or pull a model.',
  };
}
