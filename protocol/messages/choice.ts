import { defaultServerName } from './initialize.ts';
import type { Model } from './models.ts';

/** Whether a model may be asked to chat. If its server does not say, a name that means embedding rules it out. */
export function canChat({ capabilities: { completion, embedding } }: Model): boolean {
  return completion.value !== false && !(completion.value === 'unknown' && embedding.value === true);
}

/**
 * The model that answers when the user has chosen none. Of the models that can chat, a loaded one comes first, then the
 * first in the list, which is the newest. Models of other servers count only if the default server has none. A model
 * that runs on another host is never picked, since the user must choose it; without others the result is undefined.
 */
export function preferredModel(models: readonly Model[]): Model | undefined {
  const own = models.filter((model) => canChat(model) && !model.remote);
  const here = own.filter(({ server }) => server === defaultServerName);
  const able = here.length > 0 ? here : own;
  return able.find(({ running }) => running !== undefined) ?? able[0];
}
