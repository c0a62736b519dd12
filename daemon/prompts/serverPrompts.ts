import { withTimeLimit } from '../../protocol/base/abort.ts';
import { showLine } from '../../protocol/base/controlCharacters.ts';
import { messageOf } from '../../protocol/base/errorText.ts';
import { cutText } from '../../protocol/base/text.ts';
import { withoutUndefined } from '../../protocol/base/withoutUndefined.ts';
import type { Prompt } from '../../protocol/messages/prompts.ts';
import type { ServerRequest } from '../tools/mcpSession.ts';
import type { AskableServer } from '../tools/toolServer.ts';
import { completionsIn, type ListedPrompt, promptsIn, readPromptResult } from './serverAnswers.ts';

/** A prompt that a tool server offers, under the name that people type. */
export interface ServerPrompt {
  readonly prompt: Prompt;
  readonly from: AskableServer;
  /** The server's own name for it. */
  readonly ownName: string;
}

export interface ServerPromptList {
  readonly prompts: readonly ServerPrompt[];
  /** Sentences about servers that cannot be used. */
  readonly problems: readonly string[];
}

/** How far a list goes: to servers that run, to what comes at once, or to the end. */
export type ListPatience = 'running' | 'short' | 'long';

/** The prompts of tool servers. What a server listed last stands in for a list that does not come in time. */
export interface ServerPrompts {
  list(
    servers: readonly AskableServer[],
    patience: ListPatience,
    signal: AbortSignal,
  ): Promise<ServerPromptList>;
  /** @throws {Error} a sentence, or the reason of an aborted signal. */
  get(
    { from, ownName }: ServerPrompt,
    values: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<ReturnType<typeof readPromptResult>>;
  complete(prompt: ServerPrompt, typed: TypedValue, signal: AbortSignal): Promise<readonly string[]>;
}

interface TypedValue {
  readonly argument: string;
  readonly value: string;
  readonly values: Readonly<Record<string, string>>;
}

/** In ms. */
const limits = { short: 800, list: 15_000, get: 30_000, complete: 1_500 };
const maxPages = 20;
const maxPrompts = 200;

export function createServerPrompts(): ServerPrompts {
  const last = new WeakMap<AskableServer['server'], ServerPromptList>();

  const listed = async (from: AskableServer, isOnlyIfRunning: boolean, signal: AbortSignal) => {
    try {
      const prompts = await readList(from, isOnlyIfRunning, signal);
      const list = prompts && { prompts, problems: [] };
      if (list) last.set(from.server, list);
      return list ?? noPrompts;
    } catch (error) {
      signal.throwIfAborted();
      return { prompts: [], problems: [showLine(messageOf(error))] };
    }
  };

  return {
    async list(servers, patience, signal) {
      const lists = await Promise.all(
        servers.map((from) => {
          const known = () => last.get(from.server) ?? noPrompts;
          if (patience === 'long') return listed(from, false, signal);
          // It goes on when nobody waits any more, so that the next list has it.
          return within(listed(from, patience === 'running', neverAborted), known, signal);
        }),
      );
      return {
        prompts: lists.flatMap(({ prompts }) => prompts),
        problems: lists.flatMap(({ problems }) => problems),
      };
    },

    async get({ from, ownName }, values, signal) {
      const params = { name: ownName, arguments: values };
      const request: ServerRequest = { method: 'prompts/get', params, needs: 'prompts' };
      const answer = await from.server.ask?.(request, { signal, limit: limits.get });
      try {
        return readPromptResult(answer);
      } catch (error) {
        throw new Error(`The tool server ${from.name} ${messageOf(error)}.`, { cause: error });
      }
    },

    async complete({ from, ownName }, { argument, value, values }, signal) {
      const params = {
        ref: { type: 'ref/prompt', name: ownName },
        argument: { name: argument, value },
        context: { arguments: values },
      };
      const request: ServerRequest = { method: 'completion/complete', params, needs: 'completions' };
      try {
        return completionsIn(await from.server.ask?.(request, { signal, limit: limits.complete }));
      } catch {
        signal.throwIfAborted();
        return [];
      }
    },
  };
}

const noPrompts: ServerPromptList = { prompts: [], problems: [] };
const neverAborted = new AbortController().signal;

/** The list if it comes in time, or else what was known. */
async function within(
  list: Promise<ServerPromptList>,
  known: () => ServerPromptList,
  signal: AbortSignal,
): Promise<ServerPromptList> {
  const late = new Error('It is late.');
  return withTimeLimit({ limit: limits.short, reason: late, signal }, () => list).catch((error) => {
    if (error !== late) throw error;
    return known();
  });
}

/** Page by page, within bounds; undefined if the server does not run and is not to be started. */
async function readList(
  from: AskableServer,
  isOnlyIfRunning: boolean,
  signal: AbortSignal,
): Promise<readonly ServerPrompt[] | undefined> {
  const found: ListedPrompt[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < maxPages && found.length < maxPrompts; pages += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const request: ServerRequest = { method: 'prompts/list', params, needs: 'prompts' };
    const answer = await from.server.ask?.(request, { signal, limit: limits.list, isOnlyIfRunning });
    if (answer === undefined) return pages === 0 && isOnlyIfRunning ? undefined : [];
    const page = promptsIn(answer);
    found.push(...page.prompts);
    if (page.nextCursor === undefined || page.nextCursor === cursor) break;
    cursor = page.nextCursor;
  }
  return found.slice(0, maxPrompts).map((listed) => toServerPrompt(listed, from));
}

function toServerPrompt({ ownName, description, arguments: given }: ListedPrompt, from: AskableServer) {
  const name = `${serverWord(from.name)}:${wordOf(ownName)}`;
  const prompt = { name, description, from: 'server' as const, server: from.name, arguments: given };
  return { from, ownName, prompt: withoutUndefined<Prompt>(prompt) };
}

/** The name of a server as a part of one word without a colon. */
export function serverWord(name: string): string {
  return wordOf(name).replaceAll(':', '_');
}

/** So that it is one word behind a slash in every client. */
function wordOf(name: string): string {
  return cutText(name.replace(/[^\p{L}\p{N}_.:-]+/gu, '_'), 64) || '_';
}
