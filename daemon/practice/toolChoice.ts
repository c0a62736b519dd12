import { wordsOf } from './docsQuote.ts';
import { sampleObject } from './schemaSample.ts';
import type { Call, PromptTool } from './speech.ts';

/**
 * The call that a question asks for, if any. The question either names a tool, or has a word that asks for a tool while
 * a tool matches the rest. Editors offer dozens of tools with every question, and most questions call none.
 */
export function chooseCall(question: string, tools: readonly PromptTool[]): Call | undefined {
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
