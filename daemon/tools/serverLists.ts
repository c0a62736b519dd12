import { withTimeLimit } from '../../protocol/base/abort.ts';
import { cutText, messageOf, showLine } from '../../protocol/base/text.ts';
import type { ServerRequest } from './mcpSession.ts';
import type { AskableServer } from './toolServer.ts';

/** How far a list goes: to servers that run, to what comes at once, or to the end. */
export type ListPatience = 'running' | 'short' | 'long';

export interface ServerList<T> {
  readonly items: readonly T[];
  /** A sentence, if the server cannot be used. */
  readonly problem?: string;
}

export interface ServerPage<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | undefined;
}

interface ListedThings<T> extends Pick<ServerRequest, 'method' | 'needs'> {
  /** Reads an answer of the server, whatever it is. */
  readonly pageIn: (answer: unknown) => ServerPage<T>;
}

/** In ms. */
const limits = { short: 800, list: 15_000 };
const maxPages = 20;
const maxItems = 200;

/**
 * Lists things of tool servers, page by page and within bounds. What a server listed last stands in for a list that
 * does not come in time. Rejects only with the reason of an aborted signal.
 */
export function serverLists<T>({ method, needs, pageIn }: ListedThings<T>) {
  const last = new WeakMap<AskableServer['server'], ServerList<T>>();

  const read = async ({ server }: AskableServer, isOnlyIfRunning: boolean, signal: AbortSignal) => {
    const items: T[] = [];
    let cursor: string | undefined;
    for (let pages = 0; pages < maxPages && items.length < maxItems; pages += 1) {
      const request: ServerRequest = { method, needs, params: cursor === undefined ? {} : { cursor } };
      const answer = await server.ask?.(request, { signal, limit: limits.list, isOnlyIfRunning });
      if (answer === undefined) break;
      const page = pageIn(answer);
      items.push(...page.items);
      if (page.nextCursor === undefined || page.nextCursor === cursor) break;
      cursor = page.nextCursor;
    }
    const list = { items: items.slice(0, maxItems) };
    last.set(server, list);
    return list;
  };

  const tried = (...asked: Parameters<typeof read>): Promise<ServerList<T>> =>
    read(...asked).catch((error) => {
      asked[2].throwIfAborted();
      return { items: [], problem: showLine(messageOf(error)) };
    });

  return async (from: AskableServer, patience: ListPatience, signal: AbortSignal): Promise<ServerList<T>> => {
    if (patience === 'long') return tried(from, false, signal);
    // It goes on when nobody waits any more, so that the next list has it.
    const list = tried(from, patience === 'running', new AbortController().signal);
    const late = new Error('It is late.');
    return withTimeLimit({ limit: limits.short, reason: late, signal }, () => list).catch((error) => {
      if (error !== late) throw error;
      return last.get(from.server) ?? { items: [] };
    });
  };
}

/** The name of a tool server as people type it before a colon, in one word. */
export function serverWord(name: string): string {
  return wordOf(name).replaceAll(':', '_');
}

/** A server's name for something, in one word without slashes. */
export function wordOf(name: string): string {
  return cutText(name.replace(/[^\p{L}\p{N}_.:-]+/gu, '_'), 64) || '_';
}
