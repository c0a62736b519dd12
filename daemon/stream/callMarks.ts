import { closeBracket } from './characters.ts';
import { tagPrefix } from './families.ts';
import type { CallTag, ElementForm } from './family.ts';
import { perProfile, type StreamProfile } from './profile.ts';
import { CallRefusal, over, peek, type Reading, type Source, takeLiteral } from './source.ts';

export type CallToken =
  | { readonly kind: 'open'; readonly tag: CallTag }
  | { readonly kind: 'call'; readonly form: ElementForm }
  | { readonly kind: 'parameter'; readonly form: ElementForm; readonly close: string }
  | { readonly kind: 'close' | 'callClose' | 'parameterClose' | 'separator' | 'end' }
  | { readonly kind: 'arguments' | 'callId' }
  /** An element with the name of a parameter. */
  | { readonly kind: 'element' };

/** All marks that may occur among the calls of a model. */
export const callMarksOf = perProfile(createCallMarks);

function createCallMarks({ calls, elements, separators, ends }: StreamProfile): Marks<CallToken> {
  const tokens: [string, CallToken][] = [];
  const add = (literal: string, token: CallToken) => {
    if (literal !== '') tokens.push([literal, token]);
  };
  for (const end of ends) add(end, { kind: 'end' });
  for (const form of elements) {
    add(form.call, { kind: 'call', form });
    add(form.callClose, { kind: 'callClose' });
    for (const { open, close } of form.parameters) {
      add(open, { kind: 'parameter', form, close });
      add(close, { kind: 'parameterClose' });
    }
  }
  // A tag around calls may also have the name of a tool as its attribute. Its close tag closes either.
  for (const tag of calls) {
    // Open tags that begin with another character are found only by `Openings`, where a block begins.
    if (/^[<[]/.test(tag.open)) add(tag.open, { kind: 'open', tag });
    add(tag.close, { kind: 'close' });
  }
  for (const separator of separators) add(separator, { kind: 'separator' });
  add('[ARGS]', { kind: 'arguments' });
  add('[CALL_ID]', { kind: 'callId' });
  return new Marks(tokens);
}

/** Literals with a meaning, which are found character by character. None of them is the beginning of another. */
export class Marks<Token> {
  readonly #prefixes = new Map<string, Token | undefined>();

  constructor(tokens: Iterable<readonly [literal: string, token: Token]>) {
    for (const [literal, token] of tokens) {
      for (let length = 1; length < literal.length; length++) {
        const prefix = literal.slice(0, length);
        if (!this.#prefixes.has(prefix)) this.#prefixes.set(prefix, undefined);
      }
      this.#prefixes.set(literal, token);
    }
  }

  /** Whether a literal equals this text or begins with it. */
  fits(text: string): boolean {
    return this.#prefixes.has(text);
  }

  get(text: string): Token | undefined {
    return this.#prefixes.get(text);
  }
}

/** What was read at a place: a mark, or characters that are not a mark. */
export interface MarkReading<Token> {
  readonly token: Token | undefined;
  readonly text: string;
}

/**
 * Reads the mark that may begin here; `begun` was already read. If there is no mark, at least one character is read.
 */
export function* readMark<Token>(
  source: Source,
  marks: Marks<Token>,
  begun = '',
): Reading<MarkReading<Token>> {
  let text = begun;
  for (;;) {
    while (source.isDry) yield;
    const longer = text + source.character;
    if (source.character === '' || !marks.fits(longer)) {
      if (text === '' && source.character !== '') {
        source.at++;
        return { token: undefined, text: longer };
      }
      return { token: undefined, text };
    }
    source.at++;
    text = longer;
    const token = marks.get(text);
    if (token !== undefined) return { token, text };
  }
}

/** Whether the reply ends within a close tag, of which this much was read. */
export function isCutClose(source: Source, text: string): boolean {
  return source.code === over && text.startsWith('</');
}

/** A mark between calls, or characters that are not a mark. */
interface CallMark {
  readonly token: CallToken | undefined;
  readonly text: string;
  /** The offset at which it begins. */
  readonly offset: number;
  /** Whether a bracket that closes nothing came before it. */
  readonly isStray: boolean;
}

/** Reads the mark that may follow between calls, with the prefix or the stray bracket before it. */
export function* readCallMark(source: Source, marks: Marks<CallToken>): Reading<CallMark> {
  const { offset } = source;
  if (source.code !== closeBracket) return { ...(yield* readMark(source, marks)), offset, isStray: false };
  source.at++;
  if ((yield* peek(source)) !== tagPrefix.charCodeAt(1))
    return { token: undefined, text: '', offset, isStray: true };
  source.at++;
  if ((yield* peek(source)) !== closeBracket)
    return { ...(yield* readMark(source, marks, '<')), offset: offset + 1, isStray: true };
  const rest = tagPrefix.slice(2);
  if ((yield* takeLiteral(source, rest)) !== rest) throw new CallRefusal('mention');
  return { ...(yield* readMark(source, marks)), offset, isStray: false };
}
