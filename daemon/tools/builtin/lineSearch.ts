import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { withTimeLimit } from '../../../protocol/base/abort.ts';
import { FileProblemError } from './fileProblem.ts';

/** The lines of one text. */
export interface LineMatches {
  readonly total: number;
  /** The first of them, each with its number, from 1, the line, and where in it the text is. */
  readonly lines: readonly { readonly number: number; readonly line: string; readonly at: number }[];
}

/** Of a regular expression, in characters. */
const maxQuery = 200;
/** For all texts of a search, in ms. A regular expression may take for ever. */
const [longest, longestOfRegex] = [10_000, 2_000];

/** The program of the worker. It knows nothing but the texts that it gets. */
const program = `
  const { parentPort, workerData } = require('node:worker_threads');
  const pattern = new RegExp(workerData.source, workerData.flags);
  parentPort.on('message', ({ text, max }) => {
    const found = { total: 0, lines: [] };
    text.split('\\n').forEach((line, index) => {
      const match = pattern.exec(line);
      if (match === null) return;
      found.total += 1;
      const start = Math.max(0, match.index - 300);
      if (found.lines.length < max)
        found.lines.push({ number: index + 1, line: line.slice(start, start + 700), at: match.index - start });
    });
    parentPort.postMessage(found);
  });`;

/**
 * Finds the lines that have a text, in a worker that is ended once it has worked for too long. If the query is all in
 * lower case, case does not matter.
 */
export function createLineSearch(query: string, isRegex: boolean, signal: AbortSignal) {
  const workerData = isRegex ? regexOf(query) : literalOf(query);
  const worker = new Worker(program, { eval: true, workerData, env: {}, execArgv: [] });
  worker.unref();
  const reason = new Error('The search takes too long.');
  let limit = isRegex ? longestOfRegex : longest;
  return {
    /** `late` once the time of the whole search is over. */
    async lines(text: string, max: number): Promise<LineMatches | 'late'> {
      const begun = performance.now();
      try {
        const answer = (open: AbortSignal) => once(worker, 'message', { signal: open });
        worker.postMessage({ text, max });
        const [found] = await withTimeLimit({ limit, reason, signal }, answer);
        limit = Math.max(0, limit - (performance.now() - begun));
        return found;
      } catch (error) {
        if (error === reason) return 'late';
        throw error;
      }
    },
    end: () => void worker.terminate(),
  };
}

/** @throws {FileProblemError} if no line can have it. */
function literalOf(query: string) {
  if (query.trim() === '') throw new FileProblemError('The query is empty. Give a text that the lines have.');
  if (query.includes('\n'))
    throw new FileProblemError('A query is a part of one line. Give one without a line end.');
  return { source: query.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), flags: foldOf(query) };
}

/** @throws {FileProblemError} if it is too long, or no regular expression. */
function regexOf(source: string) {
  if (source.length > maxQuery)
    throw new FileProblemError(
      `A regular expression has at most ${maxQuery} characters. Give a shorter one.`,
    );
  const fold = foldOf(source.replace(/\\./gs, ''));
  for (const flags of [`${fold}u`, fold])
    try {
      return { source: new RegExp(source, flags).source, flags };
    } catch {
      // Old forms are none with the flag `u`.
    }
  throw new FileProblemError(
    'The query is no regular expression of JavaScript. Correct it, or search without "regex".',
  );
}

function foldOf(query: string): string {
  return query === query.toLowerCase() ? 'i' : '';
}
