import type { Filter } from './filter.ts';

/** Removes the code fence that a chat model puts around its answer. In Markdown a fence is text. */
export const withoutFences: Filter = (text, { languageId }) => {
  if (languageId === 'markdown') return text;
  const [fence] = /^\s*```[^\n`]*(\n|$)/.exec(text) ?? [];
  const inside = fence === undefined ? text : text.slice(fence.length);
  const lines = inside.split('\n');
  const end = lines.findIndex((line) => line.trimStart().startsWith('```'));
  return end === -1 ? inside : lines.slice(0, end).join('\n');
};
