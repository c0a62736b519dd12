import { defaultServerName } from './initialize.ts';
import type { Model } from './models.ts';

/** Whether a model may be asked to chat: where its server does not say, one that only embeds by its name is not. */
export function canChat({ capabilities: { completion, embedding } }: Model): boolean {
  return completion.value !== false && !(completion.value === 'unknown' && embedding.value === true);
}

/**
 * Who answers where nobody chose: of the models that can chat one that is loaded, else the first, which is the newest;
 * of another server only where the default one has none. One that runs elsewhere answers only who chose it; undefined
 * where there are no others.
 */
export function preferredModel(models: readonly Model[]): Model | undefined {
  const own = models.filter((model) => canChat(model) && !model.remote);
  const here = own.filter(({ server }) => server === defaultServerName);
  const able = here.length > 0 ? here : own;
  return able.find(({ running }) => running !== undefined) ?? able[0];
}
