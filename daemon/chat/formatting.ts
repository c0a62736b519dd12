/**
 * Finding context blocks in text, and formatting an answer. The module is prescribed by the specification (stream 2),
 * and only re-exports the stream library.
 */
export {
  type LeadingBlock,
  LongText,
  stripThinkingQuotes,
  ThinkingQuote,
  takeLeadingBlocks,
} from '../stream/stream.ts';
