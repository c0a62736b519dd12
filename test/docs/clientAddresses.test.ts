import fc from 'fast-check';
import t from 'tap';
import { isRedirectAllowed, redirectUriProblem } from '../../docs-service/auth/clientStore.ts';

type Client = Parameters<typeof isRedirectAllowed>[0];

const app: Client = {
  id: 'https://app.example.org/client.json',
  name: 'App',
  uri: null,
  redirectUris: [
    'https://other.example.net/cb?x=1',
    'http://127.0.0.1/callback',
    'http://localhost:8787/callback?from=app',
    'http://[::1]:1/',
    'cursor://anysphere.cursor-mcp/oauth/callback',
    'com.example.app:/oauth',
  ],
  source: 'document',
};

t.test('which redirect addresses a client may use', async (t) => {
  const cases: readonly { name: string; uri: string; want: boolean }[] = [
    { name: 'its own origin', uri: 'https://app.example.org/any/path?query=1', want: true },
    { name: 'its own origin without a path', uri: 'https://app.example.org', want: true },
    { name: 'an encoded slash stays in the path', uri: 'https://app.example.org/a%2f..%2fb', want: true },
    { name: 'another scheme', uri: 'http://app.example.org/', want: false },
    { name: 'another port', uri: 'https://app.example.org:8443/', want: false },
    { name: 'its own port in full', uri: 'https://app.example.org:443/', want: false },
    { name: 'a host above it', uri: 'https://example.org/', want: false },
    { name: 'a host below it', uri: 'https://x.app.example.org/', want: false },
    { name: 'a host that begins alike', uri: 'https://app.example.org.evil.net/', want: false },
    { name: 'its own host as a user name', uri: 'https://app.example.org@evil.net/', want: false },
    {
      name: 'its own host as a user name and a password',
      uri: 'https://app.example.org:x@evil.net/',
      want: false,
    },
    { name: 'an empty user name', uri: 'https://@app.example.org/', want: false },
    { name: 'backslashes', uri: 'https:\\\\app.example.org\\', want: false },
    { name: 'a backslash before another host', uri: 'https://evil.net\\.app.example.org/', want: false },
    { name: 'an encoded backslash in the host', uri: 'https://evil.net%5c.app.example.org/', want: false },
    { name: 'an encoded slash in the host', uri: 'https://evil.net%2f.app.example.org/', want: false },
    { name: 'capital letters in the host', uri: 'https://APP.example.org/', want: false },
    { name: 'capital letters in the scheme', uri: 'HTTPS://app.example.org/', want: false },
    { name: 'a dot behind the host', uri: 'https://app.example.org./', want: false },
    { name: 'dot segments', uri: 'https://app.example.org/a/../b', want: false },
    { name: 'letters beyond ASCII', uri: 'https://app.exämple.org/', want: false },
    { name: 'letters that only look like ASCII', uri: 'https://app。example。org/', want: false },
    { name: 'an encoded letter in the host', uri: 'https://%61pp.example.org/', want: false },
    { name: 'a newline', uri: 'https://app.example.org/\nLocation: https://evil.net', want: false },
    { name: 'a newline at the end', uri: 'https://app.example.org/\n', want: false },
    { name: 'a tab in the scheme', uri: 'java\tscript:alert(1)', want: false },
    { name: 'a blank in front', uri: ' https://app.example.org/', want: false },
    { name: 'nothing', uri: '', want: false },
    { name: 'a path alone', uri: '/callback', want: false },
    { name: 'a host without a scheme', uri: '//app.example.org/', want: false },
    { name: 'a scheme without a host', uri: 'https:', want: false },
    { name: 'a scheme with one slash', uri: 'https:/app.example.org/', want: false },
    { name: 'a fragment', uri: 'https://app.example.org/#token', want: false },
    { name: 'an empty fragment', uri: 'https://app.example.org/#', want: false },
    { name: 'the longest', uri: 'https://app.example.org/'.padEnd(2_048, 'a'), want: true },
    { name: 'too long', uri: 'https://app.example.org/'.padEnd(2_049, 'a'), want: false },
    { name: 'what it has published', uri: 'https://other.example.net/cb?x=1', want: true },
    { name: 'that with another query', uri: 'https://other.example.net/cb?x=2', want: false },
    { name: 'that without its query', uri: 'https://other.example.net/cb', want: false },
    { name: 'that with another port', uri: 'https://other.example.net:8443/cb?x=1', want: false },
    { name: 'that with a slash more', uri: 'https://other.example.net/cb/?x=1', want: false },
    { name: 'this machine without a port', uri: 'http://127.0.0.1/callback', want: true },
    { name: 'this machine with a port', uri: 'http://127.0.0.1:33418/callback', want: true },
    { name: 'this machine with a port that is none', uri: 'http://127.0.0.1:99999/callback', want: false },
    { name: 'this machine with another path', uri: 'http://127.0.0.1:33418/callback/x', want: false },
    { name: 'this machine with a query more', uri: 'http://127.0.0.1:33418/callback?x', want: false },
    { name: 'this machine by another name', uri: 'http://localhost:33418/callback', want: false },
    { name: 'this machine by https', uri: 'https://127.0.0.1:33418/callback', want: false },
    { name: 'another address of this machine', uri: 'http://127.0.0.2/callback', want: false },
    { name: 'this machine in short', uri: 'http://127.1/callback', want: false },
    { name: 'this machine as a number', uri: 'http://2130706433/callback', want: false },
    { name: 'this machine in octal', uri: 'http://0177.0.0.1/callback', want: false },
    {
      name: 'a published port and query, and another port',
      uri: 'http://localhost:1/callback?from=app',
      want: true,
    },
    { name: 'a published port without the query', uri: 'http://localhost:8787/callback', want: false },
    { name: 'localhost with a dot', uri: 'http://localhost.:8787/callback?from=app', want: false },
    { name: 'a name below localhost', uri: 'http://x.localhost:8787/callback?from=app', want: false },
    { name: 'IPv6', uri: 'http://[::1]:4711/', want: true },
    { name: 'IPv6 without its path', uri: 'http://[::1]:4711', want: true },
    { name: 'IPv6 in full', uri: 'http://[0:0:0:0:0:0:0:1]:4711/', want: false },
    { name: 'IPv6 around IPv4', uri: 'http://[::ffff:127.0.0.1]/callback', want: false },
    { name: 'a scheme of its own', uri: 'cursor://anysphere.cursor-mcp/oauth/callback', want: true },
    { name: 'a scheme of its own, another path', uri: 'cursor://anysphere.cursor-mcp/oauth', want: false },
    {
      name: 'a scheme of its own, with a query',
      uri: 'cursor://anysphere.cursor-mcp/oauth/callback?x',
      want: false,
    },
    {
      name: 'a scheme of its own, in capitals',
      uri: 'CURSOR://anysphere.cursor-mcp/oauth/callback',
      want: false,
    },
    { name: 'a scheme of its own, without a host', uri: 'com.example.app:/oauth', want: true },
  ];
  for (const { name, uri, want } of cases) t.equal(isRedirectAllowed(app, uri), want, `${name}: ${uri}`);

  const registered: Client = { ...app, redirectUris: [], source: 'registration' };
  t.notOk(
    isRedirectAllowed(registered, 'https://app.example.org/'),
    'a client that registered has no own origin',
  );
  const named: Client = { ...app, id: 'c_1234', source: 'operator' };
  t.notOk(
    isRedirectAllowed(named, 'https://app.example.org/'),
    'an identifier without an address has none either',
  );
  t.ok(isRedirectAllowed(named, 'https://other.example.net/cb?x=1'), 'and may use what was published');
  const local: Client = { ...app, id: 'http://127.0.0.1:5000/', redirectUris: [] };
  t.ok(isRedirectAllowed(local, 'http://127.0.0.1:5000/back'), 'a client on this machine: its own origin');
  t.notOk(isRedirectAllowed(local, 'http://127.0.0.1:5001/back'), 'and no other port');
  t.notOk(isRedirectAllowed(local, 'http://localhost:5000/back'), 'and no other name');
});

t.test('redirect addresses that are refused for every client', async (t) => {
  const hostile: Client = {
    ...app,
    redirectUris: [
      ...['javascript:alert(1)', 'javascript://x/%0aalert(1)', 'JavaScript://x/%0aalert(1)'],
      ...[
        'data:text/html,x',
        'data://text/html,x',
        'file:///etc/passwd',
        'vbscript://x/',
        'blob:https://x.org/1',
      ],
      ...['http://app.example.org/', 'http://10.0.0.1/', 'about:blank', 'view-source:https://x.org/'],
      ...['mailto:a@example.org', 'cursor:callback', 'ws://localhost/', 'intent://x/#Intent;end'],
      ...[
        'cursor://user@host/',
        'cursor://@host/',
        'ms-msdt:/id',
        'https://a:b@x.org/',
        '*',
        'http://localhost:*/cb',
      ],
    ],
  };
  for (const uri of hostile.redirectUris) {
    t.notOk(isRedirectAllowed(hostile, uri), uri);
    t.match(redirectUriProblem(uri), /^[A-Z].*[.]$/, `${uri} is answered by a sentence`);
  }
});

t.test('a redirect address has none of the parameters that the answer adds', async (t) => {
  for (const taken of ['code', 'error', 'error_description', 'iss', 'state']) {
    const uri = `https://app.example.org/callback?page=1&${taken}=x`;
    t.notOk(isRedirectAllowed(app, uri), uri);
    t.match(redirectUriProblem(uri), `must not have a parameter "${taken}"`);
  }
  t.ok(isRedirectAllowed(app, 'https://app.example.org/callback?states=x'));
});

t.test('any text is either refused as a redirect address or safe', async () => {
  const origins = [
    'https://app.example.org',
    'http://localhost',
    'http://127.0.0.1',
    'cursor://x',
    'https://evil.net',
  ];
  const pieces = [
    '/',
    '\\',
    '@',
    ':',
    '?',
    '#',
    '%2f',
    '..',
    'app.example.org',
    'localhost',
    '.',
    '8080',
    '\t',
    'é',
  ];
  const text = fc
    .tuple(
      fc.constantFrom(...origins, ''),
      fc.array(fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 3 }))),
    )
    .map(([origin, rest]) => origin + rest.join(''));
  const browserHost = (uri: string) => new URL(uri).hostname;
  fc.assert(
    fc.property(text, (uri) => {
      if (!isRedirectAllowed(app, uri)) return;
      const isExact = app.redirectUris.includes(uri);
      const isOwn = browserHost(uri) === 'app.example.org' && uri.startsWith('https://app.example.org');
      const isHere =
        ['localhost', '127.0.0.1', '[::1]'].includes(browserHost(uri)) && uri.startsWith('http://');
      if (!isExact && !isOwn && !isHere) throw new Error(`A browser would go to ${new URL(uri).href}.`);
    }),
    { numRuns: 5_000 },
  );
  const port = fc.integer({ min: 1, max: 65_535 });
  fc.assert(
    fc.property(port, fc.webPath(), fc.webPath(), (number, own, asked) => {
      const client = { ...app, redirectUris: [`http://127.0.0.1${own}`] };
      const uri = `http://127.0.0.1:${number}${asked}`;
      const [here, there] = [new URL(client.redirectUris[0] ?? ''), new URL(uri)];
      const isUsual = there.href === uri || there.href === `${uri}/` || number === 80;
      const isEqual = here.pathname === there.pathname && here.search === there.search;
      if (isRedirectAllowed(client, uri) && !(isEqual && isUsual))
        throw new Error('another path was allowed');
      if (!isRedirectAllowed(client, uri) && isEqual && isUsual && number !== 80)
        throw new Error('it was refused');
    }),
  );
});
