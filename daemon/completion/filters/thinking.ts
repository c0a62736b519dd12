import { afterLeadingThinking } from '../../chat/thinkingParser.ts';
import type { Filter } from './filter.ts';

/** Without thoughts at the beginning. Some models think although they are asked not to. */
export const withoutThinking: Filter = (text) => afterLeadingThinking(text);
