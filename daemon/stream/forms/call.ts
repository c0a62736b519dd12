import type { CallToken, Marks } from '../callMarks.ts';
import { greater, less } from '../characters.ts';
import type { ElementForm } from '../family.ts';
import type { RequestTools } from '../requestTools.ts';
import { CallRefusal, over, type Reading, type RefusalReason, type Source } from '../source.ts';

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

const maxTitleLength = 256;

/** The name in a tag, and what its attributes say. */
export interface Title {
  readonly name: string;
  /** An attribute says that the value is a string. */
  readonly isString?: boolean;
}

/** What was read of the rest of a tag. */
interface TagRest {
  readonly text: string;
  /** The title of the tag, if it is one. */
  readonly title?: RawTitle;
}

/** The text up to the end of a tag, or up to a value that began instead of the end (`isOpen`). */
export interface RawTitle {
  readonly raw: string;
  readonly isOpen: boolean;
}

/** Reads the rest of a tag that holds a name. */
export function* readTagRest(source: Source, { tagEnd, valueOpen }: ElementForm): Reading<TagRest> {
  let text = '';
  for (;;) {
    while (source.isDry) yield;
    // Glimmer may write a mark of its headers into a name.
    const isQuoted = /^\s*["'][\w.-]+(?:<[|\w]*)?$/.test(text);
    const isBroken = source.code === less && tagEnd.charCodeAt(0) === greater && !isQuoted;
    if (source.code === over || isBroken || text.length > maxTitleLength) return { text };
    text += source.character;
    source.at++;
    const isOpen = valueOpen !== undefined && text.endsWith(valueOpen);
    if (!isOpen && (!text.endsWith(tagEnd) || /["'][\w.-]+<\|message\|>$/.test(text))) continue;
    const raw = text.slice(0, -(isOpen ? valueOpen : tagEnd).length).replace('<|message|>', '');
    return { text, title: { raw, isOpen } };
  }
}

/** The same, refusing what is not a tag. */
export function* readTitle(source: Source, form: ElementForm): Reading<RawTitle> {
  const { title } = yield* readTagRest(source, form);
  if (title === undefined) throw new CallRefusal(source.code === over ? 'cut' : 'mention');
  return title;
}

const attributes = /^(?:\s+(?:string|type|index)\s*=\s*(["'])\w*\1)*\s*$/;

/** The name in a tag: either a quoted name, with attributes that say nothing about the value, or the whole text. */
export function titleOf(raw: string): Title | undefined {
  const quoted = /^\s*(["'])([^"'\n]*)\1(.*)$/s.exec(raw);
  if (quoted === null) return /["'<>=]/.test(raw) || raw.trim() === '' ? undefined : { name: raw.trim() };
  const [, , name = '', rest = ''] = quoted;
  if (!attributes.test(rest)) return undefined;
  return { name, isString: /string\s*=\s*["']true|type\s*=\s*["']string/.test(rest) };
}
