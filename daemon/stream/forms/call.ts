import type { CallToken, Marks } from '../callMarks.ts';
import type { RequestTools } from '../requestTools.ts';
import type { RefusalReason } from '../source.ts';
import type { RawTitle } from './title.ts';

/** A call as it was written. */
export interface WrittenCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The arguments that are bare words. The tool's schema gives them their types. */
  readonly words?: ReadonlySet<string>;
  /** The call has no place for arguments, so it may be just a mention of the tool. */
  readonly isArgumentFree?: true;
  /** The call has a place for arguments, but that place is empty. */
  readonly isEmpty?: true;
  /** The element closes itself, as elements of documents do. */
  readonly closesItself?: true;
}

/** A mark that was read. */
export interface FoundMark {
  readonly token: CallToken;
  readonly text: string;
  /** The offset at which it begins. */
  readonly offset: number;
  /** The rest of its tag, if it was already read. */
  readonly title?: RawTitle;
}

/** What the forms need to know to read a call. */
export interface FormContext {
  readonly tools: RequestTools;
  readonly marks: Marks<CallToken>;
  /**
   * A tag, another mark of calls or a fence for calls has shown that a call is meant. Text without one may be an
   * answer, so it counts only if it is certainly a call.
   */
  isMarked: boolean;
  /** Whether the text so far looked like a call, whatever the outcome. */
  begun: boolean;
  /** A mark after a call that the next reader must handle. */
  pending: FoundMark | undefined;
  /** The calls end here, although more was read, because the following text might have belonged to a value. */
  endAt: number | undefined;
  /** The elements of a list that are no calls, beside others that are; undefined if none may be skipped. */
  readonly broken: { reason: RefusalReason; from: number; to: number }[] | undefined;
}
