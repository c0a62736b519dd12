import { afterLeadingThinking } from '../../chat/thinkingParser.ts';
import type { Filter } from './filter.ts';

/** Removes thinking at the beginning. Some models think although they are asked not to. */
export const withoutThinking: Filter = (text) => afterLeadingThinking(text);
