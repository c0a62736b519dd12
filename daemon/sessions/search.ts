import type { FileHandle } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SessionMessage } from '../../protocol/messages/sessions.ts';
import { readLines } from './fileLines.ts';
import { tryRecord } from './records.ts';

/** How much of a long line is searched before the process does other things, in characters. */
const slice = 512 * 1024;

/** The words of a query, in lower case, each once. */
export function wordsOf(query: string): readonly string[] {
  return [...new Set(query.toLowerCase().split(/\s+/))].filter((word) => word !== '');
}

/** Whether the title and the messages together contain all of these words. The file is read no further than needed. */
export async function hasWords(
  file: FileHandle,
  { title, words }: { readonly title: string; readonly words: readonly string[] },
  signal: AbortSignal,
): Promise<boolean> {
  const missing = new Set(words);
  strike(missing, title);
  if (missing.size === 0) return true;
  for await (const { text } of readLines(file, signal)) {
    if (!(await mayHave(text, missing))) continue;
    const record = tryRecord(text);
    if (record?.type !== 'message') continue;
    for (const said of textsOf(record)) strike(missing, said);
    if (missing.size === 0) return true;
  }
  return false;
}

/** Whether a line contains one of the words in its JSON form, which is cheaper than parsing the line. */
async function mayHave(line: string, words: ReadonlySet<string>): Promise<boolean> {
  const written = [...words].map((word) => JSON.stringify(word).slice(1, -1));
  const overlap = Math.max(...written.map(({ length }) => length));
  for (let at = 0; at < line.length; at += slice) {
    if (at > 0) await nextTurn();
    const part = line.slice(at, at + slice + overlap).toLowerCase();
    if (written.some((word) => part.includes(word))) return true;
  }
  return false;
}

function strike(missing: Set<string>, text: string): void {
  const lower = text.toLowerCase();
  for (const word of missing) if (lower.includes(word)) missing.delete(word);
}

function textsOf({ content, attachments = [] }: SessionMessage): readonly string[] {
  return [content, ...attachments.flatMap(({ path, text }) => [path, text])];
}
