import { once } from 'node:events';
import { watch } from 'node:fs';
import {
  appendFile,
  mkdir,
  mkdtemp,
  readFile,
  rename,
  rm,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { mock } from 'node:test';
import fc from 'fast-check';
import type { Test } from 'tap';
import t from 'tap';
import { burstLines, LineLimit, linesPerSecond, plainText } from '../../daemon/base/programOutput.ts';
import { tailBytes, tailLines, tailStart } from '../../daemon/logs/fileFollower.ts';
import {
  createLogSplitter,
  hidePrivateText,
  LogLines,
  levelOfLine,
  maxLineLength,
  shownPart,
} from '../../daemon/logs/logLines.ts';
import { adviceFor, containerOf, logSources } from '../../daemon/logs/logSources.ts';
import { isThisHost, ServerLogs, type ServerLogsOptions } from '../../daemon/logs/serverLogs.ts';
import {
  type LogParams,
  logNotification,
  startLogsRequest,
  stopLogsRequest,
} from '../../protocol/messages/log.ts';
import { anyText } from '../support/anyText.ts';
import { startDaemonWithRunner } from '../support/daemonWithRunner.ts';
import { failsWith } from '../support/failsWith.ts';
import { where } from '../support/systems.ts';
import { poll, settled } from '../support/waiting.ts';

const server = { name: 'default', url: 'http://127.0.0.1:11434' };

t.test('a log is read only of a runner on this machine', async (t) => {
  const host = {
    addresses: ['127.0.0.1', '192.168.1.20', 'fe80::1%eth0', '2001:DB8::5'],
    hostname: 'Box.lan',
  };
  const cases = [
    { url: 'http://127.0.0.1:11434', want: true },
    { url: 'http://localhost:11434', want: true },
    { url: 'http://[::1]:11434', want: true },
    { url: 'http://192.168.1.21:11434', want: false },
    { url: 'http://[2001:db8:0::5]:11434', want: true },
    { url: 'http://[fe80::1]:11434', want: true },
    { url: 'http://BOX.LAN:11434', want: true },
    { url: 'http://box.lan.:11434', want: true },
    { url: 'http://box.local:11434', want: true },
    { url: 'http://box.example.com:11434', want: false },
    { url: 'https://ollama.com', want: false },
    { url: 'no address', want: false },
  ];
  for (const { url, want } of cases) t.equal(isThisHost(url, host), want, url);
  t.equal(isThisHost('http://x', { addresses: [], hostname: '' }), false, 'a machine without a name');
});

t.test('the sources of each platform, with a container last', async (t) => {
  const paths = (platform: NodeJS.Platform, env: NodeJS.ProcessEnv, homedir = '/home/other') =>
    logSources(platform, env, homedir).map(({ name }) => name);
  t.strictSame(paths('darwin', { HOME: '/Users/ada' }), [
    '/Users/ada/.ollama/logs/server.log',
    '/opt/homebrew/var/log/ollama.log',
    '/usr/local/var/log/ollama.log',
    'docker',
  ]);
  t.strictSame(paths('win32', { LOCALAPPDATA: 'C:\\Users\\Ada\\AppData\\Local' }), [
    'C:\\Users\\Ada\\AppData\\Local\\Ollama\\server.log',
    'docker',
  ]);
  t.strictSame(paths('win32', {}, 'C:\\Users\\Ada')[0], 'C:\\Users\\Ada\\AppData\\Local\\Ollama\\server.log');
  for (const platform of ['linux', 'freebsd'] as const) {
    t.strictSame(paths(platform, { HOME: '/home/ada' }), [
      '/home/ada/.ollama/logs/server.log',
      'journalctl --unit=ollama',
      'docker',
    ]);
  }
  t.equal(
    paths('linux', {})[0],
    '/home/other/.ollama/logs/server.log',
    'a home that is not in the environment',
  );
  t.match(adviceFor('linux'), /systemd-journal/);
  t.match(adviceFor('darwin'), /brew services/);
  t.notMatch(adviceFor('win32'), /brew|systemd/);
});

t.test('the runner’s container is the one that publishes its port', async (t) => {
  const row = (name: string, image: string, ports: string) => `${name}\t${image}\t${ports}`;
  const web = row('web', 'nginx', '0.0.0.0:11434->80/tcp');
  const cases = [
    {
      name: 'by the image',
      list: [web, row('ai', 'ollama/ollama:0.31', '127.0.0.1:11434->11434/tcp')],
      want: 'ai',
    },
    { name: 'by the name', list: [row('my-ollama', 'acme/llm', '[::]:11434->11434/tcp')], want: 'my-ollama' },
    { name: 'in a range', list: [row('o', 'ollama', '0.0.0.0:11430-11440->11430-11440/tcp')], want: 'o' },
    { name: 'an older form', list: [row('o', 'ollama', '80/tcp, :::11434->11434/tcp')], want: 'o' },
    { name: 'the port of another', list: [row('a', 'ollama', '0.0.0.0:11435->11434/tcp')], want: undefined },
    { name: 'only the inner port', list: [row('a', 'ollama', '11434/tcp')], want: undefined },
    { name: 'the network of the host', list: [web, row('ollama', 'x', '')], want: 'ollama' },
    { name: 'a name that is an option', list: [row('--ollama', 'x', ':11434->1/tcp')], want: undefined },
    {
      name: 'one of its ports',
      list: [row('o', 'ollama', '0.0.0.0:80->80/tcp, 0.0.0.0:11434->11434/tcp')],
      want: 'o',
    },
    { name: 'above the range', list: [row('o', 'ollama', ':11430-11433->1-4/tcp')], want: undefined },
    { name: 'links alone', list: [row('app/o', 'ollama', ':11434->11434/tcp')], want: undefined },
  ];
  for (const { name, list, want } of cases) t.equal(containerOf(list.join('\r\n'), 11434), want, name);
});

t.test('the level of a line', async (t) => {
  const slog = (level: string) =>
    `time=2026-11-20T22:31:07.412+01:00 level=${level} source=a.go:1 msg="level=ERROR"`;
  const gin = (status: number) =>
    `[GIN] 2026/11/20 - 22:31:09 | ${status} |   1.2ms | 127.0.0.1 | POST     "/api/chat"`;
  const cases = [
    [slog('TRACE'), 'debug'],
    [slog('INFO'), 'info'],
    [slog('WARN'), 'warn'],
    [slog('ERROR'), 'error'],
    [gin(399), 'info'],
    [gin(400), 'warn'],
    [gin(499), 'warn'],
    [gin(500), 'error'],
    ['llama_model_loader: 404 | 500 |', 'info'],
    ['xlevel=ERROR', 'info'],
  ] as const;
  for (const [line, want] of cases) t.equal(levelOfLine(line), want, line);
});

t.test('prompts and answers become ***', async (t) => {
  const cases = [
    [
      'level=DEBUG msg="chat request" images=0 prompt="<|user|>hi \\"you\\" prompt=x" n=1',
      'level=DEBUG msg="chat request" images=*** prompt=*** n=1',
    ],
    [
      'level=TRACE msg=out content=bare thinking="a b" toolCalls="[{}]" done=true',
      'level=TRACE msg=out content=*** thinking=*** toolCalls=*** done=true',
    ],
    [
      'level=DEBUG msg=x req.Messages="[{Role:user Content:hi}]" size=3',
      'level=DEBUG msg=x req.Messages=*** size=3',
    ],
    ['level=TRACE msg=encoded string="my secret" ids="[1 2]"', 'level=TRACE msg=encoded string=*** ids=***'],
    ['level=DEBUG msg="sent prompt=tell me, then more" n=1', 'level=DEBUG msg="sent prompt=***" n=1'],
    [
      'level=DEBUG msg=x value="{\\"prompt\\":\\"hi there\\"}" n=1',
      'level=DEBUG msg=x value="{\\"prompt\\":***" n=1',
    ],
    ['level=DEBUG msg=x value="{Model:m Prompt:hi there}"', 'level=DEBUG msg=x value="{Model:m Prompt:***"'],
    ['level=DEBUG prompt="cut off \\', 'level=DEBUG prompt=***'],
    ['level=DEBUG prompt= n=1', 'level=DEBUG prompt=*** n=1'],
    ['level=DEBUG msg=x prompt_len=5 num_prompt=6', 'level=DEBUG msg=x prompt_len=5 num_prompt=6'],
    [
      'level=INFO msg="truncating input" prompt=7000 content=kept',
      'level=INFO msg="truncating input" prompt=*** content=kept',
    ],
    ['main: prompt = tell me more', 'main: prompt =***'],
    [
      'new prompt, n_ctx_slot = 4096, n_prompt_tokens = 5',
      'new prompt, n_ctx_slot = 4096, n_prompt_tokens = 5',
    ],
    ['srv  log_server_r: request:  {"prompt":"SECRET"}', 'srv  log_server_r: request:  {"prompt":***'],
    ['update_slots: prompt: SECRET', 'update_slots: prompt:***'],
    ['{"level":"DEBUG","prompt":"SECRET"}', '{"level":"DEBUG","prompt":***'],
    ['Parsed message: {"role":"assistant","content":"SECRET"}', 'Parsed message:***'],
    ["next token: 100 'SECRET'", 'next token:***'],
    [
      'llama_model_loader: - kv 0: general.architecture str = llama',
      'llama_model_loader: - kv 0: general.architecture str = llama',
    ],
  ] as const;
  for (const [line, want] of cases) t.equal(hidePrivateText(line), want, line);
});

t.test('nothing is left of any prompt', async () => {
  fc.assert(
    fc.property(anyText(), fc.constantFrom('DEBUG', 'TRACE', 'INFO'), (prompt, level) => {
      const line = `level=${level} msg=x prompt=${JSON.stringify(prompt)} n=1`;
      return hidePrivateText(line) === `level=${level} msg=x prompt=*** n=1`;
    }),
  );
});

t.test('control characters and escape sequences are removed', async (t) => {
  const cases = [
    ['\x1b[97;42m 200 \x1b[0m|', ' 200 |'],
    ['\x1b]0;a title\x07text\x1b]8;;http://x\x1b\\link', 'textlink'],
    ['a\tb\rc\x00\x08d\x7f\x9b1me', 'a b cde'],
    ['cut within \x1b[3', 'cut within '],
    ['\x1b(Bplain\x1b', 'plain'],
    ['grüße 🦙', 'grüße 🦙'],
  ] as const;
  for (const [line, want] of cases) t.equal(plainText(line), want, JSON.stringify(line));
  fc.assert(fc.property(anyText(), (line) => !/[\x00-\x1f\x7f-\x9f]/.test(plainText(line))));
});

t.test('any split of the input gives the same lines', async (t) => {
  const part = fc.oneof(
    fc.constantFrom('\n', '\r\n', '\r', 'é', '🦙', 'x'.repeat(maxLineLength - 1)),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(part), fc.array(fc.nat()), (parts, cuts) => {
      const bytes = Buffer.from(parts.join(''));
      const whole = splitLines([bytes]);
      t.strictSame(splitLines(cutAt(bytes, cuts)), whole);
      t.ok(whole.every(({ text }) => text.length <= maxLineLength && !text.includes('\n')));
    }),
  );
  t.strictSame(splitLines([Buffer.from('a\r\n\nb\rc\n\r\nd')]), [
    { text: 'a', note: '' },
    { text: '', note: '' },
    { text: 'b\rc', note: '' },
    { text: '', note: '' },
    { text: 'd', note: '' },
  ]);
  const llamas = splitLines([Buffer.from(`${'x'.repeat(maxLineLength - 1)}🦙\n`)]);
  t.strictSame(
    llamas.map(({ text, note }) => [text.length, note]),
    [[maxLineLength - 1, '… (8,195 bytes)']],
    'a character is not cut in two',
  );
  t.strictSame(
    splitLines([Buffer.from(`${'x'.repeat(maxLineLength)}\r\n`)]).map(({ text, note }) => [
      text.length,
      note,
    ]),
    [[maxLineLength, '']],
    'a line that just fits',
  );
});

t.test('only the beginning of a long line is held, however small its pieces are', async (t) => {
  const count = 300_000;
  const lines = splitLines(Array.from({ length: count }, () => Buffer.from('x')));
  t.strictSame(
    lines.map(({ text, note }) => [text.length, note]),
    [[maxLineLength, '… (300,000 bytes)']],
  );
});

t.test('an old log begins with its last lines', async (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('', 'a', 'bcd'), { maxLength: 3 * tailLines }),
      fc.boolean(),
      (all, ended) => {
        const text = all.join('\n') + (ended ? '\n' : '');
        const lines = text.endsWith('\n') ? text.slice(0, -1).split('\n') : text.split('\n');
        const start = tailStart(Buffer.from(text), { isWhole: true });
        const want = lines.slice(-tailLines).join('\n') + (text.endsWith('\n') ? '\n' : '');
        t.equal(text.slice(start), want);
      },
    ),
  );
  t.equal(tailStart(Buffer.from('rest\na\n'), { isWhole: false }), 5, 'the rest of a line is left out');
  t.equal(tailStart(Buffer.from('rest\n'), { isWhole: false }), 5);
  t.equal(tailStart(Buffer.from('rest'), { isWhole: false }), undefined);
});

t.test('a flood is logged in part, with one line for what was left out', async (t) => {
  let now = 0;
  const limit = new LineLimit(() => now);
  const take = (count: number) => Array.from({ length: count }, () => limit.take()).filter(Boolean).length;
  t.equal(take(1000), burstLines);
  t.equal(limit.reopen(), 0);
  now += 500;
  t.equal(take(10), 0, 'shut until a second has room');
  now += 500;
  t.equal(limit.reopen(), 1000 - burstLines + 10);
  t.equal(take(1000), linesPerSecond);
  now -= 5000;
  t.equal(limit.reopen(), 0, 'a clock that goes back gives nothing');
  now += 3_600_000;
  t.equal(limit.reopen(), 800);
  t.equal(take(1000), burstLines, 'never more than a burst');

  const told: string[] = [];
  const lines = new LogLines(
    (level, message) => told.push(`${level} ${message}`),
    () => now,
  );
  for (let n = 0; n < burstLines + 3; n++) lines.take(wholeLine(`line ${n}`));
  lines.take(wholeLine(' \x1b[0m'));
  t.equal(told.length, burstLines, 'blank lines are nothing');
  now += 1000;
  lines.take(wholeLine('again'));
  t.strictSame(told.slice(burstLines), ['warn … 3 lines left out', 'info again']);
  for (let n = 0; n < linesPerSecond; n++) lines.take(wholeLine('more'));
  lines.end();
  lines.end();
  lines.take(wholeLine('late'));
  lines.warn('late');
  t.equal(told.at(-1), 'warn … 1 line left out', 'also at the end, after which nothing is logged');
});

t.test('what a flood left out is logged once there is room, even if no line comes', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  let now = 0;
  const told: string[] = [];
  const lines = new LogLines(
    (_, message) => told.push(message),
    () => now,
  );
  for (let n = 0; n < burstLines + 2; n++) lines.take(wholeLine('line'));
  mock.timers.tick(1_000);
  t.equal(told.length, burstLines, 'there is no room yet');
  now += 1_000;
  mock.timers.tick(999);
  t.equal(told.length, burstLines);
  mock.timers.tick(1);
  t.strictSame(told.slice(burstLines), ['… 2 lines left out'], 'it looked again');
  now += 10_000;
  mock.timers.tick(10_000);
  t.equal(told.length, burstLines + 1);
  lines.end();
});

t.test('a failing receiver does not end the log', async (t) => {
  const failing = new LogLines(
    () => {
      throw new Error('gone');
    },
    () => 0,
  );
  t.doesNotThrow(() => failing.take(wholeLine('a')));
  failing.end();
});

t.test('a file is followed from its last lines on', async (t) => {
  const { logs, log, path } = await openRoom(t);
  await writeFile(path, Array.from({ length: 150 }, (_, n) => `line ${n}\r\n`).join(''));
  t.strictSame(await logs.start(server), { source: path });
  await log.until('line 149');
  t.equal(log.messages[0], 'line 50');
  t.strictSame(await logs.start({ ...server, name: 'again' }), { source: path }, 'a second start goes on');

  await appendFile(path, Buffer.from('grü').subarray(0, 3));
  await appendFile(path, Buffer.concat([Buffer.from('ü').subarray(1), Buffer.from('ße\nwhole\n')]));
  await log.until('whole');
  t.strictSame(
    log.messages.slice(100),
    ['grüße', 'whole'],
    'a partial line is completed later, and logged once',
  );

  t.strictSame(await logs.stop(server), { source: path });
  t.strictSame(await logs.stop(server), { source: 'none' });
  await appendFile(path, 'after the stop\n');
  t.strictSame(await logs.start(server), { source: path });
  await log.until('after the stop');
  t.equal(log.messages.filter((message) => message === 'after the stop').length, 1);
});

t.test('a large file begins with the whole lines at its end', async (t) => {
  const { logs, log, path } = await openRoom(t);
  const private_ = `level=DEBUG prompt="${'secret words '.repeat(tailBytes / 8)}"\n`;
  await writeFile(path, `${private_}last\n`);
  await logs.start(server);
  await log.until('last');
  t.strictSame(log.messages, ['last'], 'the rest of a line is left out, which may be of a prompt');
  await logs.stop(server);

  await writeFile(path, private_.trimEnd());
  await logs.start(server);
  await appendFile(path, ' and secrets\nnext\n');
  await log.until('next');
  await appendFile(path, 'and one more\n');
  await log.until('and one more');
  t.strictSame(log.messages, ['last', 'next', 'and one more'], 'also where it goes on later');
});

t.test('a file is followed by its name', where('unlinking'), async (t) => {
  const { logs, log, path } = await openRoom(t);
  await writeFile(path, 'one\n');
  await logs.start(server);
  await log.until('one');
  const old = join(dirname(path), 'server-1.log');
  await rename(path, old);
  await appendFile(old, 'still the old\n');
  await log.until('still the old');
  await appendFile(old, 'without an end');
  await writeFile(path, 'rotated\n');
  await log.until('rotated');

  await truncate(path);
  await appendFile(path, 'cut\n');
  await log.until('cut');
  await writeFile(`${path}.new`, 'replaced, and longer than what was there\n');
  await rename(`${path}.new`, path);
  await log.until('replaced, and longer than what was there');
  t.strictSame(log.messages, [
    ...['one', 'still the old', 'without an end', 'rotated', 'cut'],
    'replaced, and longer than what was there',
  ]);
});

t.test(
  'trouble with a file is reported once, and reading goes on afterwards',
  where('unlinking'),
  async (t) => {
    const { logs, log, path } = await openRoom(t);
    await writeFile(path, 'one\n');
    await logs.start(server);
    await log.until('one');
    await rm(path);
    await mkdir(path);
    const trouble = `The log ${path} is not a file. It continues as soon as it can be read again.`;
    await log.until(trouble);
    await settled(() => log.messages.length);
    await rm(path, { recursive: true });
    await writeFile(path, 'two\n');
    await log.until('two');
    t.strictSame(log.messages, ['one', trouble, 'two']);
    t.equal(log.levels[1], 'warn');
  },
);

t.test('a line of 10 MB is cut and counted', async (t) => {
  const { logs, log, path } = await openRoom(t);
  await writeFile(path, '');
  await logs.start(server);
  await appendFile(path, `${'x'.repeat(10 * 1024 * 1024)}\nafter\n`);
  await log.until('after');
  t.equal(log.messages[0], `${'x'.repeat(maxLineLength)}… (10,485,760 bytes)`);
  t.equal(log.messages.length, 2);
});

t.test('the journal is followed where there is no file', where('sh'), async (t) => {
  const { logs, log, program, pidOf } = await openRoom(t);
  await program('journalctl', `echo '-- Journal begins at Mon. --'; echo "level=WARN args=$*"; ${sleep}`);
  const source = 'journalctl --unit=ollama --no-pager --follow --lines=100 --output=cat';
  const [first, second] = await Promise.all([logs.start(server), logs.start(server)]);
  t.strictSame([first, second], [{ source }, { source }], 'two starts share one follower');
  await log.until(`level=WARN args=${source.slice('journalctl '.length)}`);
  t.strictSame(log.levels, ['warn']);
  const pid = await pidOf('journalctl');
  t.ok(isAlive(pid));
  t.strictSame(await logs.stop(server), { source });
  t.notOk(isAlive(pid), 'stop ends the child');

  await logs.start(server);
  const next = await pidOf('journalctl');
  t.not(next, pid);
  await logs.close();
  t.notOk(isAlive(next), 'so does close');
  t.strictSame(await logs.start(server), { source: 'none' }, 'after which nothing begins');
});

t.test('a child that ignores SIGTERM is killed', where('sh'), async (t) => {
  const { logs, program, pidOf } = await openRoom(t);
  await program('journalctl', `trap '' TERM; echo line; ${sleep}`);
  await logs.start(server);
  const pid = await pidOf('journalctl');
  await logs.stop(server);
  t.notOk(isAlive(pid));
});

t.test(
  'a log below a file does not exist, and one of a server without a port is that of its scheme',
  where('sh'),
  async (t) => {
    const { logs, program, path } = await openRoom(t);
    await rm(dirname(path), { recursive: true });
    await writeFile(dirname(path), '');
    await t.rejects(
      logs.start(server),
      failsWith({ message: new RegExp(`for: ${path} \\(does not exist\\), `) }),
    );
    await program('docker', "printf 'web\\tx\\t0.0.0.0:8080->80/tcp\\n'");
    for (const [url, port] of [
      ['http://127.0.0.1', 80],
      ['https://127.0.0.1/', 443],
      ['https://127.0.0.1:8443', 8443],
    ] as const)
      await t.rejects(
        logs.start({ name: 'default', url }),
        failsWith({ message: new RegExp(`has no container "ollama" with the port ${port}\\)`) }),
      );
  },
);

t.test('if the journal has no entries or says nothing, the container is followed', where('sh'), async (t) => {
  const { logs, log, program, pidOf } = await openRoom(t, { firstLineWithin: 5000 });
  await program('journalctl', `echo 'Hint: not in the group' >&2; echo '-- No entries --'; ${sleep}`);
  await program(
    'docker',
    `if [ "$1" = ps ]; then [ "$3" = '{{.Names}}\\t{{.Image}}\\t{{.Ports}}' ] || exit 9
     printf 'web\\tnginx\\t0.0.0.0:80->80/tcp\\nai\\tollama/ollama\\t0.0.0.0:11434->11434/tcp\\n'; exit; fi
     echo "args=$*"; echo 'from stderr' >&2; ${sleep}`,
  );
  t.strictSame(await logs.start(server), { source: 'docker logs --follow --tail 100 ai' });
  await Promise.all([log.until('args=logs --follow --tail 100 ai'), log.until('from stderr')]);
  t.notOk(isAlive(await pidOf('journalctl')), 'what was no source is ended');
  const pid = await pidOf('docker');
  await logs.stop(server);
  t.notOk(isAlive(pid));
});

t.test('if no log is found, the error names every source that was tried', where('sh'), async (t) => {
  const { logs, program, path, log } = await openRoom(t);
  await t.rejects(
    logs.start(server),
    failsWith({
      kind: 'not-supported',
      message: `No log of the runner was found. Looked for: ${path} (does not exist), journalctl --unit=ollama (is not installed), docker (is not installed). ${adviceFor('linux')}`,
      details: { server: 'default' },
    }),
  );
  await mkdir(path);
  await program('docker', "echo 'Cannot connect to the Docker daemon.' >&2; exit 1");
  await t.rejects(
    logs.start(server),
    failsWith({
      message: `No log of the runner was found. Looked for: ${path} (is not a file), journalctl --unit=ollama (is not installed), docker (ended with code 1: Cannot connect to the Docker daemon.). ${adviceFor('linux')}`,
    }),
  );
  const remarks = [
    ['exit 2', 'ended with code 2'],
    [
      `echo >&2; echo ' ${'x'.repeat(250)}' >&2; echo more >&2; exit 2`,
      `ended with code 2: ${'x'.repeat(200)}`,
    ],
  ] as const;
  for (const [script, want] of remarks) {
    await program('docker', script);
    await t.rejects(logs.start(server), { message: new RegExp(`, docker \\(${want}\\)\\. `) });
  }
  await rm(path, { recursive: true });
  await symlink(path, path);
  await t.rejects(logs.start(server), { message: /server\.log \(cannot be read \(ELOOP\)\), journalctl/ });
  await t.rejects(
    logs.start({ name: 'far', url: 'http://192.0.2.7:11434' }),
    failsWith({
      kind: 'not-supported',
      message: /^The runner at http:\/\/192\.0\.2\.7:11434 is not on this machine/,
    }),
  );
  t.strictSame(log.messages, []);
});

t.test('a command that says nothing in time is no log', where('sh'), async (t) => {
  const { logs, program } = await openRoom(t, { firstLineWithin: 50 });
  await program('journalctl', sleep);
  await t.rejects(logs.start(server), failsWith({ message: /journalctl --unit=ollama \(said nothing\)/ }));
});

t.test('a container that cannot be read is skipped', where('sh'), async (t) => {
  const { logs, program, pidOf } = await openRoom(t, { firstLineWithin: 5000 });
  const list = (row: string) => `if [ "$1" = ps ]; then printf '${row}'; exit; fi`;
  await program('journalctl', 'exit 1');
  await program('docker', list('web\\tnginx\\t0.0.0.0:80->80/tcp\\n'));
  await t.rejects(
    logs.start(server),
    failsWith({ message: /docker \(has no container "ollama" with the port 11434\)/ }),
  );
  await program(
    'docker',
    `${list('ollama\\tx\\t\\n')}; echo 'Error response from daemon: no reading' >&2; ${sleep}`,
  );
  await t.rejects(
    logs.start(server),
    failsWith({
      message: /journalctl --unit=ollama \(ended with code 1\), docker \(said "Error response from/,
    }),
  );
  t.notOk(isAlive(await pidOf('docker')), 'what was no source is ended before the failure is reported');
});

t.test('the end of a log is reported, and a new request starts it again', where('sh'), async (t) => {
  const { logs, log, program } = await openRoom(t);
  await program('journalctl', "printf 'line\\nwithout an end'; exit 3");
  const { source } = await logs.start(server);
  const told = `The log "${source}" ended with code 3. Start the log again when the runner is running.`;
  await log.until(told);
  t.strictSame(log.messages, ['line', 'without an end', told]);
  t.equal(log.levels[2], 'warn');
  await program('journalctl', `echo 'again'; ${sleep}`);
  t.strictSame(await logs.start(server), { source });
  await log.until('again');
});

t.test('a stop or close during the start leaves nothing behind', where('sh'), async (t) => {
  for (const way of ['stop', 'close'] as const) {
    const { logs, log, program, pidOf } = await openRoom(t, { firstLineWithin: 60_000 });
    await program('journalctl', sleep);
    const started = logs.start(server);
    const pid = await pidOf('journalctl');
    t.ok(isAlive(pid));
    await (way === 'stop' ? logs.stop(server) : logs.close());
    t.notOk(isAlive(pid), way);
    t.strictSame(await started, { source: 'none' });
    t.strictSame(log.messages, []);
  }
});

t.test('over the wire: without secrets and prompts', where('sh'), async (t) => {
  const { log, env } = await openHome(t);
  await writeFile(log, 'Authorization: Bearer abcdefgh\nlevel=DEBUG prompt="secret plan"\n');
  const { daemon } = await startDaemonWithRunner(t, {}, { pair: { env } });
  const lines: LogParams[] = [];
  const both = new Promise<void>((resolve) =>
    daemon.on(logNotification, (line) => {
      if (line.source === 'server') lines.push(line);
      if (lines.length === 2) resolve();
    }),
  );
  t.strictSame(await daemon.request(startLogsRequest, {}), { source: log });
  await both;
  t.notMatch(JSON.stringify(lines), /abcdefgh|plan/);
  t.strictSame(await daemon.request(stopLogsRequest, {}), { source: log });
  await t.rejects(
    daemon.request(startLogsRequest, { server: 'other' }),
    failsWith({ code: -32602, data: { path: 'server' } }),
  );
});

t.test('over the wire: a start that is cancelled, and a shutdown, leave no child', where('sh'), async (t) => {
  const { log: _, env } = await openHome(t);
  const folder = env['PATH'] ?? '';
  const pidFile = join(folder, 'pid');
  // One that is quiet waits for a file before it says anything.
  const speak = join(folder, 'speak');
  const silence = `[ -z "$QUIET" ] || until [ -e ${speak} ]; do /bin/sleep 0.01; done`;
  const script = `#!/bin/sh\necho $$ > ${pidFile}\n${silence}\necho line\nexec /bin/sleep 60\n`;
  await writeFile(join(folder, 'journalctl'), script, { mode: 0o755 });
  const pidOf = async () => {
    const read = () => readFile(pidFile, 'utf8').catch(() => '');
    return Number(await poll(read, (text) => text.endsWith('\n')));
  };
  const until = async (gone: number) => {
    await poll(
      async () => isAlive(gone),
      (is) => !is,
    );
  };
  const quiet = await startDaemonWithRunner(t, {}, { pair: { env: { ...env, QUIET: '1' } } });
  const cancel = new AbortController();
  const started = quiet.daemon.request(startLogsRequest, {}, cancel.signal).catch((error) => error.code);
  const first = await pidOf();
  cancel.abort();
  t.equal(await started, -32800);
  await writeFile(speak, '');
  await until(first);
  await rm(pidFile);
  const { daemon } = await startDaemonWithRunner(t, {}, { pair: { env } });
  await daemon.request(startLogsRequest, {});
  const second = await pidOf();
  await daemon.connection.sendRequest('shutdown');
  t.notOk(isAlive(second), 'gone before the shutdown is answered');
});

t.test('the setting starts the log once the editor is ready, and stops it', where('sh'), async (t) => {
  const { log, env } = await openHome(t);
  await writeFile(log, 'hello\n');
  const { daemon } = await startDaemonWithRunner(t, { streamLogs: true }, { pair: { env } });
  const next = (text: string) =>
    new Promise<void>((resolve) =>
      daemon.on(logNotification, ({ source, message }) => {
        if (source === 'server' && message === text) resolve();
      }),
    );
  const again = next('again');
  await appendFile(log, 'again\n');
  await again;
  await daemon.connection.sendNotification('workspace/didChangeConfiguration', {
    settings: { runner: { streamLogs: false } },
  });
  while ((await daemon.request(stopLogsRequest, {})).source !== 'none');
  t.pass();
});

const sleep = 'exec sleep 60';

/** A home and a PATH of its own, and what is logged from it. */
async function openRoom(t: Test, options: Partial<ServerLogsOptions> = {}) {
  const home = await mkdtemp(join(tmpdir(), 'server-logs-'));
  const bin = join(home, 'bin');
  const path = `${home}/.ollama/logs/server.log`;
  await mkdir(dirname(path), { recursive: true });
  await mkdir(bin);
  const log = recordLog();
  const logs = new ServerLogs({
    onLine: log.onLine,
    platform: 'linux',
    env: { HOME: home, PATH: bin },
    now: () => performance.now(),
    pollEvery: 5,
    firstLineWithin: 20_000,
    ...options,
  });
  t.teardown(async () => {
    await logs.close();
    await rm(home, { recursive: true });
  });
  const pidFile = (name: string) => join(home, `${name}.pid`);
  return {
    logs,
    log,
    path,
    /** Puts a program of this name into PATH, which writes its process id first. */
    program: async (name: string, script: string) => {
      const lines = ['#!/bin/sh', 'PATH=/usr/bin:/bin', `echo "$$" > '${pidFile(name)}'`, script, ''];
      await writeFile(join(bin, `${name}.new`), lines.join('\n'), { mode: 0o755 });
      await rename(join(bin, `${name}.new`), join(bin, name));
    },
    pidOf: async (name: string) => Number(await contentOf(pidFile(name))),
  };
}

/** Waits until the file has a line; the watcher is there before the first look. */
async function contentOf(path: string): Promise<string> {
  const watcher = watch(dirname(path));
  try {
    for (;;) {
      const changed = once(watcher, 'change');
      const content = await readFile(path, 'utf8').catch(() => '');
      if (content.endsWith('\n')) return content;
      await changed;
    }
  } finally {
    watcher.close();
  }
}

function recordLog() {
  const messages: string[] = [];
  const levels: string[] = [];
  const waiting = new Map<string, () => void>();
  return {
    messages,
    levels,
    onLine: (level: string, message: string) => {
      messages.push(message);
      levels.push(level);
      waiting.get(message)?.();
    },
    until: (message: string) =>
      new Promise<void>((resolve) => {
        if (messages.includes(message)) resolve();
        else waiting.set(message, resolve);
      }),
  };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function splitLines(pieces: readonly Buffer[]) {
  const splitter = createLogSplitter();
  const lines = pieces.flatMap((piece) => [...splitter.push(piece)]);
  return [...lines, ...[splitter.end() ?? []].flat()].map(shownPart);
}

function wholeLine(text: string) {
  return { text, bytes: Buffer.byteLength(text), isCut: false };
}

function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b);
  return [0, ...places].map((start, index) => bytes.subarray(start, places[index] ?? bytes.length));
}

/** The environment of a daemon with a log of its own. */
async function openHome(t: Test): Promise<{ log: string; env: NodeJS.ProcessEnv }> {
  const folder = await mkdtemp(join(tmpdir(), 'runner-logs-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const log = join(folder, '.ollama', 'logs', 'server.log');
  await mkdir(dirname(log), { recursive: true });
  return { log, env: { HOME: folder, PATH: folder } };
}
