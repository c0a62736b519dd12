import type { Filter } from './filter.ts';

/** The first line, where one line is wanted. */
export const cutToSingleLine: Filter = (text, { isMultiline }) =>
  isMultiline ? text : (text.split('\n', 1)[0] ?? '');
