import { messageOf } from '../../../protocol/base/errorText.ts';
import { errorDataOf } from '../convert/failure.ts';
import { inEditorWords } from '../ui/remedies.ts';

/** The library's error codes for requests that were in progress when the daemon ended. */
const lostConnectionCodes: readonly unknown[] = [-32096, -32097, -32098, -32099];

/** Rejects with the daemon's error, its advice in the editor's words, or with a sentence if the daemon has ended. */
export async function explained<R>(answer: Promise<R>): Promise<R> {
  try {
    return await answer;
  } catch (error) {
    throw isLostConnection(error) ? daemonEnded(error) : withEditorAdvice(error);
  }
}

/** The same error, with the daemon's advice in the editor's words. */
function withEditorAdvice(error: unknown): unknown {
  const data = errorDataOf(error);
  if (!(error instanceof Error) || data?.advice === undefined) return error;
  const { message } = error;
  const words = inEditorWords({ message, advice: data.advice }, data.server);
  return Object.assign(new Error(words, { cause: error }), { data });
}

function isLostConnection(error: unknown): boolean {
  return error instanceof Error && 'code' in error && lostConnectionCodes.includes(error.code);
}

export function notStarted(cause: unknown): Error {
  return new Error(`The daemon of Runner does not start. ${messageOf(cause)}`, { cause });
}

function daemonEnded(cause: unknown): Error {
  return new Error('The daemon of Runner ended unexpectedly. It is being restarted; then ask again.', {
    cause,
  });
}
