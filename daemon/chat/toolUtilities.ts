import type { Tool } from '../../protocol/messages/chat.ts';

/**
 * Finding tool calls in streamed text, and the tool that a model means. The module is prescribed by the specification
 * (stream 2), and re-exports the stream library, with a few helpers of ours.
 */
export { RequestTools, type ToolShape } from '../stream/stream.ts';

/** What the stream library needs to know about the tools that a request offers. */
export function toolShapes(tools: readonly Tool[]) {
  return tools.map(({ name, inputSchema }) => ({ name, inputSchema }));
}

/**
 * An id in the runner's own form: `call_` and eight of `a-z0-9`. `random` returns numbers from 0 up to, but not
 * including, 1.
 */
export function createToolCallId(random: () => number): string {
  const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';
  const pick = () => letters[Math.floor(random() * letters.length)] ?? 'a';
  return `call_${Array.from({ length: 8 }, pick).join('')}`;
}
