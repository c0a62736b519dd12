import type { CallOpening } from './openingTable.ts';

/** How text begins that may be calls. */
export interface CallStart {
  /** The blanks that were withheld before it. */
  readonly lead: string;
  /** What shows that calls are meant. */
  readonly opening: CallOpening | Untagged;
  /** True if there is no text before it on its line. */
  readonly beginsLine: boolean;
  /** Calls here may be quoted in a sentence: they stand within a line, or begin with a word. */
  readonly mayBeQuoted?: true;
}

/**
 * Calls without an open tag. They count only if nothing else is in the reply (`alone`), or if a close tag follows them
 * (`closed`).
 */
interface Untagged {
  readonly kind: 'untagged';
  readonly literal: '';
  readonly onlyIf: 'alone' | 'closed';
}

/** The start of a reply that may consist only of calls. */
export function bareCall(lead: string): CallStart {
  return { lead, opening: { kind: 'untagged', literal: '', onlyIf: 'alone' }, beginsLine: true };
}

/** The start of a call in an answer, whose open tag the model left out. */
export function unopenedCall(beginsLine: boolean): CallStart {
  return { lead: '', opening: { kind: 'untagged', literal: '', onlyIf: 'closed' }, beginsLine };
}

/** What closes the block of calls; empty if nothing does. */
export function closeOf(opening: CallStart['opening']): string {
  switch (opening.kind) {
    case 'call':
      return opening.tag.close;
    case 'element':
      return opening.form.callClose;
    case 'tool':
      return `</${opening.tool}>`;
    case 'untagged':
      return '';
  }
}
