import { defaultServerName } from '../../../protocol/messages/initialize.ts';
import type { Model } from '../../../protocol/messages/models.ts';
import { isSameModel } from '../models/modelRow.ts';

export interface Wanted {
  /** As the user wrote it: a name, or the picker's `server/name`. */
  readonly name: string;
  /** The setting `runner.chatModel`, which comes before the picker; `""` is none. */
  readonly setting: string;
}

/** The model of the default server that `/model` names, or else a sentence that says what to do. */
export function findWanted(
  { name, setting }: Wanted,
  models: readonly Model[],
): { readonly model: Model } | { readonly advice: string } {
  const isCalled = ({ name: model, server }: Model) =>
    isSameModel({ model }, { model: name }) || isSameModel({ model: `${server}/${model}` }, { model: name });
  const called = models.filter(isCalled);
  const here = called.find(({ server }) => server === defaultServerName);
  if (here) return { model: here };
  const [there] = called;
  if (!there) return { advice: `${name} is not installed. Ask /model without a name to see the list.` };
  const first =
    setting === '' ? 'Choose' : `Clear the setting runner.chatModel, which names ${setting}, and choose`;
  return { advice: `${there.name} is on the server ${there.server}. ${first} it in the model picker.` };
}
