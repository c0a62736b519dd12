import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { createToken } from '../../docs-service/auth/accessToken.ts';
import { parseClientId } from '../../docs-service/auth/clientId.ts';
import { Parameters, parseAuthorizationRequest } from '../../docs-service/auth/oauthRequest.ts';
import { checkPassword, isPassword } from '../../docs-service/auth/passwords.ts';
import { tryProfileUrl } from '../../docs-service/auth/profileUrl.ts';
import { redirectUriProblem } from '../../docs-service/auth/redirectUri.ts';
import type { TokenStore } from '../../docs-service/auth/tokenStore.ts';
import { TokenVerifier } from '../../docs-service/auth/tokenVerifier.ts';
import { parseBaseUrl, tryHostname } from '../../docs-service/base/baseUrl.ts';
import { lockDataFolder, openDataFolder, tryLock } from '../../docs-service/base/dataFolder.ts';
import { LruCache } from '../../docs-service/base/lruCache.ts';
import { parseDuration, parseNumber, parseOptions } from '../../docs-service/base/options.ts';
import { RateLimiter } from '../../docs-service/base/rateLimiter.ts';
import { readTokenFile } from '../../docs-service/base/tokenFile.ts';
import { tryBearerChallenge } from '../../docs-service/commands/discoveryRequest.ts';
import { addressOf, listen } from '../../docs-service/http/listener.ts';
import { OpenCount } from '../../docs-service/http/openCount.ts';
import { HttpProblem } from '../../docs-service/http/problems.ts';
import { parseNetwork } from '../../docs-service/http/trustedProxies.ts';
import { parseServeConfig, serveOptions } from '../../docs-service/serveConfig.ts';
import { has } from '../support/systems.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';

const base = parseBaseUrl('https://docs.example.org/library');

t.test('the most that may be is accepted, and one more is refused', async (t) => {
  const serve = (flag: string, value: string) =>
    parseServeConfig(parseOptions(serveOptions, [`--${flag}`, value], {}).values, {});
  const folder = await temporaryFolder(t, {
    most: `${'x'.repeat(8_191)}\n`,
    more: `${'x'.repeat(8_192)}\n`,
  });
  const long = (start: string, length: number) => start.padEnd(length, 'a');
  const asked = (state: string) =>
    new Parameters(
      `response_type=code&code_challenge=${'a'.repeat(43)}&code_challenge_method=S256&state=${state}`,
    );
  const cases: readonly { name: string; take: (text: string) => unknown; most: string; more: string }[] = [
    {
      name: 'the path of the base URL',
      take: (path) => parseBaseUrl(`https://docs.example.org${path}`),
      most: long('/', 200),
      more: long('/', 201),
    },
    {
      name: 'the port of a Host header',
      take: (port) => refused(tryHostname(`localhost:${port}`)),
      most: '65535',
      more: '65536',
    },
    { name: 'the least port', take: (port) => serve('port', port), most: '0', more: '-1' },
    { name: 'the greatest port', take: (port) => serve('port', port), most: '65535', more: '65536' },
    { name: 'the least limit', take: (limit) => serve('limit-requests', limit), most: '1', more: '0' },
    {
      name: 'the greatest limit',
      take: (limit) => serve('limit-renders', limit),
      most: '1000000',
      more: '1000001',
    },
    { name: 'the time between scans', take: (time) => serve('rescan', time), most: '86400', more: '86401' },
    {
      name: 'the time of a render',
      take: (time) => serve('render-seconds', time),
      most: '3600',
      more: '3601',
    },
    { name: 'the least time', take: (time) => serve('rescan', time), most: '1', more: '0' },
    { name: 'a title', take: (text) => serve('title', text), most: long('', 100), more: long('', 101) },
    { name: 'a lifetime', take: (text) => parseDuration('expires', text), most: '1s', more: '0s' },
    { name: 'a network', take: parseNetwork, most: '10.0.0.0/32', more: '10.0.0.0/33' },
    { name: 'a network of IPv6', take: parseNetwork, most: 'fc00::/128', more: 'fc00::/129' },
    {
      name: 'a redirect address',
      take: (text) => refused(redirectUriProblem(text) === undefined ? text : undefined),
      most: long('https://app.example.org/', 2_048),
      more: long('https://app.example.org/', 2_049),
    },
    {
      name: 'a profile URL',
      take: (text) => refused(tryProfileUrl(text)),
      most: long('https://example.org/', 2_048),
      more: long('https://example.org/', 2_049),
    },
    {
      name: 'the identifier of a client',
      take: parseClientId,
      most: long('https://app.example.org/', 1_024),
      more: long('https://app.example.org/', 1_025),
    },
    {
      name: 'a parameter of a request',
      take: (state) => parseAuthorizationRequest(asked(state), base),
      most: long('', 2_048),
      more: long('', 2_049),
    },
    { name: 'the shortest password', take: checkPassword, most: long('', 12), more: long(' ', 12) },
    { name: 'the longest password', take: checkPassword, most: long('', 1_000), more: long('', 1_001) },
    {
      name: 'the header of a challenge',
      take: (text) => refused(tryBearerChallenge(text)),
      most: long('Bearer a=', 8_192),
      more: long('Bearer a=', 8_193),
    },
    {
      name: 'the file with a token',
      take: async (name) => readTokenFile('--file', join(folder, name)),
      most: 'most',
      more: 'more',
    },
  ];
  for (const { name, take, most, more } of cases) {
    await t.resolves(async () => take(most), `${name}: the most`);
    await t.rejects(async () => take(more), `${name}: one more`);
  }
});

/** What is undefined was refused. */
function refused<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('refused');
  return value;
}

t.test('lifetimes count in every unit, and a year has 365 days', async (t) => {
  const day = 86_400_000;
  const cases = { '5s': 5_000, '2m': 120_000, '12h': day / 2, '30d': 30 * day, '2y': 730 * day };
  for (const [text, want] of Object.entries(cases)) t.equal(parseDuration('expires', text), want, text);
  for (const text of ['', '5', 'd', '1w', '-1d', '1.5d', '1 d', '1234567s'])
    t.throws(() => parseDuration('expires', text), { message: /^--expires must be a time/ }, text);
  t.equal(parseNumber('port', undefined, 0, 9), undefined);
});

t.test('a challenge has the parameters of its own scheme, as each was given first', async (t) => {
  const challenge =
    'Basic realm="a", bEARER Scope=read, realm="b \\"c\\"", realm=d, empty="", Digest realm="e"';
  t.strictSame(Object.fromEntries(tryBearerChallenge(challenge) ?? []), {
    scope: 'read',
    realm: 'b "c"',
    empty: '',
  });
  for (const none of [null, '', 'Basic realm="a"', 'realm="Bearer"'])
    t.equal(tryBearerChallenge(none), undefined);
});

t.test('a password that no hash could come from is refused before it is hashed', async (t) => {
  const hash = 'scrypt$1024$8$1$c2FsdA$';
  t.notOk(await isPassword('x'.repeat(4_001), hash));
  t.notOk(await isPassword('x', hash.replace('scrypt', 'other')), 'another kind of hash');
  t.notOk(await isPassword('x', 'scrypt$3$8$1$c2FsdA$AAAA'), 'costs that cannot be');
});

t.test('a cache keeps what was used last, up to its size', async (t) => {
  const cache = new LruCache<number>(10);
  for (const [at, key] of ['a', 'b', 'c'].entries()) cache.set(key, at, 3);
  t.equal(cache.get('a'), 0);
  cache.set('d', 3, 3);
  t.strictSame(
    ['a', 'b', 'c', 'd'].map((key) => cache.get(key)),
    [0, undefined, 2, 3],
    'the oldest goes',
  );
  cache.set('e', 4, 1);
  t.strictSame(
    ['a', 'c', 'd', 'e'].map((key) => cache.get(key)),
    [0, 2, 3, 4],
    'exactly full',
  );
  cache.set('a', 5, 11);
  t.equal(cache.get('a'), undefined, 'what is larger than all is not kept, nor what it would replace');
  t.equal(cache.get('c'), 2, 'and pushes nothing out');
  cache.set('f', 6, 3);
  t.equal(cache.get('c'), 2, 'what was deleted takes no room');
  cache.set('g', 7, 10);
  t.strictSame(
    ['c', 'd', 'e', 'f', 'g'].map((key) => cache.get(key)),
    [...[undefined, undefined, undefined, undefined], 7],
  );
  cache.clear();
  t.equal(cache.get('g'), undefined);
  cache.set('h', 8, 5);
  cache.set('i', 9, 5);
  t.strictSame([cache.get('h'), cache.get('i')], [8, 9], 'after it was cleared, all of it is free');
});

t.test('what is open at once is counted for each caller and in all', async (t) => {
  const count = new OpenCount({ what: 'downloads', one: 'token', maxOfOne: 2, maxOfAll: 4 });
  const ends = ['a', 'a', 'b'].map((caller) => count.add(caller));
  const tooManyOfOne = {
    status: 429,
    message: /^One token .*at most 2 downloads/,
    headers: { 'retry-after': '5' },
  };
  t.match(
    thrownBy(() => count.add('a')),
    tooManyOfOne,
  );
  ends[0]?.();
  ends.push(count.add('a'));
  t.match(
    thrownBy(() => count.add('a')),
    tooManyOfOne,
    'one ended, and one more began',
  );
  ends.push(count.add('b'));
  t.match(
    thrownBy(() => count.add('c')),
    { status: 503, message: /^Too many downloads/ },
  );
  for (const end of ends.slice(1)) end();
  for (const caller of ['a', 'a', 'b', 'b']) count.add(caller);
  t.match(
    thrownBy(() => count.add('a')),
    tooManyOfOne,
    'when all have ended, as many may begin, and no more',
  );
  t.match(
    thrownBy(() => count.add('c')),
    { status: 503 },
  );
});

function thrownBy(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error instanceof HttpProblem ? error : undefined;
  }
}

t.test('a limit of requests fills again evenly, and says when', async (t) => {
  let now = 1_000_000;
  const limiter = new RateLimiter(6, () => now);
  const first = { isAllowed: true, remaining: 5, resetAfter: 10 };
  t.strictSame(limiter.take('a'), first, 'ten seconds for each of six');
  for (let taken = 0; taken < 4; taken++) limiter.take('a');
  t.strictSame(limiter.take('a'), { isAllowed: true, remaining: 0, resetAfter: 60 });
  t.strictSame(limiter.take('a'), { isAllowed: false, remaining: 0, resetAfter: 10 });
  t.strictSame(limiter.take('b'), first, 'another caller has its own');
  now += 9_999;
  t.strictSame(limiter.take('a'), { isAllowed: false, remaining: 0, resetAfter: 1 });
  now += 1;
  t.strictSame(limiter.take('a'), { isAllowed: true, remaining: 0, resetAfter: 60 });
  now += 25_000;
  t.strictSame(limiter.take('a'), { isAllowed: true, remaining: 1, resetAfter: 45 });
  now += 3_600_000;
  t.strictSame(limiter.take('a'), first, 'it is never fuller than full');
});

t.test(
  'a bearer may do what the store says, for less than a second and until the token expires',
  async (t) => {
    let now = 5_000_000;
    const { token, hash, grant } = createToken({ scopes: ['read'], lifetime: 10_000, now });
    let asked = 0;
    let isDown = false;
    const noted: (readonly [string, number])[] = [];
    const store: Pick<TokenStore, 'find' | 'noteUses'> = {
      async find(wanted) {
        asked += 1;
        if (isDown) throw new Error('down');
        return wanted === hash ? grant : undefined;
      },
      async noteUses(uses) {
        noted.push(...uses);
      },
    };
    const unused = () => Promise.reject(new Error('not used'));
    const whole: TokenStore = { add: unused, list: unused, revoke: unused, ...store };
    const verifier = new TokenVerifier({ store: whole, now: () => now, onError: (error) => t.fail(error) });
    t.equal(hash, createHash('sha256').update(token).digest('hex'));
    const steps: readonly {
      name: string;
      at: number;
      isDown?: true;
      want: 'grant' | 'nothing' | 'error';
      asks: number;
    }[] = [
      { name: 'the first request asks', at: 0, want: 'grant', asks: 1 },
      { name: 'the next ones do not', at: 799, want: 'grant', asks: 1 },
      { name: 'until the answer is old', at: 800, want: 'grant', asks: 2 },
      { name: 'a clock that is set back asks again', at: 700, want: 'grant', asks: 3 },
      { name: 'a failure', at: 5_000, isDown: true, want: 'error', asks: 4 },
      { name: 'a failure is no answer', at: 5_000, want: 'grant', asks: 5 },
      { name: 'the last moment', at: 9_999, want: 'grant', asks: 6 },
      { name: 'the end', at: 10_000, want: 'nothing', asks: 6 },
    ];
    for (const { name, at, want, asks, ...more } of steps) {
      now = 5_000_000 + at;
      isDown = more.isDown ?? false;
      const found = await verifier.verify(token).then(
        (one) => (one === undefined ? 'nothing' : 'grant'),
        () => 'error',
      );
      t.equal(found, want, name);
      t.equal(asked, asks, `${name}: how often the store was asked`);
    }
    t.equal(await verifier.verify('rdocs_other'), undefined);
    await verifier.close();
    t.strictSame(noted, [[grant.id, 5_009_999]], 'the last use is written at the end');
  },
);

t.test('of very many callers, the one that came least recently is forgotten', async (t) => {
  const limiter = new RateLimiter(1, () => 0);
  for (const caller of ['first', 'second']) limiter.take(caller);
  for (let other = 0; other < 99_998; other++) limiter.take(`other ${other}`);
  t.notOk(limiter.take('first').isAllowed, 'as many as are kept');
  limiter.take('one more');
  t.notOk(limiter.take('first').isAllowed, 'it came again');
  t.ok(limiter.take('second').isAllowed);
});

t.test('the tokens that are remembered are bounded', async (t) => {
  let asked = 0;
  const unused = () => Promise.reject(new Error('not used'));
  const store: TokenStore = {
    ...{ add: unused, list: unused, revoke: unused, noteUses: async () => undefined },
    async find() {
      asked += 1;
      return undefined;
    },
  };
  const verifier = new TokenVerifier({ store, now: () => 0, onError: (error) => t.fail(error) });
  for (let at = 0; at < 10_000; at++) await verifier.verify(`token ${at}`);
  await verifier.verify('token 0');
  t.equal(asked, 10_000, 'as many as are remembered');
  await verifier.verify('one more');
  await verifier.verify('token 0');
  t.equal(asked, 10_002, 'they are asked for again');
  await verifier.close();
});

t.test('why the service cannot listen is said in a sentence', async (t) => {
  const bounds = {
    ...{ headersTime: 10_000, requestTime: 10_000, max: 10, maxOfOne: 10, maxStall: 10_000 },
    isProxy: () => false,
  };
  const first = await listen({ host: '127.0.0.1', port: 0, bounds });
  t.teardown(() => first.close(0));
  const { port } = first;
  const cases: readonly { name: string; host: string; want: RegExp }[] = [
    {
      name: 'a port that is in use',
      host: '127.0.0.1',
      want: /^port \d+ of 127\.0\.0\.1 is in use\. .*--port\.$/,
    },
    {
      name: 'another machine',
      host: '203.0.113.1',
      want: /^203\.0\.113\.1 is not an address of this machine\. /,
    },
    { name: 'no machine', host: '999.0.0.1', want: /^cannot listen on 999\.0\.0\.1:\d+: .*999\.0\.0\.1\.$/ },
  ];
  for (const { name, host, want } of cases)
    await t.rejects(listen({ host, port, bounds }), { message: want }, name);
  const answer = await fetch(addressOf('127.0.0.1', port));
  t.equal(answer.status, 503, 'the service is starting');
  t.equal(answer.headers.get('retry-after'), '1');
  t.match(await answer.json(), { status: 503, title: 'Service Unavailable', detail: /is starting/ });
  const begun = new Promise<void>((resolve) =>
    first.serve((_request, response) => {
      response.write('begun');
      resolve();
    }),
  );
  const hanging = fetch(addressOf('127.0.0.1', port)).then((one) => one.text());
  await begun;
  await Promise.all([first.close(1), t.rejects(hanging, 'what takes too long is cut off')]);
  await t.resolves(first.close(1), 'it may be closed again');
  for (const [host, want] of [
    ['0.0.0.0', 'http://localhost:80'],
    ['::', 'http://localhost:80'],
    ['::1', 'http://[::1]:80'],
    ['docs.example.org', 'http://docs.example.org:80'],
  ] as const)
    t.equal(addressOf(host, 80), want);
});

t.test('why a data folder cannot be used is said in a sentence', async (t) => {
  const folder = await temporaryFolder(t, { file: '' });
  await t.rejects(openDataFolder(join(folder, 'file', 'data')), {
    message: /data is a file\. --data needs a folder\.$/,
  });
  if (!has('names')) return;
  await t.rejects(openDataFolder(join(folder, 'x'.repeat(300))), {
    message: /^The folder \S+x cannot be used: ENAMETOOLONG/,
  });
});

t.test('a lock file that is damaged is made anew, and a folder that is in use says by whom', async (t) => {
  const folder = await temporaryFolder(t, { 'serve.lock': 'x'.repeat(5_000) });
  const lock = await lockDataFolder(folder);
  await t.rejects(lockDataFolder(folder), {
    message: `process ${process.pid} already serves from ${folder}. Stop it, or choose another folder with --data.`,
  });
  await rm(join(folder, 'serve.pid'));
  await t.rejects(lockDataFolder(folder), { message: /^another process already serves/ });
  await lock.release();
  await t.rejects(tryLock(join(folder, 'none', 'lock')), { message: /./ });
});
