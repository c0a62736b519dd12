import type { Filter } from './filter.ts';

/** Removes blanks at the beginning if the cursor already stands after a blank. */
export const withoutDoubledBlank: Filter = (text, { linePrefix }) =>
  /[ \t]$/.test(linePrefix) ? text.replace(/^[ \t]+/, '') : text;
