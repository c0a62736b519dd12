import { randomBytes } from 'node:crypto';
import { isRecord } from '../../protocol/base/json.ts';
import {
  type Call,
  type Hole,
  listOf,
  type PromptMessage,
  type PromptTool,
  recordOf,
  type Speaker,
  type SpeechPiece,
  splitTokens,
} from './exchange.ts';
import {
  blockQuote,
  findSections,
  type GuideSection,
  type PageMatch,
  quoteSection,
  wordsOf,
} from './pages.ts';

const label = '*Practice runner, not a language model.*';

/** Speaks by quoting pages. Every answer begins by saying what it is. */
export function createSpeaker(readPages: () => Promise<readonly GuideSection[]>): Speaker {
  return async function* speak({ hole, format, messages, think, tools }) {
    if (hole) return yield* say(completionOf(hole));
    const question = lastQuestion(messages);
    if (format === 'json') return yield* say('{"note":"Practice runner, not a language model."}');
    if (isRecord(format)) return yield* say(JSON.stringify(sampleOf(format, question)));
    const last = messages.at(-1);
    if (last?.role === 'tool') return yield* say(`${label}\n\n${quoteResult(last)}`);
    const sections = await readPages();
    const matches = findSections(question, sections);
    if (think) yield* say(thoughtsOf(question, sections, matches), 'thinking');
    const call = callFor(question, tools);
    if (!call) return yield* say(`${label}\n\n${answerOf(question, sections, matches)}`);
    yield* say(`${label}\n\nI call the tool \`${call.name}\` with arguments from your question.`);
    yield { kind: 'calls', calls: [call] };
  };
}

function* say(text: string, kind: 'text' | 'thinking' = 'text'): Generator<SpeechPiece> {
  for (const token of splitTokens(text)) yield { kind, text: token };
}

/** The user's last words, without the context blocks that editors put before them. */
function lastQuestion(messages: readonly PromptMessage[]): string {
  const content = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  const question = content
    .slice(-20_000)
    .replace(/<([\w-]+)(?:\s[^>]*)?>.*?<\/\1>/gs, '')
    .trim();
  return (question || content).slice(-2_000);
}

function thoughtsOf(
  question: string,
  sections: readonly GuideSection[],
  [best, next]: readonly PageMatch[],
): string {
  const words = [...wordsOf(question)].map((word) => `"${word}"`).join(', ');
  if (words === '') return 'That has no word that I could look for.\n';
  const files = new Set(sections.map(({ file }) => file)).size;
  const looking = `Looking for ${words} in ${files} documents with ${sections.length} sections.`;
  if (!best) return `${looking} Nothing fits.\n`;
  const second = next ? `, before ${titleOf(next)} with ${next.score.toFixed(1)}` : '';
  return `${looking} Best match: ${titleOf(best)} with ${best.score.toFixed(1)} points${second}.\n`;
}

function answerOf(
  question: string,
  sections: readonly GuideSection[],
  [best, ...others]: readonly PageMatch[],
): string {
  if (!best) return nothingFound(question, sections);
  const more = others.slice(0, 2).map(titleOf);
  const pointer = more.length > 0 ? `\n\nThere is more in ${more.join(' and ')}.` : '';
  const source = best.share < 0.5 ? 'The closest match that I can quote, from' : 'From';
  return `${source} ${titleOf(best)}:\n\n${quoteSection(question, best.section)}${pointer}`;
}

function nothingFound(question: string, sections: readonly GuideSection[]): string {
  const titles = [...new Set(sections.filter(({ isGuide }) => isGuide).map(({ title }) => title))];
  if (titles.length === 0)
    return 'I have no documents to quote from, so I can only show how an answer streams. Start a real runner for real answers.';
  const greeting =
    wordsOf(question).size === 0
      ? "Hello. I quote this project's documents, so that you see how an answer streams before you install anything."
      : "I can only quote this project's documents, and found nothing in them for that.";
  return `${greeting} Ask me about:\n\n${titles.map((title) => `- ${title}`).join('\n')}`;
}

function quoteResult({ content, toolName }: PromptMessage): string {
  const name = toolName === '' ? 'The tool' : `The tool \`${toolName}\``;
  const shown = content.length > 1_000 ? `${content.slice(0, 1_000)} …` : content;
  return shown.trim() === '' ? `${name} answered nothing.` : `${name} answered:\n\n${blockQuote(shown)}`;
}

function titleOf({ section: { file, heading } }: PageMatch): string {
  return heading === file ? `\`${file}\`` : `\`${file}\`, “${heading}”`;
}

/**
 * Guesses the text at the cursor from the text around it: the rest of an earlier line with the same start, else the
 * rest of a word that occurs elsewhere, else nothing. It never answers with a comment instead of code, because the
 * comment would end up in a file.
 */
function completionOf({ prefix, suffix }: Hole): string {
  const line = /[^\n]*$/.exec(prefix)?.[0] ?? '';
  const before = prefix.slice(0, prefix.length - line.length);
  const lines = before.split('\n').map((text) => text.trim());
  const start = line.trimStart();
  if (start.trim().length > 2) {
    const rest = restOf(start, lines);
    if (rest !== '') return rest;
  }
  const word = /[\p{L}_$][\p{L}\p{N}_$]+$/u.exec(line)?.[0];
  return word === undefined
    ? ''
    : restOf(word, `${before}\n${suffix}`.match(/[\p{L}_$][\p{L}\p{N}_$]*/gu) ?? []);
}

/** What the last of the texts with this start has behind it. */
function restOf(start: string, texts: readonly string[]): string {
  return (
    texts.findLast((text) => text.startsWith(start) && text.length > start.length)?.slice(start.length) ?? ''
  );
}

/**
 * The call that a question asks for, if any. The question either names a tool, or has a word that asks for a tool while
 * a tool matches the rest. Editors offer dozens of tools with every question, and most questions call none.
 */
function callFor(question: string, tools: readonly PromptTool[]): Call | undefined {
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
function sampleOf(schema: unknown, question: string, name = ''): unknown {
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
