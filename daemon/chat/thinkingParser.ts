/**
 * Finding thinking, echoed context and tool calls in streamed text. The module is prescribed by the specification
 * (stream 2), and only re-exports the stream library.
 */
export {
  afterLeadingThinking,
  profileForModel,
  type StreamEvent,
  StreamParser,
  type WarningEvent,
} from '../stream/stream.ts';
