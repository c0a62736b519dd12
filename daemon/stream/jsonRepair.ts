import { backslash, doubleQuote, isBlank } from './characters.ts';

/**
 * Parses JSON as models write it: strings may hold raw line breaks, backslashes that escape nothing, Windows
 * paths and quotes that nobody escaped. Anything else that JSON does not allow stays an error: undefined.
 */
export function tryParseJson(text: string): unknown {
  if (!drivePath.test(text)) {
    const value = tryParse(text);
    if (value !== undefined) return value;
  }
  return tryParse(repairJson(text));
}

/** `"C:\new` is valid JSON and still never means a line break. */
const drivePath = /"[A-Za-z]:\\[bfnrtu]/;

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // Not JSON is an answer here, not a failure. A RangeError means nesting deeper than any call has.
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}

function repairJson(text: string): string {
  const parts: string[] = [];
  let at = 0;
  while (at < text.length) {
    const quote = text.indexOf('"', at);
    if (quote < 0) break;
    parts.push(text.slice(at, quote));
    const end = stringEnd(text, quote + 1);
    parts.push(`"${repairString(text.slice(quote + 1, end))}"`);
    at = end + 1;
  }
  parts.push(text.slice(at));
  return parts.join('');
}

/** A quote ends its string only where the structure goes on after it; any other belongs to the string. */
function stringEnd(text: string, from: number): number {
  const path = text.charAt(from + 1) === ':' && text.charCodeAt(from + 2) === backslash;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === backslash && !(path && endsPath(text, at + 1))) at++;
    else if (code === doubleQuote && structureFollows(text, at + 1)) return at;
  }
  return text.length;
}

/** In `"C:\\dir\\"` the last backslash is the path's own. */
function endsPath(text: string, at: number): boolean {
  return text.charCodeAt(at) === doubleQuote && /[}\],]/.test(text.charAt(at + 1));
}

function structureFollows(text: string, from: number): boolean {
  let at = from;
  while (at < text.length && isBlank(text.charCodeAt(at))) at++;
  return at === text.length || ',:}]'.includes(text.charAt(at));
}

function repairString(body: string): string {
  const path = /^[A-Za-z]:\\(?!\\)/.test(body);
  return body.replace(/\\(u[0-9a-fA-F]{4}|[\s\S]|$)|["\u0000-\u001f]/g, (found, escaped?: string) => {
    if (escaped === undefined) return JSON.stringify(found).slice(1, -1);
    if (escaped === '\\' || (escaped === '"' && !path)) return found;
    if (!path && /^(?:[/bfnrt]|u[0-9a-fA-F]{4})$/.test(escaped)) return found;
    return `\\\\${JSON.stringify(escaped).slice(1, -1)}`;
  });
}
