import { toUSVString } from 'node:util';
import * as z from 'zod/mini';
import { showLine } from '../../protocol/base/controlCharacters.ts';
import { cutText } from '../../protocol/base/text.ts';
import type { ResourceWord } from '../../protocol/messages/files.ts';
import { type ServerPage, serverLists, serverWord } from '../tools/serverLists.ts';
import type { AskableServer } from '../tools/toolServer.ts';

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
