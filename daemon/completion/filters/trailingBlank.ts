import type { Filter } from './filter.ts';

/** Without blanks and empty lines at its end; before closers on the cursor's line they are the closers' own place. */
export const withoutTrailingBlank: Filter = (text, { lineSuffix }) =>
  lineSuffix.trim() === '' ? text.trimEnd() : text;
