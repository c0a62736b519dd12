import { createHash, randomBytes } from 'node:crypto';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import * as oauth from 'oauth4webapi';
import t, { type Test } from 'tap';
import { callDocs } from '../support/docsCommand.ts';
import { answerOf, signIn } from '../support/formBrowser.ts';
import { runConformance } from '../support/mcpTools.ts';
import { type OwnedDocs, openOwnedDocs } from '../support/ownedDocs.ts';
import { needs } from '../support/parts.ts';
import { poll } from '../support/waiting.ts';

/** What a client sends, by its source or by reports of its users, from July to November 2026. */
interface Replay {
  readonly name: string;
  /** What it posts to register itself; one with a document at its own address registers nowhere. */
  readonly registration?: Readonly<Record<string, unknown>>;
  /** Its own address, and what its document there says, which the operator repeats with `client add`. */
  readonly document?: { readonly id: string; readonly redirects: readonly string[] };
  /** Where it waits for the answer; each of them must do. */
  readonly redirects: readonly string[];
  /** Undefined is none. */
  readonly scope: string | undefined;
  /** Of the resource, as the client writes the address. */
  readonly resource: '/mcp' | '/mcp/' | '';
}

const codeGrant = { grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] };
const publicClient = { ...codeGrant, token_endpoint_auth_method: 'none' };

const replays: readonly Replay[] = [
  {
    name: 'Claude Code, by its document',
    document: {
      id: 'https://claude.ai/oauth/claude-code-client-metadata',
      redirects: ['http://localhost/callback', 'http://127.0.0.1/callback'],
    },
    redirects: ['http://localhost:54545/callback', 'http://localhost:61022/callback'],
    scope: 'read',
    resource: '/mcp',
  },
  {
    name: 'Claude Code, registered',
    registration: {
      client_name: 'Claude Code (runner-docs)',
      redirect_uris: ['http://localhost:54545/callback'],
      ...publicClient,
    },
    redirects: ['http://localhost:54545/callback', 'http://localhost:54999/callback'],
    scope: undefined,
    resource: '/mcp',
  },
  {
    name: 'VS Code, registered',
    registration: {
      client_name: 'Visual Studio Code',
      client_uri: 'https://code.visualstudio.com',
      grant_types: [...codeGrant.grant_types, 'urn:ietf:params:oauth:grant-type:device_code'],
      response_types: ['code'],
      redirect_uris: [
        'https://insiders.vscode.dev/redirect',
        'https://vscode.dev/redirect',
        'http://127.0.0.1/',
        'http://127.0.0.1:33418/',
      ],
      scope: 'read',
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    },
    redirects: ['http://127.0.0.1:33418/', 'http://127.0.0.1:49213/', 'https://vscode.dev/redirect'],
    scope: 'read',
    resource: '/mcp',
  },
  {
    name: 'Codex, by its document',
    document: { id: 'https://chatgpt.com/oauth/codex/client.json', redirects: ['http://127.0.0.1/callback'] },
    redirects: ['http://127.0.0.1:1455/callback'],
    scope: 'read',
    resource: '/mcp',
  },
  {
    name: 'Codex, registered as older ones do',
    registration: {
      client_name: 'Codex',
      redirect_uris: ['http://127.0.0.1:41231/callback/Zx8_fQ'],
      ...publicClient,
    },
    redirects: ['http://127.0.0.1:41231/callback/Zx8_fQ'],
    scope: undefined,
    resource: '/mcp',
  },
  {
    name: 'Zed, registered',
    registration: { client_name: 'Zed', redirect_uris: ['http://127.0.0.1:39107/callback'], ...publicClient },
    redirects: ['http://127.0.0.1:39107/callback', 'http://127.0.0.1:40123/callback'],
    scope: 'read',
    resource: '/mcp',
  },
  {
    name: 'Cursor, registered with three addresses at once',
    registration: {
      client_name: 'Cursor',
      redirect_uris: [
        'cursor://anysphere.cursor-mcp/oauth/callback',
        'https://www.cursor.com/agents/mcp/oauth/callback',
        'http://localhost:8787/callback',
      ],
      ...publicClient,
    },
    redirects: [
      'cursor://anysphere.cursor-mcp/oauth/callback',
      'https://www.cursor.com/agents/mcp/oauth/callback',
      'http://localhost:8787/callback',
    ],
    scope: 'read',
    resource: '/mcp/',
  },
  {
    name: "Copilot's command line, registered",
    registration: { redirect_uris: ['http://127.0.0.1:50321/'], ...publicClient },
    redirects: ['http://127.0.0.1:50321/'],
    scope: 'read',
    resource: '',
  },
];

// Two services, because one takes ten registrations a minute from an address.
const replayed = await openOwnedDocs(t);
const shared = await openOwnedDocs(t);

t.test('the recorded requests of each client', async (t) => {
  const docs = replayed;
  const server = await discover(docs.origin);
  const browser = docs.openBrowser();
  for (const { name, registration, document, redirects, scope, resource } of replays)
    t.test(name, async (t) => {
      const id = document === undefined ? await register(server, registration) : await add(docs, document);
      for (const redirect of redirects) {
        const { verifier, challenge } = proof();
        const state = randomBytes(16).toString('base64url');
        const url = withQuery(server.authorization_endpoint, {
          ...{ response_type: 'code', client_id: id, redirect_uri: redirect, state },
          ...{ code_challenge: challenge, code_challenge_method: 'S256' },
          ...(scope === undefined ? {} : { scope }),
          resource: docs.origin + resource,
        });
        const { to, answer } = await docs.allow(url, browser);
        t.ok(to.href.startsWith(redirect), `${to}`);
        t.equal(answer.get('state'), state);
        t.equal(answer.get('iss'), server.issuer);
        const { status, body } = await post(server.token_endpoint, {
          ...{ grant_type: 'authorization_code', code: answer.get('code') ?? '', client_id: id },
          ...{ redirect_uri: redirect, code_verifier: verifier, resource: docs.origin + resource },
        });
        t.equal(status, 200, JSON.stringify(body));
        t.match(body, { token_type: 'Bearer', scope: 'read', expires_in: 3_600 });
        t.equal((await docs.service.get('/api/v1/docs', body['access_token'] ?? '')).status, 200);
        await t.test('five simultaneous refreshes all succeed', async (t) => {
          const refresh = { grant_type: 'refresh_token', client_id: id, resource: docs.origin + resource };
          const asked = { ...refresh, refresh_token: body['refresh_token'] ?? '' };
          const answers = await Promise.all(
            Array.from({ length: 5 }, () => post(server.token_endpoint, asked)),
          );
          for (const { status, body } of answers) {
            t.equal(status, 200, JSON.stringify(body));
            t.equal((await docs.service.get('/api/v1/docs', body['access_token'] ?? '')).status, 200);
          }
          const last = answers.at(-1)?.body['refresh_token'] ?? '';
          const again = await post(server.token_endpoint, { ...refresh, refresh_token: last });
          t.equal(again.status, 200, JSON.stringify(again.body));
        });
      }
    });

  t.test(
    'OpenCode sends another redirect address than it publishes: it is refused until client add',
    async (t) => {
      const id = await register(server, {
        redirect_uris: ['http://127.0.0.1:19876/callback'],
        ...publicClient,
      });
      const url = (client: string) =>
        withQuery(server.authorization_endpoint, {
          ...{ response_type: 'code', client_id: client, state: 's' },
          redirect_uri: 'http://127.0.0.1:19876/mcp/oauth/callback',
          ...{ code_challenge: proof().challenge, code_challenge_method: 'S256', scope: 'read' },
        });
      const page = await browser.open(url(id));
      t.equal(page.status, 400);
      t.equal(page.headers['location'], undefined);
      const own = 'https://opencode.ai/oauth/client.json';
      await add(docs, { id: own, redirects: ['http://127.0.0.1:19876/mcp/oauth/callback'] });
      const { answer } = await docs.allow(url(own), browser);
      t.ok(answer.get('code'));
    },
  );
});

t.test('the official SDK signs in with nothing but the address', async (t) => {
  const docs = shared;
  const state = randomBytes(16).toString('base64url');
  const client = createSdkClient(state);
  const { peer, answer } = await signInSdk(t, docs, client);
  t.equal(answer.get('state'), state);
  const { tools } = await peer.listTools();
  t.strictSame(tools.map(({ name }) => name).sort(), ['get_doc_markdown', 'list_collections', 'search_docs']);
  const found = await peer.callTool({ name: 'search_docs', arguments: { query: 'linux' } });
  t.match(found.structuredContent, { total: 1, results: [{ slug: 'install' }] });
  const read = await peer.callTool({ name: 'get_doc_markdown', arguments: { slug: 'install' } });
  t.match(read.structuredContent, { markdown: /How to install it on Linux/ });
  const listed = await peer.callTool({ name: 'list_collections', arguments: {} });
  t.match(listed.structuredContent, { collections: [{ name: 'book', documents: 1 }] });

  const tokens = client.tokens();
  const rest = (token: string) => docs.service.get('/api/v1/docs', token);
  t.equal((await rest(tokens.access_token)).status, 200, 'the same token reads REST');
  client.provider.saveTokens({ ...tokens, access_token: 'rdocs_one-that-has-expired' });
  await peer.callTool({ name: 'list_collections', arguments: {} });
  const renewed = client.tokens().access_token;
  t.notOk([tokens.access_token, 'rdocs_one-that-has-expired'].includes(renewed), 'it renews by itself');

  const data = docs.places.slice(docs.places.indexOf('--data'));
  const table = (await callDocs(['token', 'list', ...data])).stdout.trim().split('\n').slice(1);
  t.ok(table.length > 0);
  for (const line of table) await callDocs(['token', 'revoke', line.split(' ', 1)[0] ?? '', ...data]);
  t.equal(
    await poll(
      async () => (await rest(renewed)).status,
      (status) => status === 401,
    ),
    401,
  );
  await t.rejects(
    peer.callTool({ name: 'list_collections', arguments: {} }),
    { name: 'InvalidGrantError' },
    'revoking ends both, and nothing is left to renew them with',
  );

  await t.test('the SDK sends no state by default', async (t) => {
    const plain = createSdkClient();
    const { peer, answer } = await signInSdk(t, docs, plain);
    t.equal(plain.sentTo().searchParams.has('state'), false, 'it sends none');
    t.equal(answer.has('state'), false, 'and gets none');
    t.equal(answer.get('iss'), docs.origin);
    t.equal((await peer.listTools()).tools.length, 3);
  });

  await t.test('the owner can refuse a request without a state', async (t) => {
    const plain = createSdkClient();
    const { transport, connected } = connectSdk(t, docs, plain);
    await t.rejects(connected, { message: 'Unauthorized' });
    await transport.close();
    const browser = docs.openBrowser();
    await signIn(browser, plain.sentTo().href);
    const answer = answerOf(await browser.submit({ decision: 'cancel' }));
    t.strictSame([answer.get('error'), answer.has('state')], ['access_denied', false]);
  });
});

t.test('an independent OAuth library', async (t) => {
  const docs = shared;
  const insecure = { [oauth.allowInsecureRequests]: true } as const;
  const issuer = new URL(docs.origin);
  const server = await oauth.processDiscoveryResponse(
    issuer,
    await oauth.discoveryRequest(issuer, { ...insecure, algorithm: 'oauth2' }),
  );
  const redirect = 'http://127.0.0.1:47000/callback';
  const registration = { redirect_uris: [redirect], client_name: 'A library', ...publicClient };
  const client = await oauth.processDynamicClientRegistrationResponse(
    await oauth.dynamicClientRegistrationRequest(server, registration, insecure),
  );
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const { to } = await docs.allow(
    withQuery(server.authorization_endpoint, {
      ...{ response_type: 'code', client_id: client.client_id, redirect_uri: redirect, state },
      ...{ scope: 'read profile', code_challenge_method: 'S256' },
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    }),
  );
  const answer = oauth.validateAuthResponse(server, client, to, state);
  t.throws(() => oauth.validateAuthResponse(server, client, to, 'another'), 'another state is refused');
  const other = { ...server, issuer: 'https://other.example' };
  t.throws(() => oauth.validateAuthResponse(other, client, to, state), 'and another issuer');
  const none = oauth.None();
  const tokens = await oauth.processAuthorizationCodeResponse(
    server,
    client,
    await oauth.authorizationCodeGrantRequest(server, client, none, answer, redirect, verifier, insecure),
  );
  t.match(tokens, { scope: 'read profile', token_type: 'bearer', me: `${docs.origin}/` });
  const read = () =>
    oauth.protectedResourceRequest(
      tokens.access_token,
      'GET',
      new URL('/api/v1/docs', docs.origin),
      undefined,
      undefined,
      insecure,
    );
  t.equal((await read()).status, 200);
  const profile = await oauth.userInfoRequest(server, client, tokens.access_token, insecure);
  t.equal(profile.status, 200);
  const refreshed = await oauth.processRefreshTokenResponse(
    server,
    client,
    await oauth.refreshTokenGrantRequest(server, client, none, tokens.refresh_token ?? '', insecure),
  );
  t.equal(refreshed.scope, 'read profile');
  const ended = await oauth.revocationRequest(server, client, none, tokens.access_token, insecure);
  await oauth.processRevocationResponse(ended);
  const isRefused = () =>
    read().then(
      () => false,
      (error) => error instanceof oauth.WWWAuthenticateChallengeError,
    );
  t.ok(await poll(isRefused, Boolean), 'the token is dead');
});

type SdkClient = ReturnType<typeof createSdkClient>;

/** The owner says yes, and the client connects with the token that it got. */
async function signInSdk(t: Test, docs: OwnedDocs, client: SdkClient) {
  const first = connectSdk(t, docs, client);
  await t.rejects(first.connected, { message: 'Unauthorized' }, 'it is sent to the browser');
  const { answer } = await docs.allow(client.sentTo().href);
  await first.transport.finishAuth(answer.get('code') ?? '');
  const { peer, connected } = connectSdk(t, docs, client);
  await connected;
  return { peer, answer };
}

function connectSdk(t: Test, { origin }: OwnedDocs, { provider }: SdkClient) {
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', origin), { authProvider: provider });
  const peer = new Client({ name: 'a client of the SDK', version: '1.0.0' });
  t.teardown(() => peer.close());
  return { transport, peer, connected: peer.connect(transport) };
}

/** A client of the SDK that keeps all in memory; the browser is whoever asks where it was sent. */
function createSdkClient(state?: string) {
  let information: OAuthClientInformationMixed | undefined;
  let kept: OAuthTokens | undefined;
  let verifier = '';
  let target: URL | undefined;
  const redirectUrl = 'http://127.0.0.1:48123/callback';
  const provider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: { client_name: 'An SDK client', redirect_uris: [redirectUrl], ...publicClient },
    ...(state === undefined ? {} : { state: () => state }),
    clientInformation: () => information,
    saveClientInformation: (given) => {
      information = given;
    },
    tokens: () => kept,
    saveTokens: (given) => {
      kept = given;
    },
    redirectToAuthorization: (url) => {
      target = url;
    },
    saveCodeVerifier: (given) => {
      verifier = given;
    },
    codeVerifier: () => verifier,
  };
  return {
    provider,
    sentTo(): URL {
      if (target === undefined) throw new Error('It sent nobody anywhere.');
      return target;
    },
    tokens(): OAuthTokens {
      if (kept === undefined) throw new Error('It has no tokens.');
      return kept;
    },
  };
}

interface Server {
  readonly issuer: string;
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly registration_endpoint: string;
}

/** As a client that knows only the address. */
async function discover(origin: string): Promise<Server> {
  const refused = await fetch(`${origin}/mcp`, { method: 'POST' });
  const [, url = ''] =
    /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '') ?? [];
  const resource = await (await fetch(url)).json();
  const [issuer] = resource.authorization_servers;
  return (await fetch(`${issuer}/.well-known/oauth-authorization-server`)).json();
}

async function register(server: Server, registration: unknown): Promise<string> {
  const response = await fetch(server.registration_endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(registration),
  });
  const body = await response.json();
  if (response.status !== 201) throw new Error(JSON.stringify(body));
  return body.client_id;
}

/** The tests reach no address outside, so the operator says what a client's document would. */
async function add(docs: OwnedDocs, document: NonNullable<Replay['document']>): Promise<string> {
  const { id, redirects } = document;
  const data = docs.places.slice(docs.places.indexOf('--data'));
  const flags = redirects.flatMap((redirect) => ['--redirect-uri', redirect]);
  const { code, stderr } = await callDocs([
    'client',
    'add',
    '--client-id',
    id,
    ...flags,
    '--name',
    'It',
    ...data,
  ]);
  if (code !== 0) throw new Error(stderr);
  return id;
}

async function post(url: string, fields: Readonly<Record<string, string>>) {
  const response = await fetch(url, { method: 'POST', body: new URLSearchParams(fields) });
  const body: Readonly<Record<string, string>> = await response.json();
  return { status: response.status, body };
}

function withQuery(url: string | undefined, parameters: Readonly<Record<string, string>>): string {
  return `${url}?${new URLSearchParams(parameters)}`;
}

function proof() {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

t.test('the official conformance suite of authorization', needs('mcpTools'), async (t) => {
  const docs = shared;
  const server = await discover(docs.origin);
  const port = 3_906;
  const redirect = `http://127.0.0.1:${port}/callback`;
  const id = await register(server, { redirect_uris: [redirect], ...publicClient });
  const resource = `${docs.origin}/mcp`;
  let isOpened = false;
  const { code, output } = await runConformance(
    ['authorization', '--url', docs.origin, '--client-id', id, '--resource', resource, '-p', String(port)],
    async (text) => {
      const [url] = new RegExp(`${docs.origin}/authorize\\?\\S+`).exec(text) ?? [];
      if (url === undefined || isOpened) return;
      isOpened = true;
      const { to } = await docs.allow(url);
      await fetch(to);
    },
  );
  t.equal(code, 0, output);
  t.ok(isOpened, output);
  t.match(output, /passed/i);
  t.comment(output);
});
