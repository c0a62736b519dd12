import { type Answer, sendJson, startOpenaiStandIn } from './openaiStandIn.ts';

/** What servers answer that imitate the API of Ollama in part, as far as Runner asks it. */
interface HalfOllama {
  readonly model: string;
  readonly tags: object;
  /** Absent if it does not say that it is Ollama. */
  readonly version?: string;
  /** How it answers a path that it does not have. */
  readonly missing: Answer;
}

const text =
  (status: number, type: string, body: string): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': type }).end(body);

export const halfOllamas: Readonly<Record<string, HalfOllama>> = {
  'Docker Model Runner': {
    model: 'ai/smollm2:latest',
    tags: {
      name: 'ai/smollm2:latest',
      model: 'ai/smollm2:latest',
      modified_at: '2025-10-01T10:00:00Z',
      size: 0,
      digest: '',
      details: {},
    },
    missing: text(404, 'text/plain; charset=utf-8', '404 page not found\n'),
  },
  Lemonade: {
    model: 'Qwen2.5-0.5B-Instruct-CPU:latest',
    version: '0.0.0',
    tags: {
      name: 'Qwen2.5-0.5B-Instruct-CPU:latest',
      model: 'Qwen2.5-0.5B-Instruct-CPU:latest',
      modified_at: '2025-10-01T10:00:00Z',
      size: 814_000_000,
      digest: 'sha256:',
      details: { parent_model: '', format: 'gguf', family: '', families: [], parameter_size: '' },
    },
    missing: (response) => sendJson(response, 501, { error: 'Not implemented' }),
  },
  KoboldCpp: {
    model: 'koboldcpp/tinyllama',
    version: '0.7.0',
    tags: { name: 'koboldcpp/tinyllama', model: 'koboldcpp/tinyllama', size: 394_998_579, details: {} },
    missing: (response) => sendJson(response, 404, { error: 'The requested URL was not found.' }),
  },
};

/** One of them. */
export function startHalfOllama({ tags, version, missing }: HalfOllama) {
  const lines =
    (...values: readonly object[]): Answer =>
    (response) =>
      response
        .writeHead(200, { 'content-type': 'application/x-ndjson' })
        .end(values.map((value) => `${JSON.stringify(value)}\n`).join(''));
  return startOpenaiStandIn({
    ...(version === undefined ? {} : { 'GET /api/version': { version } }),
    'GET /api/tags': { models: [tags] },
    'POST /api/chat': lines(
      { message: { role: 'assistant', content: 'Hel' }, done: false },
      { message: { role: 'assistant', content: 'lo' }, done: false },
      { message: { role: 'assistant', content: '' }, done: true, done_reason: 'stop' },
    ),
    'POST /api/generate': lines({ response: 'a + b' }, { response: '', done: true, done_reason: 'stop' }),
    '*': missing,
  });
}
