import type { Readable } from 'node:stream';
import type { Message } from 'vscode-jsonrpc';
import { parseIncoming } from './incoming.ts';

/** A longer block of bytes is not a header. */
export const maxHeaderBytes = 8 * 1024;

/** The bytes that end the header of a frame. */
export const headerEnd = Buffer.from('\r\n\r\n');

/** A message as a frame of LSP. */
export function frameOf(message: object): string {
  const body = JSON.stringify(message);
  return `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/**
 * The last header of that name counts. The text before it on its line may be left over from a broken frame, but must
 * not be another header.
 */
export function contentLengthOf(headers: string): number | undefined {
  const lengths = headers.split(/[\r\n]+/).map(lengthInLine);
  return lengths.findLast((length) => length !== undefined);
}

function lengthInLine(line: string): number | undefined {
  const start = line.toLowerCase().lastIndexOf(lengthHeader);
  if (
    start === -1 ||
    isHeaderName(line.charAt(start - 1)) ||
    /^[\w!#$%&'*+.^`|~-]+:/.test(line.slice(0, start))
  )
    return undefined;
  const digits = line.slice(start + lengthHeader.length).trim();
  return /^\d{1,15}$/.test(digits) ? Number(digits) : undefined;
}

const lengthHeader = 'content-length:';

/** Whether this character can belong to a header's name. If so, what follows it is the end of another name. */
function isHeaderName(character: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]$/.test(character);
}

/** A larger first message is not read, in bytes. */
const maxBytes = 1024 * 1024;

/**
 * The first message of a stream of LSP frames. It stays in the stream for the next reader. Undefined if the stream
 * begins with something else, or ends too early.
 */
export async function peekMessage(input: Readable): Promise<Message | undefined> {
  const taken: StreamHead = { chunks: [], size: 0 };
  try {
    const body = await takeBody(input, taken);
    const incoming = body && parseIncoming(body.toString('utf8'));
    return incoming?.kind === 'message' ? incoming.message : undefined;
  } finally {
    if (taken.size > 0 && !input.readableEnded) input.unshift(Buffer.concat(taken.chunks));
  }
}

/** The bytes that were taken out of the stream. */
interface StreamHead {
  readonly chunks: Buffer[];
  size: number;
}

async function takeBody(input: Readable, taken: StreamHead): Promise<Buffer | undefined> {
  let end = -1;
  while (end === -1) {
    if (taken.size > maxHeaderBytes || !(await takeMore(input, taken))) return undefined;
    end = Buffer.concat(taken.chunks).indexOf(headerEnd);
  }
  const length = contentLengthOf(Buffer.concat(taken.chunks).toString('latin1', 0, end));
  if (length === undefined || length > maxBytes) return undefined;
  const start = end + headerEnd.length;
  while (taken.size < start + length) if (!(await takeMore(input, taken))) return undefined;
  return Buffer.concat(taken.chunks).subarray(start, start + length);
}

/** False at the end of the stream. */
async function takeMore(input: Readable, taken: StreamHead): Promise<boolean> {
  for (;;) {
    const chunk: Buffer | null = input.read();
    if (chunk) {
      taken.chunks.push(chunk);
      taken.size += chunk.length;
      return true;
    }
    if (input.readableEnded || input.destroyed) return false;
    await somethingOf(input);
  }
}

const changes = ['readable', 'end', 'close', 'error'] as const;

function somethingOf(input: Readable): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      for (const change of changes) input.off(change, done);
      resolve();
    };
    for (const change of changes) input.on(change, done);
  });
}
