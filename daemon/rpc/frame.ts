import type { Readable } from 'node:stream';
import type { Message } from 'vscode-jsonrpc';
import { isRecord, tryJson } from '../../protocol/base/json.ts';
import { isNestedTooDeep, maxNesting } from '../base/nesting.ts';

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

/** What is wrong with an incoming frame. The answer has the request's id, or null if there is none. */
export interface FrameProblem {
  readonly code: -32700 | -32600 | -32602;
  readonly message: string;
  readonly id?: string | number;
}

/** A message to pass on, a problem to answer, or nothing if JSON-RPC allows no answer. */
type IncomingFrame =
  | { readonly kind: 'message'; readonly message: Message }
  | { readonly kind: 'problem'; readonly problem: FrameProblem }
  | { readonly kind: 'nothing' };

/**
 * Reads the body of a frame. A message that passes has the shape that JSON-RPC demands, so no later code checks it
 * again.
 */
export function parseIncoming(text: string): IncomingFrame {
  const value = tryJson(text);
  if (value === undefined) return problem(-32700, 'The message is not JSON.');
  if (!isRecord(value)) return problem(-32600, noMessage);
  if (!('method' in value)) return isAnswer(value) ? take(value, text) : problem(-32600, noMessage);
  if (typeof value['method'] !== 'string') return problem(-32600, noMessage);
  return 'id' in value ? readRequest(value, text) : readNotification(value, text);
}

function readRequest(value: Fields, text: string): IncomingFrame {
  const { id, method, params, ...rest } = value;
  if (!isId(id)) return problem(-32600, 'The "id" of a request must be a string or a number.');
  if (params === null && mayLackParams(method)) return take({ ...rest, id, method }, text);
  if ('params' in value && !isStructured(params))
    return problem(-32602, 'The parameters of a request must be an object.', id);
  return isNestedTooDeep(text) ? problem(-32602, tooDeep, id) : take(value, text);
}

/** A notification is never answered, so one that cannot be read is dropped. */
function readNotification(value: Fields, text: string): IncomingFrame {
  const { method, params, ...rest } = value;
  if (method === '$/cancelRequest' && !(isRecord(params) && isId(params['id']))) return { kind: 'nothing' };
  if (params === null && mayLackParams(method)) return take({ ...rest, method }, text);
  return 'params' in value && !isStructured(params) ? { kind: 'nothing' } : take(value, text);
}

/** `null` says that there are no parameters. Those of LSP that must have some are checked by nobody else. */
function mayLackParams(method: unknown): boolean {
  return typeof method === 'string' && /^(?:shutdown$|exit$|runner\/)/.test(method);
}

function take(value: Fields, text: string): IncomingFrame {
  if (isNestedTooDeep(text)) return { kind: 'nothing' };
  return { kind: 'message', message: value as unknown as Message };
}

function problem(code: FrameProblem['code'], message: string, id?: string | number): IncomingFrame {
  return { kind: 'problem', problem: id === undefined ? { code, message } : { code, message, id } };
}

const noMessage = 'The message is neither a request nor a notification nor an answer.';
const tooDeep = `The parameters are nested more than ${maxNesting} levels deep. Send parameters with less nesting.`;

type Fields = Readonly<Record<string, unknown>>;

function isStructured(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function isId(value: unknown): value is string | number {
  return typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value));
}

/** An answer with the id null means that the client could not read one of our messages. */
function isAnswer(value: Fields): boolean {
  const { id, error } = value;
  if (!isId(id) && id !== null) return false;
  return 'result' in value || isStructured(error);
}
