import { once } from 'node:events';
import { answerJson, type Exchange } from './exchange.ts';
import { ApiFailure } from './failure.ts';
import { encodeJson } from './json.ts';

/**
 * Sends one JSON object on each line, and waits for a slow reader. An error before the first line has its own status. A
 * later error is the last line of a stream with status 200.
 */
export async function answerLines(exchange: Exchange, lines: AsyncIterable<object>): Promise<void> {
  const { response, signal } = exchange;
  try {
    for await (const line of lines) await sendLine(exchange, line);
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    if (!response.headersSent) return answerFailure(exchange, error);
    await sendLine(exchange, error.body);
  }
  signal.throwIfAborted();
  startLines(exchange);
  response.end();
}

/** The answer to `stream: false`: the lines merged into one object, or the error, whenever it came. */
export async function answerMerged(
  exchange: Exchange,
  lines: AsyncIterable<object>,
  {
    merge,
    contentType,
  }: { readonly merge: (lines: readonly object[]) => object; readonly contentType?: string },
): Promise<void> {
  const all: object[] = [];
  try {
    for await (const line of lines) all.push(line);
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    return answerFailure(exchange, error);
  }
  exchange.signal.throwIfAborted();
  answerJson(exchange.response, merge(all), contentType === undefined ? {} : { contentType });
}

/** Errors from a stream have no charset, as recorded from a real runner. */
function answerFailure({ response }: Exchange, { status, body }: ApiFailure): void {
  answerJson(response, body, { status, contentType: 'application/json' });
}

async function sendLine(exchange: Exchange, line: object): Promise<void> {
  const { response, signal } = exchange;
  signal.throwIfAborted();
  startLines(exchange);
  if (!response.write(`${encodeJson(line)}\n`)) await once(response, 'drain', { signal });
}

function startLines({ response }: Exchange): void {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'application/x-ndjson' });
}
