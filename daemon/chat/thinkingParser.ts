/** Finding thinking, echoed context and tool calls in streamed text. All of it belongs to the stream library. */
export {
  afterLeadingThinking,
  createStreamParser,
  profileForModel,
  type StreamEvent,
  type WarningEvent,
} from '../stream/stream.ts';
