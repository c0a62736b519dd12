import { cutText } from '../../protocol/base/text.ts';
import { parseModelName } from '../models/name.ts';

/** Far more models than any catalog has. */
export const maxModels = 5_000;

const maxDescription = 500;
const maxMarks = 20;
const maxMark = 32;
/** The grammar allows no longer name. */
const maxName = 700;
/** Texts are cut to this length before they are cleaned. No useful text is longer. */
const maxRaw = 16_384;

/** A model as a catalog lists it, cleaned: a catalog may say anything. */
export interface CatalogModel {
  /** A name that follows the grammar, without a scheme. */
  readonly name: string;
  readonly description?: string;
  readonly capabilities?: readonly string[];
  readonly sizes?: readonly string[];
}

/** The same before it is cleaned. */
export interface RawModel {
  readonly name: string;
  readonly description?: string | undefined;
  readonly capabilities?: readonly string[] | undefined;
  readonly sizes?: readonly string[] | undefined;
}

/**
 * The models, each once and at most 5,000, in the order in which the catalog first named them. What the first mention
 * of a model leaves out is taken from later ones. Names that do not follow the grammar are left out.
 */
export function cleanModels(parts: Iterable<RawModel>): readonly CatalogModel[] {
  const models = new Map<string, CatalogModel>();
  for (const part of parts) {
    if (!isCatalogName(part.name)) continue;
    const key = part.name.toLowerCase();
    const known = models.get(key);
    if (known || models.size < maxModels) models.set(key, { ...cleanModel(part), ...known });
  }
  return [...models.values()];
}

/** A name with a scheme is refused, because it would direct a download to an address of the catalog's choice. */
function isCatalogName(name: string): boolean {
  if (name.length > maxName || name.includes('://')) return false;
  try {
    parseModelName(name);
    return true;
  } catch {
    return false;
  }
}

function cleanModel({ name, description, capabilities, sizes }: RawModel): CatalogModel {
  const text = cutText(cleanText(description ?? ''), maxDescription).trimEnd();
  const can = cleanMarks(capabilities);
  const has = cleanMarks(sizes);
  return {
    name,
    ...(text === '' ? {} : { description: text }),
    ...(can.length === 0 ? {} : { capabilities: can }),
    ...(has.length === 0 ? {} : { sizes: has }),
  };
}

/** A mark that is too long is not a word of a catalog, and a part of it would be another word. */
function cleanMarks(marks: readonly string[] = []): string[] {
  const clean = marks.map(cleanText).filter((mark) => mark !== '' && mark.length <= maxMark);
  return [...new Set(clean)].slice(0, maxMarks);
}

/**
 * Makes one line of a text. Control characters are removed, and so are marks of the writing direction, because they
 * reverse the text around them.
 */
function cleanText(text: string): string {
  return text
    .slice(0, maxRaw)
    .replace(/\s+/g, ' ')
    .replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '')
    .replace(/ {2,}/g, ' ')
    .trim();
}
