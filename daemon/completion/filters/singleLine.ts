import type { Filter } from './filter.ts';

/** Its first line, where one line was asked for. */
export const cutToSingleLine: Filter = (text, { isMultiline }) =>
  isMultiline ? text : (text.split('\n', 1)[0] ?? '');
