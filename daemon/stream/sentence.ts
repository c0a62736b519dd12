import { isBlank, newline } from './characters.ts';

/** What follows calls on their line: the rest of a sentence, something else, or nothing yet. */
export type Continuation = 'sentence' | 'other' | 'unknown';

const space = 32;
const tab = 9;
const openers = /["'“”‘’„«‹([{|]/;
const continuers = /[\p{Ll},.;:!?)\]}|"'”’“‘»›…–—]/u;

/**
 * Whether a whole call after this character may be quoted in a sentence: after a space, a quote or a bracket. A model
 * that means a call rarely goes on with the sentence after it.
 */
export function mayPrecedeMention(code: number): boolean {
  return code === space || code === tab || openers.test(String.fromCharCode(code));
}

/** Looks for the first character that decides. `end` is its index, or the length of the text. */
export function continuationOf(text: string, from: number): { what: Continuation; end: number } {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === newline) return { what: 'other', end: at };
    if (!isBlank(code)) return { what: continuers.test(text.charAt(at)) ? 'sentence' : 'other', end: at };
  }
  return { what: 'unknown', end: text.length };
}
