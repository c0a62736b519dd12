import { toUSVString } from 'node:util';
import * as z from 'zod/mini';
import { cutText, messageOf, showLine } from '../../protocol/base/text.ts';
import type { ResourceWord } from '../../protocol/messages/files.ts';
import type { ServerRequest } from '../tools/mcpSession.ts';
import { type ServerPage, serverLists, serverWord } from '../tools/serverLists.ts';
import type { AskableServer } from '../tools/toolServer.ts';

interface ResourceContent {
  /** As the model and the user see it, such as `team:memo://1`. */
  readonly path: string;
  readonly uri: string;
  readonly bytes: Buffer;
}

/** What a server has under an address, or why it has nothing. */
export type FoundResource = { readonly contents: readonly ResourceContent[] } | { readonly problem: string };

/** In ms. */
const maxTime = 30_000;

/**
 * Reads the resource that is called `server:uri`; the later of these names are shorter, without the punctuation of a
 * sentence. Undefined if no server has such a name. Rejects only with the reason of an aborted signal.
 */
export async function findResource(
  names: readonly string[],
  { servers, signal }: { servers: () => Promise<readonly AskableServer[]>; signal: AbortSignal },
): Promise<FoundResource | undefined> {
  if (!names.every((name) => /^[^:]+:./.test(name))) return undefined;
  const word = names[0]?.split(':', 1)[0];
  const from = (await servers()).find(({ name }) => serverWord(name) === word);
  if (!from) return undefined;
  let problem = '';
  for (const name of names) {
    const read = await readResource(from, name.slice(name.indexOf(':') + 1), signal);
    if ('contents' in read) return read;
    problem ||= read.problem;
  }
  return { problem };
}

async function readResource(from: AskableServer, uri: string, signal: AbortSignal): Promise<FoundResource> {
  const request: ServerRequest = { method: 'resources/read', params: { uri }, needs: 'resources' };
  try {
    const answer = await from.server.ask?.(request, { signal, limit: maxTime });
    if (answer === undefined) return { problem: `The tool server ${from.name} has no resources` };
    return contentsIn(answer, from, uri);
  } catch (error) {
    signal.throwIfAborted();
    return { problem: showLine(messageOf(error)) };
  }
}

const maxUri = 4_096;
const uriSchema = z.string().check(z.maxLength(maxUri));
const base64 = z.string().check(z.refine((data) => !/[^A-Za-z0-9+/=]/.test(data)));
const result = z.object({
  contents: z.array(
    z.union([z.object({ uri: uriSchema, text: z.string() }), z.object({ uri: uriSchema, blob: base64 })]),
  ),
});

/** A server may answer with several parts, each with an address of its own. */
export function contentsIn(
  answer: unknown,
  { name }: Pick<AskableServer, 'name'>,
  uri: string,
): FoundResource {
  const parsed = result.safeParse(answer);
  if (!parsed.success) return { problem: `The tool server ${name} sent something that is no resource` };
  const { contents } = parsed.data;
  if (contents.length === 0) return { problem: `The tool server ${name} has nothing at ${showLine(uri)}` };
  return {
    contents: contents.map((part) => ({
      path: cutText(showLine(`${serverWord(name)}:${part.uri || uri}`), maxUri),
      uri: part.uri || uri,
      bytes: 'text' in part ? Buffer.from(part.text) : Buffer.from(part.blob, 'base64'),
    })),
  };
}

const maxWords = 100;

export type ResourceWords = ReturnType<typeof createResourceWords>;

/** What can be typed behind an `@` to name resources: the servers, then what the named one lists. */
export function createResourceWords() {
  const resources = serverLists<ListedResource>({
    method: 'resources/list',
    needs: 'resources',
    pageIn: resourcesIn,
  });
  const templates = serverLists<ListedResource>({
    method: 'resources/templates/list',
    needs: 'resources',
    pageIn: templatesIn,
  });
  return {
    /** Those that begin with `typed`. */
    async complete(
      typed: string,
      servers: readonly AskableServer[],
      signal: AbortSignal,
    ): Promise<readonly ResourceWord[]> {
      const [name = ''] = typed.split(':', 1);
      if (name === typed)
        return servers
          .map((server) => ({ word: `${serverWord(server.name)}:` }))
          .filter(({ word }) => word.startsWith(typed));
      const from = servers.find((server) => serverWord(server.name) === name);
      if (!from) return [];
      const lists = await Promise.all([resources, templates].map((listOf) => listOf(from, 'short', signal)));
      return lists
        .flatMap(({ items }) => items)
        .map(({ uri, description }) => ({ word: `${name}:${uri}`, ...(description && { description }) }))
        .filter(({ word }) => word.startsWith(typed))
        .slice(0, maxWords);
    },
  };
}

interface ListedResource {
  readonly uri: string;
  readonly description: string;
}

const maxDescription = 200;
const about = {
  name: z.optional(z.string()),
  title: z.optional(z.string()),
  description: z.optional(z.string()),
};
const nextCursor = z.optional(z.string());
const resourcePage = z.object({ resources: z.array(z.unknown()), nextCursor });
const templatePage = z.object({ resourceTemplates: z.array(z.unknown()), nextCursor });
/** It is typed in one line, perhaps in quotes. */
const uri = z.string().check(
  z.minLength(1),
  z.maxLength(4_000),
  z.refine((text) => showLine(text) === text && !text.includes('"')),
);
const resource = z.object({ uri, ...about });
const template = z.object({ uriTemplate: uri, ...about });

export function resourcesIn(answer: unknown): ServerPage<ListedResource> {
  const parsed = resourcePage.safeParse(answer);
  if (!parsed.success) return { items: [], nextCursor: undefined };
  const items = parsed.data.resources.slice(0, 1_000).flatMap((value) => {
    const found = resource.safeParse(value);
    return found.success ? [{ uri: found.data.uri, description: describe(found.data) }] : [];
  });
  return { items, nextCursor: parsed.data.nextCursor };
}

/** Of a template, what stands before its first variable: the user types the rest. */
function templatesIn(answer: unknown): ServerPage<ListedResource> {
  const parsed = templatePage.safeParse(answer);
  if (!parsed.success) return { items: [], nextCursor: undefined };
  const items = parsed.data.resourceTemplates.slice(0, 1_000).flatMap((value) => {
    const found = template.safeParse(value);
    const [begin = ''] = found.success ? found.data.uriTemplate.split('{', 1) : [];
    return found.success && begin !== '' ? [{ uri: begin, description: describe(found.data) }] : [];
  });
  return { items, nextCursor: parsed.data.nextCursor };
}

function describe({
  name,
  title,
  description,
}: Partial<Record<keyof typeof about, string | undefined>>): string {
  const text = title ?? description ?? name ?? '';
  return cutText(showLine(toUSVString(cutText(text, maxDescription))), maxDescription).trim();
}
