import { Worker } from 'node:worker_threads';
import { cutText } from '../../../protocol/base/text.ts';
import { FileProblemError } from './workspace.ts';

/** The lines of one text. */
export interface LineMatches {
  readonly total: number;
  /** The first of them. */
  readonly lines: readonly LineMatch[];
}

interface LineMatch {
  /** From 1. */
  readonly number: number;
  /** The line, or the part of it around what was sought. */
  readonly text: string;
}

export interface LineSearch {
  /** `late` once the time of the whole search is over. */
  lines(text: string, max: number): Promise<LineMatches | 'late'>;
  end(): void;
}

/** In characters. */
const maxQuery = 200;
const maxLine = 200;
/** For all texts of a search with a regular expression, in ms. */
const timeLimit = 2_000;

/** Finds a text as it is. If it is all in lower case, case does not matter. */
export function literalSearch(query: string): LineSearch {
  if (query.trim() === '') throw new FileProblemError('The query is empty. Give a text that the lines have.');
  if (query.includes('\n'))
    throw new FileProblemError('A query is a part of one line. Give one without a line end.');
  const foldsCase = query === query.toLowerCase();
  return {
    async lines(text, max) {
      // Some letters have more units in lower case; then the places would be wrong.
      const lower = foldsCase ? text.toLowerCase() : text;
      return linesWith(query, { text, searched: lower.length === text.length ? lower : text, max });
    },
    end: () => undefined,
  };
}

interface SearchedText {
  readonly text: string;
  readonly searched: string;
  readonly max: number;
}

function linesWith(query: string, { text, searched, max }: SearchedText): LineMatches {
  const lines: LineMatch[] = [];
  let [total, number, counted] = [0, 1, 0];
  for (let at = searched.indexOf(query); at !== -1; ) {
    for (let end = text.indexOf('\n', counted); end !== -1 && end < at; end = text.indexOf('\n', counted)) {
      number += 1;
      counted = end + 1;
    }
    const end = text.indexOf('\n', at);
    const line = text.slice(counted, end === -1 ? undefined : end);
    total += 1;
    if (lines.length < max) lines.push({ number, text: partOf(line, at - counted) });
    at = end === -1 ? -1 : searched.indexOf(query, end + 1);
  }
  return { total, lines };
}

/** A long line is cut around what was found in it. */
function partOf(line: string, at: number): string {
  const bare = line.trimEnd();
  if (bare.length <= maxLine) return bare;
  const start = Math.max(0, Math.min(at - maxLine / 4, bare.length - maxLine));
  const part = cutText(bare.slice(start), maxLine - 2);
  return `${start > 0 ? '…' : ''}${part}${start + part.length < bare.length ? '…' : ''}`;
}

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

interface RawLines {
  readonly total: number;
  readonly lines: readonly { readonly number: number; readonly line: string; readonly at: number }[];
}

/**
 * Finds lines by a regular expression, which may take for ever: it runs in a worker, which is ended once it has worked
 * for too long.
 */
export function regexSearch(source: string): LineSearch {
  const workerData = { source, flags: flagsOf(source) };
  const worker = new Worker(program, { eval: true, workerData, env: {}, execArgv: [] });
  worker.unref();
  let left = timeLimit;
  return {
    async lines(text, max) {
      const begun = performance.now();
      const found = await answerOf(worker, { text, max }, left);
      left -= performance.now() - begun;
      if (found === 'late') return found;
      const lines = found.lines.map(({ number, line, at }) => ({ number, text: partOf(line, at) }));
      return { total: found.total, lines };
    },
    end: () => void worker.terminate(),
  };
}

/** @throws {FileProblemError} if it is too long, or no regular expression. */
function flagsOf(source: string): string {
  if (source.length > maxQuery)
    throw new FileProblemError(
      `A regular expression has at most ${maxQuery} characters. Give a shorter one.`,
    );
  const withoutEscapes = source.replace(/\\./gs, '');
  const fold = withoutEscapes === withoutEscapes.toLowerCase() ? 'i' : '';
  for (const flags of [`${fold}u`, fold]) if (isRegex(source, flags)) return flags;
  throw new FileProblemError(
    'The query is no regular expression of JavaScript. Correct it, or search without "regex".',
  );
}

function isRegex(source: string, flags: string): boolean {
  try {
    return new RegExp(source, flags) instanceof RegExp;
  } catch {
    return false;
  }
}

/** The worker answers one text at a time. */
function answerOf(worker: Worker, message: object, limit: number): Promise<RawLines | 'late'> {
  return new Promise((resolve, reject) => {
    const settle = () => {
      clearTimeout(timer);
      worker.off('message', onMessage).off('error', onError);
    };
    const onMessage = (found: RawLines) => {
      settle();
      resolve(found);
    };
    const onError = (error: unknown) => {
      settle();
      reject(error);
    };
    const timer = setTimeout(
      () => {
        settle();
        void worker.terminate();
        resolve('late');
      },
      Math.max(0, limit),
    );
    worker.on('message', onMessage).on('error', onError);
    worker.postMessage(message);
  });
}
