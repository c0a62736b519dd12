import { once } from 'node:events';
import { chmod } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { parseOptions, unknownVariables } from '../../docs-service/base/options.ts';
import { parseServeConfig, serveOptions } from '../../docs-service/serveConfig.ts';
import { callDocs } from '../support/docsCommand.ts';
import { has } from '../support/systems.ts';
import { temporaryFolder, writeFiles } from '../support/temporaryFolder.ts';

/** Times and identifiers differ each time. */
const shapeOf = (text: string) =>
  text.replace(/\b[0-9a-f]{12}\b/g, '<id>').replace(/\d{4}-\d\d-\d\d \d\d:\d\d/g, '<time>');

const cellsOf = (text: string) =>
  shapeOf(text)
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/));

t.test('tokens are made as asked, listed and revoked', async (t) => {
  const data = ['--data', await temporaryFolder(t)];
  t.strictSame(await callDocs(['token', 'list', ...data]), { code: 0, stdout: '', stderr: '' }, 'none yet');
  const usual = await callDocs(['token', 'create', ...data]);
  t.match(usual, { code: 0, stdout: /^rdocs_[\w-]{43}\n$/, stderr: '' });
  const asked = ['--scope', ' draft  read draft ', '--name', ' laptop ', '--me', 'https://Ada.example'];
  t.match(await callDocs(['token', 'create', ...data, ...asked, '--expires', '1y']), { code: 0 });
  t.match(await callDocs(['token', 'create', ...data, '--expires', '36h']), { code: 0 });
  const { stdout } = await callDocs(['token', 'list', ...data]);
  const [head, ...rows] = cellsOf(stdout);
  t.strictSame(head, ['ID', 'NAME', 'SCOPES', 'ME', 'CREATED', 'EXPIRES', 'LAST USED', 'CLIENT']);
  t.strictSame(
    rows.toSorted((one, other) => other.length - one.length),
    [
      ['<id>', 'laptop', 'draft read', 'https://ada.example/', '<time>', '<time>', 'never'],
      ...Array<string[]>(2).fill(['<id>', 'read', '<time>', '<time>', 'never']),
    ],
  );
  const lifetimes = [...stdout.matchAll(/(\d{4}-\d\d-\d\d \d\d:\d\d) {2}(\d{4}-\d\d-\d\d \d\d:\d\d)/g)].map(
    ([, created, expires]) => (Date.parse(`${expires}Z`) - Date.parse(`${created}Z`)) / 86_400_000,
  );
  t.strictSame(
    lifetimes.toSorted((one, other) => one - other),
    [1.5, 90, 365],
    'in days',
  );
  for (const [id = ''] of stdout.matchAll(/^[0-9a-f]{12}/gm))
    t.strictSame(await callDocs(['token', 'revoke', id, ...data]), {
      ...{ code: 0, stdout: '' },
      stderr: `The token ${id} is revoked.\n`,
    });
  t.equal((await callDocs(['token', 'list', ...data])).stdout, '');
  const cases: readonly { args: readonly string[]; want: RegExp }[] = [
    { args: ['--name', 'x'.repeat(101)], want: /--name must have 1 to 100/ },
    { args: ['--scope', 'read write other'], want: /no scope "write other"; the scopes are read, draft/ },
    { args: ['--me', 'ada'], want: /--me must be the address/ },
    ...['0s', '5', '1w', '-1d', '1.5d', '1 d', '1234567s'].map((time) => ({
      args: [`--expires=${time}`],
      want: /--expires must be a time/,
    })),
  ];
  for (const { args, want } of cases)
    t.match(await callDocs(['token', 'create', ...data, ...args]), { code: 2, stdout: '', stderr: want });
  t.equal((await callDocs(['token', 'create', ...data, '--name', 'x'.repeat(100)])).code, 0);
});

t.test('clients are added, listed and removed', async (t) => {
  const data = ['--data', await temporaryFolder(t)];
  const id = 'https://app.example.org/id';
  const add = (...args: readonly string[]) => callDocs(['client', 'add', ...data, ...args]);
  t.equal((await callDocs(['client', 'list', ...data])).stdout, '', 'none yet');
  const redirect = ['--redirect-uri', 'http://127.0.0.1/one'];
  t.strictSame(await add('--client-id', id, ...redirect, '--name', 'App'), {
    ...{ code: 0, stdout: '' },
    stderr: `${id} is known now. Sign in with it again.\n`,
  });
  const list = async () => (await callDocs(['client', 'list', ...data])).stdout;
  t.strictSame(cellsOf(await list()), [
    ['ID', 'HOW', 'NAME', 'REDIRECTS'],
    [id, 'added', 'App', 'http://127.0.0.1/one'],
  ]);
  await add('--client-id', id, ...redirect, '--redirect-uri', 'http://127.0.0.1/two');
  t.match(
    await list(),
    /added +App +http:\/\/127\.0\.0\.1\/one http:\/\/127\.0\.0\.1\/two\n$/,
    'both, and its name',
  );
  await add('--client-id', id, ...redirect, '--name', `New\n${'x'.repeat(300)}`);
  t.match(await list(), /added +New.x{196} /, 'a name is one line, and is cut');
  const cases: readonly { args: readonly string[]; want: RegExp }[] = [
    { args: redirect, want: /--client-id is missing/ },
    { args: ['--client-id', id], want: /--redirect-uri is missing/ },
    { args: ['--client-id', 'app', ...redirect], want: /--client-id must be an address/ },
    { args: ['--client-id', 'http://app.example.org/', ...redirect], want: /--client-id: .*https:/ },
    { args: ['--client-id', id, ...redirect, '--redirect-uri', 'javascript:x'], want: /--redirect-uri: / },
  ];
  for (const { args, want } of cases) t.match(await add(...args), { code: 2, stdout: '', stderr: want });
  const remove = () => callDocs(['client', 'remove', id, ...data]);
  t.strictSame(await remove(), { code: 0, stdout: '', stderr: `The client ${id} is removed.\n` });
  t.match(await remove(), {
    code: 1,
    stdout: '',
    stderr: /there is no client "https:\/\/app\.example\.org\/id"/,
  });
});

t.test('the owner gets a password and a profile', async (t) => {
  const folder = await temporaryFolder(t);
  const data = ['--data', folder];
  const password = (input: string | undefined, ...args: readonly string[]) =>
    callDocs(['owner', 'set-password', ...data, ...args], input === undefined ? {} : { input });
  for (const input of ['\ufefflong enough for all', 'twelve chars', 'x'.repeat(1_000)])
    t.match(await password(input), { code: 0, stdout: '', stderr: `The password is set in ${folder}.` });
  t.match(await password(undefined), { code: 2, stderr: /standard input, which was empty/ });
  t.match(await password(''), { code: 2, stderr: /standard input, which was empty/ });
  t.match(await password('\ufeffshort'), { code: 2, stderr: /at least 12 characters, and has 5/ });
  for (const input of [' '.repeat(12), 'x'.repeat(1_001)]) t.match(await password(input), { code: 2 });
  t.match(await password('long enough for all', '--me', 'ada'), { code: 2, stderr: /--me must be/ });
  const profile = (...args: readonly string[]) => callDocs(['owner', 'set-profile', ...data, ...args]);
  const whole = ['--name', 'Ada', '--url', 'https://ada.example', '--photo', 'HTTP://ada.example/me.png'];
  t.strictSame(await profile(...whole, '--email', 'ada@ada.example'), {
    ...{ code: 0, stdout: '' },
    stderr: 'The profile is set.\n',
  });
  const cases: readonly { args: readonly string[]; want: RegExp }[] = [
    { args: ['--url', 'ada.example'], want: /--url must be an address.*"ada\.example"/ },
    { args: ['--photo', 'data:x'], want: /--photo must be an address/ },
    { args: ['--email', 'ada'], want: /--email must be an address such as me@example\.org, not "ada"/ },
    { args: ['--email', `${'a'.repeat(65)}@ada.example`], want: /--email must be/ },
  ];
  for (const { args, want } of cases) t.match(await profile(...args), { code: 2, stdout: '', stderr: want });
});

t.test('a backup says what is missing and what is in its way', async (t) => {
  const data = await temporaryFolder(t);
  const backup = (file: string, ...args: readonly string[]) => callDocs(['backup', file, ...args]);
  const target = join(data, 'copy.db');
  t.match(await backup(target, '--data', data), { code: 1, stderr: /there is no .*access\.db: no token/ });
  t.match(await backup(target, '--database', 'postgres://localhost/x'), { code: 1, stderr: /pg_dump/ });
  await callDocs(['token', 'create', '--data', data]);
  t.match(await backup(join(data, 'none', 'copy.db'), '--data', data), {
    code: 1,
    stderr: /cannot be written/,
  });
  t.match(await backup(target, '--data', data), {
    code: 0,
    stdout: '',
    stderr: /copy\.db has the tokens of/,
  });
  t.match(
    await callDocs(['token', 'list', '--data', data]),
    { stdout: /read/ },
    'the tokens are still there',
  );
});

t.test('doctor says what is missing, step by step', async (t) => {
  const folder = await temporaryFolder(t, { 'content/one.md': '# One' });
  const [content, data] = [join(folder, 'content'), join(folder, 'data')];
  // Nothing is asked at this port.
  const places = ['--content', content, '--data', data];
  const doctor = (...args: readonly string[]) =>
    callDocs(['doctor', ...places, '--base-url', 'http://localhost:1', ...args]);
  const first = await doctor('--content', join(folder, 'none'));
  t.match(first, {
    code: 1,
    stderr: '',
    stdout: /^ok {7}runner-docs 0\.0\.0 on Node \S+, with (?:Node's own SQLite|libsql)\n/,
  });
  t.match(first.stdout, /\nPROBLEM {2}The content folder \S+none does not exist\. Create it/);
  t.match(first.stdout, `\nPROBLEM  ${data} does not exist: nothing was served or indexed yet.`);
  await callDocs(['token', 'create', '--data', data]);
  const second = await doctor();
  t.match(second.stdout, `\nok       The content is in ${content}.\n`);
  t.match(
    second.stdout,
    `\nok       The data is in ${data}${has('modes') ? ', and only its owner can read it' : '. Runner does not check its permissions on Windows'}.\nPROBLEM  There is no index yet.`,
  );
  t.match(second.stdout, /\nok {7}A PDF has fonts for Latin, Greek, Cyrillic, \w[^\n]*\n/);
  await callDocs(['index', ...places]);
  await chmod(data, 0o750);
  const third = await doctor();
  if (has('modes'))
    t.match(
      third.stdout,
      `\nPROBLEM  Other users can read ${data}. Run: chmod 700 ${data}\nok       1 document can be read.\n`,
    );
  t.match(third.stdout, '\nok       Without a password nobody can sign in; 1 token issued.\n');
  const secret = { input: 'long enough for all' };
  await callDocs(['owner', 'set-password', '--data', data, '--me', 'https://ada.example'], secret);
  t.match(
    (await doctor()).stdout,
    '\nok       The owner can sign in; 1 token issued.\nok       The owner is https://ada.example/. For IndieAuth, the head of that page needs this line: ' +
      '<link rel="indieauth-metadata" href="http://localhost:1/.well-known/oauth-authorization-server">\n',
  );
  await callDocs(['owner', 'set-password', '--data', data, '--me', 'http://localhost:1/me'], secret);
  t.notMatch((await doctor()).stdout, 'For IndieAuth', 'the page is one of the service');
  const other = join(folder, 'other');
  await writeFiles(other, { 'index.db': '' });
  await chmod(other, 0o700);
  t.match(
    (await doctor('--data', other)).stdout,
    /\nPROBLEM {2}The index is not complete yet\.[^\n]*\nPROBLEM {2}Nobody can read yet\./,
  );
  await writeFiles(other, { 'access.db': 'x'.repeat(5_000) });
  t.match((await doctor('--data', other)).stdout, /\nPROBLEM {2}[^\n]*access\.db/);
});

t.test('why a service cannot listen is said in a sentence', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  t.teardown(() => taken.close());
  const { port } = taken.address() as AddressInfo;
  const folder = await temporaryFolder(t, { 'content/one.md': '# One' });
  const places = ['--content', join(folder, 'content'), '--data', join(folder, 'data'), '--container'];
  const cases: Readonly<Record<string, RegExp>> = {
    '127.0.0.1': /port \d+ of 127\.0\.0\.1 is in use\. .*--port\.$/m,
    '203.0.113.1': /203\.0\.113\.1 is not an address of this machine\. /,
    '999.0.0.1': /cannot listen on 999\.0\.0\.1:\d+: .*999\.0\.0\.1\.$/m,
  };
  for (const [host, stderr] of Object.entries(cases))
    t.match(
      await callDocs(['serve', ...places, '--host', host, '--port', String(port)]),
      { code: 1, stderr },
      host,
    );
});

t.test('help lists commands, and flags with their values, in columns', async (t) => {
  const whole = (await callDocs(['--help'])).stdout;
  for (const args of [['help'], ['-h'], ['--port', '1', '--help']])
    t.equal((await callDocs(args)).stdout, whole, args.join(' '));
  t.match(whole, /^runner-docs 0\.0\.0: /);
  const rows = whole.split('\n').filter((line) => line.startsWith('  runner-docs'));
  t.ok(rows.length > 10);
  t.match(rows[0], /^ {2}runner-docs serve {2,}\S/);
  t.equal((await callDocs(['--version'])).stdout, '0.0.0\n');
  t.match(await callDocs(['token', 'lst']), {
    code: 2,
    stderr: /no command "token lst"; the commands are token cr/,
  });
  t.match(await callDocs(['token', 'list', 'more']), {
    code: 2,
    stderr: /the command is "runner-docs token list"/,
  });
  t.match(
    await callDocs(['no\u001b[2J']),
    { code: 2, stderr: /^runner-docs: [^\u001b]*$/ },
    'nothing for a terminal',
  );
});

t.test('flags come before variables, and variables are read as flags are', async (t) => {
  const text = { value: 'X', help: '' };
  const specs = { one: text, 'two-words': { help: '' }, many: { ...text, multiple: true } } as const;
  const cases: readonly { args?: readonly string[]; env?: Record<string, string>; want: object }[] = [
    { want: { one: undefined, 'two-words': false, many: [] } },
    {
      args: ['--one', 'a', '--two-words', '--many', 'b', '--many', 'c'],
      env: { DOCS_ONE: 'x', DOCS_TWO_WORDS: '0', DOCS_MANY: 'y' },
      want: { one: 'a', 'two-words': true, many: ['b', 'c'] },
    },
    {
      env: { DOCS_ONE: ' a ', DOCS_TWO_WORDS: ' YES ', DOCS_MANY: ' b  c ' },
      want: { one: 'a', 'two-words': true, many: ['b', 'c'] },
    },
    {
      env: { DOCS_ONE: ' ', DOCS_TWO_WORDS: '', DOCS_MANY: '' },
      want: { one: undefined, 'two-words': false, many: [] },
    },
    ...['0', 'false', 'No', 'off'].map((text) => ({
      env: { DOCS_TWO_WORDS: text },
      want: { 'two-words': false },
    })),
    ...['1', 'true', 'yes', 'ON'].map((text) => ({
      env: { DOCS_TWO_WORDS: text },
      want: { 'two-words': true },
    })),
  ];
  for (const { args = [], env = {}, want } of cases)
    t.match(parseOptions(specs, args, env).values, want, JSON.stringify({ args, env }));
  t.throws(() => parseOptions(specs, [], { DOCS_TWO_WORDS: '2' }), {
    message: 'DOCS_TWO_WORDS must be 1 or 0, not "2".',
  });
  t.throws(() => parseOptions(specs, ['--on'], {}), { message: /^Unknown option '--on'\. Add --help/ });
  t.strictSame(parseOptions(specs, ['a', '--one', 'b', 'c'], {}).words, ['a', 'c']);
  const env = { DOCS_TWO_WORD: '1', DOCS_ONE: 'a', DOCS_FAR_FROM_ALL: '', OTHER_DOCS_: '', AN: 'x' };
  t.strictSame(unknownVariables([specs], env), [
    'warning: there is no variable DOCS_FAR_FROM_ALL, so it is ignored. Add --help to see the flags.',
    'warning: there is no variable DOCS_TWO_WORD, so it is ignored. Did you mean DOCS_TWO_WORDS?',
  ]);
});

t.test('what a service is that was given no flags, and one that was given many', async (t) => {
  const parse = (args: readonly string[], env = {}) =>
    parseServeConfig(parseOptions(serveOptions, args, {}).values, env);
  t.match(parse([]), { host: '127.0.0.1', port: 4_000, auth: { mode: 'self' }, takesRegistrations: true });
  if (has('slashes')) t.equal(parse([], { XDG_DATA_HOME: '/x' }).data, '/x/runner-docs');
  const open = ['--host', '::', '--base-url', 'https://docs.example.org'];
  t.match(parse(open), { host: '::', baseUrl: { href: 'https://docs.example.org' } });
  const long = (start: string, length: number) => start.padEnd(length, 'a');
  const bounds: readonly (readonly [flag: string, most: string, more: string])[] = [
    ['port', '0', '-1'],
    ['port', '65535', '65536'],
    ['limit-requests', '1', '0'],
    ['limit-renders', '1000000', '1000001'],
    ['rescan', '1', '0'],
    ['rescan', '86400', '86401'],
    ['render-seconds', '3600', '3601'],
    ['title', long('', 100), long('', 101)],
    ['trust-proxy', '10.0.0.0/32', '10.0.0.0/33'],
    ['trust-proxy', 'fc00::/128', 'fc00::/129'],
    ['base-url', long('https://x.org/', 213), long('https://x.org/', 214)],
  ];
  for (const [flag, most, more] of bounds) {
    t.doesNotThrow(() => parse([`--${flag}=${most}`]), `--${flag} ${most}`);
    t.throws(() => parse([`--${flag}=${more}`]), { name: 'UsageError' }, `--${flag} ${more}`);
  }
  for (const level of ['debug', 'error']) t.equal(parse(['--log-level', level]).logLevel, level);
  for (const args of [
    ['--host', '0.0.0.0', '--base-url', 'http://localhost:4000'],
    ['--cors-origin', 'https://app.example/path'],
    ['--cors-origin', 'ftp://app.example'],
    ['--edit-url', 'javascript:{path}'],
    ['--link-root', 'https://git.example/handbook'],
    ['--log-level', 'all'],
    ['--title', 'two\nlines'],
  ])
    t.throws(() => parse(args), { name: 'UsageError', message: new RegExp(`^${args[0]} `) }, args.join(' '));
});
