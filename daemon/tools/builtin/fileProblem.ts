import type { PreparedCall } from '../../chat/daemonTools.ts';
import { failedOutcome } from '../toolResult.ts';

/** Why a file is not read or not changed. The message is a sentence for the model, which says what to do instead. */
export class FileProblemError extends Error {
  override readonly name = 'FileProblemError';
}

/** A call whose problems with files the model reads, before the user is asked and afterwards. */
export function withProblems(
  prepare: () => Promise<PreparedCall>,
  signal: AbortSignal,
): Promise<PreparedCall> {
  const guarded = async (): Promise<PreparedCall> => {
    const prepared = await prepare();
    const call: PreparedCall['call'] = (calling, listener) =>
      orProblem(() => prepared.call(calling, listener), failedOutcome, calling);
    return { ...prepared, call };
  };
  const refused = (problem: string): PreparedCall => ({
    ...{ problem, end: () => undefined },
    call: async () => failedOutcome(problem),
  });
  return orProblem(guarded, refused, signal);
}

/** What the work gives, or else what stands for the problem that it has with a file. */
async function orProblem<T>(
  work: () => Promise<T>,
  otherwise: (problem: string) => T,
  signal: AbortSignal,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof FileProblemError)) throw error;
    return otherwise(error.message);
  }
}
