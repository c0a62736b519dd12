import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import t from 'tap';
import { parseBaseUrl } from '../../docs-service/base/baseUrl.ts';
import { ask, followDiscovery, tryBearerChallenge } from '../../docs-service/commands/discovery.ts';

const now = Date.parse('2026-11-22T12:00:00Z');
const address = 'https://docs.example.org';
const resourceUrl = `${address}/.well-known/oauth-protected-resource/mcp`;
const serverUrl = `${address}/.well-known/oauth-authorization-server`;
const challenge = { 'www-authenticate': `Bearer resource_metadata="${resourceUrl}", scope="read"` };
const resource = { resource: `${address}/mcp`, authorization_servers: [address], scopes_supported: ['read'] };
const server = {
  issuer: address,
  authorization_endpoint: `${address}/authorize`,
  token_endpoint: `${address}/token`,
  registration_endpoint: `${address}/register`,
  code_challenge_methods_supported: ['S256'],
  client_id_metadata_document_supported: true,
};

interface Site {
  readonly mcp: () => Response;
  readonly resource: () => Response;
  readonly server: () => Response;
}

const refusal = (headers: Record<string, string> = challenge) => new Response('{}', { status: 401, headers });
const well: Site = {
  mcp: () => refusal({ ...challenge, date: new Date(now).toUTCString() }),
  resource: () => Response.json(resource),
  server: () => Response.json(server),
};

/** What doctor says of a site that differs from one that is well. */
function follow(changes: Partial<Site>, { isNamed = true } = {}) {
  const { mcp, resource: atResource, server: atServer } = { ...well, ...changes };
  const pages = new Map([
    [`${address}/mcp`, mcp],
    [resourceUrl, atResource],
    [serverUrl, atServer],
  ]);
  const fetch = async (url: string) => pages.get(url)?.() ?? new Response('', { status: 404 });
  return followDiscovery({ baseUrl: parseBaseUrl(address), isNamed, fetch, now: () => now });
}

function fails(code: string): () => Response {
  return () => {
    throw new TypeError('fetch failed', { cause: Object.assign(new Error(`it says ${code}`), { code }) });
  };
}

t.test('no problem is found in a service that is set up correctly', async (t) => {
  t.strictSame(await follow({}), [
    { isFine: true, text: `Agents find the sign-in of ${address}/mcp at ${address}.` },
  ]);
});

const answers = (status: number, headers = {}) => ({ mcp: () => new Response('{}', { status, headers }) });
const challenges = (headers: Record<string, string>) => ({ mcp: () => refusal(headers) });
const dated = (drift: number) => challenges({ ...challenge, date: new Date(now + drift).toUTCString() });
const resourceWith = (change: object) => ({ resource: () => Response.json({ ...resource, ...change }) });
const serverWith = (change: object) => ({ server: () => Response.json({ ...server, ...change }) });

/** What is said of a site; `ok` where it is no problem. */
const cases: readonly (readonly [want: RegExp, site: Partial<Site>, state?: 'ok'])[] = [
  [/No service answers/, { mcp: fails('ECONNREFUSED') }, 'ok'],
  [/cannot be asked: it says DEPTH_ZERO/, { mcp: fails('DEPTH_ZERO_SELF_SIGNED_CERT') }],
  [
    /redirects to https:\/\/www\.example\.org\/mcp/,
    answers(301, { location: 'https://www.example.org/mcp' }),
  ],
  [/--base-url https:\/\/docs\.example\.org, and make the proxy pass the header Host on/, answers(403)],
  [/answers with 502/, answers(502)],
  [/another program/, answers(404)],
  [/answers with 200, but/, answers(200)],
  [/must pass the header WWW-Authenticate on/, challenges({})],
  [
    /WWW-Authenticate/,
    challenges({ 'www-authenticate': `Basic realm="a", resource_metadata="${resourceUrl}"` }),
  ],
  [
    /calls itself http:\/\/docs\.example\.org, .* Start it with --base-url https:\/\/docs\.example\.org\./,
    challenges({ 'www-authenticate': 'Bearer resource_metadata="http://docs.example.org/.well-known/x"' }),
  ],
  [/90 seconds apart/, dated(90_000)],
  [/are 31 seconds apart/, dated(-31_000)],
  [/must pass \/\.well-known\/ on/, { resource: () => new Response('not here', { status: 404 }) }],
  [/calls itself https:\/\/other\.example/, resourceWith({ resource: 'https://other.example/mcp' })],
  [/names no authorization server/, resourceWith({ authorization_servers: [] })],
  [/must have an https address/, resourceWith({ authorization_servers: ['http://auth.example'] })],
  [/has no metadata of an authorization server/, { server: () => new Response('<!doctype html>') }],
  [/including the final slash/, serverWith({ issuer: `${address}/` })],
  [/calls itself x\?\[2J\?,/, serverWith({ issuer: 'x\u001b[2J\n' })],
  [/calls itself nothing, but the resource metadata calls it https:/, serverWith({ issuer: undefined })],
  [/PKCE with S256/, serverWith({ code_challenge_methods_supported: ['plain'] })],
  [/token_endpoint http:\S+ must be https/, serverWith({ token_endpoint: 'http://docs.example.org/token' })],
  [/names no authorization_endpoint, so/, serverWith({ authorization_endpoint: undefined })],
  [
    /supports neither registration nor client metadata documents/,
    serverWith({ registration_endpoint: undefined, client_id_metadata_document_supported: 'yes' }),
    'ok',
  ],
  [
    /Registration is off: .* "runner-docs client add"/,
    serverWith({ registration_endpoint: undefined }),
    'ok',
  ],
];

t.test('each problem of a service is named, and nothing else is', async (t) => {
  for (const [want, site, state] of cases) {
    const found = await follow(site);
    const one = found.find(({ text }) => want.test(text));
    t.equal(one?.isFine, state === 'ok', `${want}: ${JSON.stringify(found)}`);
    t.equal(found.filter((any) => !any.isFine).length, state === 'ok' ? 0 : 1, `${want}: nothing else`);
  }
});

t.test('another program at the default address is not a problem', async (t) => {
  const found = await follow({ mcp: () => new Response('', { status: 404 }) }, { isNamed: false });
  t.match(found, [{ isFine: true, text: /another program/ }]);
});

t.test('answers are bounded in size and time, and no redirect is followed', async (t) => {
  const site = createServer((request, response) => {
    if (request.url === '/large') for (let count = 0; count < 64; count++) response.write('x'.repeat(4_096));
    if (request.url === '/large') response.end();
    else if (request.url === '/elsewhere') response.writeHead(302, { location: '/large' }).end();
  }).listen(0, '127.0.0.1');
  await once(site, 'listening');
  t.teardown(() => site.closeAllConnections());
  t.teardown(() => site.close());
  const base = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  const large = await ask(`${base}/large`, fetch);
  t.equal(large.kind === 'answer' && large.text.length, 65_536);
  t.match(await ask(`${base}/elsewhere`, fetch), { kind: 'answer', status: 302 });
  t.match(await ask(`${base}/silent`, fetch), { kind: 'trouble', reason: /did not answer within 5 seconds/ });
});

t.test('the Bearer challenge is read from WWW-Authenticate', async (t) => {
  const read = (header: string) => {
    const found = tryBearerChallenge(header);
    return found && Object.fromEntries(found);
  };
  const headers: readonly (readonly [header: string, want: unknown])[] = [
    ['Basic realm="a", bEARER Scope=read, realm="b", realm=d', { scope: 'read', realm: 'b' }],
    ['Bearer', {}],
    ['bearer realm="a, b", scope="read draft"', { realm: 'a, b', scope: 'read draft' }],
    ['Basic realm="Bearer x=y", Bearer error=invalid_token', { error: 'invalid_token' }],
    ['Bearer a="say \\"no\\"", Digest nonce="1"', { a: 'say "no"' }],
    ['Negotiate abc', undefined],
    ['Bearer a="open', { a: '' }],
    ['', undefined],
  ];
  for (const [header, want] of headers) t.match(read(header) ?? 'none', want ?? 'none', header);
  t.equal(tryBearerChallenge(`Bearer ${'a'.repeat(9_000)}`), undefined, 'one that is too long is not read');
  const value = fc.string({ unit: 'grapheme-ascii' });
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.stringMatching(/^[a-z_]{1,12}$/), { minLength: 1 }),
      value,
      (names, text) => {
        const quoted = text.replace(/[\\"]/g, '\\$&');
        const header = `Bearer ${names.map((name) => `${name}="${quoted}"`).join(', ')}`;
        return names.every((name) => tryBearerChallenge(header)?.get(name) === text);
      },
    ),
  );
  fc.assert(
    fc.property(fc.string(), (text) => (tryBearerChallenge(`Bearer ${text}`)?.size ?? 0) <= text.length),
  );
});
