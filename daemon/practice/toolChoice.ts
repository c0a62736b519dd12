import { randomBytes } from 'node:crypto';
import { isRecord } from '../../protocol/base/json.ts';
import { listOf, recordOf } from './exchange.ts';
import { wordsOf } from './pages.ts';
import type { Call, PromptTool } from './speech.ts';

/**
 * The call that a question asks for, if any. The question either names a tool, or has a word that asks for a tool while
 * a tool matches the rest. Editors offer dozens of tools with every question, and most questions call none.
 */
export function callFor(question: string, tools: readonly PromptTool[]): Call | undefined {
  const named = tools.find(({ name }) => isNamed(question, name));
  const tool = named ?? (asksForTool.test(question) ? closestTool(question, tools) : undefined);
  if (!tool) return undefined;
  const id = `call_${randomBytes(4).toString('hex')}`;
  return { id, name: tool.name, arguments: sampleObject(tool.parameters, question) };
}

const asksForTool = /\b(?:use|call|run|try|tools?|weather|look up|search|fetch|read|open|list)\b/i;

/** By all of its words: `countOpenTabs` by "count the open tabs". */
function isNamed(question: string, name: string): boolean {
  const words = name.split(/[_\-.\s]+|(?<=[a-z])(?=[A-Z])/).filter((word) => word !== '');
  const said = new Set(question.toLowerCase().split(/[^\p{L}\p{N}]+/u));
  return words.length > 0 && words.every((word) => said.has(word.toLowerCase()));
}

function closestTool(question: string, tools: readonly PromptTool[]): PromptTool | undefined {
  const asked = wordsOf(question);
  const hitsOf = ({ name, description }: PromptTool) =>
    [...wordsOf(`${name} ${description}`)].filter((word) => asked.has(word)).length;
  const [best] = tools.map((tool) => ({ tool, hits: hitsOf(tool) })).sort((a, b) => b.hits - a.hits);
  const anyTool = /\b(?:a|any|some|the|your)\s+tools?\b/i.test(question);
  return best && (best.hits > 0 || anyTool) ? best.tool : undefined;
}

/** A plausible value for a JSON Schema. It uses the words of the question wherever they fit. */
export function sampleOf(schema: unknown, question: string, name = ''): unknown {
  const { type: types, anyOf, oneOf, enum: choices, properties, items, ...rest } = recordOf(schema);
  for (const key of ['const', 'default']) if (key in rest) return rest[key];
  const [alternative] = [...listOf(anyOf), ...listOf(oneOf)];
  if (alternative !== undefined) return sampleOf(alternative, question, name);
  const values = listOf(choices);
  if (values.length > 0) return values.find((value) => mentions(question, String(value))) ?? values[0];
  const type =
    [types].flat().find((one) => one !== 'null') ?? (properties === undefined ? 'string' : 'object');
  if (type === 'integer' || type === 'number') return sampleNumber(rest, question);
  if (type === 'boolean') return true;
  if (type === 'array') return [sampleOf(items, question, name)];
  return type === 'object' ? sampleObject(recordOf(schema), question) : sampleText(question, name);
}

/** The required fields, and those optional fields for which the question gives a value. */
function sampleObject(
  schema: Readonly<Record<string, unknown>>,
  question: string,
): Readonly<Record<string, unknown>> {
  const required = listOf(schema['required']);
  const isNumber = (property: unknown) =>
    isRecord(property) && /^(?:integer|number)$/.test(String(property['type']));
  const wanted = Object.entries(recordOf(schema['properties'])).filter(
    ([name, property]) =>
      required.includes(name) || mentions(question, name) || (isNumber(property) && /\d/.test(question)),
  );
  return Object.fromEntries(wanted.map(([name, property]) => [name, sampleOf(property, question, name)]));
}

function sampleNumber(
  {
    minimum = Number.NEGATIVE_INFINITY,
    maximum = Number.POSITIVE_INFINITY,
  }: Readonly<Record<string, unknown>>,
  question: string,
): number {
  const given = Number(/-?\d+(?:\.\d+)?/.exec(question)?.[0] ?? 1);
  return Math.min(Number(maximum), Math.max(Number(minimum), given));
}

function sampleText(question: string, name: string): string {
  const quoted = /["'`“]([^"'`”]+)["'`”]/.exec(question)?.[1];
  if (/url|uri|link/i.test(name)) return /https?:\/\/\S+/.exec(question)?.[0] ?? 'https://example.org/';
  if (/path|file|dir|folder/i.test(name))
    return /[\w./\\-]*\w\.\w+|\/?[\w.-]+\/[\w./-]*/.exec(question)?.[0] ?? quoted ?? 'README.md';
  if (/city|place|location|town|country/i.test(name)) return placeIn(question) ?? quoted ?? 'Cologne';
  return quoted ?? question.trim().slice(0, 200);
}

/** A capitalised word after "in", "for", "at" or "of", else the last one that does not begin the question. */
function placeIn(question: string): string | undefined {
  const after = /\b(?:in|for|at|of)\s+(\p{Lu}[\p{L}-]*(?:\s\p{Lu}[\p{L}-]*)*)/u.exec(question)?.[1];
  return after ?? [...question.matchAll(/(?<=\S\s)\p{Lu}[\p{L}-]+/gu)].at(-1)?.[0];
}

function mentions(question: string, word: string): boolean {
  return word !== '' && question.toLowerCase().includes(word.toLowerCase());
}
