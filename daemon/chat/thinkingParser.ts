/** Thinking, echoed context and tool calls out of streamed text: all of it is the stream library's. */
export {
  afterLeadingThinking,
  createStreamParser,
  profileForModel,
  type StreamEvent,
} from '../stream/stream.ts';
