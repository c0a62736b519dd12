import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';

/** One request, and what happened to its answer. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The parsed JSON, else the text; `undefined` until it has been read. For a blob it is only the size. */
  body: unknown;
  /** Milliseconds since 1970. */
  readonly receivedAt: number;
  /** Whether the client closed the connection before the answer was complete. */
  aborted: boolean;
  abortedAt?: number;
  /** Whether the whole answer was passed to the network. */
  finished: boolean;
}

/** How many requests are remembered, since the practice runner may run for days. */
const maxRequests = 10_000;
/** For how many requests the bodies are remembered. */
const maxBodies = 1_000;

export interface Watched {
  readonly request: RecordedRequest;
  readonly signal: AbortSignal;
  readonly drop: () => void;
}

export interface RequestLog {
  readonly requests: readonly RecordedRequest[];
  watch(incoming: IncomingMessage, response: ServerResponse): Watched;
  /** Ends the work on every running request. None of them counts as aborted. */
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
      // Lines that were written are sent first: the connection is lost after them.
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
