import type { Hole } from './speech.ts';

/**
 * Guesses the text at the cursor from the text around it: the rest of an earlier line with the same start, else the
 * rest of a word that occurs elsewhere, else nothing. It never answers with a comment instead of code, because the
 * comment would end up in a file.
 */
export function completionOf({ prefix, suffix }: Hole): string {
  const line = /[^\n]*$/.exec(prefix)?.[0] ?? '';
  const before = prefix.slice(0, prefix.length - line.length);
  const lines = before.split('\n').map((text) => text.trim());
  const start = line.trimStart();
  if (start.trim().length > 2) {
    const rest = restOf(start, lines);
    if (rest !== '') return rest;
  }
  const word = /[\p{L}_$][\p{L}\p{N}_$]+$/u.exec(line)?.[0];
  return word === undefined
    ? ''
    : restOf(word, `${before}\n${suffix}`.match(/[\p{L}_$][\p{L}\p{N}_$]*/gu) ?? []);
}

/** What the last of the texts with this start has behind it. */
function restOf(start: string, texts: readonly string[]): string {
  return (
    texts.findLast((text) => text.startsWith(start) && text.length > start.length)?.slice(start.length) ?? ''
  );
}
