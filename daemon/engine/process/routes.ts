import type { IncomingMessage, ServerResponse } from 'node:http';
import { readBounded, TooLargeError } from '../../../protocol/base/boundedBody.ts';
import { SerialQueue } from '../../../protocol/base/serialQueue.ts';
import { type AnswerForm, chatForm, completionForm, type FormOptions, infillForm } from './answers.ts';
import type { EngineModel, LoadedModel } from './engineModel.ts';
import { generate, requireFit, type Tally } from './generation.ts';
import { grammarState, mustCall } from './grammars.ts';
import type { Token } from './library.ts';
import type { ModelFacts } from './modelFacts.ts';
import { ApiError, badRequest, bodies, type Generating, type InfillBody, parseBody } from './requests.ts';

/** The most bytes of a body. A conversation that fills the largest windows has less. */
const maxBody = 16 * 1024 * 1024;

/** One request of a client, and how to answer it. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal;
}

export type Route = (exchange: Exchange) => Promise<object | undefined>;

/** A prompt with how to write its answer. */
interface Task {
  readonly prompt: readonly Token[];
  readonly body: Generating;
  readonly form: AnswerForm;
  /** What the template has written of the answer already. */
  readonly opened?: string;
  readonly stops?: readonly string[];
  readonly grammarState?: object | undefined;
}

/** Everything that the engine answers once its model has been loaded. Each route returns what is sent as JSON. */
export function createRoutes(
  engine: EngineModel,
  alias: string,
  facts: () => ModelFacts | undefined,
): Map<string, Route> {
  const queue = new SerialQueue();
  let queued = 0;

  /** One answer is generated at a time, because several would share the processor and gain nothing. */
  const inTurn = async <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
    queued += 1;
    const turn = queue.run('', () => {
      signal.throwIfAborted();
      return work();
    });
    return turn.finally(() => {
      queued -= 1;
    });
  };

  const answering = (read: (json: string, loaded: LoadedModel) => Promise<Task>): Route => {
    return async ({ request, response, signal }) => {
      const json = await bodyOf(request);
      return engine.use(async (loaded) => {
        const task = await read(json, loaded);
        requireFit(task.prompt.length, loaded.window);
        return inTurn(signal, () => answer(task, loaded, { response, signal }));
      });
    };
  };
  const withBody = (read: (json: string, loaded: LoadedModel) => object): Route => {
    return async ({ request }) => {
      const json = await bodyOf(request);
      return engine.use((loaded) => read(json, loaded));
    };
  };
  const formOptions = (body: Generating): FormOptions => ({
    model: alias,
    includesUsage: body.stream_options?.include_usage === true,
  });

  const chat = answering(async (json, loaded) => {
    const body = parseBody(bodies.chat, json);
    const tools = body.tool_choice === 'none' ? [] : (body.tools ?? []);
    const { tokens, opened } = loaded.prompts.prompt({ ...body, tools });
    const isCall = mustCall(body).length > 0;
    const form = chatForm(formOptions(body), isCall);
    const grammar = await grammarState(loaded, body);
    const task = { prompt: tokens, body, form, stops: loaded.prompts.stops, grammarState: grammar };
    return isCall || grammar ? task : { ...task, opened };
  });
  const completion = answering(async (json, loaded) => {
    const body = parseBody(bodies.completion, json);
    const parts = typeof body.prompt === 'string' ? [body.prompt] : body.prompt;
    const tokens = parts.flatMap((part) =>
      typeof part === 'string' ? loaded.model.tokenize(part, true) : [part],
    );
    const prompt = loaded.tokens.withBeginning(tokens);
    if (prompt.length === 0) throw badRequest('The prompt is empty.');
    return { prompt, body, form: completionForm(formOptions(body)) };
  });
  const infill = answering(async (json, loaded) => {
    const body = parseBody(bodies.infill, json);
    return { prompt: gapOf(loaded, body), body, form: infillForm(formOptions(body)) };
  });
  const models: Route = async () => {
    const own = { name: alias, model: alias, capabilities: ['completion'] };
    return { models: [own], object: 'list', data: [facts()?.entry] };
  };
  const slots: Route = async ({ url }) => {
    if (queued > 0 && url.searchParams.has('fail_on_no_slot'))
      throw new ApiError(503, 'unavailable_error', 'no slot available');
    return [{ id: 0, n_ctx: facts()?.window, is_processing: queued > 0 }];
  };

  return new Map<string, Route>([
    ['GET /health', async () => ({ status: 'ok' })],
    ['GET /v1/models', models],
    ['GET /models', models],
    ['GET /props', async () => facts()?.props],
    ['GET /slots', slots],
    ['POST /v1/chat/completions', chat],
    ['POST /v1/completions', completion],
    ['POST /infill', infill],
    [
      'POST /v1/chat/completions/input_tokens',
      withBody((json, { prompts }) => ({
        input_tokens: prompts.prompt(parseBody(bodies.chat, json)).tokens.length,
      })),
    ],
    [
      'POST /apply-template',
      withBody((json, { prompts }) => ({ prompt: prompts.prompt(parseBody(bodies.chat, json)).text })),
    ],
    [
      'POST /tokenize',
      withBody((json, { model, tokens }) => {
        const { content, add_special: begins, parse_special: special } = parseBody(bodies.tokenize, json);
        const found = model.tokenize(content, special !== false);
        return { tokens: begins ? tokens.withBeginning(found) : found };
      }),
    ],
  ]);
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  try {
    return (await readBounded(request, maxBody)).toString('utf8');
  } catch (error) {
    if (!(error instanceof TooLargeError)) throw error;
    throw new ApiError(413, 'invalid_request_error', `The body is too large. ${error.message}`);
  }
}

/** The text before the gap, the text after it, and the tokens between which the model expects them. */
function gapOf({ model, tokens }: LoadedModel, body: InfillBody): Token[] {
  const { prefix, suffix, middle } = model.tokens.infill;
  if (prefix === null || suffix === null || middle === null)
    throw new ApiError(
      501,
      'not_supported_error',
      'Infill is not supported by this model: it lacks the tokens for it.',
    );
  const plain = (text: string) => model.tokenize(text, false);
  const extra = (body.input_extra ?? []).flatMap(({ text }) => plain(`${text}\n`));
  const before = plain(`${body.input_prefix}${body.prompt ?? ''}`);
  return tokens.withBeginning([...extra, prefix, ...before, suffix, ...plain(body.input_suffix), middle]);
}

async function answer(
  { prompt, body, form, opened = '', stops = [], grammarState }: Task,
  { model, sequence, window }: LoadedModel,
  { response, signal }: Pick<Exchange, 'response' | 'signal'>,
): Promise<object | undefined> {
  const asked = typeof body.stop === 'string' ? [body.stop] : (body.stop ?? []);
  const options = { model, sequence, window, body, signal, stops: [...asked, ...stops] };
  const pieces = generate(prompt, grammarState ? { ...options, grammarState } : options);
  const events = body.stream ? new EventWriter(response, signal) : undefined;
  if (form.first) await events?.send(form.first);
  let text = opened;
  if (opened !== '') await events?.send(form.piece(opened));
  try {
    for (;;) {
      const { value, done } = await pieces.next();
      if (done) return await finish(value);
      text += value;
      await events?.send(form.piece(value));
    }
  } catch (error) {
    if (!events || signal.aborted) throw error;
    // The status was sent long ago: an event says it, and the end without a mark.
    await events.send(new ApiError(500, 'server_error', String(error)).body);
    response.end();
    return undefined;
  }

  async function finish(tally: Tally): Promise<object | undefined> {
    if (!events) return form.whole(text, tally);
    for (const event of form.last(text, tally)) await events.send(event);
    response.end(form.isMarked ? 'data: [DONE]\n\n' : undefined);
    return undefined;
  }
}

/** Sends the events of a stream, no faster than its client reads them. */
class EventWriter {
  readonly #response: ServerResponse;
  readonly #signal: AbortSignal;

  constructor(response: ServerResponse, signal: AbortSignal) {
    this.#response = response;
    this.#signal = signal;
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.flushHeaders();
  }

  async send(event: object | undefined): Promise<void> {
    if (!event) return;
    if (this.#response.write(`data: ${JSON.stringify(event)}\n\n`)) return;
    await new Promise<void>((resolve) => {
      this.#response.once('drain', resolve);
      this.#signal.addEventListener('abort', () => resolve(), { once: true });
    });
    this.#signal.throwIfAborted();
  }
}
