/** Finding context blocks in text, and formatting an answer. All of it belongs to the stream library. */
export {
  createThinkingQuote,
  type LeadingBlock,
  LongText,
  stripThinkingQuotes,
  takeLeadingBlocks,
} from '../stream/stream.ts';
