import { execFileSync } from 'node:child_process';
import { chmod, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { parseAuthConfig } from '../../docs-service/auth/authConfig.ts';
import { createIntrospectionClient, parseIntrospection } from '../../docs-service/auth/introspection.ts';
import { RemoteVerifier } from '../../docs-service/auth/remoteVerifier.ts';
import { parseBaseUrl } from '../../docs-service/base/baseUrl.ts';
import { UsageError } from '../../docs-service/base/options.ts';
import { readTokenFile } from '../../docs-service/base/tokenFile.ts';
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
  const cases: readonly { name: string; answer: unknown; want: unknown }[] = [
    { name: 'active', answer: active, want: good },
    { name: 'active as a text', answer: { ...active, active: 'true' }, want: good },
    { name: 'not active', answer: { active: false }, want: undefined },
    { name: 'not active, as a text', answer: { ...active, active: 'false' }, want: undefined },
    { name: 'not active, and more', answer: { ...active, active: false }, want: undefined },
    { name: 'an end', answer: { ...active, exp: later }, want: { expires: later * 1_000 } },
    { name: 'an end as a text', answer: { ...active, exp: String(later) }, want: { expires: later * 1_000 } },
    { name: 'an end as a fraction', answer: { ...active, exp: later + 0.5 }, want: good },
    { name: 'an end that has passed', answer: { ...active, exp: start / 1_000 - 1 }, want: undefined },
    { name: 'an end at this moment', answer: { ...active, exp: start / 1_000 }, want: undefined },
    { name: 'an end that has passed, as a text', answer: { ...active, exp: '1' }, want: undefined },
    { name: 'no end', answer: { ...active, exp: null }, want: { expires: start + 60_000 } },
    { name: 'an end that is none', answer: { ...active, exp: 'tomorrow' }, want: isAway },
    { name: 'an end that is a list', answer: { ...active, exp: [later] }, want: isAway },
    { name: 'an end without end', answer: `{"active":true,"me":"${me}","exp":1e999}`, want: isAway },
    { name: 'other scopes', answer: { ...active, scope: 'create  update' }, want: { scopes: [] } },
    { name: 'no scope', answer: { ...active, scope: undefined }, want: { scopes: [] } },
    { name: 'a scope twice', answer: { ...active, scope: 'read read' }, want: { scopes: ['read'] } },
    { name: 'scopes as a list', answer: { ...active, scope: ['read'] }, want: isAway },
    { name: 'somebody else', answer: { ...active, me: 'https://eve.example.org/' }, want: foreign },
    { name: 'nobody', answer: { ...active, me: undefined }, want: foreign },
    { name: 'a person that is a list', answer: { ...active, me: [me] }, want: foreign },
    { name: 'a person who is none', answer: { ...active, me: 'javascript:1' }, want: foreign },
    { name: 'a page below', answer: { ...active, me: `${me}eve` }, want: foreign },
    {
      name: 'a host that begins alike',
      answer: { ...active, me: 'https://ada.example.org.evil.net/' },
      want: foreign,
    },
    { name: 'by http', answer: { ...active, me: me.replace('https', 'http') }, want: foreign },
    { name: 'in capital letters', answer: { ...active, me: 'https://ADA.example.org' }, want: { me } },
    { name: 'somebody with a path', answer: { ...active, me: 'https://example.net/ben' }, want: good },
    { name: 'for here', answer: { ...active, aud: 'https://docs.example.org' }, want: good },
    { name: 'for here, with a slash', answer: { ...active, aud: 'https://docs.example.org/' }, want: good },
    { name: 'for agents here', answer: { ...active, resource: 'https://docs.example.org/mcp' }, want: good },
    {
      name: 'for here and there',
      answer: { ...active, aud: ['https://x.org', 'https://docs.example.org/mcp/'] },
      want: good,
    },
    { name: 'for elsewhere', answer: { ...active, aud: 'https://x.org/' }, want: undefined },
    {
      name: 'for elsewhere, by resource',
      answer: { ...active, resource: 'https://x.org/' },
      want: undefined,
    },
    {
      name: 'for two others',
      answer: { ...active, aud: ['https://x.org', 'https://y.org'] },
      want: undefined,
    },
    { name: 'for nobody', answer: { ...active, aud: [] }, want: undefined },
    { name: 'for a number', answer: { ...active, aud: 7 }, want: undefined },
    {
      name: 'for elsewhere and of somebody else',
      answer: { ...active, aud: 'x', me: 'https://e.org/' },
      want: undefined,
    },
    { name: 'nothing of it', answer: {}, want: isAway },
    { name: 'active as a number', answer: { ...active, active: 1 }, want: isAway },
    { name: 'a list', answer: [active], want: isAway },
    { name: 'null', answer: 'null', want: isAway },
    { name: 'no JSON', answer: '<html>', want: isAway },
    { name: 'no body', answer: '', want: isAway },
    {
      name: 'a key of the prototype',
      answer: '{"__proto__":{"active":true},"me":"https://ada.example.org/"}',
      want: isAway,
    },
    { name: 'a key twice: the last one counts', answer: '{"active":true,"active":false}', want: undefined },
    { name: 'very deep', answer: `${'['.repeat(30_000)}${']'.repeat(30_000)}`, want: isAway },
  ];
  for (const [at, { name, answer, want }] of cases.entries()) {
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
    good: '  secret-token\r\n',
    empty: '\n',
    two: 'one\ntwo',
    binary: new Uint8Array([0xff, 0x00, 0x41]),
    large: 'x'.repeat(8_193),
    longest: 'x'.repeat(8_192),
  });
  const path = (name: string) => join(folder, name);
  await chmod(path('good'), 0o600);
  t.strictSame(await readTokenFile('--introspection-token-file', path('good')), {
    text: 'secret-token',
    isOpenToOthers: false,
  });
  await chmod(path('good'), 0o644);
  t.match(await readTokenFile('--introspection-token-file', path('good')), { isOpenToOthers: has('modes') });
  t.equal((await readTokenFile('--introspection-token-file', path('longest'))).text.length, 8_192);
  for (const name of ['empty', 'two', 'binary', 'large'])
    await t.rejects(
      readTokenFile('--introspection-token-file', path(name)),
      failsWith({ message: /must contain one token/ }),
      name,
    );
  await t.rejects(
    readTokenFile('--introspection-token-file', path('none')),
    failsWith({ message: /cannot be read/ }),
  );
  await t.rejects(
    readTokenFile('--introspection-token-file', folder),
    failsWith({ message: /is not a regular file|cannot be read/ }),
  );
  if (!has('sh')) return;
  execFileSync('mkfifo', [path('pipe')]);
  await t.rejects(
    readTokenFile('--introspection-token-file', path('pipe')),
    failsWith({ message: /is not a regular file/ }),
    'a pipe blocks nobody',
  );
});

t.test('the flags of --auth remote', async (t) => {
  const all = {
    auth: 'remote',
    issuer: 'https://auth.example.org',
    introspection: 'https://auth.example.org/introspect',
    'introspection-token-file': 'token',
    'allow-me': ['https://Ada.example.org', 'http://127.0.0.1:8000/'],
  };
  const nothing = { ...all, auth: undefined, issuer: undefined, introspection: undefined, 'allow-me': [] };
  const none = { ...nothing, 'introspection-token-file': undefined };
  t.strictSame(parseAuthConfig(none), { mode: 'self' }, 'self is the default');
  t.strictSame(parseAuthConfig({ ...none, auth: 'self' }), { mode: 'self' });
  t.match(parseAuthConfig(all), {
    mode: 'remote',
    issuer: 'https://auth.example.org',
    introspection: { href: 'https://auth.example.org/introspect' },
    allowed: ['https://ada.example.org/', 'http://127.0.0.1:8000/'],
  });
  const local = { ...all, introspection: 'http://127.0.0.1:8000/x', issuer: 'http://localhost:8000/' };
  t.match(parseAuthConfig(local), { issuer: 'http://localhost:8000/' }, 'http is fine on this machine');
  const privately = { ...all, introspection: 'https://10.0.0.7/introspect' };
  t.match(parseAuthConfig(privately), { mode: 'remote' }, 'and so is a private network by https');
  const cases: readonly { name: string; change: object; message: RegExp }[] = [
    { name: 'another mode', change: { auth: 'both' }, message: /--auth must be self or remote/ },
    { name: 'no issuer', change: { issuer: undefined }, message: /also needs --issuer/ },
    {
      name: 'no introspection',
      change: { introspection: undefined },
      message: /also needs --introspection\./,
    },
    {
      name: 'no token',
      change: { 'introspection-token-file': undefined },
      message: /also needs --introspection-token-file/,
    },
    { name: 'nobody', change: { 'allow-me': [] }, message: /also needs --allow-me/ },
    {
      name: 'remote flags for self',
      change: { auth: 'self' },
      message: /--issuer is only for --auth remote/,
    },
    { name: 'remote flags for nothing', change: { auth: undefined }, message: /only for --auth remote/ },
    {
      name: 'one flag for self',
      change: { ...none, 'allow-me': all['allow-me'] },
      message: /--allow-me is only for/,
    },
    { name: 'in the clear', change: { introspection: 'http://10.0.0.7/' }, message: /must begin with https/ },
    {
      name: 'no address',
      change: { introspection: 'introspect' },
      message: /--introspection must be an address/,
    },
    { name: 'another scheme', change: { introspection: 'file:///x' }, message: /must be an address/ },
    {
      name: 'a password in it',
      change: { introspection: 'https://a:b@x.org/' },
      message: /must not have a user name/,
    },
    {
      name: 'an issuer in the clear',
      change: { issuer: 'http://auth.example.org' },
      message: /must begin with https/,
    },
    {
      name: 'an issuer with a query',
      change: { issuer: 'https://auth.example.org/?x' },
      message: /must not have a query/,
    },
    { name: 'nobody by that name', change: { 'allow-me': ['ada'] }, message: /--allow-me must be/ },
    {
      name: 'a port elsewhere',
      change: { 'allow-me': ['https://x.org:8443/'] },
      message: /--allow-me must be/,
    },
  ];
  for (const { name, change, message } of cases) {
    const parse = () => parseAuthConfig({ ...all, ...change });
    t.throws(parse, failsWith({ message }), name);
    t.throws(parse, UsageError);
  }
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
