/** Context blocks out of text, and how an answer is formatted: all of it is the stream library's. */
export {
  createThinkingQuote,
  type LeadingBlock,
  LongText,
  stripThinkingQuotes,
  takeLeadingBlocks,
} from '../stream/stream.ts';
