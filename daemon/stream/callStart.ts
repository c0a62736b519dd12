import type { BlockStart } from './callBlock.ts';

/** The start of what may be calls, and what came before it. */
export interface CallStart {
  /** The blanks that were withheld before it. */
  readonly lead: string;
  /** The tag or mark with which it began. */
  readonly opening: string;
  readonly close: string;
  readonly start: BlockStart;
  /** Calls here may be quoted in a sentence: they stand within a line, or begin with a word. */
  readonly mayBeQuoted?: true;
}

/** The start of a reply that may consist only of calls. */
export function bareCall(lead: string): CallStart {
  return { lead, opening: '', close: '', start: { wrapped: false, proof: 'alone', beginsLine: true } };
}
