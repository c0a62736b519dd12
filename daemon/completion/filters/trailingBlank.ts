import type { Filter } from './filter.ts';

/** Without blanks and empty lines at the end. Before closers on the cursor's line they stay, to place the closers. */
export const withoutTrailingBlank: Filter = (text, { lineSuffix }) =>
  lineSuffix.trim() === '' ? text.trimEnd() : text;
