import type { IncomingMessage } from 'node:http';
import { badRequest } from './failure.ts';

/** The limit of a real runner is not known. This one keeps a runaway client from filling the memory. */
const maxBytes = 64 * 1024 * 1024;

export async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    const buffer: Buffer = chunk;
    bytes += buffer.length;
    if (bytes > maxBytes) throw badRequest('http: request body too large');
    chunks.push(buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * Reads the first JSON value of a body, like Go's decoder: it ignores what follows.
 * @throws {ApiFailure} 400 with Go's text.
 */
export function parseBody(text: string): unknown {
  const start = text.trimStart();
  if (start === '') throw badRequest('missing request body');
  if (!/^[[{"\d\-tfn]/.test(start)) throw unexpected(start, 'looking for beginning of value');
  const end = endOfValue(start);
  if (end === undefined) throw badRequest('unexpected EOF');
  try {
    return JSON.parse(start.slice(0, end));
  } catch (error) {
    throw unexpected(characterAt(error, start), 'in literal or after value');
  }
}

/** The body if it is JSON, else its text. Tests look at it in the record. */
export function tryBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function endOfValue(text: string): number | undefined {
  if (!/^[[{]/.test(text)) return text.length;
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*("|$)|[[{\]}]/gs)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    if (depth === 0) return index + token.length;
  }
  return undefined;
}

function unexpected(text: string, where: string) {
  return badRequest(`invalid character '${text.slice(0, 1)}' ${where}`);
}

function characterAt(error: unknown, text: string): string {
  const position = /position (\d+)/.exec(String(error))?.[1];
  return position === undefined ? text : text.slice(Number(position));
}
