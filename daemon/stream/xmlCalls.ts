import type { WrittenCall } from './pythonCalls.ts';

const openTag = /^\s*<(?:function=|function name=|invoke name=)\s*([^>]*)>/;
/** A value ends at the close tag that the next parameter or the end follows; any other belongs to it. */
const parameter =
  /\s*<parameter(?:=| name=)\s*([^>]*)>([\s\S]*?)<\/parameter>(?=\s*(?:<parameter[= ]|<\/(?:function|invoke)>\s*$))/y;
const argumentPair =
  /\s*<arg_key>([^<]*)<\/arg_key>\s*<arg_value>([\s\S]*?)<\/arg_value>(?=\s*(?:<arg_key>|$))/y;

/** Parses one `<function=name><parameter=x>…</parameter></function>`, whose values are verbatim text. */
export function tryParseXmlCall(text: string): WrittenCall | undefined {
  const open = openTag.exec(text);
  if (open === null) return undefined;
  const name = unquote(open[1] ?? '');
  const pairs = pairsOf(parameter, text, open[0].length);
  const words = pairs.map(([key, value]) => [unquote(key), trimOneBreak(value)] as const);
  return { name, arguments: Object.fromEntries(words), untyped: true };
}

/** Parses a name with `<arg_key>` and `<arg_value>` pairs after it, as GLM writes them. */
export function parsePairCall(text: string): WrittenCall {
  const first = text.indexOf('<arg_key>');
  const name = (first < 0 ? text : text.slice(0, first)).trim();
  const pairs = pairsOf(argumentPair, text, first < 0 ? text.length : first);
  const words = pairs.map(([key, value]) => [key.trim(), value] as const);
  return { name, arguments: Object.fromEntries(words), untyped: true };
}

/** The pairs that follow each other from `from` on; the patterns are sticky, so that the work stays linear. */
function pairsOf(pattern: RegExp, text: string, from: number): [string, string][] {
  const pairs: [string, string][] = [];
  pattern.lastIndex = from;
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    pairs.push([found[1] ?? '', found[2] ?? '']);
  }
  return pairs;
}

/** The object in `<function=name>{…}</function>`, or undefined. */
export function functionBody(text: string): { readonly name: string; readonly body: string } | undefined {
  const open = openTag.exec(text);
  if (open === null) return undefined;
  const body = text
    .slice(open[0].length)
    .replace(/<\/(?:function|invoke)>\s*$/, '')
    .trim();
  return body.startsWith('{') ? { name: unquote(open[1] ?? ''), body } : undefined;
}

function unquote(name: string): string {
  return name.trim().replace(/^(["'])(.*)\1$/s, '$2');
}

/** The template puts a line break after the open tag and before the close tag; further ones are the value's. */
function trimOneBreak(value: string): string {
  return value.replace(/^\r?\n/, '').replace(/\r?\n$/, '');
}
