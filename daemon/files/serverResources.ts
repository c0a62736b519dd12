import * as z from 'zod/mini';
import { showLine } from '../../protocol/base/controlCharacters.ts';
import { messageOf } from '../../protocol/base/errorText.ts';
import { cutText } from '../../protocol/base/text.ts';
import type { ServerRequest } from '../tools/mcpSession.ts';
import { serverWord } from '../tools/serverLists.ts';
import type { AskableServer } from '../tools/toolServer.ts';

export interface ResourceContent {
  /** As the model and the user see it, such as `team:memo://1`. */
  readonly path: string;
  readonly uri: string;
  readonly bytes: Buffer;
}

/** What a server has under an address, or why it has nothing. */
export type FoundResource = { readonly contents: readonly ResourceContent[] } | { readonly problem: string };

interface ResourceOptions {
  readonly servers: () => Promise<readonly AskableServer[]>;
  readonly signal: AbortSignal;
}

/** In ms. */
const maxTime = 30_000;

/**
 * Reads the resource that is called `server:uri`; the later of these names are shorter, without the punctuation of a
 * sentence. Undefined if no server has such a name. Rejects only with the reason of an aborted signal.
 */
export async function findResource(
  names: readonly string[],
  { servers, signal }: ResourceOptions,
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
