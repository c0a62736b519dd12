import { isRecord } from '../../protocol/base/json.ts';
import {
  blockQuote,
  type Documents,
  findSections,
  type Match,
  quoteSection,
  type Section,
  wordsOf,
} from './docsQuote.ts';
import { sampleObject, sampleOf } from './schemaSample.ts';
import {
  type Call,
  type Piece,
  type Prompt,
  type PromptMessage,
  type PromptTool,
  type Speaker,
  splitTokens,
} from './speech.ts';

const label = '*Practice runner, not a language model.*';

/** Speaks by quoting documents. Every answer begins by saying what it is. */
export function createPracticeSpeaker(documents: Documents): Speaker {
  return async function* speak(prompt) {
    if (prompt.hole) return yield* say(guessCompletion(prompt.hole));
    const sections = await documents.sections();
    const question = lastQuestion(prompt.messages);
    if (prompt.format !== undefined && prompt.format !== '') return yield* say(formatted(prompt, question));
    const last = prompt.messages.at(-1);
    if (last?.role === 'tool') return yield* say(`${label}\n\n${quoteResult(last)}`);
    const matches = findSections(question, sections);
    if (prompt.think) yield* think(thoughtsOf(question, sections, matches));
    const call = chooseCall(question, prompt.tools);
    if (!call) return yield* say(`${label}\n\n${answerOf(question, sections, matches)}`);
    yield* say(`${label}\n\nI call the tool \`${call.name}\` with arguments from your question.`);
    yield { kind: 'calls', calls: [call] };
  };
}

function* say(text: string): Generator<Piece> {
  for (const token of splitTokens(text)) yield { kind: 'text', text: token };
}

function* think(text: string): Generator<Piece> {
  for (const token of splitTokens(text)) yield { kind: 'thinking', text: token };
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

function thoughtsOf(question: string, sections: readonly Section[], [best, next]: readonly Match[]): string {
  const words = [...wordsOf(question)].map((word) => `"${word}"`).join(', ');
  if (words === '') return 'That has no word that I could look for.\n';
  const files = new Set(sections.map(({ file }) => file)).size;
  const looking = `Looking for ${words} in ${files} documents with ${sections.length} sections.`;
  if (!best) return `${looking} Nothing fits.\n`;
  const second = next ? `, before ${titleOf(next.section)} with ${next.score.toFixed(1)}` : '';
  return `${looking} Best match: ${titleOf(best.section)} with ${best.score.toFixed(1)} points${second}.\n`;
}

function answerOf(question: string, sections: readonly Section[], matches: readonly Match[]): string {
  const [best, ...others] = matches;
  if (!best) return nothingFound(question, sections);
  const { section } = best;
  const more = others.slice(0, 2).map((other) => titleOf(other.section));
  const pointer = more.length > 0 ? `\n\nThere is more in ${more.join(' and ')}.` : '';
  const source = best.share < 0.5 ? 'The closest match that I can quote, from' : 'From';
  return `${source} ${titleOf(section)}:\n\n${quoteSection(question, section)}${pointer}`;
}

function nothingFound(question: string, sections: readonly Section[]): string {
  const titles = [...new Set(sections.map(({ title }) => title))];
  if (titles.length === 0)
    return 'I have no documents to quote from, so I can only show how an answer streams. Start a real runner for real answers.';
  const greeting =
    wordsOf(question).size === 0
      ? "Hello. I quote this project's documents, so that you see how an answer streams before you install anything."
      : "I can only quote this project's documents, and found nothing in them for that.";
  const list = titles.slice(0, 10).map((title) => `- ${title}`);
  return `${greeting} Ask me about:\n\n${list.join('\n')}`;
}

function quoteResult({ content, toolName }: PromptMessage): string {
  const name = toolName === '' ? 'The tool' : `The tool \`${toolName}\``;
  const shown = content.length > 1_000 ? `${content.slice(0, 1_000)} …` : content;
  return shown.trim() === '' ? `${name} answered nothing.` : `${name} answered:\n\n${blockQuote(shown)}`;
}

function formatted({ format }: Prompt, question: string): string {
  const sample = isRecord(format)
    ? sampleOf(format, question)
    : { note: 'Practice runner, not a language model.' };
  return JSON.stringify(sample);
}

function titleOf({ file, heading }: Section): string {
  return heading === file ? `\`${file}\`` : `\`${file}\`, “${heading.replace(/`/g, '')}”`;
}

/**
 * The call that a question asks for, if any. The question either names a tool, or has a word that asks for a tool while
 * a tool matches the rest. Editors offer dozens of tools with every question, and most questions call none.
 */
function chooseCall(question: string, tools: readonly PromptTool[]): Call | undefined {
  const named = tools.find(({ name }) => isNamed(question, name));
  const tool = named ?? (asksForTool.test(question) ? closestTool(question, tools) : undefined);
  return tool && { name: tool.name, arguments: sampleObject(tool.parameters, question) };
}

const asksForTool = /\b(?:use|call|run|try|tools?|weather|look up|search|fetch|read|open|list)\b/i;

function isNamed(question: string, name: string): boolean {
  if (name === '') return false;
  const text = question.toLowerCase();
  if (new RegExp(`(?<![\\w-])${escapePattern(name.toLowerCase())}(?![\\w-])`).test(text)) return true;
  const words = name.split(/[_\-.\s]+|(?<=[a-z])(?=[A-Z])/).map((word) => word.toLowerCase());
  return words.length > 1 && words.every((word) => new RegExp(`\\b${escapePattern(word)}\\b`).test(text));
}

function closestTool(question: string, tools: readonly PromptTool[]): PromptTool | undefined {
  const asked = wordsOf(question);
  const ranked = tools
    .map((tool) => {
      const words = wordsOf(`${tool.name.replace(/[_-]/g, ' ')} ${tool.description}`);
      return { tool, hits: [...asked].filter((word) => words.has(word)).length };
    })
    .sort((a, b) => b.hits - a.hits);
  const [best] = ranked;
  const anyTool = /\b(?:a|any|some|the|your)\s+tools?\b/i.test(question);
  return best && (best.hits > 0 || anyTool) ? best.tool : undefined;
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/**
 * Guesses the text at the cursor from the text around it: the rest of an earlier line with the same start, else the
 * rest of a word that occurs elsewhere, else nothing. It never answers with a comment instead of code, because the
 * comment would end up in a file.
 */
function guessCompletion({ prefix, suffix }: { readonly prefix: string; readonly suffix: string }): string {
  const line = /[^\n]*$/.exec(prefix)?.[0] ?? '';
  const before = prefix.slice(0, prefix.length - line.length);
  return restOfLine(line.trimStart(), before) || restOfWord(line, `${before}\n${suffix}`);
}

function restOfLine(start: string, before: string): string {
  if (start.trim().length < 3) return '';
  const earlier = before.split('\n').map((line) => line.trim());
  const same = earlier.findLast((line) => line.startsWith(start) && line.length > start.length);
  return same?.slice(start.length) ?? '';
}

function restOfWord(line: string, around: string): string {
  const start = /[\p{L}_$][\p{L}\p{N}_$]+$/u.exec(line)?.[0];
  if (start === undefined) return '';
  const words = around.match(/[\p{L}_$][\p{L}\p{N}_$]*/gu) ?? [];
  return (
    words.findLast((word) => word.startsWith(start) && word.length > start.length)?.slice(start.length) ?? ''
  );
}
