/** The part of the stream parsing library that other rooms use. */
export type { StreamEvent, WarningEvent } from './events.ts';
export { type LeadingBlock, takeLeadingBlocks } from './leadingBlocks.ts';
export { LongText } from './longText.ts';
export { afterLeadingThinking, createStreamParser } from './parser.ts';
export { profileForModel, unknownMarks } from './profile.ts';
export { RequestTools, type ToolShape } from './requestTools.ts';
export { createThinkingQuote, stripThinkingQuotes } from './thinkingQuote.ts';
