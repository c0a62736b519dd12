import type { CodeTracker } from './codeTracker.ts';
import type { EventSink } from './eventSink.ts';
import type { OfferedTools } from './offeredTools.ts';
import type { Opening, Openings } from './openings.ts';
import type { StreamProfile } from './profile.ts';

/**
 * One state of the parser. A mode reads every character once, and what it withholds it keeps itself; so the
 * result cannot depend on how the input was cut.
 */
export interface Mode {
  /** Reads `text` from `from` on, and returns the index of the first character that is left to the next mode. */
  read(text: string, from: number): number;
  /** The stream is over: gives back all that is withheld, and says what was left open. */
  finish(reason: string): void;
}

/** What the modes of one stream share, and the ways from one to the next. */
export interface Scan {
  readonly sink: EventSink;
  readonly code: CodeTracker;
  readonly openings: Openings;
  readonly profile: StreamProfile;
  readonly tools: OfferedTools;
  /** Something of the answer was shown. */
  shown: boolean;
  /** A thinking block was completed. */
  thought: boolean;
  /** Thinking tags that were opened in prose and are prose, so that their close tags are prose too. */
  mentions: number;
  /** Characters looked at, for the tests that hold the work to be linear. */
  steps: number;

  /** The withheld `text` is plain text after all. */
  giveBack(text: string): void;
  toProse(): void;
  /** Before the answer, or (`afterCall`) right after a tool call: blanks are withheld until what follows is known. */
  toLead(afterCall: boolean): void;
  /** At a `<` that may begin a tag; `lead` is the blanks that are withheld before it. */
  toTag(lead: string, beginsLine: boolean): void;
  toThinking(names: readonly string[]): void;
  /** After a tag: its white space goes with it. */
  toBlanks(): void;
  /** After such a block: if nothing else is on its line, the line goes with it. */
  toLineRest(after: 'thinking' | 'context'): void;
  toBlock(name: string, lead: string, source: string): void;
  toCall(opening: Opening & { readonly kind: 'call' }, lead: string): void;
  /** The reply is in channels; `header` is how it began. */
  toChannels(header: string): void;
  /** At a character that may begin a reply that is nothing but tool calls. */
  toBareCall(lead: string): void;
}

/** How a warning tells the reader why a stream ended. */
export function endedBy(reason: string): string {
  return reason === 'stop' ? 'The reply ended' : `The reply ended (${reason})`;
}
