import type { IncomingMessage } from 'node:http';
import { readBounded, TooLargeError } from '../../../protocol/base/boundedBody.ts';
import { SerialQueue } from '../../../protocol/base/serialQueue.ts';
import { answerTask, type Recipient } from './answerTask.ts';
import type { LoadedModel, NativeModel } from './engineModel.ts';
import { requireFit } from './generation.ts';
import type { ModelFacts } from './modelFacts.ts';
import { ApiError, bodies, parseBody } from './requests.ts';
import { type ReadTask, readChat, readCompletion, readConversation, readInfill } from './tasks.ts';

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
