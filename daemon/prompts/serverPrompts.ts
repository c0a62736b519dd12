import { messageOf } from '../../protocol/base/errorText.ts';
import type { Prompt } from '../../protocol/messages/prompts.ts';
import type { ServerRequest } from '../tools/mcpSession.ts';
import { type ListPatience, serverLists, serverWord, wordOf } from '../tools/serverLists.ts';
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

interface TypedValue {
  readonly argument: string;
  readonly value: string;
  readonly values: Readonly<Record<string, string>>;
}

/** In ms. */
const limits = { get: 30_000, complete: 1_500 };

export type ServerPrompts = ReturnType<typeof createServerPrompts>;

/** The prompts of tool servers. */
export function createServerPrompts() {
  const listOf = serverLists<ListedPrompt>({
    method: 'prompts/list',
    needs: 'prompts',
    pageIn: promptsIn,
  });
  return {
    async list(
      servers: readonly AskableServer[],
      patience: ListPatience,
      signal: AbortSignal,
    ): Promise<ServerPromptList> {
      const lists = await Promise.all(
        servers.map(async (from) => ({ from, ...(await listOf(from, patience, signal)) })),
      );
      return {
        prompts: lists.flatMap(({ from, items }) => items.map((listed) => toServerPrompt(listed, from))),
        problems: lists.flatMap(({ problem }) => problem ?? []),
      };
    },

    /** @throws {Error} a sentence, or the reason of an aborted signal. */
    async get(
      { from, ownName }: ServerPrompt,
      values: Readonly<Record<string, string>>,
      signal: AbortSignal,
    ): Promise<ReturnType<typeof readPromptResult>> {
      const params = { name: ownName, arguments: values };
      const request: ServerRequest = { method: 'prompts/get', params, needs: 'prompts' };
      const answer = await from.server.ask?.(request, { signal, limit: limits.get });
      try {
        return readPromptResult(answer);
      } catch (error) {
        throw new Error(`The tool server ${from.name} ${messageOf(error)}.`, { cause: error });
      }
    },

    async complete(
      { from, ownName }: ServerPrompt,
      { argument, value, values }: TypedValue,
      signal: AbortSignal,
    ): Promise<readonly string[]> {
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

function toServerPrompt(
  { ownName, description, arguments: given }: ListedPrompt,
  from: AskableServer,
): ServerPrompt {
  const name = `${serverWord(from.name)}:${wordOf(ownName)}`;
  return {
    from,
    ownName,
    prompt: { name, description, from: 'server', server: from.name, arguments: given },
  };
}
