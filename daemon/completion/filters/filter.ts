import type { AnswerContext } from '../answerContext.ts';

/** Returns what is left of an answer, or `''` if nothing is. It never throws, and its work is linear. */
export type Filter = (text: string, context: AnswerContext) => string;
