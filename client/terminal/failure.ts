import type { Message } from '../../protocol/chat.ts';
import type { ErrorData } from '../../protocol/errors.ts';
import { showControls } from './controlCharacters.ts';

/** An error as the terminal tells it. */
export interface Failure {
  readonly kind: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly partial?: Message;
}

/** What the daemon said of a failure, or what became of the daemon. */
export function failureOf(error: unknown): Failure {
  const message = showControls(error instanceof Error ? error.message : String(error));
  const data = dataOf(error);
  return {
    kind: data?.kind ?? 'daemon-failed',
    message,
    retryable: data?.retryable ?? false,
    ...(data?.partial === undefined ? {} : { partial: data.partial as Message }),
  };
}

function dataOf(error: unknown): ErrorData | undefined {
  if (typeof error !== 'object' || error === null || !('data' in error)) return undefined;
  const { data } = error;
  return typeof data === 'object' && data !== null && 'kind' in data ? (data as ErrorData) : undefined;
}
