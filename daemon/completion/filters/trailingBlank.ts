import type { Filter } from './filter.ts';

/**
 * Removes blanks and empty lines at the end. Before closers on the cursor's line they stay, because they place the
 * closers.
 */
export const withoutTrailingBlank: Filter = (text, { lineSuffix }) =>
  lineSuffix.trim() === '' ? text.trimEnd() : text;
