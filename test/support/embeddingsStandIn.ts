import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { closeServer, portOf } from './recordings.ts';

/** What was asked for vectors. */
export interface EmbeddingsCall {
  readonly path: string;
  readonly model: string;
  readonly input: readonly string[];
  readonly authorization: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface EmbeddingsStandIn {
  readonly url: string;
  readonly calls: readonly EmbeddingsCall[];
  /** How many texts were embedded. */
  embedded(): number;
  /** Answers in another way from now on; undefined answers well again. */
  answer(instead: ((response: ServerResponse, call: EmbeddingsCall) => void) | undefined): void;
  close(): Promise<void>;
}

interface StandInOptions {
  readonly api?: 'ollama' | 'openai';
  readonly dimensions?: number;
  /** The most characters of a text. */
  readonly maxLength?: number;
  readonly port?: number;
}

/** Words that mean the same. The words of a group make the same numbers of a vector. */
const synonyms = [
  ['car', 'automobile', 'vehicle', 'driving'],
  ['doctor', 'physician', 'illness', 'medicine'],
  ['ocean', 'sea', 'waves', 'ship'],
  ['bread', 'baking', 'oven', 'loaf'],
];

/** A runner whose vectors have the same direction for texts about the same subjects. */
export async function startEmbeddings(options: StandInOptions = {}): Promise<EmbeddingsStandIn> {
  const { api = 'ollama', dimensions = 32, maxLength = Number.POSITIVE_INFINITY } = options;
  const calls: EmbeddingsCall[] = [];
  let embedded = 0;
  let instead: ((response: ServerResponse, call: EmbeddingsCall) => void) | undefined;
  const embed = (request: EmbeddingsCall, response: ServerResponse) => {
    if (request.input.some(({ length }) => length > maxLength))
      return send(response, 400, { error: 'the input length exceeds the context length' });
    embedded += request.input.length;
    const vectors = request.input.map((text) => vectorOf(text, dimensions));
    if (api === 'ollama') send(response, 200, { model: request.model, embeddings: vectors });
    else
      send(response, 200, {
        object: 'list',
        data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })).reverse(),
      });
  };
  const server = createServer(async (request, response) => {
    const { url: path = '' } = request;
    if (path === '/api/version' && api === 'ollama') return send(response, 200, { version: '0.31.4' });
    if (path !== (api === 'ollama' ? '/api/embed' : '/v1/embeddings'))
      return send(response, 404, { error: { message: 'File Not Found' } });
    if (request.headers['content-type'] !== 'application/json')
      return send(response, 415, { error: { message: 'Unsupported Media Type' } });
    const body = JSON.parse(await textOf(request));
    const { authorization } = request.headers;
    const call = { path, model: body.model, input: body.input, authorization, body };
    calls.push(call);
    if (instead) instead(response, call);
    else embed(call, response);
  });
  await once(server.listen(options.port ?? 0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    calls,
    embedded: () => embedded,
    answer: (other) => void (instead = other),
    close: () => closeServer(server),
  };
}

export function send(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function vectorOf(text: string, dimensions: number): readonly number[] {
  const vector = new Array<number>(dimensions).fill(0.01);
  for (const [word] of text.toLowerCase().matchAll(/\p{L}+/gu)) {
    const group = synonyms.findIndex((words) => words.includes(word));
    if (group >= 0) vector[group] = (vector[group] ?? 0) + 1;
    else {
      const place = synonyms.length + (hashOf(word) % (dimensions - synonyms.length));
      vector[place] = (vector[place] ?? 0) + 0.1;
    }
  }
  return vector;
}

function hashOf(word: string): number {
  let hash = 7;
  for (const character of word) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 1_000_003;
  return hash;
}
