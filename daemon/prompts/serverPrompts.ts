import { toUSVString } from 'node:util';
import * as z from 'zod/mini';
import { withoutUndefined } from '../../protocol/base/json.ts';
import { cutText, messageOf, showLine } from '../../protocol/base/text.ts';
import type { Prompt, PromptArgument } from '../../protocol/messages/prompts.ts';
import type { ServerRequest } from '../tools/mcpSession.ts';
import { type ListPatience, type ServerPage, serverLists, serverWord, wordOf } from '../tools/serverLists.ts';
import type { AskableServer } from '../tools/toolServer.ts';

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

/** A prompt as its server lists it, within bounds. */
interface ListedPrompt {
  readonly ownName: string;
  readonly description: string;
  readonly arguments: readonly PromptArgument[];
}

const maxName = 256;
const maxDescription = 500;
const maxArguments = 20;

/** One word: it is typed before `=`. */
const argument = z.object({
  name: z.string().check(z.regex(/^[^\s=\p{Cc}]{1,64}$/u)),
  description: z.optional(z.string()),
  required: z.optional(z.boolean()),
});
const prompt = z.object({
  name: z.string().check(z.minLength(1), z.maxLength(maxName)),
  title: z.optional(z.string()),
  description: z.optional(z.string()),
  arguments: z.optional(z.array(argument).check(z.maxLength(maxArguments))),
});
const page = z.object({ prompts: z.array(z.unknown()), nextCursor: z.optional(z.string()) });

/** What does not follow MCP is left out: nobody could type it. */
export function promptsIn(answer: unknown): ServerPage<ListedPrompt> {
  const parsed = page.safeParse(answer);
  if (!parsed.success) return { items: [], nextCursor: undefined };
  const items = parsed.data.prompts.slice(0, 1_000).flatMap((value): readonly ListedPrompt[] => {
    const found = prompt.safeParse(value);
    if (!found.success) return [];
    const { name, title, description = title ?? '', arguments: given = [] } = found.data;
    return [{ ownName: name, description: toLine(description), arguments: given.map(toArgument) }];
  });
  return { items, nextCursor: parsed.data.nextCursor };
}

function toArgument({ name, description, required }: z.output<typeof argument>): PromptArgument {
  const about = description === undefined || description === '' ? undefined : toLine(description);
  return withoutUndefined<PromptArgument>({ name, description: about, required });
}

function toLine(text: string): string {
  return cutText(showLine(toUSVString(cutText(text, maxDescription))), maxDescription).trim();
}

const completions = z.object({ completion: z.object({ values: z.array(z.unknown()) }) });
const maxCompletions = 100;
const maxValue = 1_000;

/** Only values that can be typed in one line. */
export function completionsIn(answer: unknown): readonly string[] {
  const parsed = completions.safeParse(answer);
  const values = parsed.success ? parsed.data.completion.values : [];
  return values
    .slice(0, maxCompletions)
    .filter(
      (value) => typeof value === 'string' && value.length <= maxValue && showLine(value) === value,
    ) as readonly string[];
}

const base64 = z.string().check(z.refine((data) => data !== '' && !/[^A-Za-z0-9+/=]/.test(data)));
const block = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image'), data: base64 }),
  z.object({ type: z.literal('resource_link'), uri: z.string(), name: z.optional(z.string()) }),
  z.object({ type: z.literal('resource'), resource: z.object({ uri: z.string(), text: z.string() }) }),
  z.object({
    type: z.literal('resource'),
    resource: z.object({ uri: z.string(), mimeType: z.optional(z.string()), blob: base64 }),
  }),
  z.object({ type: z.string() }),
]);
const result = z.object({
  messages: z.array(z.object({ role: z.enum(['user', 'assistant']), content: z.unknown() })),
});

const maxMessages = 200;
/** In UTF-16 units. */
const maxText = 1_000_000;
const maxImages = 8;
/** Characters of base64, of all images. */
const maxImageLength = 16 * 1024 * 1024;

/**
 * The messages of a prompt as one message of the user: its texts, and its pictures. Where the server has also written
 * answers, each text has a line above it that says who speaks, so that none passes for the model's own.
 * @throws {Error} a clause, if there is nothing that can be sent.
 */
export function readPromptResult(answer: unknown): {
  readonly text: string;
  readonly images: readonly string[];
} {
  const parsed = result.safeParse(answer);
  if (!parsed.success) throw new Error('sent something that is no prompt');
  const { messages } = parsed.data;
  if (messages.length > maxMessages) throw new Error(`sent more than ${maxMessages} messages`);
  const images: string[] = [];
  const hasAnswers = messages.some(({ role }) => role === 'assistant');
  const texts = messages.flatMap(({ role, content }) => {
    const text = textOf(content, images);
    if (text === '') return [];
    return hasAnswers ? `${role === 'user' ? 'User' : 'Assistant'}:\n${text}` : text;
  });
  const text = toUSVString(texts.join('\n\n'));
  if (text.length > maxText) throw new Error('sent more than 1,000,000 characters');
  if (images.length > maxImages || images.reduce((sum, { length }) => sum + length, 0) > maxImageLength)
    throw new Error('sent more pictures than go along with a prompt');
  if (text.trim() === '' && images.length === 0) throw new Error('sent a prompt without text');
  return { text, images };
}

function textOf(content: unknown, images: string[]): string {
  const parsed = block.safeParse(content);
  if (!parsed.success) return '';
  const part = parsed.data;
  if ('text' in part) return part.text;
  if ('uri' in part) return part.name ? `${part.name}: ${part.uri}` : part.uri;
  if ('data' in part) {
    images.push(part.data);
    return '';
  }
  if (!('resource' in part)) return `[${cutText(showLine(part.type), 64)} is left out]`;
  const { resource } = part;
  if ('text' in resource) return `${resource.uri}:\n\n${resource.text}`;
  if (!resource.mimeType?.startsWith('image/')) return `[the data of ${resource.uri} is left out]`;
  images.push(resource.blob);
  return '';
}
