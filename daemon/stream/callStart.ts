import type { BlockStart } from './callBlock.ts';

/** The start of what may be calls, and what came before it. */
export interface CallStart {
  /** The blanks that were withheld before it. */
  readonly lead: string;
  /** The tag or mark with which it began. */
  readonly opening: string;
  readonly close: string;
  readonly start: BlockStart;
  /** The character right before it, if that is text on the same line. */
  readonly after?: number;
}

/** The start of a reply that may consist only of calls. */
export function bareCall(lead: string): CallStart {
  return { lead, opening: '', close: '', start: { wrapped: false, proof: 'alone', beginsLine: true } };
}
