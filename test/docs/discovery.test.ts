import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import t from 'tap';
import { parseBaseUrl } from '../../docs-service/base/baseUrl.ts';
import { followDiscovery } from '../../docs-service/commands/discovery.ts';
import { ask, tryBearerChallenge } from '../../docs-service/commands/discoveryRequest.ts';

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

const cases: readonly { name: string; site: Partial<Site>; want: RegExp; isFine?: true }[] = [
  {
    name: 'nothing runs there',
    site: { mcp: fails('ECONNREFUSED') },
    want: /No service answers/,
    isFine: true,
  },
  {
    name: 'the name is unknown',
    site: { mcp: fails('ENOTFOUND') },
    want: /No service answers/,
    isFine: true,
  },
  {
    name: 'a certificate that nobody trusts',
    site: { mcp: fails('DEPTH_ZERO_SELF_SIGNED_CERT') },
    want: /cannot be asked: it says DEPTH_ZERO/,
  },
  {
    name: 'a redirect',
    site: {
      mcp: () => new Response('', { status: 301, headers: { location: 'https://www.example.org/mcp' } }),
    },
    want: /redirects to https:\/\/www\.example\.org\/mcp/,
  },
  {
    name: 'a proxy that does not pass Host on',
    site: { mcp: () => new Response('{}', { status: 403 }) },
    want: /--base-url https:\/\/docs\.example\.org, and make the proxy pass the header Host on/,
  },
  { name: 'a proxy alone', site: { mcp: () => new Response('', { status: 502 }) }, want: /answers with 502/ },
  {
    name: 'another program',
    site: { mcp: () => new Response('', { status: 404 }) },
    want: /another program/,
  },
  { name: 'no token wanted', site: { mcp: () => new Response('{}') }, want: /answers with 200, but/ },
  {
    name: 'no challenge',
    site: { mcp: () => refusal({}) },
    want: /must pass the header WWW-Authenticate on/,
  },
  {
    name: 'a challenge of another scheme',
    site: {
      mcp: () => refusal({ 'www-authenticate': `Basic realm="a", resource_metadata="${resourceUrl}"` }),
    },
    want: /WWW-Authenticate/,
  },
  {
    name: 'a service that takes itself for http',
    site: {
      mcp: () =>
        refusal({ 'www-authenticate': 'Bearer resource_metadata="http://docs.example.org/.well-known/x"' }),
    },
    want: /calls itself http:\/\/docs\.example\.org, .* Start it with --base-url https:\/\/docs\.example\.org\./,
  },
  {
    name: 'a clock that is wrong',
    site: { mcp: () => refusal({ ...challenge, date: new Date(now + 90_000).toUTCString() }) },
    want: /90 seconds apart/,
  },
  {
    name: 'a clock that is behind',
    site: { mcp: () => refusal({ ...challenge, date: new Date(now - 31_000).toUTCString() }) },
    want: /are 31 seconds apart/,
  },
  {
    name: 'the least status of a redirect',
    site: { mcp: () => new Response('', { status: 300, headers: { location: '/x' } }) },
    want: /redirects to \/x\./,
  },
  {
    name: 'no redirect',
    site: { mcp: () => new Response('', { status: 400 }) },
    want: /answers with 400, but/,
  },
  {
    name: 'a service that fails',
    site: { mcp: () => new Response('', { status: 500 }) },
    want: /answers with 500: the service behind it is not running/,
  },
  {
    name: 'a proxy that keeps /.well-known/ to itself',
    site: { resource: () => new Response('not here', { status: 404 }) },
    want: /must pass \/\.well-known\/ on/,
  },
  {
    name: 'another resource',
    site: { resource: () => Response.json({ ...resource, resource: 'https://other.example/mcp' }) },
    want: /calls itself https:\/\/other\.example/,
  },
  {
    name: 'no authorization server',
    site: { resource: () => Response.json({ ...resource, authorization_servers: [] }) },
    want: /names no authorization server/,
  },
  {
    name: 'an authorization server without https',
    site: { resource: () => Response.json({ ...resource, authorization_servers: ['http://auth.example'] }) },
    want: /must have an https address/,
  },
  {
    name: 'metadata that is no JSON',
    site: { server: () => new Response('<!doctype html>') },
    want: /has no metadata of an authorization server/,
  },
  {
    name: 'an issuer with a slash more',
    site: { server: () => Response.json({ ...server, issuer: `${address}/` }) },
    want: /including the final slash/,
  },
  {
    name: 'an issuer that a terminal would obey',
    site: { server: () => Response.json({ ...server, issuer: 'x\u001b[2J\n' }) },
    want: /calls itself x\?\[2J\?,/,
  },
  {
    name: 'no S256',
    site: { server: () => Response.json({ ...server, code_challenge_methods_supported: ['plain'] }) },
    want: /PKCE with S256/,
  },
  {
    name: 'an endpoint without https',
    site: { server: () => Response.json({ ...server, token_endpoint: 'http://docs.example.org/token' }) },
    want: /token_endpoint http:\/\/docs\.example\.org\/token must be https/,
  },
  {
    name: 'an endpoint that is no web address',
    site: { server: () => Response.json({ ...server, token_endpoint: 'ftp://localhost/token' }) },
    want: /token_endpoint ftp:\/\/localhost\/token must be https/,
  },
  {
    name: 'an endpoint that is missing',
    site: { server: () => Response.json({ ...server, authorization_endpoint: undefined }) },
    want: /names no authorization_endpoint, so/,
  },
  {
    name: 'an endpoint that is no address',
    site: { server: () => Response.json({ ...server, token_endpoint: 'token' }) },
    want: /names no token_endpoint, so/,
  },
  {
    name: 'metadata without an issuer',
    site: { server: () => Response.json({ ...server, issuer: undefined }) },
    want: /calls itself nothing, but the resource metadata calls it https:/,
  },
  {
    name: 'an issuer of more than 200 characters',
    site: { server: () => Response.json({ ...server, issuer: 'x'.repeat(201) }) },
    want: /calls itself x{200}, but/,
  },
  {
    name: 'an error with metadata',
    site: { server: () => Response.json(server, { status: 201 }) },
    want: /has no metadata of an authorization server/,
  },
  {
    name: 'an issuer with neither registration nor metadata documents',
    site: {
      server: () =>
        Response.json({
          ...server,
          registration_endpoint: undefined,
          client_id_metadata_document_supported: 'yes',
        }),
    },
    want: /supports neither registration nor client metadata documents/,
    isFine: true,
  },
  {
    name: 'no registration',
    site: { server: () => Response.json({ ...server, registration_endpoint: undefined }) },
    want: /Registration is off: .* "runner-docs client add"/,
    isFine: true,
  },
];

for (const { name, site, want, isFine = false } of cases)
  t.test(name, async (t) => {
    const found = await follow(site);
    const one = found.find(({ text }) => want.test(text));
    t.ok(one, JSON.stringify(found));
    t.equal(one?.isFine, isFine);
    t.equal(found.filter((any) => !any.isFine).length, isFine ? 0 : 1, 'nothing else is wrong');
  });

t.test('clocks that are half a minute apart are good enough', async (t) => {
  for (const drift of [-30_000, 30_000]) {
    const date = new Date(now + drift).toUTCString();
    const found = await follow({ mcp: () => refusal({ ...challenge, date }) });
    t.strictSame(
      found.map(({ isFine }) => isFine),
      [true],
      String(drift),
    );
  }
});

t.test('an endpoint on this machine needs no https', async (t) => {
  const found = await follow({
    server: () => Response.json({ ...server, token_endpoint: 'http://localhost:5/token' }),
  });
  t.strictSame(
    found.filter(({ text }) => text.includes('must be https')),
    [],
  );
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
