/**
 * Guesses the text at the cursor from the text around it: the rest of an earlier line with the same start, else the
 * rest of a word that occurs elsewhere, else nothing. It never answers with a comment instead of code, because the
 * comment would end up in a file.
 */
export function guessCompletion({
  prefix,
  suffix,
}: {
  readonly prefix: string;
  readonly suffix: string;
}): string {
  const line = /[^\n]*$/.exec(prefix)?.[0] ?? '';
  const before = prefix.slice(0, prefix.length - line.length);
  return restOfLine(line.trimStart(), before) || restOfWord(line, `${before}\n${suffix}`);
}

function restOfLine(start: string, before: string): string {
  if (start.trim().length < 3) return '';
  const earlier = before.split('\n').map((line) => line.trim());
  const same = earlier.findLast((line) => line.startsWith(start) && line.length > start.length);
  return same?.slice(start.length) ?? '';
}

function restOfWord(line: string, around: string): string {
  const start = /[\p{L}_$][\p{L}\p{N}_$]+$/u.exec(line)?.[0];
  if (start === undefined) return '';
  const words = around.match(/[\p{L}_$][\p{L}\p{N}_$]*/gu) ?? [];
  return (
    words.findLast((word) => word.startsWith(start) && word.length > start.length)?.slice(start.length) ?? ''
  );
}
