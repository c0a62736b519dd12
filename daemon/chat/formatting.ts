/** Response formatting: all of it is the stream library's. */
export { createThinkingQuote, stripThinkingQuotes } from '../stream/stream.ts';
