import { listModelsRequest, type Model } from '../../protocol/models.ts';
import type { Daemon } from './daemon.ts';
import { nearest } from './nearest.ts';

/**
 * The model to talk to: the one that was named, else one that is loaded, else the newest that can chat.
 * @throws {Error} with a sentence, when there is none.
 */
export async function chooseModel(daemon: Daemon, named: string | undefined): Promise<string> {
  if (named !== undefined) return named;
  const { models } = await daemon.request(listModelsRequest, {});
  const able = models.filter(canChat);
  const chosen = able.find(({ running }) => running !== undefined) ?? able[0];
  if (chosen) return chosen.name;
  throw new Error(
    models.length === 0
      ? 'The runner has no model yet. Pull one, for example with "ollama pull qwen3:4b".'
      : 'None of the installed models can chat. Pull one that can, for example with "ollama pull qwen3:4b".',
  );
}

export function canChat({ capabilities }: Model): boolean {
  return (
    capabilities.completion.value !== false &&
    !(capabilities.completion.value === 'unknown' && capabilities.embedding.value === true)
  );
}

/** The model that a user means by a number of the shown list or a name; else a sentence with near names. */
export function findModel(models: readonly Model[], text: string): Model | string {
  const byNumber = /^\d+$/.test(text) ? models[Number(text) - 1] : undefined;
  const wanted = text.toLowerCase();
  const byName = models.find(
    ({ name }) => name.toLowerCase() === wanted || name.toLowerCase() === `${wanted}:latest`,
  );
  if (byNumber ?? byName) return (byNumber ?? byName) as Model;
  const near = nearest(
    text,
    models.map(({ name }) => name),
  );
  return `There is no model "${text}".${near.length > 0 ? ` Near: ${near.join(', ')}.` : ''} "/model" lists them.`;
}
