import { stackOf } from '../../protocol/base/text.ts';
import { InvalidParamsError, RunnerError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';

/** An error as JSON-RPC has it. */
export interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export interface FailedRequest {
  readonly cancelled: boolean;
  readonly method: string;
  readonly log: Log;
}

/** Of JSON-RPC 2.0, section 5.1, and the last one of LSP. */
const codes = { invalidParams: -32602, internalError: -32603, requestCancelled: -32800 };

/** The only place where errors of the daemon become errors of the wire. */
export function toWireError(error: unknown, { cancelled, method, log }: FailedRequest): WireError {
  if (error instanceof InvalidParamsError) {
    const { message, path, problem } = error;
    return { code: codes.invalidParams, message, data: { path, problem } };
  }
  if (error instanceof RunnerError) {
    const { code, kind, message, data } = error;
    log.warn(`${method}: ${kind}: ${message}`);
    return { code, message, data };
  }
  if (cancelled) return { code: codes.requestCancelled, message: 'The request was cancelled.' };
  log.error(`${method} failed inside the daemon: ${stackOf(error)}`);
  return {
    code: codes.internalError,
    message: 'The daemon could not do this because of a defect of its own. See its log for details.',
  };
}
