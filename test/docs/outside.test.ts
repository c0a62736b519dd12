import { createSocket } from 'node:dgram';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import ipaddr from 'ipaddr.js';
import t, { type Test } from 'tap';
import { createClientDocuments, type Requester } from '../../docs-service/auth/clientDocuments.ts';
import { createGuardedFetch, type GuardedFetchOptions } from '../../docs-service/auth/guardedFetch.ts';
import { createDnsLookup, isPublicAddress } from '../../protocol/base/publicHosts.ts';
import { createCertificate } from '../support/certificates.ts';
import { failsWith } from '../support/failsWith.ts';
import { needs } from '../support/parts.ts';

const names = ['app.example.org', 'other.example.org'];
/** Addresses that belong to nobody's test; what is sent to them goes to this machine. */
const [publicAddress, secondAddress] = ['93.184.216.34', '93.184.216.35'];

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

interface Outside {
  readonly origin: string;
  readonly requests: IncomingMessage[];
  readonly options: GuardedFetchOptions;
}

/** A server that passes for one of the public network. */
async function serveOutside(t: Test, answer: Answer): Promise<Outside> {
  const certificate = await createCertificate(t, names);
  const requests: IncomingMessage[] = [];
  const server = createServer(certificate, (request, response) => {
    requests.push(request);
    answer(request, response);
  });
  const port = await listenOn(t, server);
  const resolve = async () => [publicAddress];
  const options = { resolve, reach: () => '127.0.0.1', ca: certificate.cert };
  return { origin: `https://app.example.org:${port}`, requests, options };
}

async function listenOn(t: Test, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const json =
  (content: unknown, headers: Record<string, string> = {}): Answer =>
  (_request, response) =>
    response
      .writeHead(200, { 'content-type': 'application/json', ...headers })
      .end(typeof content === 'string' ? content : JSON.stringify(content));

t.test('which IP addresses are public', async (t) => {
  const cases = [
    ...['93.184.216.34', '8.8.8.8', '2606:4700::1111', '2a00:1450:4001::1'].map((address) => ({
      address,
      want: true,
    })),
    ...(
      '127.0.0.1 127.9.9.9 0.0.0.0 0.1.2.3 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 ' +
      '169.254.169.254 100.64.0.1 100.127.255.255 224.0.0.1 239.1.1.1 240.0.0.1 255.255.255.255 ' +
      '192.0.0.1 192.0.2.1 198.51.100.1 203.0.113.1 198.18.0.1 192.88.99.1 :: ::1 fe80::1 fe80::1%eth0 ' +
      'fc00::1 fd12::1 fec0::1 ff02::1 2001:db8::1 3fff::1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ' +
      '::ffff:0:8.8.8.8 ::127.0.0.1 ::7f00:1 64:ff9b::7f00:1 64:ff9b:1::1 2002:7f00:1:: 2001::1 100::1 ' +
      '5f00::1 4000::1 e000::1 0200::1'
    ).split(' '),
    ...['', 'x', '1', '2130706433', '0x7f.1', '127.1', '1.2.3.4.5', '[::1]'],
  ].map((entry) => (typeof entry === 'string' ? { address: entry, want: false } : entry));
  for (const { address, want } of cases) t.equal(isPublicAddress(address), want, address);
});

t.test('addresses that are refused before any lookup', async (t) => {
  let resolved = 0;
  const resolve = async () => [publicAddress, String(resolved++)];
  const fetch = createGuardedFetch({ resolve });
  const addresses = (
    'http://app.example.org/ ftp://app.example.org/ file:///etc/passwd data:application/json,{} ' +
    'https://localhost/ https://LOCALHOST/ https://x.localhost/ https://localhost./ https://intranet/ ' +
    'https://127.0.0.1/ https://127.1/ https://2130706433/ https://0x7f000001/ https://0177.0.0.1/ ' +
    'https://0/ https://10.0.0.1/ https://8.8.8.8/ https://1.1/ https://127.0.0.1./ https://[::1]/ ' +
    'https://[::ffff:127.0.0.1]/ https://[2606:4700::1111]/ https://①②⑦.⓪.⓪.①/ https://printer.local/ ' +
    'https://db.internal/ https://router.home.arpa/ https://app.example.org./ ' +
    'https://user@app.example.org/ https://user:word@app.example.org/ https://app.example.org:22/ ' +
    'https://app.example.org:25/ https://app.example.org:0/ https://app..example.org/'
  ).split(' ');
  for (const address of addresses)
    await t.rejects(
      fetch(new URL(address)),
      failsWith({ name: 'GuardedFetchError', kind: 'refused' }),
      address,
    );
  const reasons: readonly (readonly [string, RegExp])[] = [
    ['http://app.example.org/', /begin with https:/],
    ['https://user@app.example.org/', /user name or a password/],
    ['https://:word@app.example.org/', /user name or a password/],
    ['https://8.8.8.8/', /not from IP addresses/],
    ['https://[2606:4700::1111]/', /not from IP addresses/],
    ['https://intranet/', /^intranet is not a name on the public network/],
    ['https://app.example.org:1023/', /not fetched from port 1023/],
  ];
  for (const [address, message] of reasons) await t.rejects(fetch(new URL(address)), { message }, address);
  t.equal(resolved, 0, 'no name was looked up');
  for (const address of ['https://app.example.org/', 'https://app.example.org:1024/'])
    await t.rejects(fetch(new URL(address)), failsWith({ name: 'GuardedFetchError' }), address);
  t.equal(resolved, 2, 'but those of all others are');
});

t.test('names that resolve to an address that is not public', needs('openssl'), async (t) => {
  const { origin, requests, options } = await serveOutside(t, json({}));
  const cases: readonly { name: string; answers: readonly string[]; kind: string }[] = [
    { name: 'this machine', answers: ['127.0.0.1'], kind: 'refused' },
    { name: 'a private network', answers: ['10.1.2.3'], kind: 'refused' },
    { name: 'the addresses of clouds', answers: ['169.254.169.254'], kind: 'refused' },
    { name: 'a public and a private address', answers: [publicAddress, '192.168.0.1'], kind: 'refused' },
    { name: 'a private address by IPv6', answers: [publicAddress, '::ffff:10.0.0.1'], kind: 'refused' },
    { name: 'something that is no address', answers: ['evil'], kind: 'refused' },
    { name: 'nothing', answers: [], kind: 'unreachable' },
  ];
  for (const { name, answers, kind } of cases) {
    const error = await t.rejects(
      createGuardedFetch({ ...options, resolve: async () => answers })(new URL(origin)),
      failsWith({ name: 'GuardedFetchError', kind }),
      name,
    );
    t.notMatch(
      JSON.stringify(error),
      /192\.168|10\.|169\.254|127\.0/,
      'the error says nothing of the network',
    );
  }
  t.equal(requests.length, 0, 'nobody was asked');
});

t.test('names are looked up only in the DNS', async (t) => {
  const asked: string[] = [];
  /** Answers of a name server by name and type, as bytes; what is not here does not exist. */
  const records: Readonly<Record<string, readonly string[]>> = {
    'both.example.org 1': [publicAddress, secondAddress],
    'both.example.org 28': ['2606:4700::1'],
    'four.example.org 1': [publicAddress],
    'mixed.example.org 1': [publicAddress],
    'mixed.example.org 28': ['::1'],
  };
  const server = createSocket('udp4', (message, { port, address }) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
      labels.push(message.toString('latin1', at + 1, at + 1 + length));
      at += length + 1;
    }
    const type = message.readUInt16BE(at + 1);
    const question = message.subarray(12, at + 5);
    const key = `${labels.join('.')} ${type}`;
    asked.push(key);
    const found = records[key] ?? [];
    const head = Buffer.alloc(12);
    message.copy(head, 0, 0, 2);
    head.writeUInt16BE(found.length === 0 ? 0x8183 : 0x8180, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(found.length, 6);
    const answers = found.map((text) => {
      const bytes = Buffer.from(ipaddr.parse(text).toByteArray());
      const meta = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, bytes.length]);
      return Buffer.concat([meta, bytes]);
    });
    server.send(Buffer.concat([head, question, ...answers]), port, address);
  });
  await new Promise<void>((resolve) => server.bind(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const lookUp = createDnsLookup([`127.0.0.1:${server.address().port}`]);
  const ever = new AbortController().signal;
  t.strictSame([...(await lookUp('both.example.org', ever))].sort(), [
    '2606:4700::1',
    publicAddress,
    secondAddress,
  ]);
  t.strictSame(await lookUp('four.example.org', ever), [publicAddress], 'one kind is enough');
  t.strictSame(await lookUp('none.example.org', ever), []);
  asked.length = 0;
  t.strictSame(await lookUp('localhost.example.org', ever), []);
  t.ok(
    asked.every((key) => key.startsWith('localhost.example.org ')),
    'no search domain is tried',
  );
  const fetch = createGuardedFetch({ resolve: lookUp });
  const mixed = fetch(new URL('https://mixed.example.org/'));
  await t.rejects(
    mixed,
    failsWith({ kind: 'refused' }),
    'one private address of either kind is enough to refuse',
  );
  await t.rejects(fetch(new URL('https://none.example.org/')), failsWith({ message: /no server named/ }));
});

t.test(
  'a name that leads elsewhere the second time is asked where it was checked',
  needs('openssl'),
  async (t) => {
    const { origin, requests, options } = await serveOutside(t, json({ a: 1 }));
    const answers = [[publicAddress], ['127.0.0.1'], [secondAddress]];
    const reached: string[] = [];
    const fetch = createGuardedFetch({
      ...options,
      resolve: async () => answers.shift() ?? [],
      reach: (address) => {
        reached.push(address);
        return '127.0.0.1';
      },
    });
    t.strictSame((await fetch(new URL(origin))).content, { a: 1 });
    await t.rejects(fetch(new URL(origin)), failsWith({ kind: 'refused' }), 'each request is checked');
    t.strictSame((await fetch(new URL(origin))).content, { a: 1 });
    t.strictSame(
      reached,
      [publicAddress, secondAddress],
      'it went to what was checked, and looked nothing up again',
    );
    t.equal(new Set(requests.map(({ socket }) => socket)).size, 2, 'each time by a connection of its own');
  },
);

t.test('which headers a request has', needs('openssl'), async (t) => {
  const { origin, requests, options } = await serveOutside(t, json({ a: 1 }, { 'set-cookie': 'a=b' }));
  const proxied: unknown[] = [];
  const proxy = createTcpServer((socket) => proxied.push(socket.destroy()));
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  t.teardown(() => proxy.close());
  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  for (const name of ['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY']) {
    process.env[name] = address;
    t.teardown(() => delete process.env[name]);
  }
  const fetch = createGuardedFetch(options);
  await fetch(new URL('/client.json?x=1', origin));
  await fetch(new URL('/client.json?x=1', origin));
  for (const { method, url, headers } of requests) {
    t.equal(`${method} ${url}`, 'GET /client.json?x=1');
    t.strictSame(Object.keys(headers).sort(), [
      'accept',
      'accept-encoding',
      'connection',
      'host',
      'user-agent',
    ]);
    t.equal(headers['accept-encoding'], 'identity');
  }
  t.equal(proxied.length, 0, 'no proxy is asked');
});

t.test('answers that are not accepted as a document', needs('openssl'), async (t) => {
  const body = JSON.stringify({ a: 'x'.repeat(70_000) });
  const plain =
    (status: number, headers = {}, body: string | Uint8Array = ''): Answer =>
    (_request, response) =>
      response.writeHead(status, headers).end(body);
  const isJson = { 'content-type': 'application/json' };
  const zipped = gzipSync('0'.repeat(10_000_000));
  const cases: readonly (readonly [name: string, answer: Answer, message: RegExp])[] = [
    ...[301, 302, 307, 308].map(
      (status) =>
        [
          `${status}`,
          plain(status, { location: 'https://127.0.0.1/' }),
          /redirects to another address/,
        ] as const,
    ),
    ['not found', plain(404, isJson, '{}'), /status 404/],
    ['a bad request', plain(400), /status 400/],
    ['no content', plain(204), /status 204/],
    ['a page', json({}, { 'content-type': 'text/html' }), /not JSON/],
    ['JSON as text', json({}, { 'content-type': 'text/plain' }), /not JSON/],
    ['a type that only begins alike', json({}, { 'content-type': 'application/jsonp' }), /JSON/],
    ['no type', plain(200, {}, '{}'), /not JSON/],
    ['compressed', plain(200, { ...isJson, 'content-encoding': 'gzip' }, zipped), /compressed/],
    ['too large', json(body), /more than 64 KiB/],
    [
      'too large, in pieces and without end',
      (_request, response) => {
        response.writeHead(200, isJson);
        const more = () => {
          while (!response.destroyed && response.write(' '.repeat(8_192)));
        };
        response.on('drain', more);
        more();
      },
      /more than 64 KiB/,
    ],
    ['not JSON', json('{"a":'), /not valid JSON/],
    ['nothing', json(''), /not valid JSON/],
    ['not UTF-8', plain(200, isJson, Buffer.from([0x22, 0xff, 0x22])), /not valid JSON/],
    [
      'it breaks off',
      (_request, response) => {
        response.writeHead(200, { ...isJson, 'content-length': '100' });
        response.write('{"a"', () => response.destroy());
      },
      /cannot be reached/,
    ],
    ['it hangs up', (request) => request.socket.destroy(), /cannot be reached/],
    [
      'headers without end',
      (request) => {
        request.socket.on('error', () => request.socket.destroy());
        request.socket.write(`HTTP/1.1 200 OK\r\n${`x-more: ${'y'.repeat(1_000)}\r\n`.repeat(100)}\r\n`);
      },
      /cannot be reached/,
    ],
  ];
  for (const [name, answer, message] of cases) {
    const { origin, options } = await serveOutside(t, answer);
    await t.rejects(
      createGuardedFetch(options)(new URL(origin)),
      failsWith({ name: 'GuardedFetchError', message }),
      name,
    );
  }
});

t.test('answers that are accepted as a document', needs('openssl'), async (t) => {
  const deep = '['.repeat(30_000) + ']'.repeat(30_000);
  const cases: readonly { name: string; answer: Answer; want?: unknown }[] = [
    { name: 'JSON', answer: json({ a: 'é' }), want: { a: 'é' } },
    {
      name: 'a type of its own',
      answer: json({}, { 'content-type': 'Application/Client+JSON; charset=utf-8' }),
    },
    { name: 'said not to be compressed', answer: json({}, { 'content-encoding': 'identity' }) },
    { name: 'a key twice: the last one counts', answer: json('{"a":1,"a":2}'), want: { a: 2 } },
    { name: 'deep', answer: json(deep) },
    { name: 'as large as may be', answer: json(`"${'x'.repeat(65_534)}"`) },
  ];
  for (const { name, answer, want } of cases) {
    const { origin, options } = await serveOutside(t, answer);
    const { content } = await createGuardedFetch(options)(new URL(origin));
    if (want === undefined) t.pass(name);
    else t.strictSame(content, want, name);
  }
});

t.test('the certificate must be valid for the name', needs('openssl'), async (t) => {
  const { origin, requests, options } = await serveOutside(t, json({}));
  const { ca: _ca, ...strangers } = options;
  const unknown = createGuardedFetch(strangers)(new URL(origin));
  await t.rejects(
    unknown,
    failsWith({ kind: 'unreachable', message: /certificate/ }),
    'one that nobody has signed',
  );
  const wrong = createGuardedFetch(options)(new URL(origin.replace('app.', 'third.')));
  await t.rejects(wrong, failsWith({ kind: 'unreachable', message: /certificate/ }), 'one for another name');
  t.equal(requests.length, 0);
});

t.test('a server that takes too long', needs('openssl'), async (t) => {
  const drip: Answer = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const timer = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(timer));
  };
  const late = failsWith({ kind: 'unreachable', message: /not answered in time/ });
  const silent = createTcpServer();
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  t.teardown(() => silent.close());
  const { origin, options } = await serveOutside(t, drip);
  const quick = { ...options, deadline: 400 };
  await t.rejects(createGuardedFetch(quick)(new URL(origin)), late, 'a body drop by drop');
  const port = (silent.address() as AddressInfo).port;
  const mute = new URL(`https://app.example.org:${port}`);
  await t.rejects(createGuardedFetch(quick)(mute), late, 'a server that says nothing');
  const never = () => new Promise<never>(() => undefined);
  await t.rejects(
    createGuardedFetch({ ...quick, resolve: never })(mute),
    late,
    'a name server that says nothing',
  );
});

t.test('one request at a time for each host, and a bounded number in all', needs('openssl'), async (t) => {
  const held: ServerResponse[] = [];
  const arrived: (() => void)[] = [];
  const { origin, requests, options } = await serveOutside(t, (_request, response) => {
    held.push(response);
    arrived.shift()?.();
  });
  const next = () => new Promise<void>((resolve) => void arrived.push(resolve));
  const fetch = createGuardedFetch({ ...options, deadline: 20_000 });
  const release = () => json({})(requests[0] as IncomingMessage, held.shift() as ServerResponse);

  const first = next();
  const results = [fetch(new URL('/1', origin)), fetch(new URL('/2', origin))];
  await first;
  const other = next();
  const elsewhere = fetch(new URL(origin.replace('app.', 'other.')));
  await other;
  t.strictSame(
    requests.map(({ url, headers }) => `${headers.host?.split('.')[0]}${url}`),
    ['app/1', 'other/'],
    'the second of one host waits, another host does not',
  );
  const second = next();
  release();
  await second;
  release();
  release();
  await Promise.all([...results, elsewhere]);

  const busy = next();
  const many = Array.from({ length: 34 }, () => fetch(new URL(origin)).catch((error: Error) => error));
  await busy;
  t.match(await many[33], { name: 'GuardedFetchError', kind: 'busy' }, 'a bounded number waits');
  for (let at = 0; at < 33; at++) {
    const following = next();
    release();
    if (at < 32) await following;
  }
  const rest = await Promise.all(many.slice(0, 33));
  t.ok(
    rest.every((answer) => !(answer instanceof Error)),
    'and all that waited were answered',
  );

  const brief = createGuardedFetch({ ...options, deadline: 300 });
  const both = Promise.allSettled([brief(new URL(origin)), brief(new URL(origin))]);
  t.strictSame(
    (await both).map(({ status }) => status),
    ['rejected', 'rejected'],
    'waiting counts too',
  );
});

const clientId = 'https://app.example.org/client.json';

/** Documents as they would come from outside. */
function documentsOf(
  answers: Readonly<Record<string, unknown>>,
  { cacheControl = '', isLoopback = false, now = (): number => 0 } = {},
) {
  const asked: string[] = [];
  const fetch = async (address: URL) => {
    asked.push(address.href);
    return { content: answers[address.href], cacheControl };
  };
  const documents = createClientDocuments({ owner: fetch, stranger: fetch }, now, isLoopback);
  const find = (id: string, requester: Requester = 'stranger') => documents.find(id, requester);
  return { find, asked };
}

t.test('a client is read from its document', async (t) => {
  const found = async (document: Record<string, unknown>) =>
    documentsOf({ [clientId]: { client_id: clientId, ...document } }).find(clientId);
  t.strictSame(
    await found({
      client_name: ' App\u202e ',
      client_uri: 'https://app.example.org/',
      logo_uri: 'https://10.0.0.1/logo.png',
      redirect_uris: ['https://app.example.org/cb', '/relative?x', 'http://127.0.0.1/cb', 'vscode://x/cb'],
      token_endpoint_auth_method: 'none',
      anything: { else: [] },
    }),
    {
      id: clientId,
      name: 'App',
      uri: 'https://app.example.org/',
      redirectUris: [
        ...['https://app.example.org/cb', 'https://app.example.org/relative?x'],
        ...['http://127.0.0.1/cb', 'vscode://x/cb'],
      ],
      source: 'document',
    },
  );
  t.strictSame(
    await found({}),
    { id: clientId, name: null, uri: null, redirectUris: [], source: 'document' },
    'nothing but its identifier is needed',
  );
  const uris: readonly [uri: unknown, want: string | null][] = [
    ['https://app.example.org/about', 'https://app.example.org/about'],
    ['https://bank.example.com/', null],
    ['http://app.example.org/', null],
    ['https://app.example.org:8443/', null],
    ['https://app.example.org@evil.net/', null],
    ['javascript:alert(1)', null],
    ['', null],
    [7, null],
  ];
  for (const [uri, want] of uris)
    t.equal((await found({ client_uri: uri })).uri, want, `${uri} as home page`);
  const mixed = [
    'javascript:alert(1)',
    '//evil.net/cb',
    'data:text/html,x',
    '',
    '#x',
    'http://10.0.0.1/',
    '/ok',
  ];
  t.strictSame(
    (await found({ redirect_uris: mixed })).redirectUris,
    ['https://evil.net/cb', 'https://app.example.org/client.json', 'https://app.example.org/ok'],
    'what no browser is sent to is left out; what the client says of itself is its own affair',
  );
});

t.test('invalid documents are refused', async (t) => {
  const cases: readonly unknown[] = [
    ...[
      'https://app.example.org/other.json',
      'https://APP.example.org/client.json',
      `${clientId}/`,
      [clientId],
    ].map((client_id) => ({ client_id })),
    ...[{}, [{ client_id: clientId }], null, clientId],
    ...[
      { client_secret: 'x' },
      { client_secret_expires_at: 0 },
      { token_endpoint_auth_method: 'client_secret_basic' },
      { token_endpoint_auth_method: 'private_key_jwt' },
      { redirect_uris: 'https://x.org/' },
      { redirect_uris: [7] },
      { redirect_uris: Array.from({ length: 51 }, (_, at) => `/${at}`) },
    ].map((more) => ({ client_id: clientId, ...more })),
  ];
  for (const content of cases) {
    const { find, asked } = documentsOf({ [clientId]: content });
    const want = failsWith({ name: 'GuardedFetchError', kind: 'invalid', message: /^The .*\.$/ });
    await t.rejects(find(clientId), want, JSON.stringify(content));
    await t.rejects(find(clientId), want);
    t.equal(asked.length, 2, 'a failure is not remembered');
  }
});

t.test('identifiers from which nothing is fetched', async (t) => {
  const { find, asked } = documentsOf({});
  const ids = [
    ...(
      'app c_123 /client.json urn:app javascript:alert(1) file:///etc/passwd cursor://x/ ' +
      'http://app.example.org/client.json https://app.example.org HTTPS://app.example.org/client.json ' +
      'https://APP.example.org/ https://app.example.org:443/ https://app.example.org/a/../b ' +
      'https://app.example.org/a/./b https://app.example.org/%2e%2e/b https://app.example.org/#x ' +
      'https://app.example.org/# https://user@app.example.org/ https://äpp.org/ http://127.0.0.1:5000/ ' +
      'http://localhost/ https://localhost/ http://[::1]:1/ https://127.1/'
    ).split(' '),
    ...[
      '',
      'https://app.example.org\\x',
      'https://app.example.org/\n',
      ' https://app.example.org/',
      'https://app.example.org/'.padEnd(1_025, 'a'),
    ],
  ];
  for (const id of ids)
    await t.rejects(find(id), failsWith({ name: 'GuardedFetchError', kind: 'refused' }), id);
  t.strictSame(asked, []);

  const here = documentsOf({}, { isLoopback: true });
  for (const id of ['http://127.0.0.1:5000/', 'http://localhost:3000/app', 'http://[::1]:1/'])
    t.strictSame(
      await here.find(id),
      { id, name: null, uri: null, redirectUris: [], source: 'document' },
      `${id} is fine where the service is on this machine too`,
    );
  await t.rejects(
    here.find('http://10.0.0.1/'),
    failsWith({ kind: 'refused' }),
    'and a private address is not',
  );
  t.strictSame(here.asked, [], 'nothing on this machine is fetched');
});

t.test('how long a document is cached', async (t) => {
  const [minute, hour] = [60_000, 3_600_000];
  const cases: readonly { cacheControl: string; want: number }[] = [
    { cacheControl: '', want: 5 * minute },
    { cacheControl: 'max-age=0', want: 5 * minute },
    { cacheControl: 'no-store', want: 5 * minute },
    { cacheControl: 'no-cache, max-age=86400', want: 5 * minute },
    { cacheControl: 'public, max-age=3600', want: hour },
    { cacheControl: 'max-age="3600"', want: hour },
    { cacheControl: 'max-age=999999999', want: 24 * hour },
    { cacheControl: 'max-age=99999999999999999999', want: 24 * hour },
    { cacheControl: 'max-age=-1', want: 5 * minute },
    { cacheControl: 'x=max-age=3600', want: 5 * minute },
    { cacheControl: ','.repeat(10_000), want: 5 * minute },
  ];
  for (const { cacheControl, want } of cases) {
    let time = 1_000;
    const { find, asked } = documentsOf(
      { [clientId]: { client_id: clientId } },
      { cacheControl, now: () => time },
    );
    await find(clientId);
    time += want - 1;
    await find(clientId);
    t.equal(asked.length, 1, `${cacheControl.slice(0, 40)}: remembered`);
    time += 1;
    await find(clientId);
    t.equal(asked.length, 2, 'and asked again');
    time -= want;
    await find(clientId);
    t.equal(asked.length, 3, 'also where the clock was set back');
  }
});

t.test('the thousand clients that were asked for last are remembered', async (t) => {
  const id = (at: number) => `https://app${at}.example.org/client.json`;
  const ids = Array.from({ length: 1_001 }, (_, at) => id(at));
  const { find, asked } = documentsOf(Object.fromEntries(ids.map((client_id) => [client_id, { client_id }])));
  for (const one of [...ids.slice(0, 1_000), id(0)]) await find(one);
  t.equal(asked.length, 1_000, 'as many as are kept');
  for (const one of [id(1_000), id(0)]) await find(one);
  t.equal(asked.length, 1_001, 'it was used since');
  await find(id(1));
  t.equal(asked.length, 1_002, 'the one that was used least recently is asked again');
});

t.test('simultaneous requests for one client share one fetch', async (t) => {
  const { find, asked } = documentsOf({ [clientId]: { client_id: clientId } });
  await Promise.all(Array.from({ length: 50 }, () => find(clientId)));
  t.equal(asked.length, 1, 'share one request');
  const others = documentsOf({});
  const kinds = await Promise.all(
    Array.from({ length: 30 }, (_, at) => others.find(`${clientId}?${at}`).catch(({ kind }) => kind)),
  );
  t.equal(others.asked.length, 20, 'one host is asked so often in a minute');
  t.equal(kinds.filter((kind) => kind === 'busy').length, 10, 'and who comes then is told to come later');
  await others.find(`${clientId}?own`, 'owner').catch(() => undefined);
  t.equal(others.asked.length, 21, 'what strangers have asked takes nothing from the owner');
});
