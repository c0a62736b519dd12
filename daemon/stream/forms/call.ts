import type { CallToken } from '../callMarks.ts';
import type { Marks } from '../marks.ts';
import type { OfferedTools } from '../offeredTools.ts';

/** A call as it was written. */
export interface WrittenCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The arguments that are bare words, to which the tool's schema gives their types. */
  readonly words?: ReadonlySet<string>;
  /** Nothing was said of arguments, so that it may be a mention of the tool. */
  readonly isArgumentFree?: true;
  /** It has its place for arguments, and none in it. */
  readonly isEmpty?: true;
}

/** A mark that was read. */
export interface FoundMark {
  readonly token: CallToken;
  readonly text: string;
  /** Where it begins. */
  readonly offset: number;
  /** The name of a parameter, where it was read already. */
  readonly title?: string;
}

/** What the forms have to know to read a call. */
export interface CallContext {
  readonly tools: OfferedTools;
  readonly marks: Marks<CallToken>;
  /** A tag or a mark says that a call is meant. What has none may be an answer, and must be a call without a doubt. */
  isTagged: boolean;
  /** What was read so far looked like a call, whatever becomes of it. */
  begun: boolean;
  /** A mark after a call that is for somebody else. */
  pending: FoundMark | undefined;
  /** Calls end here, although more was read: what follows was looked at because it might have been a value's. */
  endAt: number | undefined;
}
