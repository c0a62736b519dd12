/** Bare values lose what cannot be seen, as with the runner's own reader. */
export function printable(text: string): string {
  return /^[\x20-\x7e\t]*$/.test(text) ? text : text.replace(/[^\S \t]|(?!\t)\p{C}/gu, '').trim();
}

export function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

export function isLineEnd(code: number): boolean {
  return code === 0x0a || code === 0x0d;
}

/** What is trimmed from the ends of values. */
export function isSpace(code: number): boolean {
  return (
    (code >= 0x09 && code <= 0x0d) ||
    code === 0x20 ||
    code === 0x85 ||
    code === 0xa0 ||
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000
  );
}

/** What may stand before a command or a value and is nothing: blanks, and what pasted text has that nobody sees. */
export function isGap(code: number): boolean {
  const isInvisible =
    (code >= 0x200b && code <= 0x200f) || code === 0x2060 || code === 0xfeff || code === 0xad;
  return isInvisible || (isSpace(code) && !isLineEnd(code));
}
