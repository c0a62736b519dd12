import { isDeepStrictEqual } from 'node:util';
import { isRecord, tryJson, withoutUndefined } from '../../../protocol/base/json.ts';
import type { Tool } from '../../../protocol/messages/chat.ts';
import { RunnerError } from '../../base/errors.ts';
import { detailsOf, notSupported } from '../http/answerFailure.ts';
import { readEvents, type ServerSentEvent } from '../http/textStreams.ts';
import type { Transport } from '../http/transport.ts';
import type {
  ChatPart,
  ChatRequest,
  FillPart,
  FillRequest,
  Identity,
  ListedModel,
  ModelList,
  Runner,
  Server,
  ServerFacts,
  ShownModel,
  WaitReason,
} from '../runner.ts';
import { ChatAnswer, createFillReader, endedEarly, nothing } from './chatAnswer.ts';
import { isSchemaRefusal, noSuchModel, openaiErrors } from './errorTexts.ts';
import { type Entries, isLoaded, type ModelEntry, type Props, parseEntries } from './modelList.ts';
import { versionOf } from './recognise.ts';
import { chatBody, completionBody, type ModelBody, withSimpleSchema } from './requests.ts';

/** A request whose answer is streamed. */
export interface StreamRequest {
  readonly path: string;
  readonly body: ModelBody;
}

/** A server that speaks OpenAI's API. What a product has beyond that, or does in another way, extends this class. */
export class OpenaiRunner implements Runner {
  readonly server: Server;
  readonly count?: (request: ChatRequest, signal: AbortSignal) => Promise<number>;
  protected readonly transport: Transport;
  /** What tells how many tokens a conversation has. */
  protected readonly countPath: string = '/tokenize';
  /** The tools of whose schemas the server could make no grammar. It does not say which one it was. */
  readonly #refused = new Set<string>();

  constructor(
    connection: Transport,
    readonly facts: ServerFacts,
  ) {
    this.server = connection.server;
    this.transport = connection.speaking(openaiErrors);
    if (facts.can.includes('count')) this.count = (request, signal) => this.#count(request, signal);
  }

  async identify(signal: AbortSignal): Promise<Identity> {
    await this.get('/v1/models', signal);
    const isVllm = this.facts.product === 'vllm';
    return withoutUndefined({ version: isVllm ? await versionOf(this.transport, signal) : undefined });
  }

  async list(signal: AbortSignal): Promise<ModelList> {
    const { models, leftOut } = await this.entries(signal);
    return { models: models.filter(({ state }) => state !== 'downloading'), leftOut };
  }

  async running(signal: AbortSignal): Promise<readonly ListedModel[]> {
    const { models } = await this.entries(signal);
    const running = models.filter((model) => isLoaded(model) && model.state !== 'sleeping');
    return running.map(({ size: _, ...model }) => ({ ...model, expiresAt: never }));
  }

  async show(model: string, signal: AbortSignal): Promise<ShownModel> {
    return shownModel(await this.find(model, signal));
  }

  async *chat(request: ChatRequest, signal: AbortSignal): AsyncGenerator<readonly ChatPart[]> {
    try {
      yield* this.#answer(request, signal);
    } catch (error) {
      const names = isSchemaRefusal(error) ? this.#refuseSchemas(request.tools) : [];
      if (names.length === 0) throw error;
      yield [{ ...nothing, simplified: names }];
      yield* this.#answer(request, signal);
    }
  }

  async *fill(request: FillRequest, signal: AbortSignal): AsyncGenerator<readonly FillPart[]> {
    const read = createFillReader(this.transport.subject(request.model));
    const fields = await this.fieldsOf('fill', request, signal);
    yield* this.#partsUntilDone(this.fillRequest(request), fields, read, signal);
  }

  close(): Promise<void> {
    return this.transport.close();
  }

  protected get(path: string, signal: AbortSignal): Promise<unknown> {
    return this.transport.json({ method: 'GET', path, signal });
  }

  protected post(path: string, body: ModelBody, signal: AbortSignal): Promise<unknown> {
    return this.transport.json({ method: 'POST', path, body, model: body.model, signal });
  }

  protected async entries(signal: AbortSignal): Promise<Entries> {
    return parseEntries(await this.get('/v1/models', signal));
  }

  /** The entry of a model, also under its aliases; undefined if the server does not have it. */
  protected async tryFind(model: string, signal: AbortSignal): Promise<ModelEntry | undefined> {
    return (await this.entries(signal)).models.find((entry) => isNamed(entry, model));
  }

  protected async find(model: string, signal: AbortSignal): Promise<ModelEntry> {
    const found = await this.tryFind(model, signal);
    const subject = this.transport.subject(model);
    if (!found) throw noSuchModel(subject).with(detailsOf(subject));
    return found;
  }

  /** What the product wants in the body of a request beside what all servers know. */
  protected async fieldsOf(
    _use: 'chat' | 'fill',
    _request: ChatRequest | FillRequest,
    _signal: AbortSignal,
  ): Promise<object> {
    return {};
  }

  protected fillRequest(request: FillRequest): StreamRequest {
    const { text, model } = request;
    // The suffix of `/v1/completions` is ignored in silence by llama.cpp, and most others do not know it.
    if (!('prompt' in text)) throw notSupported('insert', this.transport.subject(model));
    return { path: '/v1/completions', body: completionBody(request, text.prompt) };
  }

  #answer(request: ChatRequest, signal: AbortSignal): AsyncGenerator<readonly ChatPart[]> {
    const parts = this.#parts(request, signal);
    const { product } = this.facts;
    if (product !== 'llama.cpp' && product !== 'lmstudio') return parts;
    return sayingWhy(parts, async () =>
      reasonToWait(this.transport, await this.find(request.model, signal), signal),
    );
  }

  async *#parts(request: ChatRequest, signal: AbortSignal): AsyncGenerator<readonly ChatPart[]> {
    const answer = new ChatAnswer(this.transport.subject(request.model));
    const body = { ...this.#bodyOf(request), stream_options: { include_usage: true } };
    const fields = await this.fieldsOf('chat', request, signal);
    const asked = { path: '/v1/chat/completions', body };
    yield* this.#partsUntilDone(asked, fields, (event) => answer.read(event), signal);
  }

  async *#partsUntilDone<T extends { readonly done: boolean }>(
    { path, body }: StreamRequest,
    fields: object,
    read: (event: ServerSentEvent) => T | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<readonly T[]> {
    const { model } = body;
    const whole = { ...body, ...fields, stream: true };
    const request = { method: 'POST', path, body: whole, model, wait: 'firstByte', signal } as const;
    for await (const events of this.transport.stream(request, readEvents)) {
      const { parts, failure } = readAll(events, read);
      yield parts;
      if (failure !== undefined) throw failure;
      if (parts.at(-1)?.done) return;
    }
    throw endedEarly(this.transport.subject(model));
  }

  #bodyOf(request: ChatRequest): ModelBody {
    const tools = request.tools.map((tool) => (this.#refused.has(tool.name) ? withSimpleSchema(tool) : tool));
    return chatBody({ ...request, tools });
  }

  #refuseSchemas(tools: readonly Tool[]): readonly string[] {
    const names = tools
      .filter((tool) => !this.#refused.has(tool.name) && !isDeepStrictEqual(withSimpleSchema(tool), tool))
      .map(({ name }) => name);
    for (const name of names) this.#refused.add(name);
    return names;
  }

  async #count(request: ChatRequest, signal: AbortSignal): Promise<number> {
    const said = await this.post(this.countPath, this.#bodyOf(request), signal);
    const counted = isRecord(said) ? (said['input_tokens'] ?? said['count']) : undefined;
    if (typeof counted === 'number' && counted > 0) return counted;
    throw new RunnerError('bad-response', 'The runner did not say how long the prompt is. Ask again.');
  }
}

/** The parts of one read, up to the one that ends the answer or to a failure. */
function readAll<T extends { readonly done: boolean }>(
  events: readonly ServerSentEvent[],
  read: (event: ServerSentEvent) => T | undefined,
): { readonly parts: readonly T[]; readonly failure?: unknown } {
  const parts: T[] = [];
  try {
    for (const event of events) {
      const part = read(event);
      if (part) parts.push(part);
      if (part?.done) break;
    }
    return { parts };
  } catch (failure) {
    return { parts, failure };
  }
}

/** A model of a server without a router stays loaded as long as the server runs. */
const never = '9999-12-31T23:59:59.000Z';

function isNamed({ name, aliases = [] }: ModelEntry, asked: string): boolean {
  return [name, ...aliases].some((known) => known.toLowerCase() === asked.toLowerCase());
}

/** What is known of a model: by its entry, and of llama.cpp by its properties. */
export function shownModel(entry: ModelEntry, props?: Props, insert = false): ShownModel {
  const { maximumContext, parameterSize, quantization } = entry;
  return withoutUndefined<ShownModel>({
    maximumContext,
    parameterSize,
    quantization,
    turns: 'written',
    capabilities: props && [...props.capabilities, ...(insert ? ['insert'] : [])],
    template: props?.template,
    opensThinking: props?.opensThinking || undefined,
    leavesCalls: props?.leavesCalls,
  });
}

/** How long nothing must have come before the server is asked why, in ms. */
const patience = 1_000;

/** Passes an answer on. If nothing has come for a second, a part before it says what it waits for. */
async function* sayingWhy(
  answer: AsyncGenerator<readonly ChatPart[]>,
  findReason: () => Promise<WaitReason | undefined>,
): AsyncGenerator<readonly ChatPart[]> {
  const first = answer.next();
  // A failure is thrown below.
  const begins = first.then(
    () => undefined,
    () => undefined,
  );
  let timer: NodeJS.Timeout | undefined;
  const reason = new Promise<WaitReason | undefined>((resolve) => {
    timer = setTimeout(() => resolve(findReason()), patience);
  }).catch(() => undefined);
  const waitsFor = await Promise.race([begins, reason]).finally(() => clearTimeout(timer));
  if (waitsFor) yield [{ ...nothing, waitsFor }];
  const { done, value } = await first;
  if (done) return;
  yield value;
  yield* answer;
}

/**
 * Why a server has not begun to answer; undefined if it reads the prompt, or does not say. Only llama.cpp has slots.
 */
async function reasonToWait(
  transport: Transport,
  { name, state }: ModelEntry,
  signal: AbortSignal,
): Promise<WaitReason | undefined> {
  if (state === 'unloaded' || state === 'loading') return 'loading';
  const path = `/slots?fail_on_no_slot=1&model=${encodeURIComponent(name)}&autoload=false`;
  const { status, text } = await transport.look({ method: 'GET', path, signal });
  const value = tryJson(text);
  const error = isRecord(value) ? value['error'] : undefined;
  const isFull = status === 503 && isRecord(error) && /no slot/i.test(String(error['message']));
  return isFull ? 'slot' : undefined;
}
