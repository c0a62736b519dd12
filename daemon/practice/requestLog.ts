import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';

/** One request as it came, and what became of its answer. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The parsed JSON, else the text; `undefined` until it has been read; of a blob only its size is told. */
  body: unknown;
  /** Milliseconds since 1970. */
  readonly receivedAt: number;
  /** The client closed the connection before the answer was complete. */
  aborted: boolean;
  abortedAt?: number;
  /** The whole answer was handed to the network. */
  finished: boolean;
}

/** How many requests are remembered; the practice runner may be asked for days. */
const maxRequests = 10_000;
/** Of how many the bodies are. */
const maxBodies = 1_000;

interface Watched {
  readonly request: RecordedRequest;
  readonly signal: AbortSignal;
  readonly drop: () => void;
}

export interface RequestLog {
  readonly requests: readonly RecordedRequest[];
  watch(incoming: IncomingMessage, response: ServerResponse): Watched;
  /** Ends the work of every request that is still answered; none of them counts as aborted. */
  close(): void;
}

export function createRequestLog(
  now: () => number,
  onChange: (request: RecordedRequest) => void,
): RequestLog {
  const requests: RecordedRequest[] = [];
  const running = new Set<AbortController>();
  return {
    requests,
    watch(incoming, response) {
      const controller = new AbortController();
      const request = recordOf(incoming, now());
      requests.push(request);
      if (requests.length > maxRequests) requests.shift();
      const older = requests.at(-1 - maxBodies);
      if (older) older.body = undefined;
      running.add(controller);
      response.once('close', () => {
        running.delete(controller);
        request.finished = response.writableFinished;
        request.aborted = !request.finished && !controller.signal.aborted;
        if (request.aborted) request.abortedAt = now();
        controller.abort();
        onChange(request);
      });
      // What was written goes out first: a connection is lost after the lines that were sent.
      const drop = () => {
        controller.abort();
        setImmediate(() => response.socket?.destroySoon());
      };
      return { request, signal: controller.signal, drop };
    },
    close() {
      for (const controller of running) controller.abort();
    },
  };
}

function recordOf(incoming: IncomingMessage, receivedAt: number): RecordedRequest {
  const { method = 'GET', url = '/', headers } = incoming;
  return { method, path: url, headers, body: undefined, receivedAt, aborted: false, finished: false };
}
