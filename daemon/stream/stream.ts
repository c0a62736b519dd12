/** The part of the stream parsing library that other rooms use. */

export { LongText } from './characters.ts';
export { type LeadingBlock, takeLeadingBlocks } from './elements.ts';
export type { StreamEvent, WarningEvent } from './events.ts';
export { afterLeadingThinking, StreamParser } from './parser.ts';
export { profileForModel, unknownMarks } from './profile.ts';
export { RequestTools, type ToolShape } from './requestTools.ts';
export { stripThinkingQuotes, ThinkingQuote } from './thinkingQuote.ts';
