import { isAbsolute } from 'node:path';
import * as z from 'zod/mini';
import {
  completeResourceRequest,
  type FindFilesParams,
  fetchFileRequest,
  findFilesRequest,
  type SearchFilesParams,
  searchFilesRequest,
} from '../../protocol/messages/files.ts';
import { RunnerError } from '../base/errors.ts';
import { exact, type Schema } from '../base/validate.ts';
import type { Endpoint } from '../rpc/endpoint.ts';
import type { findNamedFiles } from './namedFiles.ts';
import type { ResourceWords } from './serverResources.ts';

/** Answers the requests about files that the user names in a prompt. What finds them is loaded with the first one. */
export function serveFiles(
  endpoint: Endpoint,
  isTrusted: () => boolean,
  { findPrivacy, servers, now }: Omit<Parameters<typeof findNamedFiles>[1], 'signal'>,
): void {
  const loaded = () => {
    if (!isTrusted())
      throw new RunnerError(
        'not-supported',
        'This workspace is not trusted, so no file is read by its name.',
      );
    return import('./namedFiles.ts');
  };
  endpoint.onRequest(findFilesRequest, findSchema, async (params, signal) => {
    const { findNamedFiles } = await loaded();
    return { mentions: await findNamedFiles(params, { findPrivacy, servers, now, signal }) };
  });
  let words: ResourceWords | undefined;
  endpoint.onRequest(completeResourceRequest, completeSchema, async ({ word }, signal) => {
    const { createResourceWords } = await loaded();
    words ??= createResourceWords();
    return { words: await words.complete(word, await servers(), signal) };
  });
  endpoint.onRequest(searchFilesRequest, searchSchema, async (params, signal) => {
    const { searchFiles } = await loaded();
    return searchFiles(params, { findPrivacy, now, signal });
  });
  endpoint.onRequest(fetchFileRequest, exact(z.object({ url: z.string() })), async ({ url }, signal) => {
    const { fetchPage } = await loaded();
    return { file: await fetchPage(url, signal) };
  });
}

const completeSchema = exact(z.object({ word: z.string().check(z.maxLength(4_096)) }));

const cwd = z.string().check(z.refine(isAbsolute, 'it is not an absolute path'));

const findSchema: Schema<FindFilesParams> = exact(z.object({ text: z.string(), cwd }));

const searchSchema: Schema<SearchFilesParams> = exact(
  z.object({ text: z.string(), cwd, tokens: z.int().check(z.minimum(1), z.maximum(100_000)) }),
);
