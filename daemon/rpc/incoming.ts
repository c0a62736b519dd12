import type { Message } from 'vscode-jsonrpc';
import { isRecord, tryJson } from '../../protocol/base/json.ts';
import { isNestedTooDeep, maxNesting } from '../base/nesting.ts';

/** What is wrong with an incoming frame. The answer has the request's id, or null if there is none. */
export interface FrameProblem {
  readonly code: -32700 | -32600 | -32602;
  readonly message: string;
  readonly id?: string | number;
}

/** A message to pass on, a problem to answer, or nothing if JSON-RPC allows no answer. */
type Incoming =
  | { readonly kind: 'message'; readonly message: Message }
  | { readonly kind: 'problem'; readonly problem: FrameProblem }
  | { readonly kind: 'nothing' };

/**
 * Reads the body of a frame. A message that passes has the shape that JSON-RPC demands, so no later code checks it
 * again.
 */
export function parseIncoming(text: string): Incoming {
  const value = tryJson(text);
  if (value === undefined) return problem(-32700, 'The message is not JSON.');
  if (!isRecord(value)) return problem(-32600, noMessage);
  if (!('method' in value)) return isAnswer(value) ? take(value, text) : problem(-32600, noMessage);
  if (typeof value['method'] !== 'string') return problem(-32600, noMessage);
  return 'id' in value ? readRequest(value, text) : readNotification(value, text);
}

function readRequest(value: Fields, text: string): Incoming {
  const { id, method, params, ...rest } = value;
  if (!isId(id)) return problem(-32600, 'The "id" of a request must be a string or a number.');
  if (params === null && mayLackParams(method)) return take({ ...rest, id, method }, text);
  if ('params' in value && !isStructured(params))
    return problem(-32602, 'The parameters of a request must be an object.', id);
  return isNestedTooDeep(text) ? problem(-32602, tooDeep, id) : take(value, text);
}

/** A notification is never answered, so one that cannot be read is dropped. */
function readNotification(value: Fields, text: string): Incoming {
  const { method, params, ...rest } = value;
  if (method === '$/cancelRequest' && !(isRecord(params) && isId(params['id']))) return { kind: 'nothing' };
  if (params === null && mayLackParams(method)) return take({ ...rest, method }, text);
  return 'params' in value && !isStructured(params) ? { kind: 'nothing' } : take(value, text);
}

/** `null` says that there are no parameters. Those of LSP that must have some are checked by nobody else. */
function mayLackParams(method: unknown): boolean {
  return typeof method === 'string' && /^(?:shutdown$|exit$|runner\/)/.test(method);
}

function take(value: Fields, text: string): Incoming {
  if (isNestedTooDeep(text)) return { kind: 'nothing' };
  return { kind: 'message', message: value as unknown as Message };
}

function problem(code: FrameProblem['code'], message: string, id?: string | number): Incoming {
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
