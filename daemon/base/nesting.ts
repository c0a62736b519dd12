/**
 * JSON that is nested deeper is refused. No message or answer needs it, and code that walks a value must not run out of
 * stack.
 */
export const maxNesting = 512;

/**
 * A runner's JSON with more objects, lists and keys than this is refused, because a few bytes of text become a hundred
 * in memory. A list of ten thousand models has half as many.
 */
export const maxNodes = 500_000;

/**
 * Whether this JSON text is nested deeper than the limit. Linear, and cheap for a text that is too short to be so deep.
 */
export function isNestedTooDeep(text: string): boolean {
  return text.length > maxNesting && shapeOf(text).isDeep;
}

/**
 * What exceeds the limits in this JSON text, found before the text is parsed: its nesting, or the number of its nodes.
 */
export function excessOf(text: string): 'deep' | 'large' | undefined {
  if (text.length <= maxNesting) return undefined;
  const { isDeep, nodes } = shapeOf(text);
  if (isDeep) return 'deep';
  return nodes > maxNodes ? 'large' : undefined;
}

/** How many objects, lists and keys this JSON text has. */
export function nodesIn(text: string): number {
  return shapeOf(text).nodes;
}

/** Counts what stands outside of strings. A text that is not JSON does no harm: reading stops at its end. */
function shapeOf(text: string): { readonly isDeep: boolean; readonly nodes: number } {
  let depth = 0;
  let nodes = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    else if (code === openBracket || code === openBrace) {
      depth += 1;
      nodes += 1;
    } else if (code === closeBracket || code === closeBrace) depth -= 1;
    else if (code === colon) nodes += 1;
    if (depth > maxNesting) return { isDeep: true, nodes };
  }
  return { isDeep: false, nodes };
}

const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const colon = 0x3a;

/**
 * The index of the closing quote of the string that begins here. Long strings, such as images, cost next to nothing.
 */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, start, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

/** Whether an odd number of backslashes stands before this index. Each backslash is counted for one quote only. */
function isEscaped(text: string, start: number, end: number): boolean {
  let before = end - 1;
  while (before > start && text.charCodeAt(before) === backslash) before -= 1;
  return (end - 1 - before) % 2 === 1;
}
