import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { readBounded, TooLargeError } from '../../../protocol/base/byteStreams.ts';
import { SerialQueue } from '../../../protocol/base/keyedWork.ts';
import type { Tally } from './answers.ts';
import type { LoadedModel, NativeModel } from './engineModel.ts';
import { generate, requireFit } from './generation.ts';
import { ApiError, bodies, parseBody } from './requests.ts';
import { type ReadTask, readChat, readCompletion, readConversation, readInfill, type Task } from './tasks.ts';

/** The most bytes of a body. A conversation that fills the largest windows has less. */
const maxBody = 16 * 1024 * 1024;

/** One request of a client, and who gets the answer. */
interface Exchange extends Recipient {
  readonly request: IncomingMessage;
  readonly url: URL;
}

/** Returns what is sent as JSON; undefined if it has sent its answer itself. */
export type EngineRoute = (exchange: Exchange) => Promise<object | undefined>;

/** Everything that the engine answers once its model has been loaded. */
export function createRoutes(
  engine: NativeModel,
  alias: string,
  facts: () => ModelFacts | undefined,
): ReadonlyMap<string, EngineRoute> {
  const queue = new SerialQueue();
  let queued = 0;

  /** One answer is generated at a time, because several would share the processor and gain nothing. */
  const answering = (read: ReadTask): EngineRoute => {
    return async ({ request, response, signal }) => {
      const json = await bodyOf(request);
      return engine.use(async (loaded) => {
        const task = await read(json, loaded, alias);
        requireFit(task.prompt.length, loaded.window);
        queued += 1;
        const turn = queue.run('', () => {
          signal.throwIfAborted();
          return answerTask(task, loaded, { response, signal });
        });
        return turn.finally(() => {
          queued -= 1;
        });
      });
    };
  };
  const slots: EngineRoute = async ({ url }) => {
    if (queued > 0 && url.searchParams.has('fail_on_no_slot'))
      throw new ApiError(503, 'unavailable_error', 'no slot available');
    return [{ id: 0, n_ctx: facts()?.window, is_processing: queued > 0 }];
  };
  const models: EngineRoute = async () => {
    const own = { name: alias, model: alias, capabilities: ['completion'] };
    const status = { value: engine.state };
    return { models: [own], object: 'list', data: [{ ...facts()?.entry, status }] };
  };
  const reading = (read: (json: string, loaded: LoadedModel) => object): EngineRoute => {
    return async ({ request }) => {
      const json = await bodyOf(request);
      return engine.use((loaded) => read(json, loaded));
    };
  };
  return new Map<string, EngineRoute>([
    ['GET /health', async () => ({ status: 'ok' })],
    ['GET /v1/models', models],
    ['GET /models', models],
    ['GET /props', async () => facts()?.props],
    ['GET /slots', slots],
    ['POST /v1/chat/completions', answering(readChat)],
    ['POST /v1/completions', answering(readCompletion)],
    ['POST /infill', answering(readInfill)],
    ['POST /v1/chat/completions/input_tokens', reading(countTokens)],
    ['POST /apply-template', reading(applyTemplate)],
    ['POST /tokenize', reading(tokenize)],
  ]);
}

function countTokens(json: string, loaded: LoadedModel): object {
  return { input_tokens: loaded.prompts.prompt(readConversation(json, loaded)).tokens.length };
}

function applyTemplate(json: string, loaded: LoadedModel): object {
  return { prompt: loaded.prompts.prompt(readConversation(json, loaded)).text };
}

function tokenize(json: string, { model, tokens }: LoadedModel): object {
  const { content, add_special: begins, parse_special: special } = parseBody(bodies.tokenize, json);
  const found = model.tokenize(content, special !== false);
  return { tokens: begins ? tokens.withBeginning(found) : found };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  try {
    return (await readBounded(request, maxBody)).toString('utf8');
  } catch (error) {
    if (!(error instanceof TooLargeError)) throw error;
    throw new ApiError(413, 'invalid_request_error', `The body is too large. ${error.message}`);
  }
}

/** What is known of the model once it has been loaded, also after it has left the memory. */
export interface ModelFacts {
  readonly window: number;
  /** The answer to `/props`. */
  readonly props: object;
  /** Its entry in `/v1/models`. */
  readonly entry: object;
}

export function factsOf({ llama, model, window, prompts }: LoadedModel, alias: string): ModelFacts {
  const { tools, calls, system, objectArguments, onlyParts } = prompts.abilities;
  const { bosString, eosString } = model.tokens;
  const parameters = (model.fileInfo.fullTensorInfo ?? []).reduce(
    (sum, { dimensions }) => sum + dimensions.reduce<number>((size, count) => size * Number(count), 1),
    0,
  );
  return {
    window,
    props: {
      default_generation_settings: { n_ctx: window },
      total_slots: 1,
      model_alias: alias,
      modalities: { vision: false, audio: false },
      chat_template: prompts.source,
      chat_template_caps: {
        supports_tools: tools,
        supports_tool_calls: calls,
        supports_system_role: system,
        supports_object_arguments: objectArguments,
        supports_string_content: !onlyParts,
      },
      bos_token: bosString ?? '',
      eos_token: eosString ?? '',
      // What the model writes is passed on as it is.
      parses_tool_calls: false,
      build_info: llama.llamaCppRelease.release,
    },
    entry: {
      id: alias,
      aliases: [alias],
      object: 'model',
      created: Math.floor(Date.now() / 1_000),
      // By this, and by the header of each answer, the engine is known to speak as llama.cpp's server does.
      owned_by: 'llamacpp',
      meta: {
        n_ctx: window,
        n_ctx_train: model.trainContextSize,
        n_embd: model.embeddingVectorSize,
        n_params: parameters,
        size: model.size,
        // Such as `llama 256M Q4_1`.
        ftype: model.typeDescription.split(' ').slice(2).join(' '),
      },
    },
  };
}

/** Who gets an answer. */
interface Recipient {
  readonly response: ServerResponse;
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal;
}

/** Generates an answer. Returns it where it is wanted as a whole; a stream is sent and ended. */
async function answerTask(
  task: Task,
  loaded: LoadedModel,
  { response, signal }: Recipient,
): Promise<object | undefined> {
  const { body, form, opened = '' } = task;
  const pieces = generate(task, loaded, signal);
  if (!body.stream) {
    let text = opened;
    const tally = await drain(pieces, async (piece) => {
      text += piece;
    });
    return form.whole(text, tally);
  }
  const events = new EventWriter(response, signal);
  if (form.first) await events.send(form.first);
  try {
    let text = '';
    const write = async (piece: string) => {
      text += piece;
      await events.send(form.piece(piece));
    };
    if (opened !== '') await write(opened);
    const tally = await drain(pieces, write);
    for (const event of form.last(text, tally)) await events.send(event);
    response.end(form.isMarked ? 'data: [DONE]\n\n' : undefined);
  } catch (error) {
    if (signal.aborted) throw error;
    // The status was sent long ago: an event says it, and the end without a mark.
    await events.send(new ApiError(500, 'server_error', String(error)).body);
    response.end();
  }
  return undefined;
}

async function drain(
  pieces: AsyncGenerator<string, Tally>,
  take: (piece: string) => Promise<void>,
): Promise<Tally> {
  for (;;) {
    const { value, done } = await pieces.next();
    if (done) return value;
    try {
      await take(value);
    } catch (error) {
      // It frees what it holds.
      await pieces.throw(error);
    }
  }
}

/** Sends the events of a stream, no faster than its client reads them. */
class EventWriter {
  constructor(
    private readonly response: ServerResponse,
    private readonly signal: AbortSignal,
  ) {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.flushHeaders();
  }

  async send(event: object | undefined): Promise<void> {
    if (!event) return;
    if (this.response.write(`data: ${JSON.stringify(event)}\n\n`)) return;
    // The signal rejects where the client leaves.
    await once(this.response, 'drain', { signal: this.signal });
  }
}
