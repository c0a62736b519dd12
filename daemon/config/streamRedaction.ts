import { mask, maskRanges, type Range } from './maskRanges.ts';
import { type Form, readForm } from './secretForms.ts';

/** The least of the beginning of a secret that is taken for it where a text was cut. */
export const shortestBeginning = 6;

/**
 * Removes secrets from a text that comes in pieces; however it is cut, the text that comes out is the same. What may be
 * the beginning of a secret is withheld until it is decided.
 */
export interface StreamRedaction {
  /** What can be shown now. */
  add(piece: string): string;
  /**
   * Something else is shown next: only what is probably the beginning of a secret stays withheld. If the text goes on
   * with the rest of a secret, that rest is masked.
   */
  pause(): string;
  /** Nothing follows. */
  end(): string;
}

/** `forms` may grow meanwhile. */
export function createStreamRedaction(forms: () => readonly Form[]): StreamRedaction {
  /** How many characters at the end of the text are the beginning of a form; only what is begun has an entry. */
  const begun = new Map<Form, number>();
  let longestBegun = 0;
  let withheld = '';
  /** Within what is withheld. */
  let ranges: Range[] = [];
  /** A mask was the last that came out. */
  let endsMasked = false;

  const read = (piece: string) => {
    longestBegun = 0;
    for (const form of forms()) {
      const ends: number[] = [];
      const before = begun.get(form) ?? 0;
      const after = readForm(form, piece, { begun: before, ends });
      for (const end of ends.map((at) => withheld.length + at))
        ranges.push([Math.max(0, end - form.text.length), end]);
      if (after > 0) begun.set(form, after);
      else if (before > 0) begun.delete(form);
      longestBegun = Math.max(longestBegun, after);
    }
    withheld += piece;
  };

  const release = (length: number): string => {
    if (length <= 0) return '';
    const text = withheld.slice(0, length);
    withheld = withheld.slice(length);
    if (ranges.length === 0 && !endsMasked) return text;
    const here = ranges.filter(([start]) => start < length);
    const masked = maskRanges(text, here);
    const goesOn = endsMasked && here.some(([start]) => start === 0);
    endsMasked = here.some(([, end]) => end >= length);
    ranges = ranges
      .filter(([, end]) => end > length)
      .map(([start, end]) => [Math.max(0, start - length), end - length]);
    return goesOn ? masked.slice(mask.length) : masked;
  };

  return {
    add(piece) {
      read(piece);
      return release(withheld.length - longestBegun);
    },
    pause: () => (longestBegun < shortestBeginning ? release(withheld.length) : ''),
    end: () => release(withheld.length),
  };
}
