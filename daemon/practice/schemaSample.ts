import { isRecord } from '../../protocol/base/json.ts';
import { listOf, textOf } from './requestBody.ts';

/** A plausible value for a JSON Schema. It uses the words of the question wherever they fit. */
export function sampleOf(schema: unknown, question: string, name = ''): unknown {
  if (!isRecord(schema)) return question;
  if ('const' in schema) return schema['const'];
  if ('default' in schema) return schema['default'];
  const [alternative] = [...listOf(schema['anyOf']), ...listOf(schema['oneOf'])];
  if (alternative !== undefined) return sampleOf(alternative, question, name);
  const choices = listOf(schema['enum']);
  if (choices.length > 0) return choices.find((choice) => mentions(question, String(choice))) ?? choices[0];
  switch (typeName(schema)) {
    case 'integer':
    case 'number':
      return sampleNumber(schema, question);
    case 'boolean':
      return true;
    case 'array':
      return [sampleOf(schema['items'], question, name)];
    case 'object':
      return sampleObject(schema, question);
    case 'null':
      return null;
    default:
      return sampleText(question, name);
  }
}

/** The required fields, and those optional fields for which the question gives a value. */
export function sampleObject(
  schema: Readonly<Record<string, unknown>>,
  question: string,
): Readonly<Record<string, unknown>> {
  const properties = isRecord(schema['properties']) ? schema['properties'] : {};
  const required = new Set(listOf(schema['required']));
  const wanted = Object.entries(properties).filter(
    ([name, property]) => required.has(name) || mentions(question, name) || isNumberGiven(property, question),
  );
  return Object.fromEntries(wanted.map(([name, property]) => [name, sampleOf(property, question, name)]));
}

function typeName({ type, properties }: Readonly<Record<string, unknown>>): string {
  const name = Array.isArray(type) ? type.find((one) => one !== 'null') : type;
  return textOf(name) || (properties === undefined ? 'string' : 'object');
}

function isNumberGiven(property: unknown, question: string): boolean {
  return isRecord(property) && /^(integer|number)$/.test(typeName(property)) && /\d/.test(question);
}

function sampleNumber({ minimum, maximum }: Readonly<Record<string, unknown>>, question: string): number {
  const given = Number(/-?\d+(?:\.\d+)?/.exec(question)?.[0] ?? 1);
  const low = typeof minimum === 'number' ? minimum : Number.NEGATIVE_INFINITY;
  const high = typeof maximum === 'number' ? maximum : Number.POSITIVE_INFINITY;
  return Math.min(high, Math.max(low, given));
}

function sampleText(question: string, name: string): string {
  const quoted = /["'`“]([^"'`”]+)["'`”]/.exec(question)?.[1];
  if (/url|uri|link/i.test(name)) return /https?:\/\/\S+/.exec(question)?.[0] ?? 'https://example.org/';
  if (/path|file|dir|folder/i.test(name))
    return /[\w./\\-]*\w\.\w+|\/?[\w.-]+\/[\w./-]*/.exec(question)?.[0] ?? quoted ?? 'README.md';
  if (/city|place|location|town|country/i.test(name)) return placeIn(question) ?? quoted ?? 'Cologne';
  return quoted ?? question.trim().slice(0, 200);
}

/**
 * A capitalised word after "in", "for", "at" or "of", else the last capitalised word that does not begin the question.
 */
function placeIn(question: string): string | undefined {
  const after = /\b(?:in|for|at|of)\s+(\p{Lu}[\p{L}-]*(?:\s\p{Lu}[\p{L}-]*)*)/u.exec(question)?.[1];
  return after ?? [...question.matchAll(/(?<=\S\s)\p{Lu}[\p{L}-]+/gu)].at(-1)?.[0];
}

function mentions(question: string, word: string): boolean {
  return word !== '' && question.toLowerCase().includes(word.toLowerCase());
}
