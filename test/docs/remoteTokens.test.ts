import { execFileSync } from 'node:child_process';
import { chmod, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { createIntrospectionClient, parseIntrospection } from '../../docs-service/auth/introspection.ts';
import { RemoteVerifier } from '../../docs-service/auth/remoteVerifier.ts';
import { parseBaseUrl } from '../../docs-service/base/baseUrl.ts';
import { parseOptions } from '../../docs-service/base/options.ts';
import { parseServeConfig, serveOptions } from '../../docs-service/serveConfig.ts';
import { openTestApp } from '../support/docsApp.ts';
import { failsWith } from '../support/failsWith.ts';
import { type IntrospectionAnswer, serveIntrospection } from '../support/introspectionServer.ts';
import { has } from '../support/systems.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { poll } from '../support/waiting.ts';

const me = 'https://ada.example.org/';
const active = { active: true, me, scope: 'read draft create', client_id: 'https://app.example.org/' };
/** Milliseconds since 1970 at the start of every test here. */
const start = 1_790_000_000_000;

/** The verifier beside a real server, with a clock that the test sets. */
async function openRemote(t: Test, base = 'https://docs.example.org') {
  const server = await serveIntrospection(t);
  const folder = await temporaryFolder(t, { token: 'our-own-token\n' });
  const tokenFile = join(folder, 'token');
  await chmod(tokenFile, 0o600);
  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  const clock = { now: start };
  let timers: AbortController[] = [];
  const startTimer = (milliseconds: number) => {
    t.equal(milliseconds, 3_000, 'a question has three seconds');
    const timer = new AbortController();
    timers.push(timer);
    return timer.signal;
  };
  /** The time of all questions that are open is over. */
  const endTimers = () => {
    for (const timer of timers) timer.abort(new DOMException('', 'TimeoutError'));
    timers = [];
  };
  const client = await createIntrospectionClient(server.address, tokenFile, warn, startTimer);
  const verifier = new RemoteVerifier({
    ...{ client, warn },
    allowed: [me, 'https://example.net/ben'],
    baseUrl: parseBaseUrl(base),
    now: () => clock.now,
  });
  t.teardown(() => verifier.close());
  const verify = (token: string) => verifier.verify(token);
  return { server, verifier, clock, endTimers, warnings, tokenFile, verify };
}

t.test('a token that the introspection server accepts', async (t) => {
  const { server, verify } = await openRemote(t);
  server.says({ ...active, exp: start / 1_000 + 3_600, iat: start / 1_000 - 60 });
  const grant = await verify('their token&x=1');
  t.match(grant, {
    scopes: ['read', 'draft'],
    me,
    client: 'https://app.example.org/',
    created: start - 60_000,
    expires: start + 3_600_000,
    lastUsed: null,
  });
  t.match(grant?.id, /^[0-9a-f]{12}$/);
  const [asked] = server.asked;
  t.equal(asked?.method, 'POST');
  t.equal(asked?.headers.authorization, 'Bearer our-own-token');
  t.equal(asked?.headers['content-type'], 'application/x-www-form-urlencoded');
  t.notOk(asked?.headers.cookie);
  t.strictSame(
    [...(asked?.form ?? [])],
    [
      ['token', 'their token&x=1'],
      ['token_type_hint', 'access_token'],
    ],
  );
});

t.test('how introspection answers are interpreted', async (t) => {
  const { server, verify } = await openRemote(t);
  const later = start / 1_000 + 600;
  const good = { id: /./ };
  const foreign = { name: 'ForeignProfileError' };
  const isAway = { message: /./ };
  const changes: readonly (readonly [name: string, change: object, want: unknown])[] = [
    ['active', {}, good],
    ['active as a text', { active: 'true' }, good],
    ['not active, as a text', { active: 'false' }, undefined],
    ['not active, and more', { active: false }, undefined],
    ['an end', { exp: later }, { expires: later * 1_000 }],
    ['an end as a text', { exp: String(later) }, { expires: later * 1_000 }],
    ['an end as a fraction', { exp: later + 0.5 }, good],
    ['an end that has passed', { exp: start / 1_000 - 1 }, undefined],
    ['an end at this moment', { exp: start / 1_000 }, undefined],
    ['an end that has passed, as a text', { exp: '1' }, undefined],
    ['no end', { exp: null }, { expires: start + 60_000 }],
    ['an end that is none', { exp: 'tomorrow' }, isAway],
    ['an end that is a list', { exp: [later] }, isAway],
    ['other scopes', { scope: 'create update' }, { scopes: [] }],
    ['no scope', { scope: undefined }, { scopes: [] }],
    ['a scope twice', { scope: 'read read' }, { scopes: ['read'] }],
    ['scopes as a list', { scope: ['read'] }, isAway],
    ['somebody else', { me: 'https://eve.example.org/' }, foreign],
    ['nobody', { me: undefined }, foreign],
    ['a person that is a list', { me: [me] }, foreign],
    ['a person who is none', { me: 'javascript:1' }, foreign],
    ['a page below', { me: `${me}eve` }, foreign],
    ['a host that begins alike', { me: 'https://ada.example.org.evil.net/' }, foreign],
    ['by http', { me: me.replace('https', 'http') }, foreign],
    ['in capital letters', { me: 'https://ADA.example.org' }, { me }],
    ['somebody with a path', { me: 'https://example.net/ben' }, good],
    ['for here', { aud: 'https://docs.example.org' }, good],
    ['for here, with a slash', { aud: 'https://docs.example.org/' }, good],
    ['for agents here', { resource: 'https://docs.example.org/mcp' }, good],
    ['for here and there', { aud: ['https://x.org', 'https://docs.example.org/mcp/'] }, good],
    ['for elsewhere', { aud: 'https://x.org/' }, undefined],
    ['for elsewhere, by resource', { resource: 'https://x.org/' }, undefined],
    ['for two others', { aud: ['https://x.org', 'https://y.org'] }, undefined],
    ['for nobody', { aud: [] }, undefined],
    ['for a number', { aud: 7 }, undefined],
    ['for elsewhere and of somebody else', { aud: 'x', me: 'https://e.org/' }, undefined],
    ['active as a number', { active: 1 }, isAway],
  ];
  const others: readonly (readonly [name: string, answer: object | string, want: unknown])[] = [
    ['not active', { active: false }, undefined],
    ['an end without end', `{"active":true,"me":"${me}","exp":1e999}`, isAway],
    ['nothing of it', {}, isAway],
    ['a list', [active], isAway],
    ['null', 'null', isAway],
    ['no JSON', '<html>', isAway],
    ['no body', '', isAway],
    ['a key of the prototype', '{"__proto__":{"active":true},"me":"https://ada.example.org/"}', isAway],
    ['a key twice: the last one counts', '{"active":true,"active":false}', undefined],
    ['very deep', `${'['.repeat(30_000)}${']'.repeat(30_000)}`, isAway],
  ];
  const cases = [
    ...changes.map(([name, change, want]) => [name, { ...active, ...change }, want] as const),
    ...others,
  ];
  for (const [at, [name, answer, want]] of cases.entries()) {
    server.says(answer as Readonly<Record<string, unknown>> | string);
    const found = await verify(`token ${at}`).catch((error: Error) => error);
    if (want === isAway)
      t.ok(found instanceof Error && found.name !== 'ForeignProfileError', `${name}: it counts as away`);
    else if (want === undefined) t.equal(found, undefined, name);
    else t.match(found, want as object, name);
  }
});

t.test('on loopback, every loopback name counts as this service', async (t) => {
  const { server, verify } = await openRemote(t, 'http://127.0.0.1:4000');
  server.says({ ...active, resource: 'http://localhost:4000/mcp' });
  t.ok(await verify('one'));
  server.says({ ...active, resource: 'http://10.0.0.1:4000/mcp' });
  t.notOk(await verify('two'));
});

t.test('answers are cached', async (t) => {
  const { server, verify, clock } = await openRemote(t);
  const count = async (token: string) => {
    const before = server.asked.length;
    await verify(token).catch(() => undefined);
    return server.asked.length - before;
  };
  server.says(active);
  t.equal(await count('good'), 1);
  clock.now += 59_999;
  t.equal(await count('good'), 0, 'a good one for a minute');
  clock.now += 1;
  t.equal(await count('good'), 1, 'and no longer');
  clock.now -= 60_000;
  t.equal(await count('good'), 1, 'also where the clock was set back');

  server.says({ ...active, exp: clock.now / 1_000 + 30 });
  t.equal(await count('short'), 1);
  clock.now += 29_999;
  t.ok(await verify('short'));
  clock.now += 1;
  t.equal(await verify('short'), undefined, 'never past its end');

  server.says({ active: false });
  t.equal(await count('bad'), 1);
  clock.now += 9_999;
  t.equal(await count('bad'), 0, 'one that is not active for ten seconds');
  server.says(active);
  clock.now += 1;
  t.ok(await verify('bad'), 'and then it may have become active');

  server.says({ ...active, me: 'https://eve.example.org/' });
  t.equal(await count('foreign'), 1);
  t.equal(await count('foreign'), 0, "somebody else's is remembered too");
  await t.rejects(verify('foreign'), failsWith({ name: 'ForeignProfileError' }));

  server.says({ active: false });
  clock.now += 60_000;
  t.equal(await verify('good'), undefined, 'a revoked token is dead after a minute at most');

  server.says({});
  t.equal(await count('nonsense'), 1);
  t.equal(await count('nonsense'), 1, 'an answer without sense is not remembered');
  t.equal(await count('x'.repeat(5_000)), 0, 'what is too long to be a token is not asked about');
});

t.test('simultaneous requests with one token share one question', async (t) => {
  const { server, verify } = await openRemote(t);
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  server.says(async (_asked, response) => {
    await held;
    response.end(JSON.stringify(active));
  });
  const all = Array.from({ length: 50 }, () => verify('same'));
  const other = verify('other');
  release();
  const grants = await Promise.all(all);
  t.equal(new Set(grants.map((grant) => grant?.id)).size, 1);
  t.not((await other)?.id, grants[0]?.id, 'another token has another name');
  t.equal(server.asked.length, 2);
});

t.test('a server that goes down and comes back', async (t) => {
  const { server, verify, warnings, clock } = await openRemote(t);
  server.says(active);
  t.ok(await verify('known'));
  await server.stop();
  t.ok(await verify('known'), 'what is remembered goes on');
  await t.rejects(verify('new'), 'what is not cannot be checked');
  await t.rejects(verify('newer'));
  clock.now += 60_000;
  await t.rejects(verify('known'), 'and in the end nothing can');
  t.match(warnings, [/cannot check tokens: .*ECONNREFUSED/], 'the log says so once');
  await server.start();
  t.ok(await verify('known'), 'it comes back by itself');
  t.match(warnings, [/cannot check/, /checks tokens again/]);
  t.equal(warnings.length, 2);
});

t.test('while the server is silent, every request soon gets a 503', async (t) => {
  const { server, verifier, endTimers } = await openRemote(t, 'http://127.0.0.1:4000');
  server.says(endTimers);
  const { app } = await openTestApp(
    t,
    { 'one.md': '# One' },
    { verify: (token) => verifier.verify(token), signIn: { issuer: 'https://auth.example.org/' } },
  );
  const headers = { host: '127.0.0.1:4000', authorization: 'Bearer one' };
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
  const answers = await Promise.all([
    ...['/docs', '/docs/one', '/docs/one.pdf', '/openapi.json'].map((path) =>
      app.inject({ url: `/api/v1${path}`, headers }),
    ),
    app.inject({ method: 'POST', url: '/mcp', headers, payload: message }),
  ]);
  for (const answer of answers) {
    t.match(answer.json(), { status: 503, detail: /Tokens cannot be checked right now/ });
    t.match(answer.headers['retry-after'], /^\d+$/);
  }
});

t.test('invalid answers of the server', async (t) => {
  const { server, verify, endTimers, warnings } = await openRemote(t);
  const cases: readonly { name: string; answer: IntrospectionAnswer; reason: RegExp }[] = [
    {
      name: 'a redirect',
      answer: (_asked, response) => response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
      reason: /status 307/,
    },
    {
      name: 'an error',
      answer: (_asked, response) => response.writeHead(500).end('{"active":true}'),
      reason: /500/,
    },
    { name: 'a bad request', answer: (_asked, response) => response.writeHead(400).end(), reason: /400/ },
    { name: 'nothing found', answer: (_asked, response) => response.writeHead(404).end(), reason: /404/ },
    { name: 'it hangs up', answer: (_asked, response) => response.destroy(), reason: /./ },
    {
      name: 'a body without end',
      answer: (_asked, response) => {
        const more = () => {
          while (!response.destroyed && response.write('x'.repeat(8_192)));
        };
        response.on('drain', more);
        more();
      },
      reason: /more than 64 KiB/,
    },
    {
      name: 'compressed',
      answer: (_asked, response) => response.writeHead(200, { 'content-encoding': 'br' }).end('x'),
      reason: /compressed/,
    },
    {
      name: 'not UTF-8',
      answer: (_asked, response) => response.end(Buffer.from([0xff, 0xfe])),
      reason: /not JSON/,
    },
    { name: 'silence', answer: endTimers, reason: /in time/ },
    {
      name: 'a drop at a time',
      answer: (_asked, response) => {
        let drops = 0;
        const more = () => void (++drops < 100 ? response.write(' ', more) : endTimers());
        more();
      },
      reason: /in time/,
    },
  ];
  for (const { name, answer, reason } of cases) {
    warnings.length = 0;
    server.says(answer);
    await t.rejects(verify(name), name);
    t.match(warnings, [reason], `${name}: the log says why`);
    server.says({ active: false });
    t.equal(await verify(`after ${name}`), undefined);
  }
});

t.test('the token that the server asks for', async (t) => {
  const { server, verify, warnings, tokenFile } = await openRemote(t);
  server.says(({ headers }, response) => {
    if (headers.authorization === 'Bearer fresh') response.end(JSON.stringify(active));
    else response.writeHead(401).end('{"active":true}');
  });
  await t.rejects(verify('one'), 'a refused token is no answer about another');
  t.match(warnings, [/refuses the token in .*token/]);
  t.notMatch(warnings.join(), /our-own-token/, 'the log has the file, and not what is in it');
  await writeFile(tokenFile, 'fresh');
  t.ok(await verify('one'), 'a new one in the file counts at once');
  await writeFile(tokenFile, 'two words');
  t.ok(await verify('two'), 'and the file is not needed while it is good');
});

t.test('at most 512 tokens are checked at once, over 16 connections', async (t) => {
  const server = await serveIntrospection(t);
  const tokenFile = join(await temporaryFolder(t, { token: 'our-own-token\n' }), 'token');
  const waiting: ServerResponse[] = [];
  server.says((_, response) => void waiting.push(response));
  const startTimer = () => new AbortController().signal;
  const client = await createIntrospectionClient(server.address, tokenFile, () => undefined, startTimer);
  t.teardown(() => client.close());
  const all = Array.from({ length: 512 }, (_, at) => client.ask(`token ${at}`));
  await t.rejects(client.ask('one more'), { message: 'too many tokens are being checked' });
  await poll(
    async () => waiting.length,
    (count) => count === 16,
  );
  server.says(active);
  for (const response of waiting) response.end(JSON.stringify(active));
  t.equal((await Promise.all(all)).length, 512);
  t.equal(server.asked.length, 512);
  t.ok(await client.ask('later'), 'there is room again');
});

t.test('the file that contains it', async (t) => {
  const folder = await temporaryFolder(t, {
    ...{ good: '  secret-token\r\n', longest: 'x'.repeat(8_192), large: 'x'.repeat(8_193) },
    ...{ empty: '\n', two: 'one\ntwo', binary: new Uint8Array([0xff, 0x00, 0x41]) },
  });
  if (has('sh')) execFileSync('mkfifo', [join(folder, 'pipe')]);
  const warnings: string[] = [];
  const open = async (name: string) => {
    const address = new URL('https://auth.example.org/');
    const client = await createIntrospectionClient(address, join(folder, name), (text) =>
      warnings.push(text),
    );
    await client.close();
  };
  await chmod(join(folder, 'good'), 0o600);
  await open('good');
  t.strictSame(warnings, []);
  await open('longest');
  t.match(warnings, has('modes') ? [/All users of this machine can read .*longest/] : []);
  for (const name of ['empty', 'two', 'binary', 'large'])
    await t.rejects(open(name), failsWith({ message: /must contain one token/ }), name);
  for (const name of ['none', '', ...(has('sh') ? ['pipe'] : [])])
    await t.rejects(open(name), failsWith({ message: /is not a regular file|cannot be read/ }), name);
});

const remoteFlags = [
  ...['--auth=remote', '--issuer=https://auth.example.org', '--introspection-token-file=token'],
  '--introspection=https://auth.example.org/introspect',
];

t.test('the flags of --auth remote', async (t) => {
  const all = {
    ...{ auth: 'remote', issuer: 'https://auth.example.org', 'introspection-token-file': 'token' },
    introspection: 'https://auth.example.org/introspect',
    'allow-me': ['https://Ada.example.org', 'http://127.0.0.1:8000/'],
  };
  const parse = (changes: Readonly<Record<string, string | readonly string[] | undefined>>) => {
    const flags = Object.entries({ ...all, ...changes }).flatMap(([name, value = []]) =>
      [value].flat().map((one) => `--${name}=${one}`),
    );
    return parseServeConfig(parseOptions(serveOptions, flags, {}).values, {}).auth;
  };
  const gone = undefined;
  const noServer = { auth: gone, issuer: gone, introspection: gone, 'allow-me': gone };
  t.strictSame(parse({ ...noServer, 'introspection-token-file': gone }), { mode: 'self' }, 'the default');
  t.match(parse({}), {
    ...{ mode: 'remote', issuer: 'https://auth.example.org' },
    introspection: { href: 'https://auth.example.org/introspect' },
    allowed: ['https://ada.example.org/', 'http://127.0.0.1:8000/'],
  });
  const local = { introspection: 'http://127.0.0.1:8000/x', issuer: 'http://localhost:8000/' };
  t.match(parse(local), { issuer: 'http://localhost:8000/' }, 'http is fine on this machine');
  t.match(parse({ introspection: 'https://10.0.0.7/introspect' }), { mode: 'remote' }, 'a private network');
  const cases: readonly (readonly [change: Parameters<typeof parse>[0], message: RegExp])[] = [
    [{ auth: 'both' }, /--auth must be self or remote/],
    [{ issuer: gone }, /also needs --issuer/],
    [{ introspection: gone }, /also needs --introspection\./],
    [{ 'introspection-token-file': gone }, /also needs --introspection-token-file/],
    [{ 'allow-me': gone }, /also needs --allow-me/],
    [{ auth: 'self' }, /--issuer is only for --auth remote/],
    [{ auth: gone }, /only for --auth remote/],
    [{ introspection: 'http://10.0.0.7/' }, /must begin with https/],
    [{ introspection: 'introspect' }, /--introspection must be an address/],
    [{ introspection: 'file:///x' }, /must be an address/],
    [{ introspection: 'https://a:b@x.org/' }, /must not have a user name/],
    [{ issuer: 'http://auth.example.org' }, /must begin with https/],
    [{ issuer: 'https://auth.example.org/?x' }, /must not have a query/],
    [{ 'allow-me': 'ada' }, /--allow-me must be/],
    [{ 'allow-me': 'https://x.org:8443/' }, /--allow-me must be/],
  ];
  for (const [change, message] of cases)
    t.throws(() => parse(change), { name: 'UsageError', message }, String(message));
});

t.test('profile URLs', async (t) => {
  const longest = 'https://example.org/'.padEnd(2_048, 'a');
  const read = (text: string) => {
    const values = parseOptions(serveOptions, [...remoteFlags, `--allow-me=${text}`], {}).values;
    const { auth } = parseServeConfig(values, {});
    return 'allowed' in auth ? auth.allowed[0] : undefined;
  };
  const good: readonly (readonly [text: string, want: string])[] = [
    ['https://example.org', 'https://example.org/'],
    ['https://example.org/ada?x=1', 'https://example.org/ada?x=1'],
    ['http://example.org/', 'http://example.org/'],
    ['HTTPS://Example.ORG/Ada', 'https://example.org/Ada'],
    ['http://127.0.0.1:4000', 'http://127.0.0.1:4000/'],
    ['http://localhost:4000/', 'http://localhost:4000/'],
    ['http://[::1]:4000/', 'http://[::1]:4000/'],
    ['https://example.org:443/', 'https://example.org/'],
    ['https://example.org/?a=/../', 'https://example.org/?a=/../'],
    [longest, longest],
  ];
  for (const [text, want] of good) t.equal(read(text), want, text);
  const bad = [
    'https://example.org:8443/',
    'https://192.0.2.1/',
    'https://[2001:db8::1]/',
    'https://3221225985/',
    'https://example.org/#me',
    'https://example.org/#',
    'https://ada@example.org/',
    'https://example.org/a/../b',
    'https://example.org/%2E/b',
    'https://example.org./',
    'mailto:ada@example.org',
    'example.org',
    'https:/example.org',
    'https://example.org\\@evil.net/',
    'https://example.org/\n',
    '',
    `${longest}a`,
  ];
  for (const text of bad)
    t.throws(() => read(text), { name: 'UsageError', message: /^--allow-me must be/ }, text);
  fc.assert(
    fc.property(fc.oneof(fc.webUrl(), fc.string({ minLength: 1 })), (text) => {
      try {
        const url = read(text) ?? '';
        return read(url) === url;
      } catch (error) {
        return error instanceof Error && error.name === 'UsageError';
      }
    }),
  );
});

t.test('only a complete and active answer is accepted', async () => {
  const base = parseBaseUrl('https://docs.example.org');
  const value = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom(true, 'true', 'read', me, 'https://docs.example.org/mcp'),
  );
  const keys = ['active', 'me', 'scope', 'exp', 'iat', 'aud', 'resource', 'client_id'];
  const answer = fc.oneof(
    fc.json(),
    fc.dictionary(fc.constantFrom(...keys), value).map((object) => JSON.stringify(object)),
  );
  fc.assert(
    fc.property(answer, (text) => {
      try {
        const found = parseIntrospection(text, base);
        const said: unknown = JSON.parse(text).active;
        return found.isActive === (said === true || said === 'true');
      } catch (error) {
        return error instanceof Error;
      }
    }),
    { numRuns: 2_000 },
  );
});
