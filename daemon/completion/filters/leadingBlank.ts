import type { Filter } from './filter.ts';

/** Without blanks at the beginning, where the cursor already stands after a blank. */
export const withoutDoubledBlank: Filter = (text, { linePrefix }) =>
  /[ \t]$/.test(linePrefix) ? text.replace(/^[ \t]+/, '') : text;
