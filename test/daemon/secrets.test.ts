import { once } from 'node:events';
import { chmodSync, openSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { join } from 'node:path';
import fc from 'fast-check';
import type { Test } from 'tap';
import t from 'tap';
import { RunnerError } from '../../daemon/base/errors.ts';
import { createLog } from '../../daemon/base/log.ts';
import { maxNesting } from '../../daemon/base/nesting.ts';
import { redactMessage } from '../../daemon/config/messageRedaction.ts';
import { readSecrets } from '../../daemon/config/secretSources.ts';
import { createSecretStore } from '../../daemon/config/secrets.ts';
import type { UserAuth } from '../../daemon/config/userFile.ts';
import { toOutgoing } from '../../daemon/rpc/frameConnection.ts';
import { failureOfAnswer } from '../../daemon/runner/http/answerFailure.ts';
import { failureOfErrorLine, ollamaErrors } from '../../daemon/runner/ollama/errorTexts.ts';
import { createRedaction } from '../../protocol/base/redaction.ts';
import type { SecretLine } from '../../protocol/messages/initialize.ts';
import { listModelsRequest, probeCatalogRequest } from '../../protocol/messages/models.ts';
import { probeRequest, type Status, statusDidChange, statusRequest } from '../../protocol/messages/status.ts';
import { createCertificate } from '../support/certificates.ts';
import { startPair } from '../support/daemonPair.ts';
import { failsWith } from '../support/failsWith.ts';
import { needs } from '../support/parts.ts';
import { closeServer, portOf } from '../support/recordings.ts';
import { has } from '../support/systems.ts';

/** Tokens of any characters; the mask itself is no secret. */
const token = fc
  .oneof(fc.string({ minLength: 8, maxLength: 60 }), fc.stringMatching(/^[\\"<>&/ a-z]{8,40}$/))
  .filter(
    (text) => text.trim().length >= 8 && !text.includes('*') && !'the runner says'.includes(text.trim()),
  );

t.test('no form of a planted token leaves, under any key', (t) => {
  fc.assert(
    fc.property(token, fc.array(token, { maxLength: 3 }), fc.string(), (planted, others, around) => {
      const redaction = createRedaction();
      for (const text of [...others, planted]) redaction.add(text);
      const inJson = JSON.stringify({ error: planted });
      const texts = [planted, inJson, JSON.stringify(inJson), encodeURIComponent(planted), planted.trim()];
      for (const text of texts) {
        const said = redaction.redact(`${around}${text}${around}`);
        // Two that overlap may leave a piece of either, but never the whole.
        t.notOk(said.includes(planted), 'as it is', { planted, said });
        t.notOk(said.includes(JSON.stringify(planted).slice(1, -1)), 'as JSON');
      }
      const sent = redactMessage(
        {
          jsonrpc: '2.0',
          id: 1,
          result: {
            version: planted,
            models: [{ name: planted, details: [inJson] }],
            notices: [{ message: inJson }],
          },
          error: {
            code: 1,
            message: texts.join(' '),
            data: { signinUrl: `https://x/?k=${planted}`, model: planted },
          },
        },
        redaction,
      );
      t.notOk(JSON.stringify(sent).includes(JSON.stringify(planted).slice(1, -1)), 'in a message');
    }),
    { numRuns: 150 },
  );
  t.end();
});

/** A text cut at random places. */
const pieces = (text: string) =>
  fc.array(fc.nat(text.length), { maxLength: 40 }).map((cuts) => {
    const ends = [...cuts.toSorted((a, b) => a - b), text.length];
    return ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end));
  });

const base64Of = (text: string, before: number, encoding: 'base64' | 'base64url') =>
  Buffer.concat([Buffer.alloc(before, 'x'), Buffer.from(`${text}!`)]).toString(encoding);

t.test('a token with blanks around it is masked without them too', async (t) => {
  const { redact, add } = createRedaction();
  add(' s3cret-token\n');
  t.equal(redact('Bearer s3cret-token, and no other'), 'Bearer ***, and no other');
  t.equal(redact('> s3cret-token\n<'), '>***<');
});

t.test('a token in a stream is withheld until it is complete, however the stream is cut', (t) => {
  const long = token.filter((text) => text.trim().length >= 16);
  const parts = fc.tuple(
    fc.array(long, { minLength: 1, maxLength: 3 }),
    fc.array(fc.nat(9), { maxLength: 8 }),
  );
  fc.assert(
    fc.property(
      parts
        .map(([secrets, order]) => {
          const forms = secrets.flatMap((secret) => [
            ...[secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)],
            encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase()),
            ...[0, 1, 2].map((before) => base64Of(secret, before, before === 1 ? 'base64url' : 'base64')),
            secret.slice(0, -1),
          ]);
          return { secrets, text: order.map((at) => forms[at % forms.length] ?? '').join(', ') };
        })
        .chain(({ secrets, text }) => fc.record({ secrets: fc.constant(secrets), cut: pieces(text) })),
      ({ secrets, cut }) => {
        const redaction = createRedaction();
        for (const secret of secrets) redaction.add(secret);
        const text = cut.join('');
        const stream = redaction.stream(16);
        const said = cut.map((piece) => stream.add(piece)).join('') + stream.end();
        t.equal(said, redaction.redactKnown(text, 16), 'as if it had come at once');
        t.equal(redaction.redactKnown(said, 16), said, 'and nothing is left to find');
        // Where text and thinking take turns, the first few characters may be out already.
        const torn = redaction.stream(16);
        const out = cut.map((piece) => torn.add(piece) + torn.pause()).join('') + torn.end();
        t.equal(redaction.redactKnown(out, 16), out, 'also if something else is said in between');
      },
    ),
    { numRuns: 200 },
  );
  t.end();
});

t.test('a stream without a token is unchanged, and nothing stays withheld', (t) => {
  fc.assert(
    fc.property(
      token.filter((text) => text.length >= 16),
      fc.string({ maxLength: 200, unit: 'grapheme' }).chain(pieces),
      (secret, cut) => {
        const stream = createRedaction().stream(16);
        for (const piece of cut) t.equal(stream.add(piece), piece, 'at once where there is no token');
        const redaction = createRedaction();
        redaction.add(secret);
        const guarded = redaction.stream(16);
        const said = cut.map((piece) => guarded.add(piece)).join('');
        t.equal(said + guarded.end(), cut.join(''));
      },
    ),
  );
  const redaction = createRedaction();
  redaction.add('sk-of-sixteen-chars');
  const stream = redaction.stream(16);
  t.strictSame(
    ['see sk-', 'of-', 'six, and ', 'sk-of-sixteen-', 'chars', ', s'].map((piece) => stream.add(piece)),
    ['see ', '', 'sk-of-six, and ', '', '***', ', '],
    'only what may be the beginning of one waits',
  );
  t.equal(stream.end(), 's');
  t.end();
});

t.test('base64 is found wherever the token begins, and short words in a stream stay', (t) => {
  const redaction = createRedaction();
  for (const secret of ['ollama', 'sk-VerySecretToken+1234/abcd=EFGH?>~']) redaction.add(secret);
  for (const encoding of ['base64', 'base64url'] as const)
    for (const before of [0, 1, 2, 3, 6]) {
      const text = base64Of('sk-VerySecretToken+1234/abcd=EFGH?>~', before, encoding);
      t.match(redaction.redactKnown(text, 16), /^.{0,11}\*\*\*.{0,4}$/, `${encoding}, ${before} bytes later`);
    }
  const stream = redaction.stream(16);
  t.equal(['import ', 'oll', 'ama'].map((piece) => stream.add(piece)).join(''), 'import ollama');
  redaction.add('one-that-comes-later');
  t.equal(['one-that-', 'comes-later'].map((piece) => stream.add(piece)).join(''), '***');
  t.end();
});

t.test('the longest secret is removed in full, even where a text was cut', (t) => {
  const redaction = createRedaction();
  for (const text of ['abcd-old', 'abcd-old-and-new', 'new-and-overlapping']) redaction.add(text);
  t.equal(redaction.redact('see abcd-old-and-new.'), 'see ***.', 'an old one that begins a new one');
  t.equal(redaction.redact('see abcd-old-and-new-and-overlapping.'), 'see ***.', 'two that overlap');
  t.equal(redaction.redact('see abcd-old-an'), 'see ***', 'cut at the end');
  t.equal(redaction.redact('see new-and-o… (99 characters)'), 'see ***… (99 characters)', 'cut and said so');
  t.equal(redaction.redact('see new-a'), 'see new-a', 'a word that only begins as one');
  t.equal(redaction.redact('see new-an'), 'see ***', 'a longer one');
  for (const [text, want] of [
    ['token=abc', 'token=abc'],
    ['token=abcd', 'token=***'],
    ['token=abcdef&password: "ghij", api-key=klmn', 'token=***&password: "***", api-key=***'],
    ['Bearer abcd, basic efgh', 'Bearer ***, basic ***'],
    ['https://@host and https://a@host', 'https://@host and https://***@host'],
    ['https://a:b@c:d@host/x@y https://host/a@b', 'https://***@c:d@host/x@y https://host/a@b'],
  ] as const)
    t.equal(redaction.redact(text), want, text);

  const marked = 'with "marks" and <signs>';
  redaction.add(marked);
  const once = JSON.stringify([marked]);
  t.equal(redaction.redact(once), '["***"]', 'to its last character in JSON');
  t.equal(redaction.redact(JSON.stringify([once])), JSON.stringify(['["***"]']), 'and in JSON within JSON');

  const subject = { url: 'http://x', server: 's', redact: redaction.redact };
  const said = `${'x'.repeat(1_990)} abcd-old-and-new`;
  const body = JSON.stringify({ error: said });
  for (const error of [
    failureOfAnswer({ status: 500, contentType: '', body }, subject, ollamaErrors),
    failureOfErrorLine(said, subject),
  ])
    t.notMatch(error.message, /abcd/, 'the limit of what is read of an error cuts no secret');
  t.end();
});

t.test('redaction takes linear time for any text', (t) => {
  const redaction = createRedaction();
  redaction.add('a.a.a.a.a.a.a.b');
  // Were any of these read again from each of its places, the test would not end.
  for (const piece of ['a.', 'a', ' ', 'bearer ', 'token ', 'token=', '://a', 'a:', '://a:', '"', '…']) {
    const text = piece.repeat(200_000);
    t.ok(redaction.redact(`${text}!`).length <= text.length + 1, JSON.stringify(piece));
    const stream = redaction.stream(4);
    let said = 0;
    for (let at = 0; at < text.length; at += 17) said += stream.add(text.slice(at, at + 17)).length;
    t.equal(said + stream.end().length, text.length, 'in pieces too');
  }
  t.equal(redaction.redact('git+ssh://me:word@host and x://me@host'), 'git+ssh://***@host and x://***@host');
  t.end();
});

t.test('how short a secret may be depends on who wrote the text', (t) => {
  const secrets = ['1234', 'a234567', 'a2345678', 'b23456789012345', 'b234567890123456'];
  const redaction = createRedaction();
  for (const text of ['123', ...secrets]) redaction.add(text);
  const masked = (atLeast: number) => secrets.map((text) => (text.length < atLeast ? text : '***'));
  const voices = {
    4: ['message', 'version', 'error'],
    8: ['name', 'id', 'method', 'jsonrpc', '0'],
    16: ['arguments', 'content', 'description', 'inputSchema', 'insertText', 'partial', 'text', 'thinking'],
  };
  for (const [atLeast, keys] of Object.entries(voices))
    for (const key of keys) {
      const [want, inner] = [masked(Number(atLeast)), atLeast === '16' ? 16 : 4];
      t.strictSame(
        redactMessage({ result: { [key]: [...secrets, 123, null, '123'] } }, redaction),
        { result: { [key]: [...want, 123, null, '123'] } },
        key,
      );
      t.strictSame(
        redactMessage({ result: { [key]: { before: 1, message: secrets, after: [1] } } }, redaction),
        { result: { [key]: { before: 1, message: masked(inner), after: [1] } } },
        `a message in ${key}`,
      );
    }
  const frame = { jsonrpc: 'a2345678', id: 'a2345678', method: 'a2345678' };
  t.strictSame(
    redactMessage({ ...frame, params: frame, b234567890123456: 1, a2345678: 2 }, redaction),
    { ...frame, params: { jsonrpc: '***', id: '***', method: '***' }, '***': 1, a2345678: 2 },
    'the frame of a message stays, and a key may be a word',
  );
  const nested = (levels: number): object => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
  t.doesNotThrow(() => redactMessage(nested(maxNesting + 33), redaction));
  t.throws(() => redactMessage(nested(maxNesting + 34), redaction), RangeError);
  t.equal(redaction.redact('123'), '123', 'shorter texts are no secrets');
  t.end();
});

t.test('only the secret itself is masked, in whatever case its address is written', (t) => {
  const redaction = createRedaction();
  for (const text of ['aab:AZ[z@{cd/ef', 'abcabcabd-secret', 'no-address-at-all']) redaction.add(text);
  const cases: readonly (readonly [text: string, want: string])[] = [
    ['aab%3AAZ%5Bz%40%7Bcd%2Fef', '***'],
    ['aab%3aAZ%5bz%40%7bcd%2fef', '***'],
    ['AAB%3aaz%5bZ%40%7bCD%2FEF', '***'],
    ['aab%3aAZ%5bz`%7bcd%2fef', 'aab%3aAZ%5bz`%7bcd%2fef'],
    ['aab%3aAZ%5bz%40;7bcd%2fef', 'aab%3aAZ%5bz%40;7bcd%2fef'],
    ['100% NO-ADDRESS-AT-ALL', '100% NO-ADDRESS-AT-ALL'],
    ['abcabcabcabd-secret', 'abc***'],
    ['a.bcabcabd-secret abcabcabd-secret', 'a.bcabcabd-secret ***'],
    ['aabcabcabd-secretabcabcabd-secret', 'a***'],
    ['abcabcabd-secret, abcabcabd-secre', '***, abcabcabd-secre'],
    ['abcabcab-abd-secret', 'abcabcab-abd-secret'],
  ];
  for (const [text, want] of cases) {
    t.equal(redaction.redactKnown(text, 8), want, text);
    const stream = redaction.stream(8);
    t.equal([...text].map((piece) => stream.add(piece)).join('') + stream.end(), want, `${text} in pieces`);
  }
  t.end();
});

t.test('short tokens that may be words stay in the text of a model', (t) => {
  const redaction = createRedaction();
  for (const text of ['ollama', 'a-token-of-real-length']) redaction.add(text);
  const result = {
    content: 'import ollama',
    toolCalls: [{ name: 'write', arguments: { message: 'token: abcdefgh', ollama: 'ollama' } }],
  };
  t.strictSame(redactMessage({ result }, redaction), { result }, 'also under keys that are prose elsewhere');
  t.equal(redactMessage({ result }, redaction).result, result, 'and is not copied');
  t.strictSame(
    redactMessage(
      { result: { content: 'a-token-of-real-length' }, params: { message: 'ollama says' } },
      redaction,
    ),
    { result: { content: '***' }, params: { message: '*** says' } },
  );
  const deep = JSON.parse('['.repeat(5_000) + ']'.repeat(5_000));
  t.match(
    toOutgoing({ jsonrpc: '2.0', id: 7, result: { message: deep } } as never, redaction),
    { id: 7, error: { code: new RunnerError('bad-response', '').code, data: { kind: 'bad-response' } } },
    'an answer that is nested too deep is its typed error',
  );
  t.end();
});

/** What the store was given, and what the log says. */
function openSecrets() {
  const lines: SecretLine[] = [];
  const said: string[] = [];
  const store = createSecretStore();
  const log = createLog(
    () => 'debug',
    (text) => text,
  );
  log.onDidWrite(({ level, message }) => said.push(`${level} ${message}`));
  const set = (line: SecretLine) => {
    lines.push(line);
    store.set(line);
  };
  const options = { store: { ...store, set }, url: 'http://127.0.0.1:1/prefix', auth: [], log };
  return { lines, said, options };
}

t.test("secrets come from the commands and files that the user's configuration names", async (t) => {
  const folder = t.testdir({ token: ' a-token\n', empty: '\n', lines: '', open: 'x' });
  const path = (name: string) => join(folder, name);
  const lines = [
    { origin: 'https://a', secret: 's', allowPlainHttp: true },
    { origin: 'http://b', secret: null },
  ];
  writeFileSync(path('lines'), `${lines.map((line) => JSON.stringify(line)).join('\n \n')}\n`);
  for (const name of ['token', 'empty', 'lines']) chmodSync(path(name), 0o600);
  chmodSync(path('open'), 0o604);
  const node = (script: string) => [process.execPath, '-e', script] as const;
  const print = (text: string) => node(`process.stdout.write(${JSON.stringify(text)})`);
  const own = 'http://127.0.0.1:1';
  const broken = 'Run it by hand to see why.';
  const cases: readonly {
    readonly name: string;
    readonly auth: UserAuth;
    readonly want?: readonly SecretLine[];
    readonly says?: string;
  }[] = [
    {
      name: 'a file with a token',
      auth: { file: path('token') },
      want: [{ origin: own, secret: 'a-token', allowPlainHttp: false }],
    },
    {
      name: 'a command that prints one, for the origin that is named',
      auth: { command: [...print('abc')], origin: 'http://b/x', allowPlainHttp: true },
      want: [{ origin: 'http://b/x', secret: 'abc', allowPlainHttp: true }],
    },
    {
      name: 'plain http may be allowed only for a named origin',
      auth: { command: [...print('abc')], allowPlainHttp: true },
      want: [{ origin: own, secret: 'abc', allowPlainHttp: false }],
    },
    {
      name: 'lines do not allow it themselves',
      auth: { file: path('lines'), origin: 'http://b', allowPlainHttp: true },
      want: [
        { origin: 'https://a', secret: 's', allowPlainHttp: false },
        { origin: 'http://b', secret: null, allowPlainHttp: true },
      ],
    },
    { name: 'an empty file', auth: { file: path('empty') } },
    ...(has('modes')
      ? [
          {
            name: 'a file that others can read',
            auth: { file: path('open') },
            says: `The secret file ${path('open')} can be read by others. Run: chmod 600 ${path('open')}`,
          },
        ]
      : []),
    {
      name: 'no such file',
      auth: { file: path('nowhere') },
      says: `The "file" of "auth" in the configuration cannot be read: ENOENT: no such file or directory, stat '${path('nowhere')}'.`,
    },
    {
      name: 'a command that fails',
      auth: { command: [...node('console.log("planted"); process.exitCode = 3')] },
      says: `The command of "auth" in the configuration failed (3). ${broken}`,
    },
    {
      name: 'no such command',
      auth: { command: ['/no/such/program'] },
      says: `The command of "auth" in the configuration failed (ENOENT). ${broken}`,
    },
    {
      name: 'a command that prints no line',
      auth: { command: [...print('{planted')] },
      says: 'a secret line is not a JSON object',
    },
  ];
  for (const { name, auth, want = [], says } of cases) {
    const { lines, said, options } = openSecrets();
    await readSecrets({ ...options, auth: [auth] });
    t.strictSame([lines, said], [want, says === undefined ? [] : [`warn ${says}`]], name);
  }
});

t.test('secrets come from a descriptor alone, if there is one', async (t) => {
  const folder = t.testdir({ secrets: '' });
  const line = { origin: 'https://a', secret: 's' };
  const path = join(folder, 'secrets');
  writeFileSync(path, ` \n${JSON.stringify(line)}\nplanted\n${JSON.stringify({ ...line, secret: null })}`);
  const { lines, said, options } = openSecrets();
  const isRead = new Promise<void>((resolve) => {
    const { set } = options.store;
    options.store.set = (one) => {
      set(one);
      if (one.secret === null) resolve();
    };
  });
  const auth: UserAuth = { command: ['printf', 'unread'] };
  await Promise.all([readSecrets({ ...options, auth: [auth] }, openSync(path, 'r')), isRead]);
  t.strictSame(
    [lines, said],
    [
      [line, { ...line, secret: null }],
      ['warn A line of the secrets descriptor is left out: a secret line is not a JSON object.'],
    ],
  );
  const broken = openSecrets();
  const fd = openSync(folder, 'r');
  const told = new Promise<string>((resolve) =>
    broken.options.log.onDidWrite(({ message }) => resolve(message)),
  );
  await readSecrets(broken.options, fd);
  t.match(await told, new RegExp(`^The secrets descriptor ${fd} cannot be read: EISDIR`));
});

/**
 * Runners elsewhere, as the daemon sees them: no name of loopback leads there, yet nothing leaves this machine. The
 * version is open to all, the rest is not.
 */
async function startElsewhere(t: Test, location?: string) {
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    const { authorization } = request.headers;
    seen.push(authorization);
    if (location !== undefined) return response.writeHead(307, { location }).end();
    const isOpen = request.url === '/api/version' || authorization !== undefined;
    response.writeHead(isOpen ? 200 : 401, { 'content-type': 'application/json' });
    return response.end(isOpen ? '{"version":"1","models":[]}' : '{"error":"unauthorized"}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => closeServer(server));
  return { seen, url: `http://[::ffff:127.0.0.1]:${portOf(server)}` };
}

t.test(
  'a token for plain http on another machine is not sent, and status, error and log say so',
  async (t) => {
    const { seen, url } = await startElsewhere(t);
    const { origin } = new URL(url);
    const line = { origin, secret: 'a-token-for-elsewhere' };
    const reason = `The token for ${origin} is not sent over plain http to another machine. Use https, or`;
    const daemon = await startPair({ host: url }, { secrets: [line] });
    t.teardown(daemon.close);
    const told: Status[] = [];
    daemon.on(statusDidChange, (changed) => told.push(changed));
    const status = await daemon.request(statusRequest, {});
    t.match(status, { state: 'online', kind: 'warning' });
    t.ok(status.message.includes(`${reason} set the token again and allow it.`), status.message);
    t.same(told.at(-1), status);
    await daemon.request(statusRequest, {});
    const refused = await daemon.request(listModelsRequest, {}).catch((error) => error);
    t.match(refused, { data: { kind: 'unauthorized' } });
    t.ok(refused.message.includes(reason), refused.message);
    t.equal(daemon.logs.filter(({ message }) => message.startsWith(reason)).length, 1, 'logged once');
    t.ok(seen.length > 2 && seen.every((header) => header === undefined), 'nothing was sent');
  },
);

t.test(
  'a token is sent over plain http only if its line allows that, and never through a redirect',
  async (t) => {
    const one = await startElsewhere(t);
    const { origin } = new URL(one.url);
    const line = { origin, secret: 'a-token-for-elsewhere', allowPlainHttp: true };
    const allowed = await startPair({ host: one.url }, { secrets: [line] });
    t.teardown(allowed.close);
    t.match(await allowed.request(statusRequest, {}), { state: 'online', kind: 'ok' });
    t.same(await allowed.request(listModelsRequest, {}), { models: [] });
    t.ok(one.seen.every((header) => header === 'Bearer a-token-for-elsewhere'));
    t.notMatch(JSON.stringify(allowed.logs), /plain http/);

    const other = await startElsewhere(t);
    const leading = await startElsewhere(t, `${other.url}/api/version`);
    const led = { ...line, origin: new URL(leading.url).origin };
    const daemon = await startPair({ host: leading.url }, { secrets: [led] });
    t.teardown(daemon.close);
    t.match(await daemon.request(statusRequest, {}), { message: /redirect.*not followed/ });
    t.ok(leading.seen.includes('Bearer a-token-for-elsewhere'));
    t.same(other.seen, [], 'a redirect gets nothing');
  },
);

t.test('no setting of a client or a workspace allows plain http for a token', async (t) => {
  const { seen, url } = await startElsewhere(t);
  const { origin } = new URL(url);
  const auth = [{ origin, command: ['true'], allowPlainHttp: true }];
  const settings = { auth, allowPlainHttp: true, servers: [{ name: 'far', url, allowPlainHttp: true }] };
  const daemon = await startPair(
    { host: url, trusted: true, ...settings },
    { secrets: [{ origin, secret: 'a-token-for-elsewhere' }], settings },
  );
  t.teardown(daemon.close);
  await daemon.connection.sendNotification('workspace/didChangeConfiguration', {
    settings: { runner: settings },
  });
  for (const server of ['default', 'far'])
    t.match(await daemon.request(statusRequest, { server }), { kind: 'warning', message: /is not sent/ });
  t.ok(seen.length > 0 && seen.every((header) => header === undefined));
});

t.test('a token that a runner echoes is in no status, list or error', async (t) => {
  const secret = 'to"ken\\of <any> kind';
  let status = 401;
  const server = createServer((request, response) => {
    const echo = String(request.headers.authorization);
    response.writeHead(request.url === '/api/version' ? status : 500, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { inner: [echo] }, version: echo }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${portOf(server)}`;
  const daemon = await startPair({ host: url, logLevel: 'debug' }, { secrets: [{ origin: url, secret }] });
  t.teardown(async () => {
    await daemon.close();
    await closeServer(server);
  });
  const told: Status[] = [];
  daemon.on(statusDidChange, (changed) => told.push(changed));
  const seen: unknown[] = [await daemon.request(statusRequest, {})];
  status = 200;
  seen.push(await daemon.request(statusRequest, {}));
  t.match(seen, [{ message: /\*\*\*/ }, { version: /\*\*\*/ }]);
  const error = await daemon.request(listModelsRequest, {}).catch((refused) => refused);
  t.match(error, { data: { kind: 'runner-failed' } });
  const all = JSON.stringify([seen, told, error.message, error.data, daemon.logs]);
  t.ok(told.length > 0, 'the status was told');
  t.notMatch(all, /ken.{1,8}of/, 'in no form');
});

t.test('an address is tried before it is set, only with the token of its own origin', async (t) => {
  const asked: unknown[] = [];
  const start = async (answer: RequestListener) => {
    const server = createServer((request, response) => {
      asked.push([request.url, request.headers.authorization]);
      answer(request, response);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    t.teardown(() => closeServer(server));
    return `http://127.0.0.1:${portOf(server)}`;
  };
  const json = (body: object, status = 200) =>
    start((_, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  const [known, other] = [await json({ version: '1.2' }), await json({ version: '1.3', models: [] })];
  const timeouts = { connect: 0, list: 0 };
  const secrets = [{ origin: known, secret: 'a-token-of-one' }];
  const daemon = await startPair({ host: 'http://127.0.0.1:9', timeouts, trusted: false }, { secrets });
  t.teardown(() => daemon.close());
  const probe = (url: string, server?: string) =>
    daemon.request(probeRequest, { url, ...(server && { server }) });

  t.strictSame(await probe(known), { version: '1.2', product: 'ollama' });
  t.strictSame(
    await probe(other.replace('http://', ' ')),
    { version: '1.3', product: 'ollama' },
    'as OLLAMA_HOST is read',
  );
  // What answers there, its version, and whether it says what is loaded.
  const questions = ['/api/version', '/api/version', '/api/ps'];
  t.strictSame(asked.splice(0), [
    ...questions.map((path) => [path, 'Bearer a-token-of-one']),
    ...questions.map((path) => [path, undefined]),
  ]);
  t.strictSame(await daemon.request(probeCatalogRequest, { url: other }), {});
  t.strictSame(asked.splice(0), [['/api/tags', undefined]]);

  const wrong = [
    { url: 'http://127.0.0.1:9', want: { kind: 'server-unreachable' } },
    { url: await json({ error: 'no' }, 401), want: { kind: 'unauthorized' } },
    { url: await json({ hello: 1 }), want: { kind: 'bad-response' } },
    { url: await start((_, response) => response.end('<html>')), want: { kind: 'bad-response' } },
    { url: await start((_, response) => response.writeHead(404).end()), want: { kind: 'not-supported' } },
    { url: await start(() => undefined), want: { kind: 'timeout' } },
  ] as const;
  for (const { url, want } of wrong) await t.rejects(probe(url), failsWith({ data: want }), want.kind);
  await t.rejects(probe('ftp://a'), failsWith({ code: -32602, data: { path: 'url' } }));
  await t.rejects(probe(known, 'nobody'), failsWith({ code: -32602, data: { path: 'server' } }));
  await t.rejects(
    daemon.request(probeCatalogRequest, { url: known }),
    failsWith({ data: { kind: 'bad-response' } }),
    'a runner without a list',
  );
});

t.test('a server that asks for a user name and a password gets them, and nobody else', async (t) => {
  const word = 'correct horse battery';
  const encoded = Buffer.from(`me:${word}`).toString('base64');
  const asked: (string | undefined)[] = [];
  const server = createServer(({ headers, url }, response) => {
    const { authorization } = headers;
    asked.push(authorization);
    const isIn = authorization === `Basic ${encoded}`;
    const challenge = ['Bearer realm="box"', 'Basic realm="box", charset="UTF-8"'];
    response.writeHead(isIn ? 200 : 401, isIn ? {} : { 'www-authenticate': challenge });
    const echo = `no ${authorization}, ${encoded}, ${word}`;
    const names = [{ name: 'm', details: { family: echo } }];
    response.end(
      JSON.stringify(isIn ? { version: '1.2', models: url === '/api/tags' ? names : [] } : { error: echo }),
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => closeServer(server));
  const host = `http://127.0.0.1:${portOf(server)}`;
  const list = async (secret: string | undefined) => {
    asked.length = 0;
    const secrets = secret === undefined ? [] : [{ origin: host, secret }];
    const daemon = await startPair({ host, logLevel: 'debug' }, { secrets });
    t.teardown(() => daemon.close());
    const lists = await Promise.allSettled(
      [1, 2].map(() => daemon.request(listModelsRequest, { refresh: true })),
    );
    const said = JSON.stringify([lists, daemon.logs], (_, value) =>
      value instanceof Error ? { ...value, message: value.message } : value,
    );
    if (secret === `me:${word}`)
      for (const part of [word, encoded.slice(4, -4)]) t.notOk(said.includes(part), `${part} stays here`);
    return lists;
  };
  for (const { status } of await list(`me:${word}`)) t.equal(status, 'fulfilled');
  t.equal(asked.filter((sent) => sent?.startsWith('Bearer')).length, 1, 'after one request it is known');
  for (const secret of [undefined, 'me:wrong', 'a-token']) {
    const [refused] = await list(secret);
    const want = { data: { kind: 'unauthorized', advice: { code: 'set-password' } } };
    t.match(refused, { reason: want }, `${secret}`);
    t.equal(
      asked.some((sent) => sent?.startsWith('Basic')),
      secret === 'me:wrong',
      `${secret}`,
    );
  }
});

t.test('an address is tried with the CA file of its server', needs('openssl'), async (t) => {
  const certificate = await createCertificate(t, ['localhost']);
  const server = createTlsServer(certificate, (_, response) => {
    response.setHeader('content-type', 'application/json').end('{"version":"1.2"}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => closeServer(server));
  const url = `https://localhost:${portOf(server)}`;
  const caFile = join(t.testdir(), 'ca.pem');
  writeFileSync(caFile, certificate.cert);
  const daemon = await startPair({ servers: [{ name: 'box', url: 'https://old', caFile }] });
  t.teardown(() => daemon.close());
  t.strictSame(await daemon.request(probeRequest, { url, server: 'box' }), {
    version: '1.2',
    product: 'ollama',
  });
  await t.rejects(
    daemon.request(probeRequest, { url }),
    failsWith({ message: /^The certificate of .* is not trusted/ }),
  );
});
