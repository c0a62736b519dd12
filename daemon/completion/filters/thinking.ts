import { afterLeadingThinking } from '../../chat/thinkingParser.ts';
import type { Filter } from './filter.ts';

/** Without thoughts that came first although none were wanted. */
export const withoutThinking: Filter = (text) => afterLeadingThinking(text);
