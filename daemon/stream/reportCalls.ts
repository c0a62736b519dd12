import { parseCalls } from './callParser.ts';
import type { CallPiece } from './callReader.ts';
import type { Scan } from './scan.ts';

/** A text that a reader found to hold calls and nothing else. */
export interface FoundCalls {
  /** The blanks that were withheld before it. */
  readonly lead: string;
  /** What the pieces count in. */
  readonly source: string;
  readonly pieces: readonly CallPiece[];
  /** All that is taken out of the answer. */
  readonly text: string;
  /** A tag says that a call was meant; an untagged object that is no call is an answer. */
  readonly isTagged: boolean;
}

/** Tells the calls, or gives the text back where one of them cannot be read or names no offered tool. */
export function reportCalls(scan: Scan, { lead, source, pieces, text, isTagged }: FoundCalls): void {
  const parsed = parseCalls(source, pieces, scan.tools);
  if ('problem' in parsed) {
    if (isTagged || parsed.isCall)
      scan.sink.add({ type: 'warning', code: parsed.problem, message: parsed.message });
    scan.giveBack(lead + text);
    scan.toProse();
    return;
  }
  scan.sink.markup(lead);
  for (const [index, call] of parsed.calls.entries()) {
    scan.sink.add({ type: 'toolCall', call, text: index === 0 ? text : '' });
  }
  for (const name of parsed.missing) {
    const message = `The model left out the argument ${name}, which the tool requires.`;
    scan.sink.add({ type: 'warning', code: 'missing-argument', message });
  }
  scan.toLead(true);
}
