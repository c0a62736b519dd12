import type { CallToken } from './callMarks.ts';
import type { CallStart } from './callStart.ts';
import type { CodeTracker } from './codeTracker.ts';
import type { EventSink } from './eventSink.ts';
import type { Marks } from './marks.ts';
import type { OfferedTools } from './offeredTools.ts';
import type { Openings } from './openings.ts';
import type { StreamProfile } from './profile.ts';
import type { Thoughts } from './thoughts.ts';

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
  readonly callMarks: Marks<CallToken>;
  /** The mark that closes the answer, where one has opened it. */
  answerClose: string;
  /** Something of the answer was shown. */
  shown: boolean;
  /** A call was told. */
  called: boolean;
  /** What the model thinks is looked through for calls. */
  readonly thoughts: Thoughts;
  /** A thinking block was completed. */
  thought: boolean;
  /** Thinking tags that were opened in prose and are prose, so that their close tags are prose too. */
  mentions: number;
  /** Characters looked at, for the tests that hold the work to be linear. */
  steps: number;

  /** The withheld `text` is plain text after all. */
  giveBack(text: string): void;
  /** `text` was read too far: it is read again, from the mode that is now. */
  replay(text: string): void;
  toProse(): void;
  /** Before the answer, or (`afterCall`) right after a tool call: blanks are withheld until what follows is known. */
  toLead(afterCall: boolean): void;
  /** At a character that may begin a tag; `lead` is the blanks that are withheld before it. */
  toTag(lead: string, place: TagPlace): void;
  /** Inside of thinking, which one of these closes. */
  toThinking(end: ThinkingEnd): void;
  /** After a tag: its white space goes with it. */
  toBlanks(): void;
  /** After such a block: if nothing else is on its line, the line goes with it. */
  toLineRest(after: 'thinking' | 'context'): void;
  toBlock(block: OpenBlock): void;
  /** At what may be tool calls. */
  toCall(start: CallStart): void;
  /** At a token that ends a turn, if nothing follows it. */
  toEnd(token: string): void;
  /** The reply is in channels; `header` is how it began. */
  toChannels(header: string): void;
}

/** Where a tag stands. */
export interface TagPlace {
  readonly beginsLine: boolean;
  /** Right after a tool call. */
  readonly afterCall?: boolean;
  /** What is no tag may be a reply that is nothing but calls. */
  readonly mayBeCall?: boolean;
}

/** What closes thinking: an element of one of these names, or a mark. */
export interface ThinkingEnd {
  readonly names: readonly string[];
  readonly mark?: string;
  /** A word that may stand on the first line, and is no thought. */
  readonly label?: string;
}

/** A context block whose open tag was read. */
export interface OpenBlock {
  readonly name: string;
  /** What closes it, where it is no element. */
  readonly close?: string;
  readonly lead: string;
  readonly source: string;
}

/** How a warning tells the reader why a stream ended. */
export function endedBy(reason: string): string {
  return reason === 'stop' ? 'The reply ended' : `The reply ended (${reason})`;
}
