import { withoutUndefined } from '../../protocol/base/withoutUndefined.ts';
import type { AdvisedMessage, ErrorDetails } from '../base/errors.ts';

/** What a request was about. */
export interface Subject {
  /** The runner's base address, for the error message. */
  readonly url: string;
  readonly server: string;
  readonly model?: string;
  /**
   * Removes secrets from what the runner said. It is applied before the text is cut, because half a secret is not
   * recognised.
   */
  readonly redact: (text: string) => string;
  /** Why the runner does not get its token; undefined if none is withheld. */
  readonly whyWithheld?: () => AdvisedMessage | undefined;
}

/** The details that an error has about it. */
export function detailsOf({ server, model }: Subject): ErrorDetails {
  return withoutUndefined({ server, model });
}
