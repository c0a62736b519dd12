import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { LoadedModel } from './engineModel.ts';
import { generate, type Tally } from './generation.ts';
import { ApiError } from './requests.ts';
import type { Task } from './tasks.ts';

/** Who gets an answer. */
export interface Recipient {
  readonly response: ServerResponse;
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal;
}

/** Generates an answer. Returns it where it is wanted as a whole; a stream is sent and ended. */
export async function answerTask(
  task: Task,
  { model, sequence, window }: LoadedModel,
  { response, signal }: Recipient,
): Promise<object | undefined> {
  const { body, form, opened = '', grammarState } = task;
  const asked = typeof body.stop === 'string' ? [body.stop] : (body.stop ?? []);
  const stops = [...asked, ...(task.stops ?? [])];
  const pieces = generate(task.prompt, { model, sequence, window, body, stops, grammarState, signal });
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
    // The signal rejects where the client leaves.
    await once(this.#response, 'drain', { signal: this.#signal });
  }
}
