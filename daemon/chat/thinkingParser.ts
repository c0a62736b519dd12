/** Thinking blocks, context tags and tool calls out of streamed text: all of it is the stream library's. */
export { createStreamParser, profileForModel, type StreamEvent } from '../stream/stream.ts';
