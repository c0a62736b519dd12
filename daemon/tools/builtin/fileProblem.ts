import type { PreparedCall } from '../../chat/daemonTools.ts';
import { failedOutcome } from '../toolResult.ts';

/** Why a file is not read or not changed. The message is a sentence for the model, which says what to do instead. */
export class FileProblemError extends Error {
  override readonly name = 'FileProblemError';
}

/** A call whose problems with files the model reads, before the user is asked and afterwards. */
export async function withProblems(
  prepare: () => Promise<PreparedCall>,
  signal: AbortSignal,
): Promise<PreparedCall> {
  try {
    const prepared = await prepare();
    const call: PreparedCall['call'] = (calling, listener) =>
      prepared.call(calling, listener).catch((error) => failedOutcome(problemOf(error, calling)));
    return { ...prepared, call };
  } catch (error) {
    const problem = problemOf(error, signal);
    return { problem, end: () => undefined, call: async () => failedOutcome(problem) };
  }
}

/** Rethrows whatever is no problem with a file. */
function problemOf(error: unknown, signal: AbortSignal): string {
  signal.throwIfAborted();
  if (!(error instanceof FileProblemError)) throw error;
  return error.message;
}
