import { resolve } from 'node:path';
import { type OptionSpecs, type OptionValues, UsageError } from '../base/options.ts';
import type { EmbeddingsOptions } from './embeddings.ts';

export const embeddingsOptions = {
  embeddings: {
    value: 'URL',
    help: 'a runner of yours that embeds texts, so that documents are found by meaning too',
  },
  'embeddings-model': { value: 'NAME', help: 'its model, such as nomic-embed-text' },
  'embeddings-token-file': { value: 'FILE', help: 'the file with a token for that runner' },
} as const satisfies OptionSpecs;

/** Undefined without the flag: then nothing is embedded. Throws UsageError. */
export function parseEmbeddings(
  values: OptionValues<typeof embeddingsOptions>,
): EmbeddingsOptions | undefined {
  const { embeddings: url, 'embeddings-model': model, 'embeddings-token-file': tokenFile } = values;
  if (url === undefined) {
    const other = model === undefined ? (tokenFile === undefined ? undefined : 'token-file') : 'model';
    if (other === undefined) return undefined;
    throw new UsageError(`--embeddings-${other} needs --embeddings URL, the address of a runner.`);
  }
  if (model === undefined || model.trim() === '')
    throw new UsageError('--embeddings needs --embeddings-model NAME, such as nomic-embed-text.');
  return {
    url: parseOrigin(url),
    model,
    tokenFile: tokenFile === undefined ? undefined : resolve(tokenFile),
  };
}

function parseOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isOrigin = url !== undefined && /^https?:$/.test(url.protocol) && url.pathname === '/';
  if (isOrigin && !/[?#]/.test(text) && url.username === '' && url.password === '') return url.origin;
  throw new UsageError(
    '--embeddings must be the address of a runner without a path, such as http://127.0.0.1:11434.',
  );
}
