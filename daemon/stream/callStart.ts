import type { BlockStart } from './callBlock.ts';

/** What may be calls, and what came before them. */
export interface CallStart {
  /** Blanks that were withheld before it. */
  readonly lead: string;
  /** The tag or mark that it began with. */
  readonly opening: string;
  readonly close: string;
  readonly start: BlockStart;
}

/** A reply that may be nothing but calls. */
export function bareCall(lead: string): CallStart {
  return { lead, opening: '', close: '', start: { wrapped: false, proof: 'alone', beginsLine: true } };
}
