import * as z from 'zod/mini';
import type { TextAnswer } from '../runner/transport.ts';
import { noModels, notAList } from './catalogFailure.ts';
import { cleanModels, type ListedModel, type ListedParts } from './listedModel.ts';

/** How many items of a list are read; some of them may not be models. */
const maxItems = 20_000;

/** Reads an answer of the catalog at `base`. @throws {RunnerError} `bad-response`, if it lists no models. */
export type ReadAnswer = (
  answer: TextAnswer,
  base: string,
  signal: AbortSignal,
) => Promise<readonly ListedModel[]>;

/** The cloud's answer is JSON. A web page that a proxy sends instead is never accepted. */
export const readCloudAnswer: ReadAnswer = async ({ contentType, text }, base) => {
  if (isPageType(contentType)) throw notAList(base);
  return modelsOfJson(tryJson(text), base);
};

/** The library's answer is a web page, but a mirror may serve JSON. */
export const readLibraryAnswer: ReadAnswer = async ({ contentType, text }, base, signal) => {
  if (isPageType(contentType)) return modelsOfPage(text, base, signal);
  const value = tryJson(text);
  if (value === undefined && saysNothing(contentType) && text.trimStart().startsWith('<'))
    return modelsOfPage(text, base, signal);
  return modelsOfJson(value, base);
};

function isPageType(contentType: string): boolean {
  return contentType.toLowerCase().includes('text/html');
}

/** A server sends such a type if it knows nothing about the file. */
function saysNothing(contentType: string): boolean {
  return ['', 'text/plain'].includes(contentType.split(';')[0]?.trim().toLowerCase() ?? '');
}

async function modelsOfPage(text: string, base: string, signal: AbortSignal) {
  const { readLibraryPage } = await import('./libraryPage.ts');
  const models = await readLibraryPage(text, `${base}/library`, signal);
  if (models.length === 0) throw noModels(base);
  return models;
}

function modelsOfJson(value: unknown, base: string): readonly ListedModel[] {
  const list = listSchema.safeParse(value);
  if (!list.success) throw notAList(base);
  const items = Array.isArray(list.data) ? list.data : (list.data.models ?? []);
  const models = cleanModels(items.slice(0, maxItems).flatMap(partsOf));
  if (models.length === 0 && items.length > 0) throw notAList(base);
  return models;
}

const listSchema = z.union([z.array(z.unknown()), z.object({ models: z.nullable(z.array(z.unknown())) })]);

/** A missing value or one of a wrong type is left out. */
const lenient = <T extends z.core.SomeType>(schema: T) => z.catch(z.optional(schema), undefined);

const itemSchema = z.object({
  name: z.string(),
  description: lenient(z.string()),
  capabilities: lenient(z.array(z.unknown())),
  sizes: lenient(z.array(z.unknown())),
  details: lenient(z.object({ parameter_size: lenient(z.string()) })),
});

function partsOf(item: unknown): ListedParts[] {
  if (typeof item === 'string') return [{ name: item }];
  const parsed = itemSchema.safeParse(item);
  if (!parsed.success) return [];
  const { name, description, capabilities, sizes, details } = parsed.data;
  const size = details?.parameter_size;
  return [
    {
      name,
      description,
      capabilities: stringsOf(capabilities),
      sizes: stringsOf(sizes) ?? (size === undefined ? undefined : [size]),
    },
  ];
}

function stringsOf(items: readonly unknown[] | undefined): string[] | undefined {
  return items?.filter((item) => typeof item === 'string').slice(0, 1_000);
}

/** Undefined if it is not JSON. A byte-order mark at the start is ignored. */
function tryJson(text: string): unknown {
  try {
    return JSON.parse(text.trim());
  } catch {
    return undefined;
  }
}
