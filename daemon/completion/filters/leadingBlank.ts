import type { Filter } from './filter.ts';

/** Without blanks at its beginning where the cursor stands after a blank already. */
export const withoutDoubledBlank: Filter = (text, { linePrefix }) =>
  /[ \t]$/.test(linePrefix) ? text.replace(/^[ \t]+/, '') : text;
