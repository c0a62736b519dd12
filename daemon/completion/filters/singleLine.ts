import type { Filter } from './filter.ts';

/** Keeps only the first line if one line is wanted. */
export const cutToSingleLine: Filter = (text, { isMultiline }) =>
  isMultiline ? text : (text.split('\n', 1)[0] ?? '');
