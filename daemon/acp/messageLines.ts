import type { Readable } from 'node:stream';
import type { Message } from 'vscode-jsonrpc';
import { type FrameProblem, parseIncoming } from '../rpc/incoming.ts';

/** As in frames: a message may be up to so many bytes. */
const maxMessageBytes = 256 * 1024 * 1024;
const newline = 0x0a;

export interface MessageLinesOptions {
  readonly onProblem: (problem: FrameProblem) => void;
  readonly limit?: number;
}

/**
 * Reads one JSON-RPC message a line, and outlives what is none: it is told to `onProblem`, and reading goes on in the
 * next line. Of a line that is too long nothing is kept.
 */
export async function* readMessageLines(
  input: Readable,
  { onProblem, limit = maxMessageBytes }: MessageLinesOptions,
): AsyncGenerator<Message> {
  let pieces: Buffer[] = [];
  let size = 0;
  const keep = (piece: Buffer) => {
    const before = size;
    size += piece.length;
    if (size <= limit) pieces.push(piece);
    else if (before <= limit) {
      pieces = [];
      onProblem({ code: -32600, message: `A message is larger than the ${limit} bytes that are taken.` });
    }
  };
  const takeLine = () => {
    const text = size > limit ? '' : Buffer.concat(pieces).toString('utf8');
    pieces = [];
    size = 0;
    return text;
  };
  for await (const chunk of input as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      keep(chunk.subarray(start, end));
      start = end + 1;
      yield* messageOf(takeLine(), onProblem);
    }
    keep(chunk.subarray(start));
  }
  yield* messageOf(takeLine(), onProblem);
}

function* messageOf(line: string, onProblem: MessageLinesOptions['onProblem']): Generator<Message> {
  if (line.trim() === '') return;
  const incoming = parseIncoming(line);
  if (incoming.kind === 'problem') onProblem(incoming.problem);
  if (incoming.kind !== 'message') return;
  if (incoming.message.jsonrpc === '2.0') yield incoming.message;
  else onProblem({ code: -32600, message: 'A message says "jsonrpc": "2.0".' });
}
