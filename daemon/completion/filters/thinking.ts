import type { Filter } from './filter.ts';

/** Without thoughts that came first although none were wanted. */
export const withoutThinking: Filter = (text) => {
  const [tag, name] = /^\s*<(think|thinking|thought|reasoning)>/.exec(text) ?? [];
  if (tag === undefined) return text;
  const closing = `</${name}>`;
  const end = text.indexOf(closing, tag.length);
  return end === -1 ? '' : text.slice(end + closing.length).replace(/^\s*\n/, '');
};
