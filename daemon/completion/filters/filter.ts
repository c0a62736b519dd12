import type { AnswerContext } from '../answerContext.ts';

/** What of an answer is left; `''` where nothing is. It neither throws nor does more than linear work. */
export type Filter = (text: string, context: AnswerContext) => string;
