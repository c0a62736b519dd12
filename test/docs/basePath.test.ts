import t from 'tap';
import { parseBaseUrl } from '../../docs-service/base/baseUrl.ts';
import { followDiscovery } from '../../docs-service/commands/discovery.ts';
import { signIn } from '../support/formBrowser.ts';
import { openSignInApp } from '../support/signIn.ts';

const baseUrl = parseBaseUrl('https://docs.example.org/library');
const { href } = baseUrl;

const files = {
  'guide.md':
    '---\ntype: guide\ntags: [News]\ndate: 2026-11-21\n---\n# Guide\n\nWords, and [the other](other.md).\n\n## A\n\n## B\n\n## C\n\n## D\n',
  'other.md': '# Other\n\nWords.',
  'guides/install.md': '# Install\n',
  ...Object.fromEntries(Array.from({ length: 25 }, (_, at) => [`page-${at}.md`, `# Page ${at}\n`])),
  'collections/book.yaml': 'title: The book\ndocs: [guide, other]',
};

/** Behind a proxy that passes on what is below the path. */
const shared = await openSignInApp(t, { files, baseUrl, look: { title: 'The library' } });

t.test('the path of the base URL', async (t) => {
  const cases: readonly { text: string; want: Partial<typeof baseUrl> }[] = [
    { text: 'https://docs.example.org', want: { path: '', href: 'https://docs.example.org' } },
    { text: 'https://docs.example.org/', want: { path: '', href: 'https://docs.example.org' } },
    { text: 'https://docs.example.org/library/', want: baseUrl },
    { text: 'http://localhost:4000/a/b-c.d', want: { path: '/a/b-c.d', origin: 'http://localhost:4000' } },
  ];
  for (const { text, want } of cases) t.match(parseBaseUrl(text), want, text);
  const refused = [
    '/a//b',
    '/a%20b',
    '/:slug',
    '/a*',
    '/.well-known',
    '/é',
    '/a?b',
    '/a#b',
    `/${'a'.repeat(300)}`,
  ];
  for (const path of refused)
    t.throws(() => parseBaseUrl(`https://docs.example.org${path}`), { message: /--base-url/ }, path);
});

t.test('everything lies below the path, and nothing else answers', async (t) => {
  const { get, app } = shared;
  const addresses = [
    '/',
    '/favicon.ico',
    '/docs',
    '/healthz',
    '/readyz',
    '/api/v1/docs',
    '/api/v1/openapi.json',
    '/sign-in',
  ];
  for (const path of addresses) {
    t.equal((await get(baseUrl.path + path)).statusCode, 200, path);
    t.equal((await get(path)).statusCode, 404, `not ${path}`);
  }
  t.equal((await get(baseUrl.path)).statusCode, 200, 'without the final slash too');
  t.equal((await get('/libraryx/docs')).statusCode, 404);
  t.match((await get('/')).json().detail, 'The documents are at /library/api/v1/docs, and /library/docs');
  const probe = { url: '/library/healthz', headers: { host: '10.0.0.1:4000' } };
  t.equal((await app.inject(probe)).statusCode, 200, 'a load balancer asks by any name');
  const posted = await get('/library/docs', { method: 'POST' });
  t.match([posted.statusCode, posted.headers['allow']], [405, 'GET, HEAD']);
  const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: initialized };
  const mcp = await get('/library/mcp', { method: 'POST', payload: initialize });
  t.match(mcp.body, /"serverInfo":\{"name":"runner-docs","title":"The library"/);
});

const initialized = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
};

t.test('all addresses in answers are below the path', async (t) => {
  const { get } = shared;
  const list = await get('/library/api/v1/docs?limit=1');
  t.equal(list.json().items[0].links.self, `${href}/api/v1/docs/guide`);
  t.match(list.headers['link'], `<${href}/api/v1/docs?limit=1&offset=1>; rel="next"`);
  const moved = await get('/library/api/v1/docs/guides-install.md?a');
  t.match([moved.statusCode, moved.headers['location']], [308, '/library/api/v1/docs/install.md?a']);
  const html = await get('/library/api/v1/docs/guide.html');
  t.match(html.body, `href="${href}/api/v1/docs/other.html"`);
  const openApi = (await get('/library/api/v1/openapi.json')).json();
  t.strictSame(openApi.servers, [{ url: href }]);
  t.ok('/api/v1/docs' in openApi.paths, 'paths count from there');
});

t.test('a client finds the sign-in, gets a token, and reads', async (t) => {
  const { allow, authorizeUrl, redeem, get, app } = shared;
  const open = (url: string) => app.inject({ url, headers: { host: baseUrl.host } });
  const refused = await app.inject({ method: 'POST', url: '/library/mcp', headers: { host: baseUrl.host } });
  const resourceUrl = 'https://docs.example.org/.well-known/oauth-protected-resource/library/mcp';
  t.match(refused.headers['www-authenticate'], `resource_metadata="${resourceUrl}"`);
  const rest = await open('/library/api/v1/docs');
  t.match(rest.headers['www-authenticate'], 'oauth-protected-resource/library"');
  const places = [
    { place: '/.well-known/oauth-protected-resource/library/mcp', want: { resource: `${href}/mcp` } },
    { place: '/library/.well-known/oauth-protected-resource/mcp', want: { resource: `${href}/mcp` } },
    { place: '/.well-known/oauth-protected-resource/library', want: { resource: href } },
    { place: '/library/.well-known/oauth-protected-resource', want: { authorization_servers: [href] } },
    { place: '/.well-known/oauth-authorization-server/library', want: { issuer: href } },
    { place: '/library/.well-known/oauth-authorization-server', want: { token_endpoint: `${href}/token` } },
  ];
  for (const { place, want } of places) t.match((await open(place)).json(), want, place);
  t.equal(
    (await open('/.well-known/oauth-authorization-server')).statusCode,
    404,
    'another service may be there',
  );
  t.match((await open('/library/')).headers['link'], `<${href}/.well-known/oauth-authorization-server>`);

  const findings = await followDiscovery({
    ...{ baseUrl, isNamed: true, now: shared.now },
    fetch: async (url, { method = 'GET', headers }) => {
      const { pathname } = new URL(url);
      const answer = await app.inject({
        ...{ method: method as 'GET', url: pathname },
        headers: { ...(headers as Record<string, string>), host: baseUrl.host },
      });
      return new Response(answer.body, {
        status: answer.statusCode,
        headers: answer.headers as Record<string, string>,
      });
    },
  });
  t.match(findings.at(-1), { isFine: true, text: `Agents find the sign-in of ${href}/mcp at ${href}.` });

  const answer = await allow({ resource: `${href}/mcp` });
  t.equal(answer.get('iss'), href);
  const tokens = (await redeem(answer.get('code') ?? '', { resource: href })).json();
  t.match(tokens, { token_type: 'Bearer', me: `${href}/` });
  const headers = { authorization: `Bearer ${tokens.access_token}` };
  t.equal((await get('/library/api/v1/docs', { headers })).statusCode, 200);
  for (const resource of ['https://docs.example.org/', 'https://docs.example.org/mcp', `${href}/mcp/x`])
    t.match((await open(authorizeUrl({ resource }))).headers['location'], 'error=invalid_target', resource);
});

t.test('cookies are for the path alone, and the sign-in leads nowhere else', async (t) => {
  const { app, openBrowser } = shared;
  const browser = openBrowser();
  const asked = await browser.open('/library/read');
  t.match(asked.url, /\/library\/sign-in\?to=%2Flibrary%2Fread$/);
  const cookies = [asked.headers['set-cookie'] ?? []].flat().map(String);
  t.ok(cookies.length > 0);
  for (const cookie of cookies) t.match(cookie, /^__Secure-docs_\w+=.*; Path=\/library;.*Secure/);
  const opened = await signIn(openBrowser(), '/library/read/guide');
  t.equal(opened.status, 200);
  for (const to of ['/read', '/libraryx', '/library/../read', '/%2e%2e/'])
    t.equal(
      (
        await app.inject({
          url: `/library/sign-in?to=${encodeURIComponent(to)}`,
          headers: { host: baseUrl.host },
        })
      ).statusCode,
      400,
      to,
    );
});

t.test('each link and form of each page leads below the path, and each page is there', async (t) => {
  const browser = shared.openBrowser();
  await signIn(browser, '/library/read');
  const seen = new Set<string>();
  const waiting = ['/library/', '/library/read', '/library/read?q=words', '/library/read/guidez'];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    if (seen.has(path) || seen.size > 300) continue;
    seen.add(path);
    const { status, body, headers } = await browser.open(path);
    t.equal(status, path.endsWith('guidez') ? 404 : 200, path);
    if (!String(headers['content-type']).startsWith('text/html')) continue;
    for (const [, address = ''] of body.matchAll(/ (?:href|action)="([^"#]+)["#]/g)) {
      const to = address.replaceAll('&amp;', '&').replaceAll('&#38;', '&');
      t.match(to, /^\/library(?:\/|$)/, `${path} leads to ${to}`);
      if (!/\.(?:pdf|epub)$|sign-out/.test(to)) waiting.push(to);
    }
  }
  t.ok(seen.size > 35, `${seen.size} pages`);
  for (const path of ['/library/read/guide', '/library/read/collections/book', '/library/docs'])
    t.ok(seen.has(path), path);
});
