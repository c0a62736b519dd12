/** Removes invisible characters from a bare value, as the runner's own reader does. */
export function printable(text: string): string {
  return /^[\x20-\x7e\t]*$/.test(text) ? text : text.replace(/[^\S \t]|(?!\t)\p{C}/gu, '').trim();
}

export function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

export function isLineEnd(code: number): boolean {
  return code === 0x0a || code === 0x0d;
}

/** Whether a character is trimmed from the ends of values. */
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

/**
 * Whether a character may stand before a command or a value without meaning: blanks, and the invisible characters of
 * pasted text.
 */
export function isGap(code: number): boolean {
  const isInvisible =
    (code >= 0x200b && code <= 0x200f) || code === 0x2060 || code === 0xfeff || code === 0xad;
  return isInvisible || (isSpace(code) && !isLineEnd(code));
}
