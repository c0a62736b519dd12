import type { CallToken } from './callMarks.ts';
import type { CallStart } from './callStart.ts';
import type { CodeTracker } from './codeTracker.ts';
import type { Echoes } from './echoes.ts';
import type { EventSink } from './eventSink.ts';
import type { Marks } from './marks.ts';
import type { OfferedTools } from './offeredTools.ts';
import type { Openings } from './openings.ts';
import type { StreamProfile } from './profile.ts';
import type { Thoughts } from './thoughts.ts';

/**
 * One state of the parser. A mode reads every character once, and keeps what it withholds itself. So the result cannot
 * depend on how the input was cut.
 */
export interface Mode {
  /** Reads `text` from `from` on, and returns the index of the first character that it leaves to the next mode. */
  read(text: string, from: number): number;
  /** Ends the stream: gives back everything that is withheld, and reports what was left open. */
  finish(reason: string): void;
}

/** What the modes of one stream share, and the transitions between them. */
export interface Scan {
  readonly sink: EventSink;
  readonly code: CodeTracker;
  readonly openings: Openings;
  readonly profile: StreamProfile;
  readonly tools: OfferedTools;
  readonly callMarks: Marks<CallToken>;
  /** What the chat sent, which the model may echo. */
  readonly echoes: Echoes;
  /** The mark that closes the answer, if a mark has opened it. */
  answerClose: string;
  /** Whether a part of the answer was shown. */
  shown: boolean;
  /** Whether a call was reported. */
  called: boolean;
  /** Searches the model's thinking for calls. */
  readonly thoughts: Thoughts;
  /** Whether a thinking block was completed. */
  thought: boolean;
  /** The number of thinking tags inside thinking, whose close tags may come after the thinking. */
  nested: number;
  /** The number of thinking tags in prose that are only mentions, so that their close tags are prose too. */
  mentions: number;
  /** The number of characters visited, for the tests that the work is linear. */
  steps: number;
  /** How often the text that is read now was read before, because a block that held it is no echo. */
  readonly readings: number;

  /** Reports withheld `text` as plain text after all. */
  giveBack(text: string): void;
  /** Reads `text` again in the current mode, because an earlier mode read too far. */
  replay(text: string): void;
  /** Reads the text of a block that is no echo; it was read `readings` times before. */
  readAgain(text: string, readings: number): void;
  toProse(): void;
  /**
   * Before the answer, or right after a tool call (`afterCall`). Blanks are withheld until it is known what follows.
   */
  toLead(afterCall: boolean): void;
  /** At a character that may begin a tag. `lead` holds the blanks that are withheld before it. */
  toTag(lead: string, place: TagPlace): void;
  /** Inside thinking, which one of these closes. */
  toThinking(end: ThinkingEnd): void;
  /** After a tag. The white space after it is dropped. */
  toBlanks(): void;
  /** After such a block. If nothing else is on its line, the line is dropped with it. */
  toLineRest(after: 'thinking' | 'context'): void;
  /** Inside a block that may be an echo. */
  toBlock(block: OpenBlock): void;
  /** After the tag of a block that is no echo. */
  toContent(block: OpenBlock): void;
  /** After something that is not shown. If it began its line and nothing else is on it, the line goes with it. */
  toAfterContext(beginsLine: boolean): void;
  /** At text that may be tool calls. */
  toCall(start: CallStart): void;
  /** At a token that ends a turn if nothing follows it. */
  toEnd(token: string): void;
  /** The reply is in channels. `header` is its beginning. */
  toChannels(header: string): void;
}

/** Where a tag stands. */
export interface TagPlace {
  readonly beginsLine: boolean;
  /** True right after a tool call. */
  readonly afterCall?: boolean;
  /** If it is not a tag, it may be a reply that consists only of calls. */
  readonly mayBeCall?: boolean;
}

/** What closes thinking: an element with one of these names, or a mark. */
export interface ThinkingEnd {
  readonly names: readonly string[];
  readonly mark?: string;
  /** A word that may be on the first line and is not part of the thinking. */
  readonly label?: string;
}

/** A tag of a context block, and what is known of the block. */
export interface OpenBlock {
  readonly name: string;
  /** The mark that closes it, if it is not an element. */
  readonly close?: string;
  /** The blanks that are withheld before the tag. */
  readonly lead: string;
  readonly tag: string;
  readonly beginsLine: boolean;
  /** Whether the tag is not shown even if the content is. */
  readonly dropsTag: boolean;
}

/** The words in a warning for why a stream ended. */
export function endedBy(reason: string): string {
  return reason === 'stop' ? 'The reply ended' : `The reply ended (${reason})`;
}
