import { withoutUndefined } from '../../protocol/withoutUndefined.ts';
import type { ErrorDetails } from '../errors.ts';

/** Whom the request was about. */
export interface Subject {
  /** The runner's base address, for the sentence. */
  readonly url: string;
  readonly server: string;
  readonly model?: string;
  /** Takes secrets out of what the runner said: before it is cut, since of a secret that is cut nobody knows the rest. */
  readonly redact: (text: string) => string;
}

/** What an error says of it. */
export function detailsOf({ server, model }: Subject): ErrorDetails {
  return withoutUndefined({ server, model });
}
