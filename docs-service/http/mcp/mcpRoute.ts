import type { McpHttpHandler } from '@modelcontextprotocol/server';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isRecord } from '../../../protocol/base/json.ts';
import { createMcpLibrary } from '../../mcp/mcpLibrary.ts';
import { createMcpServer, followChanges } from '../../mcp/mcpServer.ts';
import type { Authorization } from '../authorization.ts';
import { OpenCount, whenClosed } from '../connections.ts';
import { documentAddress, readingPath } from '../documentView.ts';
import { HttpProblem } from '../problems.ts';
import type { Services } from '../services.ts';

/** Answers the requests of MCP. */
export type McpHandler = Pick<McpHttpHandler, 'fetch' | 'close'>;

/** Requests that are answered at once, including those of listening clients. */
const maxRequests = 512;
/** An agent has one stream, and each of its windows has one. */
export const listenerBounds = { what: 'streams', one: 'token', maxOfOne: 8, maxOfAll: 128 };
/** Milliseconds after which a listening client must ask again, with a token that is still valid. */
const maxAnswerTime = 600_000;
/** Milliseconds between two checks of a listening client's token. */
const lookAtToken = 1_000;

/**
 * MCP by Streamable HTTP at `/mcp`, without sessions, so that any instance can answer any request. An error before a
 * message is read is a problem, as everywhere; after that, errors are those of JSON-RPC.
 */
export function mountMcp(
  app: FastifyInstance,
  options: {
    readonly authorization: Pick<Authorization, 'requireReader' | 'stillReads'>;
    /** The address of MCP at this service; what a request says about its host decides nothing. */
    readonly address: string;
    /** Called with the first request. Without sessions, each request gets its own server. */
    readonly openHandler: () => Promise<McpHandler>;
    /** Aborted when the service shuts down, which listening clients would otherwise delay. */
    readonly ending: AbortSignal | undefined;
  },
): void {
  const { authorization, address, ending } = options;
  let handler: Promise<McpHandler> | undefined;
  const listeners = new OpenCount(listenerBounds);
  let open = 0;
  const end = async () => (await handler)?.close();
  ending?.addEventListener('abort', end, { once: true });
  app.addHook('onClose', async () => {
    ending?.removeEventListener('abort', end);
    await end();
  });

  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    if (Array.isArray(request.body))
      throw new HttpProblem(400, 'MCP has no batches of messages. Send one message in each request.');
    if (open >= maxRequests || ending?.aborted)
      throw new HttpProblem(503, 'Too many requests are in progress. Try again in a moment.', {
        headers: { 'retry-after': '1' },
      });
    const { grant } = request;
    const gone = whenGone(reply);
    open += 1;
    whenAborted(gone, () => void (open -= 1));
    handler ??= options.openHandler();
    const mcp = await handler;
    // A listening client's stream stays open.
    if (isRecord(request.body) && request.body['method'] === 'subscriptions/listen') {
      if (!isAccepted(request, eventStream)) throw notAcceptable(eventStream);
      whenAborted(gone, listeners.add(grant?.id ?? ''));
      endWithToken(gone, () => authorization.stillReads(request));
    }
    const answered = await mcp.fetch(requestOf(request, address, gone.signal), {
      parsedBody: request.body,
      // The token itself is not passed on.
      authInfo: { token: '', clientId: grant?.id ?? '', scopes: [...(grant?.scopes ?? [])] },
    });
    return sendAnswer(reply, answered);
  };
  // Programs also find the sign-in by a GET.
  const guard = authorization.requireReader;
  // Both name the same resource.
  for (const path of ['/mcp', '/mcp/'])
    app.post(path, { config: { guard }, onRequest: [guard, refuseOtherMedia] }, answer);
}

/** Aborts when the answer is sent, has no reader any more, or took too long. */
function whenGone(reply: FastifyReply): AbortController {
  const gone = new AbortController();
  const overdue = setTimeout(() => gone.abort(), maxAnswerTime);
  whenClosed(reply, () => {
    clearTimeout(overdue);
    gone.abort();
  });
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
function requestOf({ headers }: FastifyRequest, address: string, signal: AbortSignal): Request {
  const fields = Object.entries(headers).flatMap(([name, value]) =>
    name === 'authorization' || value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  // The SDK refuses what does not name both, such as the `*/*` of programs without a preference.
  return new Request(address, {
    method: 'POST',
    headers: [...fields.filter(([name]) => name !== 'accept'), ['accept', `${json}, ${eventStream}`]],
    signal,
  });
}

const eventStream = 'text/event-stream';
const json = 'application/json';

/**
 * The SDK chooses one of the two types of answers. Many clients accept only one of them, and every answer but that to a
 * listening client is one message.
 */
async function sendAnswer(reply: FastifyReply, answer: Response): Promise<FastifyReply> {
  const { request } = reply;
  const { status, headers } = answer;
  const isStream = headers.get('content-type')?.startsWith(eventStream) ?? false;
  reply.code(status).headers({ ...Object.fromEntries(headers), 'cache-control': 'no-store' });
  if (isStream && isAccepted(request, eventStream)) return reply.send(answer.body);
  const text = await answer.text();
  if (isStream) return reply.type(json).send(/^data: (.*)$/m.exec(text)?.[1]);
  if (status !== 200 || isAccepted(request, json)) return reply.serializer(String).send(text);
  return reply.type(eventStream).send(`event: message\ndata: ${text}\n\n`);
}

async function refuseOtherMedia(request: FastifyRequest): Promise<void> {
  const [type = ''] = (request.headers['content-type'] ?? '').split(';', 1);
  if (type.trim().toLowerCase() !== json)
    throw new HttpProblem(415, 'Messages of MCP are JSON: send "Content-Type: application/json".');
  if (!isAccepted(request, json) && !isAccepted(request, eventStream))
    throw notAcceptable(`${json}, ${eventStream}`);
}

function isAccepted({ headers: { accept = '*/*' } }: FastifyRequest, type: string): boolean {
  const ranges = accept.split(',').map((range) => range.split(';', 1)[0]?.trim().toLowerCase());
  return [type, type.replace(/\/.*/, '/*'), '*/*'].some((one) => ranges.includes(one));
}

function notAcceptable(types: string): HttpProblem {
  return new HttpProblem(406, `The answer has another type than you accept: send "Accept: ${types}".`);
}

/** The library with what the server says about itself. */
type MountedLibrary = Services & {
  readonly version: string;
  readonly look?: { readonly title?: string };
  readonly hasConnectorTools?: boolean;
};

/** The library at `/mcp`. */
export function mountLibrary(
  app: FastifyInstance,
  options: MountedLibrary & { readonly ending?: AbortSignal },
): void {
  const { authorization, baseUrl, ending } = options;
  mountMcp(app, {
    authorization,
    address: `${baseUrl.href}/mcp`,
    openHandler: () => openLibraryHandler(options, app.log),
    ending,
  });
}

/** The SDK is loaded with the first request. */
async function openLibraryHandler(
  { index, search, renditions, baseUrl, version, look, hasConnectorTools = false }: MountedLibrary,
  log: FastifyBaseLogger,
): Promise<McpHandler> {
  const protocol = await import('../../mcp/mcpProtocol.ts');
  const addresses = [readingPath({ root: baseUrl.href }, ''), documentAddress(baseUrl.href, '')] as const;
  const libraryFor = createMcpLibrary({ index, search, renditions, addresses });
  const handler = protocol.createMcpHandler(
    ({ era, authInfo }) =>
      createMcpServer({
        protocol,
        library: Promise.resolve(libraryFor({ drafts: authInfo?.scopes.includes('draft') ?? false })),
        version,
        title: look?.title,
        era,
        // Without sessions, only the newer revision can notify.
        canNotify: era === 'modern',
        hasConnectorTools,
        onDefect: (error) => log.error({ err: error }, 'a defect'),
      }),
    { maxSubscriptions: listenerBounds.maxOfAll, onerror: (error) => log.debug({ err: error }, 'MCP') },
  );
  const following = followChanges(index, () => handler.notify.resourcesChanged());
  return {
    fetch: (request, given) => handler.fetch(request, given),
    async close() {
      following.dispose();
      await handler.close();
    },
  };
}
