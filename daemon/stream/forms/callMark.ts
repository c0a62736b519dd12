import type { CallToken } from '../callMarks.ts';
import { closeBracket } from '../characters.ts';
import { tagPrefix } from '../families.ts';
import { readMark } from '../marks.ts';
import { peek, type Reading, Refusal, type Source } from '../source.ts';
import type { CallContext } from './call.ts';

/** A mark between calls, or characters that are not a mark. */
export interface CallMark {
  readonly token: CallToken | undefined;
  readonly text: string;
  /** The offset at which it begins. */
  readonly offset: number;
  /** Whether a bracket that closes nothing came before it. */
  readonly isStray: boolean;
}

/** Reads the mark that may follow between calls, with the prefix or the stray bracket before it. */
export function* readCallMark(source: Source, { marks }: CallContext): Reading<CallMark> {
  const { offset } = source;
  if (source.code !== closeBracket) return { ...(yield* readMark(source, marks)), offset, isStray: false };
  source.at++;
  if ((yield* peek(source)) !== tagPrefix.charCodeAt(1))
    return { token: undefined, text: '', offset, isStray: true };
  source.at++;
  if ((yield* peek(source)) !== closeBracket)
    return { ...(yield* readMark(source, marks, '<')), offset: offset + 1, isStray: true };
  for (const character of tagPrefix.slice(2)) {
    yield* peek(source);
    if (source.character !== character) throw new Refusal('mention');
    source.at++;
  }
  return { ...(yield* readMark(source, marks)), offset, isStray: false };
}
