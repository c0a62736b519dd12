import { ErrorCodes, ResponseError } from './languageServer.ts';

export type RpcSession = ReturnType<typeof createSession>;

/** The state of the connection: before `initialize`, ready, or after `shutdown`. */
export function createSession() {
  let state: 'new' | 'ready' | 'stopped' = 'new';
  const refuse = (code: number, message: string) => new ResponseError<never>(code, message);
  const refusals = {
    new: (method: string) =>
      method === 'initialize'
        ? undefined
        : refuse(ErrorCodes.ServerNotInitialized, 'Send "initialize" first.'),
    ready: (method: string) =>
      method === 'initialize'
        ? refuse(
            ErrorCodes.InvalidRequest,
            'The daemon is already initialized. Start another daemon for another editor.',
          )
        : undefined,
    stopped: () => refuse(ErrorCodes.InvalidRequest, 'The daemon is shutting down.'),
  };
  return {
    isReady: () => state === 'ready',
    /** The error with which a request of this method is refused now, by LSP's rules; undefined if it is allowed. */
    refusal: (method: string) => refusals[state](method),
    start: () => {
      state = 'ready';
    },
    stop: () => {
      state = 'stopped';
    },
  };
}
