import type { Model } from '../../../protocol/models.ts';
import {
  canChat,
  type InformationOptions,
  type RunnerModelInformation,
  toModelInformation,
} from '../convert/modelInformation.ts';

export interface PickerOptions extends InformationOptions {
  /** What an earlier window offered, newest first: the picker may hold on to one, and no question reaches one that is not there. */
  readonly remembered: readonly string[];
}

/** How many models that are gone are offered all the same. */
export const mostGone = 5;

/** What the picker lists: the models that can chat, and where those are not enough, what to do. */
export function toPickerEntries(
  models: readonly Model[],
  { remembered, ...options }: PickerOptions,
): readonly RunnerModelInformation[] {
  const offered = toModelInformation(models, options);
  const wanted = needsPlaceholder(offered) ? [...offered, placeholder(models.some(canChat))] : offered;
  const here = new Set(wanted.map(({ id }) => id));
  const gone = remembered.filter((id) => !here.has(id)).slice(0, mostGone);
  return [...wanted, ...gone.map(substitute)];
}

/** The agent lists only models with tools, and without any model `@runner` could not even say why. */
function needsPlaceholder(offered: readonly RunnerModelInformation[]): boolean {
  return !offered.some(({ capabilities }) => capabilities.toolCalling);
}

/** For one that was offered in an earlier window: whoever chose it is answered by the one that is there. */
function substitute(id: string): RunnerModelInformation {
  return {
    ...placeholder(true),
    ...{ id, name: id === placeholderId ? 'Runner: any model' : id },
    detail: id === placeholderId ? '' : 'not installed',
    tooltip: 'Another one answers: of your machine, one that is loaded, else the newest.',
  };
}

const placeholderId = 'none';

function placeholder(hasModels: boolean): RunnerModelInformation {
  return {
    id: placeholderId,
    name: hasModels ? 'Runner: no model with tools' : 'Runner: no model yet',
    family: 'none',
    version: '0',
    maxInputTokens: 4096,
    maxOutputTokens: 4096,
    capabilities: { toolCalling: true },
    tooltip: hasModels
      ? 'None of your models takes tools. Ask @runner, or pull a model that does.'
      : 'Start your runner, or pull a model.',
  };
}
