import type { LegacyHttpHandler, McpHttpHandler, McpServerFactory } from '@modelcontextprotocol/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createChangeTeller } from '../../mcp/changeTeller.ts';
import type { McpProtocol } from '../../mcp/mcpFailures.ts';
import type { Authorization } from '../authorization.ts';
import { OpenCount } from '../openCount.ts';
import { HttpProblem } from '../problem.ts';

export interface McpRouteOptions {
  readonly authorization: Pick<Authorization, 'requireReader' | 'stillReads'>;
  /** The origin of the service; what a request says about its host decides nothing. */
  readonly origin: string;
  /** A server for one request. */
  readonly createServer: (request: McpRequest) => ReturnType<McpServerFactory>;
  /** Calls back when something in the library has changed: clients of the revision 2026-07-28 may listen for it. */
  readonly onDidChange: (listener: () => void) => { dispose(): void };
  /**
   * Answers clients of 2025-11-25 and before, for a server that asks its clients questions: those revisions need
   * sessions for that. Without it, each of their requests gets its own server.
   */
  readonly serveOlder?: LegacyHttpHandler;
  /** Aborted when the service shuts down, which listening clients would otherwise delay. */
  readonly ending: AbortSignal | undefined;
}

export interface McpRequest {
  readonly protocol: McpProtocol;
  /** `legacy` is 2025-11-25 and before, `modern` is 2026-07-28. */
  readonly era: 'legacy' | 'modern';
  /** Whether the bearer of the token sees drafts. */
  readonly drafts: boolean;
}

/** Requests that are answered at once, including those of listening clients. */
const mostRequests = 512;
/** An agent has one stream, and each of its windows has one. */
const listenerBounds = { what: 'streams', mostOfOne: 8, mostOfAll: 128 };
/** Milliseconds after which a listening client must ask again, with a token that is still valid. */
const longestAnswer = 600_000;
/** Milliseconds between two checks of a listening client's token. */
const lookAtToken = 1_000;

/**
 * MCP by Streamable HTTP at `/mcp`, without sessions, so that any instance can answer any request. An error before a
 * message is read is a problem, as everywhere; after that, errors are those of JSON-RPC.
 */
export function mountMcp(app: FastifyInstance, options: McpRouteOptions): void {
  const { authorization, ending } = options;
  let handler: Promise<McpHttpHandler> | undefined;
  const listeners = new OpenCount(listenerBounds);
  let open = 0;
  const end = async () => (await handler)?.close();
  ending?.addEventListener('abort', end, { once: true });
  app.addHook('onClose', async () => {
    ending?.removeEventListener('abort', end);
    await end();
  });

  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    if (Array.isArray(request.body)) throw noBatches();
    if (open >= mostRequests || ending?.aborted) throw tooMany();
    handler ??= createHandler(app, options);
    const { fetch } = await handler;
    const gone = whenGone(reply);
    open += 1;
    whenAborted(gone, () => void (open -= 1));
    if (listens(request.body)) {
      whenAborted(gone, listeners.add(request.grant?.id ?? ''));
      endWithToken(gone, () => authorization.stillReads(request));
    }
    const answered = await fetch(requestOf(request, options.origin, gone.signal), {
      parsedBody: request.body,
      authInfo: authInfoOf(request),
    });
    return sendAnswer(reply, answered);
  };
  // Both name the same resource.
  for (const path of ['/mcp', '/mcp/'])
    app.post(
      path,
      {
        schema: { hide: true },
        // Programs also find the sign-in by a GET.
        config: { guard: authorization.requireReader },
        onRequest: [authorization.requireReader, refuseOtherMedia],
      },
      answer,
    );
}

/** The SDK is loaded with the first request. */
async function createHandler(app: FastifyInstance, options: McpRouteOptions): Promise<McpHttpHandler> {
  const protocol = await import('../../mcp/mcpProtocol.ts');
  const handler = protocol.createMcpHandler(
    ({ era, authInfo }) =>
      options.createServer({ protocol, era, drafts: authInfo?.scopes.includes('draft') ?? false }),
    { maxSubscriptions: listenerBounds.mostOfAll, onerror: (error) => app.log.debug({ err: error }, 'MCP') },
  );
  const { serveOlder } = options;
  const teller = createChangeTeller(() => handler.notify.resourcesChanged());
  const subscription = options.onDidChange(teller.onDidChange);
  return {
    ...handler,
    fetch: async (request, given) =>
      serveOlder !== undefined && (await protocol.isLegacyRequest(request, given?.parsedBody))
        ? serveOlder(request, given)
        : handler.fetch(request, given),
    async close() {
      subscription.dispose();
      teller.dispose();
      await handler.close();
    },
  };
}

/** Whether a message opens a stream that stays open. */
function listens(message: unknown): boolean {
  return (
    typeof message === 'object' &&
    message !== null &&
    'method' in message &&
    message.method === 'subscriptions/listen'
  );
}

/** Aborts when the answer is sent, has no reader any more, or took too long. */
function whenGone({ raw }: FastifyReply): AbortController {
  const gone = new AbortController();
  const overdue = setTimeout(() => gone.abort(), longestAnswer);
  const end = () => {
    clearTimeout(overdue);
    gone.abort();
  };
  if (raw.destroyed) end();
  else raw.once('close', end);
  return gone;
}

function whenAborted({ signal }: AbortController, work: () => void): void {
  if (signal.aborted) work();
  else signal.addEventListener('abort', work, { once: true });
}

/** Ends a client's stream soon after its token has ended. */
function endWithToken(gone: AbortController, stillReads: () => Promise<boolean>): void {
  const timer = setInterval(async () => {
    if (!(await stillReads())) gone.abort();
  }, lookAtToken);
  whenAborted(gone, () => clearInterval(timer));
}

/** The body was read already, and the scopes of the token do not concern the SDK. */
function requestOf({ headers }: FastifyRequest, origin: string, signal: AbortSignal): Request {
  const fields = Object.entries(headers).flatMap(([name, value]) =>
    name === 'authorization' || value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  // The SDK does not accept `*/*`, which programs without a preference send.
  return new Request(new URL('/mcp', origin), {
    method: 'POST',
    headers: [...fields.filter(([name]) => name !== 'accept'), ['accept', accepted.join(', ')]],
    signal,
  });
}

/** The token itself is not passed on. */
function authInfoOf({ grant }: FastifyRequest) {
  return { token: '', clientId: grant?.id ?? '', scopes: [...(grant?.scopes ?? [])] };
}

async function sendAnswer(reply: FastifyReply, answer: Response): Promise<FastifyReply> {
  const { status, headers } = answer;
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  reply.code(status).headers({ ...Object.fromEntries(headers), 'cache-control': 'no-store' });
  return isStream ? reply.send(answer.body) : reply.serializer(String).send(await answer.text());
}

const accepted = ['application/json', 'text/event-stream'];

async function refuseOtherMedia({ headers }: FastifyRequest): Promise<void> {
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1);
  if (type.trim().toLowerCase() !== 'application/json')
    throw new HttpProblem(415, 'Messages of MCP are JSON: send "Content-Type: application/json".');
  if (!accepted.every((one) => isAccepted(headers.accept ?? '*/*', one)))
    throw new HttpProblem(
      406,
      `Answers of MCP have one of two types: send "Accept: ${accepted.join(', ')}".`,
    );
}

function isAccepted(accept: string, type: string): boolean {
  const ranges = accept.split(',').map((range) => range.split(';', 1)[0]?.trim().toLowerCase());
  return [type, type.replace(/\/.*/, '/*'), '*/*'].some((one) => ranges.includes(one));
}

function noBatches(): HttpProblem {
  return new HttpProblem(400, 'MCP has no batches of messages. Send one message in each request.');
}

function tooMany(): HttpProblem {
  return new HttpProblem(503, 'Too many requests are in progress. Try again in a moment.', {
    headers: { 'retry-after': '1' },
  });
}
