/** Thinking blocks, context tags and tool calls out of streamed text: all of it is the stream library's. */
export { createStreamParser, type StreamEvent } from '../stream/stream.ts';
