import type { CatalogEntry } from '../../protocol/messages/models.ts';
import { familyOf } from '../models/family.ts';
import { modelKey, parseModelName } from '../models/name.ts';
import type { ListedModel } from './listedModel.ts';

export interface EntryOptions {
  /** The catalog's base address without a trailing slash. */
  readonly base: string;
  /** The name to pull for the model that is listed under this name. */
  readonly pullName: (name: string) => string;
  /** Names of the installed models. */
  readonly installed: readonly string[];
}

/**
 * The entries for a client. Which models are installed is looked up at each call, because that changes more often than
 * a catalog.
 */
export function toEntries(
  models: readonly ListedModel[],
  { base, pullName, installed }: EntryOptions,
): CatalogEntry[] {
  const keys = new Set(installed.map(modelKey));
  const bases = new Set(installed.map(keyWithoutTag));
  // A name with a tag is one model, whatever else has the name before it.
  const isInstalled = (name: string) =>
    splitName(name).tag === undefined ? bases.has(keyWithoutTag(name)) : keys.has(modelKey(name));
  return models.map((model) => ({
    ...model,
    model: pullName(model.name),
    url: `${base}/library/${splitName(model.name).path}`,
    family: familyOf(model.name),
    installed: isInstalled(pullName(model.name)),
  }));
}

/**
 * The models whose name, description or capabilities contain every word of the query. The search always happens here:
 * what a user looks for is never sent to a catalog.
 */
export function matching(models: readonly ListedModel[], query: string): readonly ListedModel[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return models;
  return models.filter((model) => {
    const texts = [model.name, model.description ?? '', ...(model.capabilities ?? [])];
    const whole = texts.join('\n').toLowerCase();
    return words.every((word) => whole.includes(word));
  });
}

/** The runner's own suffix for a model that it forwards to the cloud: `m:cloud`, or `m:20b-cloud` for `m:20b`. */
export function cloudModelOf(name: string): string {
  const { path, tag } = splitName(name);
  if (tag === undefined) return `${path}:cloud`;
  return /(^|-)cloud$/i.test(tag) ? `${path}:${tag}` : `${path}:${tag}-cloud`;
}

function splitName(name: string): { readonly path: string; readonly tag: string | undefined } {
  const { host, namespace, model, tag } = parseModelName(name);
  return { path: [host, namespace, model].filter((part) => part !== undefined).join('/'), tag };
}

function keyWithoutTag(name: string): string {
  return modelKey(name).replace(/:[^:/]*$/, '');
}
