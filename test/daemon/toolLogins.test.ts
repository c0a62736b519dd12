import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { methods, type NewSessionRequest } from '@agentclientprotocol/sdk';
import fc from 'fast-check';
import t from 'tap';
import { toAccessToken } from '../../daemon/tools/oauth/accessTokens.ts';
import { createOAuthFetch, requireSafeAddress } from '../../daemon/tools/oauth/oauthFetch.ts';
import {
  finishLoginRequest,
  listToolsRequest,
  loginRequest,
  logoutRequest,
} from '../../protocol/messages/tools.ts';
import { startAcpPair } from '../support/acpPair.ts';
import { browse, startAuthorizationPeer } from '../support/authorizationPeer.ts';
import { createCertificate } from '../support/certificates.ts';
import { startDaemonProcess } from '../support/daemonProcess.ts';
import type { Teardown } from '../support/daemonWithRunner.ts';
import { failsWith } from '../support/failsWith.ts';
import { openOwnedDocs } from '../support/ownedDocs.ts';
import { needs } from '../support/parts.ts';
import { has } from '../support/systems.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { answersOf, offeredTo, startWithTools, type ToolOptions } from '../support/toolDaemon.ts';
import { poll } from '../support/waiting.ts';

const server = 'web';
const needsLogin =
  'The tool server web wants a login (401). Run "runner mcp login web" (with its address instead of its name, if only an editor has the server), or enter a token for its address under "auth" in ~/.config/runner/config.json.';

/** A daemon of a user with this home, with one tool server at an address. */
function startFor(
  test: Teardown,
  home: string,
  entry: { readonly url: string } & Record<string, unknown>,
  more: ToolOptions = {},
) {
  return startWithTools(test, [], {
    logLevel: 'debug',
    mcpServers: { [server]: entry },
    approvals: { [server]: 'always' },
    ...more,
    pair: {
      env: { PATH: process.env['PATH'], HOME: home, XDG_STATE_HOME: home, XDG_CONFIG_HOME: home },
      ...more.pair,
    },
  });
}

type Started = Awaited<ReturnType<typeof startFor>>;

async function call({ runner, ask }: Started, name = 'echo', given: Record<string, unknown> = {}) {
  runner.toolCalls([{ id: 'a', name, arguments: given }]);
  runner.say('ok');
  return answersOf((await ask()).result.messages);
}

async function stateOf({ daemon }: Started) {
  const { servers } = await daemon.request(listToolsRequest, {});
  return servers[0];
}

async function keptFiles(home: string) {
  const folder = join(home, 'runner', 'logins');
  const names = await readdir(folder).catch(() => []);
  return Promise.all(
    names.map(async (name) => ({
      mode: (await stat(join(folder, name))).mode & 0o777,
      text: await readFile(join(folder, name), 'utf8'),
      path: join(folder, name),
    })),
  );
}

t.test('a login to runner-docs, whoever it says we are', async (t) => {
  for (const { name, flags } of [
    { name: 'registered', flags: [] },
    { name: 'by the address of the redirect', flags: ['--no-registration'] },
  ])
    await t.test(name, async (t) => {
      const docs = await openOwnedDocs(t, flags);
      const home = await temporaryFolder(t);
      const entry = { url: `${docs.origin}/mcp` };
      const first = await startFor(t, home, entry);
      t.match(await stateOf(first), { state: 'failed', needsLogin: true, message: needsLogin });
      const { url, redirectUrl } = await first.daemon.request(loginRequest, { server });
      const asked = new URL(url);
      t.match(Object.fromEntries(asked.searchParams), {
        code_challenge_method: 'S256',
        resource: entry.url,
        redirect_uri: redirectUrl,
        scope: 'read',
      });
      t.equal(asked.searchParams.get('client_id') === redirectUrl, flags.length > 0);
      const finished = first.daemon.request(finishLoginRequest, { server });
      const { to } = await docs.allow(url);
      t.match(await (await fetch(to)).text(), /Runner has received the answer/);
      t.strictSame(await finished, { scope: 'read' });

      t.match(await call(first, 'list_collections'), [/A book/]);
      if (flags.length === 0) return;
      const second = await startFor(t, home, entry);
      t.match(await call(second, 'list_collections'), [/A book/], 'another daemon has the login too');
      const files = await keptFiles(home);
      t.equal(files.length, 1);
      if (has('modes')) {
        t.equal(files[0]?.mode, 0o600);
        t.equal((await stat(join(home, 'runner', 'logins'))).mode & 0o777, 0o700);
      }
      const { refreshToken } = JSON.parse(files[0]?.text ?? '') as { refreshToken: string };
      t.ok(refreshToken.length > 16);
      t.notOk(JSON.stringify([first.daemon.logs, second.daemon.logs]).includes(refreshToken));

      t.strictSame(await second.daemon.request(logoutRequest, { server }), {
        wasLoggedIn: true,
        isRevoked: true,
      });
      t.strictSame(await keptFiles(home), []);
      const ended = await poll(
        () => stateOf(first),
        (now) => now?.state === 'failed',
      );
      t.match(
        ended?.message,
        /^The tool server web wants a (new )?login \(401\)\. Run "runner mcp login web"/,
      );
      t.match(await stateOf(await startFor(t, home, entry)), { state: 'failed', message: needsLogin });
    });
});

t.test('a login at an authorization server that others wrote', async (t) => {
  const peer = await startAuthorizationPeer(t);
  const home = await temporaryFolder(t);
  const one = await startFor(t, home, { url: peer.url });
  t.match(await stateOf(one), { state: 'failed', message: needsLogin });
  const { url } = await one.daemon.request(loginRequest, { server });
  const finished = one.daemon.request(finishLoginRequest, { server });
  const page = await browse(url);
  t.match(Object.fromEntries(page.headers), {
    ...{ 'content-type': 'text/html; charset=utf-8', 'referrer-policy': 'no-referrer' },
    ...{ 'cache-control': 'no-store', connection: 'close' },
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  });
  t.match(await page.text(), '<p>Runner has received the answer. You can close this page.</p>');
  t.strictSame(await finished, { scope: 'echo' });
  t.strictSame(await call(one), ['from behind the login']);

  await t.test('a token that ended is renewed in the middle of a call', async (t) => {
    await peer.expire();
    t.strictSame(await call(one), ['from behind the login']);
    t.match(await peer.stats(), { registrations: 1, resources: [peer.url] });
  });
  await t.test('several at once renew one after another, and none is lost', async (t) => {
    const start = () =>
      startDaemonProcess(
        { mcpServers: { [server]: { url: peer.url } } },
        { env: { HOME: home, XDG_STATE_HOME: home } },
      );
    const daemons = await Promise.all([start(), start()]);
    for (let round = 0; round < 2; round += 1) {
      const lists = await Promise.all(daemons.map((daemon) => daemon.request(listToolsRequest, {})));
      t.strictSame(
        lists.map(({ servers }) => servers[0]?.message ?? servers[0]?.state),
        ['ready', 'ready'],
      );
      await peer.expire();
    }
    t.match(await peer.stats(), { reused: 0 });
    await Promise.all(daemons.map((daemon) => daemon.close()));
  });
  await t.test('a login that was ended elsewhere is forgotten', async (t) => {
    const [file] = await keptFiles(home);
    const kept = JSON.parse(file?.text ?? '') as object;
    await writeFile(file?.path ?? '', JSON.stringify({ ...kept, refreshToken: 'never-given' }));
    await peer.expire();
    t.match(await stateOf(one), { state: 'failed', message: /wants a new login \(401\)/ });
    t.strictSame(await keptFiles(home), []);
    t.strictSame(await one.daemon.request(logoutRequest, { server }), {
      wasLoggedIn: false,
      isRevoked: false,
    });
  });
});

t.test('sessions over ACP renew one login one after another', async (t) => {
  const peer = await startAuthorizationPeer(t);
  const home = await temporaryFolder(t);
  const one = await startFor(t, home, { url: peer.url });
  const { url } = await one.daemon.request(loginRequest, { server });
  const finished = one.daemon.request(finishLoginRequest, { server });
  await browse(url);
  await finished;
  const { agent } = await startAcpPair(t, { host: one.runner.url, state: home });
  const { session } = methods.agent;
  const place = { cwd: home, mcpServers: [{ type: 'http', name: server, url: peer.url, headers: [] }] };
  const ask = async () => {
    const { sessionId } = await agent.request(session.new, place as NewSessionRequest);
    return () => agent.request(session.prompt, { sessionId, prompt: [{ type: 'text', text: 'go' }] });
  };
  const turns = await Promise.all([ask(), ask(), ask()]);
  for (const _ of turns) one.runner.say('ok');
  await Promise.all(turns.map((turn) => turn()));
  for (const index of [-1, -2, -3]) t.strictSame(offeredTo(one.runner, index), ['echo']);
  t.match(await peer.stats(), { refreshes: 3, reused: 0 });
  t.equal((await keptFiles(home)).length, 1);
});

t.test('the terminal logs in, and out', async (t) => {
  const peer = await startAuthorizationPeer(t);
  const home = await temporaryFolder(t, {
    'runner/config.json': JSON.stringify({ mcpServers: { [server]: { url: peer.url } } }),
  });
  const run = (...args: readonly string[]) => {
    const child = spawn(process.execPath, [join('dist', 'terminal.cjs'), ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], HOME: home, XDG_CONFIG_HOME: home, XDG_STATE_HOME: home },
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (said += text));
    return { said: () => said, ended: once(child, 'close').then(([code]) => code as number | null) };
  };
  const login = run('mcp', 'login', server);
  const address = await poll(
    async () => /^http:\S+$/m.exec(login.said())?.[0],
    (url) => url !== undefined,
  );
  await browse(address ?? '');
  t.equal(await login.ended, 0);
  t.match(login.said(), /You are logged in to web, for: echo\.\n$/);
  const again = run('tools');
  t.equal(await again.ended, 0);
  t.match(again.said(), /web +ready +echo/);
  const logout = run('mcp', 'logout', peer.url);
  t.equal(await logout.ended, 0);
  t.match(logout.said(), /logged out of http:\/\/127\.0\.0\.1:\d+\/mcp, and its login is revoked/);
  t.match(await peer.stats(), { revoked: 1 });
});

t.test('without a refresh token the access token is kept as long as it lasts', async (t) => {
  const peer = await startAuthorizationPeer(t, 'plain');
  const home = await temporaryFolder(t);
  const one = await startFor(t, home, { url: peer.url });
  const { url } = await one.daemon.request(loginRequest, { server });
  await browse(url);
  await one.daemon.request(finishLoginRequest, { server });
  t.strictSame(await call(await startFor(t, home, { url: peer.url })), ['from behind the login']);
  const later = await startFor(t, home, { url: peer.url }, { pair: { now: () => Date.now() + 3_700_000 } });
  t.match(await stateOf(later), { state: 'failed', needsLogin: true });
});

t.test('a browser on another machine, a cancel, and a login that was not begun', async (t) => {
  const peer = await startAuthorizationPeer(t);
  const home = await temporaryFolder(t);
  const one = await startFor(t, home, { url: peer.url });
  const finish = (redirectedTo: string) => one.daemon.request(finishLoginRequest, { server, redirectedTo });
  await t.rejects(
    finish('http://127.0.0.1/'),
    failsWith({ code: -32602, message: /"server" is not valid: no login/ }),
  );
  const { url, redirectUrl } = await one.daemon.request(loginRequest, { server });
  const sent = (await fetch(url, { redirect: 'manual' })).headers.get('location') ?? '';
  for (const wrong of [
    '',
    'nonsense',
    redirectUrl,
    `${redirectUrl}?code=x&state=guessed`,
    sent.replace('127.0.0.1', 'localhost'),
  ])
    await t.rejects(finish(wrong), failsWith({ code: -32602, message: /"redirectedTo" is not valid/ }));
  t.equal(
    (await fetch(`${redirectUrl}?code=x&state=guessed`)).status,
    400,
    'a page that guesses is not heard',
  );
  t.strictSame(await finish(`  ${sent}\n`), { scope: 'echo' });
  t.strictSame(await call(one), ['from behind the login']);

  const again = await one.daemon.request(loginRequest, { server });
  const controller = new AbortController();
  const waiting = one.daemon.request(finishLoginRequest, { server }, controller.signal);
  controller.abort();
  await t.rejects(waiting);
  await t.rejects(fetch(again.redirectUrl), 'nobody listens any more');
  t.strictSame(await call(one), ['from behind the login'], 'the login of before is still there');
});

t.test('only a server at an address can be logged in to', async (t) => {
  const { daemon } = await startWithTools(t, ['good'], {
    mcpServers: {
      good: { command: 'x' },
      off: { url: 'http://127.0.0.1:9/', disabled: true },
      far: { url: 'http://example.com/mcp' },
      wrong: { url: 'ftp://example.com' },
    },
  });
  for (const { name, want } of [
    { name: 'good', want: /is a program on this machine/ },
    { name: 'off', want: /is disabled/ },
    { name: 'wrong', want: /the entry of "wrong" is wrong\. "url" is not as expected/ },
    { name: 'none', want: /there is no tool server "none" at an address; there are: far/ },
  ])
    await t.rejects(
      daemon.request(loginRequest, { server: name }),
      failsWith({ code: -32602, message: want }),
    );
  await t.rejects(
    daemon.request(loginRequest, { server: 'far' }),
    failsWith({ message: /plain http on another machine/ }),
  );
});

type Answer = (request: IncomingMessage, response: ServerResponse, origin: string) => unknown;

/**
 * A tool server and an authorization server that do what a table says; what it says of a path is JSON, or a function.
 */
async function startHostile(test: Teardown, paths: (origin: string) => Readonly<Record<string, unknown>>) {
  const asked: string[] = [];
  const made = createServer(async (request, response) => {
    const { origin } = here;
    const path = (request.url ?? '').split('?')[0] ?? '';
    asked.push(`${request.method} ${path}`);
    const table: Readonly<Record<string, unknown>> = { ...honest(origin), ...paths(origin) };
    const answer = table[path];
    if (answer === undefined) return void response.writeHead(404).end('{}');
    if (typeof answer === 'function') return void (answer as Answer)(request, response, origin);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  made.listen(0, '127.0.0.1');
  await once(made, 'listening');
  const here = { origin: `http://127.0.0.1:${(made.address() as AddressInfo).port}` };
  test.teardown(async () => {
    made.closeAllConnections();
    made.close();
  });
  return { url: `${here.origin}/mcp`, asked };
}

const challenge =
  (parameters: string): Answer =>
  (_, response) =>
    response.writeHead(401, { 'www-authenticate': `Bearer ${parameters}` }).end();

/** Redirects the browser as the authorization endpoint does. */
const sendBack =
  (more: Record<string, string>): Answer =>
  (request, response, origin) => {
    const query = new URL(request.url ?? '', origin).searchParams;
    const target = new URL(query.get('redirect_uri') ?? '');
    for (const [name, value] of Object.entries({ state: query.get('state') ?? '', iss: origin, ...more }))
      target.searchParams.set(name, value);
    response.writeHead(302, { location: target.href }).end();
  };

const serverMetadata = (origin: string) => ({
  issuer: origin,
  authorization_endpoint: `${origin}/authorize`,
  token_endpoint: `${origin}/token`,
  response_types_supported: ['code'],
  code_challenge_methods_supported: ['S256'],
  authorization_response_iss_parameter_supported: true,
});

const honest = (origin: string): Readonly<Record<string, unknown>> => ({
  '/mcp': challenge(''),
  '/.well-known/oauth-protected-resource/mcp': { resource: `${origin}/mcp`, authorization_servers: [origin] },
  '/.well-known/oauth-authorization-server': serverMetadata(origin),
  '/authorize': sendBack({ code: 'a-code' }),
  '/token': { access_token: 'an-access-token', token_type: 'Bearer' },
});

/** What a hostile server answers at its paths, and what the user learns. */
type HostileCase = readonly [name: string, paths: (origin: string) => Record<string, unknown>, want: RegExp];

const metadataPath = '/.well-known/oauth-authorization-server';
const resourcePath = '/.well-known/oauth-protected-resource/mcp';

t.test('what a hostile server says before the browser is opened', async (t) => {
  const elsewhere = await startHostile(t, () => ({}));
  const registrations: unknown[] = [];
  const other = new URL(elsewhere.url).origin;
  const described = (more: object) => (origin: string) => ({
    [metadataPath]: { ...serverMetadata(origin), ...more },
  });
  const resource = (more: object) => (origin: string) => ({
    [resourcePath]: { resource: `${origin}/mcp`, authorization_servers: [origin], ...more },
  });
  const endless: Answer = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const more = () => void response.write('x'.repeat(65_536), more);
    more();
  };
  const moved: Answer = (_, response) =>
    response.writeHead(302, { location: `${other}${metadataPath}` }).end();
  const register: Answer = async (request, response) => {
    registrations.push(JSON.parse(await text(request)));
    response.writeHead(403).end('no');
  };
  const cases: readonly HostileCase[] = [
    [
      'metadata of the resource at another origin',
      () => ({ '/mcp': challenge(`resource_metadata="${other}${resourcePath}"`) }),
      /described at an origin other than its server/,
    ],
    [
      'metadata that is redirected to another origin',
      () => ({ '/mcp': challenge(''), [metadataPath]: moved }),
      /^http:\/\/127\.0\.0\.1:\d+ offers no login\. If you have a token for it, enter it under "auth"/,
    ],
    [
      'a resource of somebody else',
      resource({ resource: 'https://bank.example/mcp' }),
      /is for "https:\/\/bank\.example\/mcp" and not for/,
    ],
    [
      'an issuer that is another',
      described({ issuer: 'https://bank.example' }),
      /did not come from .*, where the login was started/,
    ],
    ['no PKCE', described({ code_challenge_methods_supported: ['plain'] }), /PKCE/],
    [
      'an authorization server that is not https',
      resource({ authorization_servers: ['http://bank.example'] }),
      /not https/,
    ],
    [
      'a page of the machine itself instead of a login',
      described({ authorization_endpoint: 'file:///etc/passwd' }),
      /not https/,
    ],
    ['metadata without end', () => ({ [metadataPath]: endless }), /larger than 256 KB/],
    [
      'scopes without end',
      () => ({ '/mcp': challenge(`scope="${'a '.repeat(600)}"`) }),
      /more scopes than a person can review/,
    ],
    ['metadata that is none', () => ({ [metadataPath]: { issuer: 5 } }), /an answer that is not a login/],
    [
      'no login at all',
      () => ({ '/mcp': {}, [resourcePath]: undefined, [metadataPath]: undefined }),
      /offers no login\. It does not ask for one\./,
    ],
    [
      'a registration that is refused',
      (origin) => ({
        ...described({ registration_endpoint: `${origin}/register` })(origin),
        '/register': register,
      }),
      /does not register programs by themselves \(403\)\. .*"clientId"/,
    ],
  ];
  for (const [name, paths, want] of cases)
    await t.test(name, async (t) => {
      const hostile = await startHostile(t, paths);
      const one = await startFor(t, await temporaryFolder(t), { url: hostile.url });
      await t.rejects(one.daemon.request(loginRequest, { server }), failsWith({ message: want }));
    });
  t.match(registrations, [
    {
      client_name: 'Runner',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    },
  ]);
  t.strictSame(elsewhere.asked, [], 'nothing was asked of another origin');
});

t.test('what a login asks for', async (t) => {
  const asked: unknown[] = [];
  /** Keeps what it is sent, and then answers. */
  const noting =
    (then: Answer): Answer =>
    async (request, response, origin) => {
      const { method, headers } = request;
      const { accept, 'content-type': type, 'x-own': own } = headers;
      asked.push({ method, accept, type, own, body: JSON.parse(await text(request)) });
      return then(request, response, origin);
    };
  const resource = (origin: string, more: object) => ({
    '/.well-known/oauth-protected-resource/mcp': { resource: `${origin}/mcp`, ...more },
  });
  const challenged = (scope: string) => ({ '/mcp': challenge(`scope="${scope}"`) });
  const many = (count: number) => Array.from({ length: count }, (_, at) => `s${at}`).join(' ');
  const longest = 'x'.repeat(1_000);
  const offline = (origin: string) => ({
    '/.well-known/oauth-authorization-server': {
      ...serverMetadata(origin),
      scopes_supported: ['offline_access'],
    },
  });
  const cases: readonly {
    name: string;
    paths: (origin: string) => Record<string, unknown>;
    entry?: object;
    place?: string;
    want: object | RegExp;
  }[] = [
    {
      name: 'a login that lasts, where there is one',
      paths: (origin) => ({ ...challenged('a'), ...offline(origin) }),
      want: { scope: 'a offline_access' },
    },
    { name: 'as many scopes as allowed', paths: () => challenged(many(32)), want: { scope: many(32) } },
    { name: 'one more', paths: () => challenged(many(33)), want: /more scopes than a person can review/ },
    { name: 'scopes as long as allowed', paths: () => challenged(longest), want: { scope: longest } },
    { name: 'longer ones', paths: () => challenged(`${longest}x`), want: /more scopes than a person/ },
    {
      name: 'the scopes of the resource, as far as they are some',
      paths: (origin) => resource(origin, { scopes_supported: ['x', 'a"b', 'ü', '!', 'y'] }),
      want: { scope: 'x ! y' },
    },
    {
      name: 'those of the challenge before them',
      paths: (origin) => ({ ...challenged('a'), ...resource(origin, { scopes_supported: ['x'] }) }),
      want: { scope: 'a' },
    },
    {
      name: 'the client of the entry',
      paths: () => ({}),
      entry: { clientId: 'our own' },
      want: { client_id: 'our own' },
    },
    {
      name: 'the server itself, where nothing describes it',
      paths: () => ({ '/.well-known/oauth-protected-resource/mcp': undefined }),
      place: '#part',
      want: { resource: 'THE SERVER', response_type: 'code', code_challenge_method: 'S256' },
    },
    {
      name: 'a program that is registered',
      paths: (origin) => ({
        '/mcp': noting(challenge('scope="a b"')),
        '/.well-known/oauth-authorization-server': {
          ...serverMetadata(origin),
          registration_endpoint: `${origin}/register`,
        },
        '/register': noting((_, response) =>
          response
            .writeHead(201, { 'content-type': 'application/json' })
            .end(JSON.stringify({ client_id: 'registered', redirect_uris: ['http://127.0.0.1/'] })),
        ),
      }),
      entry: { headers: { 'X-Own': 'yes' } },
      want: { client_id: 'registered', scope: 'a b' },
    },
  ];
  for (const { name, paths, entry = {}, place = '', want } of cases)
    await t.test(name, async (t) => {
      const peer = await startHostile(t, paths);
      const one = await startFor(t, await temporaryFolder(t), { url: peer.url + place, ...entry });
      const begun = one.daemon.request(loginRequest, { server });
      if (want instanceof RegExp) return void (await t.rejects(begun, failsWith({ message: want })));
      const query = new URL((await begun).url).searchParams;
      const found = Object.entries(want).map(([key]) => [
        key,
        query.get(key)?.replace(peer.url, 'THE SERVER') ?? null,
      ]);
      t.strictSame(Object.fromEntries(found), want);
    });
  const json = 'application/json';
  t.match(asked, [
    {
      ...{ method: 'POST', accept: `${json}, text/event-stream`, type: json, own: 'yes' },
      body: {
        ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
        params: {
          ...{
            protocolVersion: '2025-11-25',
            capabilities: {},
            clientInfo: { name: 'runner', version: '1' },
          },
        },
      },
    },
    {
      ...{ method: 'POST', type: json },
      body: {
        ...{ client_name: 'Runner', scope: 'a b', redirect_uris: [/^http:\/\/127\.0\.0\.1:\d+\/callback$/] },
        ...{ grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] },
        ...{ token_endpoint_auth_method: 'none', application_type: 'native' },
      },
    },
  ]);
});

t.test('only the answer to this login is taken', async (t) => {
  const peer = await startHostile(t, () => ({}));
  const one = await startFor(t, await temporaryFolder(t), { url: peer.url });
  const { url, redirectUrl } = await one.daemon.request(loginRequest, { server });
  const state = new URL(url).searchParams.get('state') ?? '';
  t.match(state, /^[\w-]{43}$/);
  const finished = one.daemon.request(finishLoginRequest, { server });
  const { host, port } = new URL(redirectUrl);
  const ask = async (path: string, { method = 'GET', name = host } = {}) => {
    const request = httpRequest({
      host: '127.0.0.1',
      port,
      path,
      method,
      headers: { host: name },
      agent: false,
    });
    const [response] = (await once(request.end(), 'response')) as [IncomingMessage];
    return `${response.statusCode} ${/<p>(.*)<\/p>/.exec(await text(response))?.[1]}`;
  };
  const refused = '400 This page does not belong to a login that Runner started.';
  for (const [path, more] of [
    [`/callback?state=${state}`, { method: 'POST' }],
    [`/callback?state=${state}`, { name: `localhost:${port}` }],
    [`/callback?state=${state}`, { name: '127.0.0.1' }],
    [`/other?state=${state}`, {}],
    ['/callback', {}],
    ['/callback?code=x', {}],
    ['/callback?state=', {}],
    [`/callback?state=${state.slice(0, -1)}`, {}],
    [`/callback?state=${state}x`, {}],
    [`/x?/callback?state=${state}`, {}],
  ] as const)
    t.equal(await ask(path, more), refused, `${path} ${JSON.stringify(more)}`);
  await fetch(url);
  t.strictSame(await finished, {});
});

function pathOf(home: string, url: string): string {
  const id = createHash('sha256').update(url).digest('hex').slice(0, 32);
  return join(home, 'runner', 'logins', `${id}.json`);
}

/** Daemons of a user who has logged in to a server that does what a table says. */
async function loggedIn(test: Teardown, paths: Readonly<Record<string, unknown>>) {
  const peer = await startHostile(test, () => paths);
  const home = await temporaryFolder(test);
  const path = pathOf(home, peer.url);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const { origin } = new URL(peer.url);
  const write = (more: object = {}, metadata: object = {}) =>
    writeFile(
      path,
      JSON.stringify({
        ...{
          version: 1,
          id: 'x',
          server: peer.url,
          isClientNamed: false,
          resource: peer.url,
          refreshToken: 'r',
        },
        ...{ client: { client_id: 'us' }, metadata: { ...serverMetadata(origin), ...metadata }, ...more },
      }),
      { mode: 0o600 },
    );
  await write();
  const kept = async () => JSON.parse(await readFile(path, 'utf8').catch(() => 'null'));
  return { ...peer, origin, kept, write, one: await startFor(test, home, { url: peer.url }) };
}

t.test('only some answers of a server end a login', async (t) => {
  for (const [error, isOver] of [
    ['invalid_grant', true],
    ['invalid_client', true],
    ['unauthorized_client', true],
    ['invalid_scope', false],
    ['not_invalid_grant', false],
  ] as const) {
    const { one, kept, origin } = await loggedIn(t, {
      '/token': (_: unknown, response: ServerResponse) =>
        response.writeHead(400).end(JSON.stringify({ error, error_description: 'x'.repeat(301) })),
    });
    const { message } = (await stateOf(one)) ?? {};
    if (isOver) t.match(message, /wants a (new )?login \(401\)/, error);
    else t.match(message, `${origin} refused the login: ${error}: ${'x'.repeat(300)}.`, error);
    t.equal(await kept().then((login) => login === null), isOver, error);
  }
});

t.test('a login that ends is revoked, as its client identifies itself', async (t) => {
  const seen: string[] = [];
  const { one, kept, write, origin } = await loggedIn(t, {
    '/revoke': async (request: IncomingMessage, response: ServerResponse) => {
      seen.push(`${request.headers.authorization ?? ''} ${await text(request)}`.trim());
      response.writeHead(200).end();
    },
    '/fail': (_: unknown, response: ServerResponse) => response.writeHead(500).end(),
    '/break': (_: unknown, response: ServerResponse) => response.destroy(),
  });
  const secret = { client_id: 'us', client_secret: 'secret' };
  const [post, basic] = ['client_secret_post', 'client_secret_basic'];
  for (const { name, more = {}, methods, path = '/revoke', want } of [
    { name: 'a public client', want: 'token=r&token_type_hint=refresh_token&client_id=us' },
    {
      name: 'a secret in the body',
      more: { client: { ...secret, token_endpoint_auth_method: post } },
      methods: [post],
      want: 'token=r&token_type_hint=refresh_token&client_id=us&client_secret=secret',
    },
    {
      name: 'a secret in the header',
      more: { client: { ...secret, token_endpoint_auth_method: basic } },
      methods: [basic],
      want: `Basic ${Buffer.from('us:secret').toString('base64')} token=r&token_type_hint=refresh_token`,
    },
    {
      name: 'an access token alone',
      more: { refreshToken: undefined, accessToken: 'a' },
      want: 'token=a&token_type_hint=access_token&client_id=us',
    },
    { name: 'no token', more: { refreshToken: undefined } },
    { name: 'no place for it', path: '' },
    { name: 'a server that fails', path: '/fail' },
    { name: 'a server that hangs up', path: '/break' },
  ]) {
    seen.length = 0;
    await write(more, {
      ...(path && { revocation_endpoint: `${origin}${path}` }),
      ...(methods && { token_endpoint_auth_methods_supported: methods }),
    });
    t.strictSame(
      await one.daemon.request(logoutRequest, { server }),
      { wasLoggedIn: true, isRevoked: want !== undefined },
      name,
    );
    t.strictSame(seen, want === undefined ? [] : [want], name);
    t.equal(await kept(), null, `${name}: it is forgotten`);
  }
});

t.test('a login that nobody waits for any more ends', async (t) => {
  const peer = await startHostile(t, () => ({}));
  const one = await startFor(t, await temporaryFolder(t), { url: peer.url });
  const first = await one.daemon.request(loginRequest, { server });
  const second = await one.daemon.request(loginRequest, { server });
  await t.rejects(fetch(first.redirectUrl), 'another login to the same server has begun');
  t.equal((await fetch(second.redirectUrl)).status, 400);
});

t.test('a renewal that was begun is finished, whoever leaves meanwhile', async (t) => {
  const arrivals = new EventEmitter();
  const asked = once(arrivals, 'token');
  const { one, kept } = await loggedIn(t, {
    '/token': (_: unknown, response: ServerResponse) => arrivals.emit('token', response),
  });
  const caller = new AbortController();
  const waiting = one.daemon.request(listToolsRequest, {}, caller.signal);
  const [response] = (await asked) as [ServerResponse];
  caller.abort();
  await t.rejects(waiting, { code: -32800 });
  const issued = { access_token: 'access', refresh_token: 'second', token_type: 'Bearer' };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(issued));
  await poll(kept, (login) => login?.refreshToken === 'second');
});

t.test('what a hostile server says after it', async (t) => {
  const refuse =
    (status: number, body: string): Answer =>
    (_, response) =>
      response.writeHead(status).end(body);
  const sentBack = (query: Parameters<typeof sendBack>[0]) => () => ({ '/authorize': sendBack(query) });
  const issued = (answer: unknown) => () => ({ '/token': answer });
  const unusable = /a token of a type that Runner cannot use/;
  const tooLate = JSON.stringify({ error: 'invalid_grant', error_description: 'Too late.' });
  const cases: readonly HostileCase[] = [
    [
      'another issuer',
      sentBack({ code: 'x', iss: 'https://bank.example' }),
      /did not come from .*, where the login was started/,
    ],
    [
      'a denial',
      sentBack({ error: 'access_denied', error_description: 'No\u001b[31m.' }),
      /refused the login: access_denied: No/,
    ],
    ['a token of another kind', issued({ access_token: 'secret-of-theirs', token_type: 'DPoP' }), unusable],
    [
      'a token that would be two headers',
      issued({ access_token: 'secret-of-theirs\r\nx: y', token_type: 'Bearer' }),
      unusable,
    ],
    ['an error', issued(refuse(400, tooLate)), /refused the login: invalid_grant: Too late/],
    ['a page', issued(refuse(500, '<p>secret-of-theirs')), /refused the login: server_error\.$/],
  ];
  for (const [name, paths, want] of cases)
    await t.test(name, async (t) => {
      const hostile = await startHostile(t, paths);
      const home = await temporaryFolder(t);
      const one = await startFor(t, home, { url: hostile.url });
      const { url } = await one.daemon.request(loginRequest, { server });
      const finished = one.daemon.request(finishLoginRequest, { server });
      await Promise.all([t.rejects(finished, failsWith({ message: want })), fetch(url)]);
      t.strictSame(await keptFiles(home), []);
      t.notMatch(JSON.stringify(one.daemon.logs), /secret-of-theirs/);
    });
});

t.test('a login makes so many requests, and reads so much of an answer', async (t) => {
  let size = 0;
  const peer = await startHostile(t, () => ({
    '/token': (_: unknown, response: ServerResponse) => response.end('x'.repeat(size)),
  }));
  const { origin } = new URL(peer.url);
  const open = () => createOAuthFetch({ server: peer.url, signal: new AbortController().signal });
  const fetchMany = open();
  for (let count = 1; count <= 40; count += 1) await fetchMany(`${origin}/token`);
  await t.rejects(fetchMany(`${origin}/token`), failsWith({ message: 'The login redirects too often.' }));
  t.equal(peer.asked.length, 40);
  size = 256 * 1024;
  t.equal((await (await open()(`${origin}/token`)).text()).length, size);
  size += 1;
  await t.rejects(open()(`${origin}/token`), failsWith({ message: /larger than 256 KB/ }));
});

t.test('a login that cannot be written says so', async (t) => {
  const home = await temporaryFolder(t);
  const peer = await startHostile(t, () => ({}));
  await mkdir(pathOf(home, peer.url), { recursive: true });
  const one = await startFor(t, home, { url: peer.url });
  const { url } = await one.daemon.request(loginRequest, { server });
  const finished = one.daemon.request(finishLoginRequest, { server });
  await Promise.all([
    t.rejects(finished, failsWith({ message: /could not be saved on this machine \((EISDIR|EPERM)\)/ })),
    fetch(url),
  ]);
  t.equal((await readdir(join(home, 'runner', 'logins'))).length, 1, 'nothing is left beside it');
});

t.test(
  'a server elsewhere leads a login to its own host and to the public network',
  needs('openssl'),
  async (t) => {
    const name = 'login.example.org';
    const certificate = await createCertificate(t, [name]);
    const seen: string[] = [];
    const made = createHttpsServer(certificate, async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const { method, url, headers } = request;
      seen.push(`${method} ${url} ${headers['content-type'] ?? ''} ${Buffer.concat(chunks)}`.trim());
      response.writeHead(302, { location: 'https://10.0.0.1/', 'content-type': 'text/x' }).end('moved');
    });
    made.listen(0, '127.0.0.1');
    await once(made, 'listening');
    t.teardown(() => {
      made.closeAllConnections();
      made.close();
    });
    const { port } = made.address() as AddressInfo;
    let addresses: readonly string[] = [];
    const resolved: string[] = [];
    const reached: string[] = [];
    const network = {
      resolve: async (host: string) => {
        resolved.push(host);
        return addresses;
      },
      reach: (address: string) => {
        reached.push(address);
        return '127.0.0.1';
      },
      ca: certificate.cert,
    };
    const { signal } = new AbortController();
    const fetch = createOAuthFetch({ server: 'https://tools.invalid/mcp', signal, network });

    const publicAddresses = ['93.184.216.34', '2606:4700::1111'];
    addresses = publicAddresses;
    const body = new URLSearchParams({ grant_type: 'refresh_token' });
    const answer = await fetch(`https://${name}:${port}/token?a=1`, { method: 'POST', body });
    t.strictSame([answer.status, answer.headers.get('location')], [302, 'https://10.0.0.1/'], 'not followed');
    t.equal(await answer.text(), 'moved');
    t.strictSame(reached, publicAddresses, 'it connects to what was checked');

    for (const [private_, ...others] of [
      ['10.0.0.1'],
      ['169.254.169.254'],
      ['127.0.0.1'],
      ['192.168.1.1', ...publicAddresses],
      ['::1'],
      ['fd00::1', ...publicAddresses],
      ['::ffff:10.0.0.1'],
    ] as const) {
      addresses = [...others, private_];
      await t.rejects(
        fetch(`https://${name}:${port}/`),
        failsWith({
          kind: 'bad-response',
          message: /login\.example\.org, which is not on the public network/,
        }),
        private_,
      );
    }
    for (const host of ['10.0.0.1', '169.254.169.254', '[fd00::1]', '[::ffff:a00:1]', '0xa.1', '100.64.0.1'])
      await t.rejects(fetch(`https://${host}/`), failsWith({ message: /not on the public network/ }), host);
    addresses = [];
    await t.rejects(fetch(`https://${name}/`), failsWith({ message: /no server of this name was found/ }));
    t.equal(seen.length, 1, 'nothing was sent to any of them');
    t.match(seen, [/^POST \/token\?a=1 application\/x-www-form-urlencoded\S* grant_type=refresh_token$/]);
    t.strictSame(
      [...new Set(resolved)],
      [name],
      'each request asks anew, and addresses are asked for nothing',
    );

    await t.rejects(
      fetch('https://tools.invalid:8443/'),
      failsWith({ message: /cannot be reached \(ENOTFOUND/ }),
    );
    t.notOk(resolved.includes('tools.invalid'), 'the user chose this host: it may be in a private network');
  },
);

t.test('addresses and tokens of any kind', async (t) => {
  const hereInDisguise = [
    ...['127.0.0.1', '127.9.9.9:8443', '0x7f.1', '2130706433', '0.0.0.0', '[::1]', '[::]'],
    ...['[::ffff:127.0.0.1]', '[::ffff:0.0.0.0]', 'localhost', 'LOCALHOST.', 'a.localhost', 'a.localhost.'],
  ];
  for (const { address, isServerHere, isSafe } of [
    { address: 'https://example.com/token', isServerHere: false, isSafe: true },
    { address: 'http://127.0.0.1:1/token', isServerHere: true, isSafe: true },
    { address: 'http://127.0.0.1:11434/api/delete', isServerHere: false, isSafe: false },
    { address: 'http://example.com/token', isServerHere: true, isSafe: false },
    { address: 'https://user:word@example.com/', isServerHere: true, isSafe: false },
    { address: 'javascript:alert(1)', isServerHere: true, isSafe: false },
    { address: 'not an address', isServerHere: true, isSafe: false },
    { address: 'https://127.0.0.1:8443/token', isServerHere: true, isSafe: true },
    ...hereInDisguise.map((host) => ({ address: `https://${host}/`, isServerHere: false, isSafe: false })),
  ]) {
    const read = () => requireSafeAddress(address, isServerHere);
    if (isSafe) t.equal(read().href, address);
    else t.throws(read, /not https|on this machine/, address);
  }
  const most = { access_token: 'a'.repeat(32_768), token_type: 'BEARER' };
  t.equal(toAccessToken(most, 0).text, most.access_token);
  for (const wrong of [
    { ...most, access_token: `${most.access_token}a` },
    { ...most, access_token: '' },
    { ...most, refresh_token: 'a b' },
    { ...most, token_type: 'mac' },
  ])
    t.throws(() => toAccessToken(wrong, 0), { message: /of a type that Runner cannot use/ });
  const expiryOf = (seconds: number) =>
    toAccessToken({ access_token: 'a', token_type: 'Bearer', expires_in: seconds }, 7).expiresAt;
  t.equal(expiryOf(60), 60_007);
  for (const seconds of [0, -1, Number.NaN, Number.POSITIVE_INFINITY])
    t.equal(expiryOf(seconds), 7 + 365 * 24 * 3_600_000, `${seconds} says nothing`);
  fc.assert(
    fc.property(
      fc.string(),
      fc.oneof(fc.constant('bearer'), fc.string()),
      fc.option(fc.oneof(fc.double(), fc.constant(Number.NaN))),
      (text, type, seconds) => {
        const tokens = {
          access_token: text,
          token_type: type,
          ...(seconds === null ? {} : { expires_in: seconds }),
        };
        try {
          const { expiresAt } = toAccessToken(tokens, 0);
          return /^[\x21-\x7e]+$/.test(text) && expiresAt > 0 && expiresAt <= 365 * 24 * 3_600_000;
        } catch (error) {
          return error instanceof Error && !error.message.includes(`"${text}"`);
        }
      },
    ),
  );
});
