import { isAbsolute } from 'node:path';
import * as z from 'zod/mini';
import { type FindFilesParams, fetchFileRequest, findFilesRequest } from '../../protocol/messages/files.ts';
import { RunnerError } from '../base/errors.ts';
import type { FindPrivacy } from '../base/filePrivacy.ts';
import { exact, type Schema } from '../base/validate.ts';
import type { Endpoint } from '../rpc/endpoint.ts';

interface FilesDependencies {
  readonly findPrivacy: FindPrivacy;
  readonly isTrusted: () => boolean;
  readonly now: () => number;
}

/** Answers the requests about files that the user names in a prompt. What finds them is loaded with the first one. */
export function serveFiles(endpoint: Endpoint, { findPrivacy, isTrusted, now }: FilesDependencies): void {
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
    return { mentions: await findNamedFiles(params, { findPrivacy, now, signal }) };
  });
  endpoint.onRequest(fetchFileRequest, exact(z.object({ url: z.string() })), async ({ url }, signal) => {
    const { fetchPage } = await loaded();
    return { file: await fetchPage(url, signal) };
  });
}

const findSchema: Schema<FindFilesParams> = exact(
  z.object({
    text: z.string(),
    cwd: z.string().check(z.refine(isAbsolute, 'it is not an absolute path')),
  }),
);
