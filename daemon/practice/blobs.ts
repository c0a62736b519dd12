import { createHash } from 'node:crypto';
import { answerEmpty, answerJson, type Exchange } from './exchange.ts';
import { badRequest } from './failure.ts';

const digestForm = /^sha256[:-][0-9a-f]{64}$/;

export function blobExists({ response, runner, tail }: Exchange): void {
  const digest = parseDigest(tail);
  if (!runner.store.hasBlob(digest)) {
    answerJson(response, { error: `blob ${JSON.stringify(digest)} not found` }, { status: 404 });
    return;
  }
  response.writeHead(200);
  response.end();
}

/** Takes the raw bytes and checks their digest, but keeps only the fact that they were uploaded. */
export async function uploadBlob({ incoming, response, runner, request, tail }: Exchange): Promise<void> {
  const digest = parseDigest(tail);
  if (runner.store.hasBlob(digest)) {
    incoming.resume();
    answerEmpty(response, 200);
    return;
  }
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of incoming) {
    hash.update(chunk);
    size += chunk.length;
  }
  request.body = `${size} bytes`;
  const got = `sha256:${hash.digest('hex')}`;
  if (got !== digest) throw badRequest(`digest mismatch, expected "${digest}", got "${got}"`);
  runner.store.addBlob(digest, size);
  answerEmpty(response, 201);
}

function parseDigest(tail: string): string {
  if (!digestForm.test(tail)) throw badRequest('invalid digest format');
  return tail.replace('-', ':');
}
