/** JSON that is nested deeper is refused: no message and no answer needs it, and what walks a value must not run out of stack. */
export const maxNesting = 512;

/** Whether this JSON text is nested deeper than the limit; linear, and cheap for a text that is too short for it. */
export function isNestedTooDeep(text: string): boolean {
  if (text.length <= maxNesting) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    else if (code === openBracket || code === openBrace) depth += 1;
    else if (code === closeBracket || code === closeBrace) depth -= 1;
    if (depth > maxNesting) return true;
  }
  return false;
}

const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** Where the string that begins here ends, at its closing quote. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== quote) at += text.charCodeAt(at) === backslash ? 2 : 1;
  return at;
}
