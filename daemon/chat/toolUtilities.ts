import type { Tool } from '../../protocol/chat.ts';

/** Tool calls out of streamed text, and what tool a model means: the stream library's. */
export { OfferedTools, type ToolCallEvent, type ToolShape } from '../stream/stream.ts';

/** What the stream library needs of the tools that a request offers. */
export function toolShapes(tools: readonly Tool[]) {
  return tools.map(({ name, inputSchema }) => ({ name, inputSchema }));
}

/** An id as the runner makes them: `call_` and eight of `a-z0-9`. `random` gives numbers from 0 up to 1. */
export function createToolCallId(random: () => number): string {
  const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';
  const pick = () => letters[Math.floor(random() * letters.length)] ?? 'a';
  return `call_${Array.from({ length: 8 }, pick).join('')}`;
}
