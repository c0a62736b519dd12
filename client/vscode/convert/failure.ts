import { messageOf } from '../../../protocol/base/text.ts';
import type { ErrorData } from '../../../protocol/messages/errors.ts';
import type { Status } from '../../../protocol/messages/status.ts';

/** The daemon's data about a failure; undefined for any other error. */
export function errorDataOf(error: unknown): ErrorData | undefined {
  if (!(error instanceof Error) || !('data' in error)) return undefined;
  const { data } = error;
  const isKnown = typeof data === 'object' && data !== null && 'kind' in data;
  return isKnown ? (data as ErrorData) : undefined;
}

/** Why the models of a server are not known. */
export interface Failure {
  /** A sentence that says what to do. */
  readonly sentence: string;
  /** Its name on the wire. */
  readonly kind?: string | undefined;
}

export function toFailure(error: unknown): Failure {
  return { sentence: messageOf(error), kind: errorDataOf(error)?.kind };
}

/** A row has little room; its tooltip has the whole sentence. `place` follows the words about an answer. */
export function inShort({ kind, sentence }: Failure, place = ''): string {
  switch (kind) {
    case 'server-unreachable':
      return `no answer${place}`;
    case 'timeout':
      return `no answer in time${place}`;
    case 'unauthorized':
      return `wants an access token${place}`;
    default:
      return sentence;
  }
}

/** Such as `Version 0.31.4.`; empty if it is not known. */
export function versionOf({ version }: Pick<Status, 'version'>): string {
  return version === undefined ? '' : `Version ${version}.`;
}

/** One line for each of these servers, such as `box: LM Studio answers`, if its product is known. */
export function describeServers(
  names: readonly string[],
  failures: ReadonlyMap<string, Failure>,
  productOf: (server: string) => string | undefined = () => undefined,
): readonly string[] {
  return names.map((name) => {
    const failure = failures.get(name);
    const answers = [productOf(name), 'answers'].filter(Boolean).join(' ');
    return `${name}: ${failure ? inShort(failure) : answers}`;
  });
}
