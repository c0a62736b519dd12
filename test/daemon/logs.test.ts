import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { containerOf } from '../../daemon/logs/dockerContainer.ts';
import { levelOfLine } from '../../daemon/logs/lineLevel.ts';
import { burstLines, LineLimit, linesPerSecond } from '../../daemon/logs/lineLimit.ts';
import { LineSplitter, maxLineLength, type SplitLine } from '../../daemon/logs/lineSplitter.ts';
import { plainText } from '../../daemon/logs/plainText.ts';
import { hidePrivateText } from '../../daemon/logs/privateText.ts';
import { createServerLogs } from '../../daemon/logs/serverLogs.ts';
import { logSources } from '../../daemon/logs/sources.ts';
import { tailLines, tailStart } from '../../daemon/logs/tailStart.ts';
import { isThisHost } from '../../daemon/logs/thisHost.ts';
import type { LogLevel } from '../../protocol/initialize.ts';
import { type LogParams, logNotification, startLogsRequest, stopLogsRequest } from '../../protocol/log.ts';
import { startDaemonWithRunner } from '../support/daemonWithRunner.ts';
import { failsWith } from '../support/failsWith.ts';

const server = { name: 'default', url: 'http://127.0.0.1:11434' };

t.test('which addresses are this machine', async (t) => {
  const host = { addresses: ['192.168.1.5', 'fe80::1%eth0', '2001:db8::1'], hostname: 'Box.example.org' };
  const cases = [
    ['http://127.0.0.1:1', true],
    ['http://localhost', true],
    ['http://[::1]:1', true],
    ['http://192.168.1.5:11434', true],
    ['http://[2001:db8::1]:1', true],
    ['http://[fe80::1]', true],
    ['http://box', true],
    ['http://box.local', true],
    ['http://box.example.org', true],
    ['http://192.168.1.6', false],
    ['http://example.org', false],
    ['https://ollama.com', false],
    ['not an address', false],
  ] as const;
  for (const [url, want] of cases) t.equal(isThisHost(url, host), want, url);
});

t.test('where the log of each platform may be', async (t) => {
  const kinds = (platform: NodeJS.Platform, env: NodeJS.ProcessEnv) =>
    logSources({ platform, env, homedir: '/h' }).map((source) =>
      source.kind === 'file' ? source.path : source.kind,
    );
  t.strictSame(kinds('linux', { HOME: '/home/me' }), [
    '/home/me/.ollama/logs/server.log',
    'journal',
    'docker',
  ]);
  t.strictSame(kinds('darwin', {}), [
    '/h/.ollama/logs/server.log',
    '/opt/homebrew/var/log/ollama.log',
    '/usr/local/var/log/ollama.log',
    'docker',
  ]);
  t.strictSame(kinds('win32', { LOCALAPPDATA: 'C:\\Local' }), ['C:\\Local\\Ollama\\server.log', 'docker']);
});

t.test('how grave a line is', async (t) => {
  const cases: readonly (readonly [string, LogLevel])[] = [
    ['time=2026-11-20T22:31:07Z level=DEBUG source=x.go:1 msg="y"', 'debug'],
    ['level=TRACE msg=x', 'debug'],
    ['time=x level=WARN msg=x', 'warn'],
    ['time=x level=ERROR msg=x', 'error'],
    ['[GIN] 2026/11/20 - 22:31:09 | 200 |   1.2ms |  127.0.0.1 | POST  "/api/chat"', 'info'],
    ['[GIN] 2026/11/20 - 22:31:09 | 404 |   1.2ms |  127.0.0.1 | POST  "/api/chat"', 'warn'],
    ['[GIN] 2026/11/20 - 22:31:09 | 500 |   1.2ms |  127.0.0.1 | POST  "/api/chat"', 'error'],
    ['llama_model_loader: loaded meta data', 'info'],
  ];
  for (const [line, want] of cases) t.equal(levelOfLine(line), want, line);
});

t.test('what a user or a model said is hidden', async (t) => {
  const cases = [
    ['level=DEBUG msg="completion request" prompt="My \\"secret\\" plan" n=1', /plan|secret/],
    ['level=TRACE msg=parsed content="the answer"', /answer/],
    ['level=DEBUG req.prompt=secret x=1', /secret/],
    ['level=INFO msg=x prompt="secret plan"', /plan/],
    ['level=DEBUG msg="got" request="{Model:x Prompt:secret plan}"', /plan/],
    ['level=DEBUG msg=x text="cut before its end', /before/],
    ['free text, prompt = secret plan', /plan/],
  ] as const;
  for (const [line, never] of cases) t.notMatch(hidePrivateText(line), never, line);
  const kept = 'time=x level=INFO source=sched.go:1 msg="loaded runners" count=1 request="{Operation:fit}"';
  t.equal(hidePrivateText(kept), kept);
  t.equal(plainText('\u001b[31mred\u001b[0m\ttab\u0007 \u001b]0;title\u0007end\u009b1m'), 'red tab end');
});

t.test('lines come out the same however they are cut, and are never held whole', async (t) => {
  const split = (pieces: readonly Buffer[]) => {
    const lines: SplitLine[] = [];
    const splitter = new LineSplitter((line) => lines.push(line));
    for (const piece of pieces) splitter.write(piece);
    splitter.end();
    return lines;
  };
  const text = fc.array(fc.oneof(fc.constantFrom('\n', '\r\n', '\r', 'é𝄞', 'x'.repeat(9_000)), fc.string()), {
    maxLength: 20,
  });
  fc.assert(
    fc.property(text, fc.array(fc.nat(2_000), { maxLength: 10 }), (parts, cuts) => {
      const bytes = Buffer.from(parts.join(''));
      const places = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
      const pieces = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
      return JSON.stringify(split(pieces)) === JSON.stringify(split([bytes]));
    }),
  );
  const giant = Buffer.alloc(64 * 1024, 'y');
  const [line] = split([...Array.from({ length: 160 }, () => giant), Buffer.from('\nend')]);
  t.equal(line?.text.length, maxLineLength);
  t.equal(line?.length, 160 * giant.length);
  t.strictSame(
    split([Buffer.from('a\r\nb\n\nc')]).map(({ text: own }) => own),
    ['a', 'b', '', 'c'],
  );
});

t.test('the end of a file gives its last whole lines', async (t) => {
  const many = Buffer.from(Array.from({ length: 250 }, (_, index) => `${index}\n`).join(''));
  const shown = many.subarray(tailStart(many, { isWhole: true })).toString();
  t.equal(shown.split('\n')[0], String(250 - tailLines));
  const part = Buffer.from('rest of a line\nwhole\n');
  t.equal(part.subarray(tailStart(part, { isWhole: false })).toString(), 'whole\n');
  t.equal(tailStart(Buffer.from('no end'), { isWhole: false }), undefined);
  t.equal(tailStart(Buffer.from(''), { isWhole: true }), 0);
});

t.test('too many lines are counted, and told once there is room', async (t) => {
  let now = 0;
  const limit = new LineLimit(() => now);
  const taken = () => Array.from({ length: 1_000 }, () => limit.take()).filter(Boolean).length;
  t.equal(taken(), burstLines);
  t.equal(limit.leftOut, 1_000 - burstLines);
  now += 500;
  t.equal(limit.reopen(), 0);
  now += 600;
  t.equal(limit.reopen(), 1_000 - burstLines);
  t.ok(taken() >= linesPerSecond);
});

t.test('which container it is', async (t) => {
  const listed = [
    'web\tnginx\t0.0.0.0:80->80/tcp',
    'ai\tollama/ollama:latest\t0.0.0.0:11500->11434/tcp',
    'ollama\tother\t',
  ].join('\n');
  t.equal(containerOf(listed, 11_500), 'ai');
  t.equal(containerOf(listed, 11_434), 'ollama');
  t.equal(containerOf(listed, 80), 'ollama', 'a container of another program is none');
  t.equal(containerOf('web\tnginx\t0.0.0.0:80->80/tcp', 80), undefined);
  t.equal(containerOf('--privileged\tollama\t0.0.0.0:80->80/tcp', 80), undefined);
});

/** Follows a log; `until` settles once these lines were told. */
function follow(t: Test, env: NodeJS.ProcessEnv) {
  const told: { level: LogLevel; message: string }[] = [];
  const waiting = new Set<() => void>();
  const logs = createServerLogs({
    onLine: (level, message) => {
      told.push({ level, message });
      for (const look of waiting) look();
    },
    platform: 'linux',
    env,
    now: Date.now,
    pollEvery: 10,
    firstLineWithin: 1_500,
  });
  t.teardown(() => logs.close());
  const until = async (...messages: readonly string[]) => {
    const holds = () => messages.every((wanted) => told.some(({ message }) => message.includes(wanted)));
    while (!holds()) {
      await new Promise<void>((resolve) => {
        const look = () => {
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
      });
    }
  };
  return { logs, told, until };
}

function home(t: Test): { folder: string; log: string; env: NodeJS.ProcessEnv } {
  const folder = mkdtempSync(join(tmpdir(), 'runner-logs-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, '.ollama', 'logs'), { recursive: true });
  mkdirSync(join(folder, 'bin'));
  const log = join(folder, '.ollama', 'logs', 'server.log');
  return { folder, log, env: { HOME: folder, PATH: `${join(folder, 'bin')}:${process.env['PATH']}` } };
}

t.test('a file is followed: partial lines, rotation, truncation, and a time without it', async (t) => {
  const { log, env } = home(t);
  writeFileSync(log, 'old one\nold two\nbegun ');
  const { logs, told, until } = follow(t, env);
  const [first, second] = await Promise.all([logs.start(server), logs.start(server)]);
  t.strictSame([first, second], [{ source: log }, { source: log }], 'one follower for two who ask');
  await until('old one', 'old two');
  t.notOk(
    told.some(({ message }) => message.includes('begun')),
    'a line is told when it is whole',
  );
  appendFileSync(log, 'and ended\n');
  await until('begun and ended');
  appendFileSync(log, 'last of the old\n');
  renameSync(log, `${log}.1`);
  appendFileSync(`${log}.1`, 'written late\n');
  await until('last of the old');
  writeFileSync(log, 'first of the new\n');
  await until('first of the new', 'written late');
  truncateSync(log, 0);
  await new Promise((resolve) => setTimeout(resolve, 50));
  appendFileSync(log, 'after it was cut\n');
  await until('after it was cut');
  rmSync(log);
  writeFileSync(log, `replaced ${'z'.repeat(10 * 1024 * 1024)}\nnext\n`);
  await until('replaced', 'next');
  const long = told.find(({ message }) => message.startsWith('replaced'));
  t.match(long?.message, /z… \(10,485,769 characters\)$/);
  t.ok((long?.message.length ?? 0) < 9_000);
  t.strictSame(await logs.stop(server), { source: log });
  t.strictSame(await logs.stop(server), { source: 'none' });
});

t.test('trouble is told once, and is over when the file can be read again', async (t) => {
  const { log, env } = home(t);
  writeFileSync(log, 'fine\n');
  const { logs, told, until } = follow(t, env);
  await logs.start(server);
  await until('fine');
  rmSync(log);
  mkdirSync(log);
  await until('is not a file');
  rmSync(log, { recursive: true });
  writeFileSync(log, 'fine again\n');
  await until('fine again');
  t.equal(told.filter(({ level }) => level === 'warn').length, 1);
});

/** A program of the tests in the place of a real one. It writes its process id beside itself. */
function program(folder: string, name: string, body: string): string {
  const path = join(folder, 'bin', name);
  const pid = `${path}.pid`;
  const script = `#!${process.execPath}\nrequire('node:fs').writeFileSync(${JSON.stringify(pid)}, String(process.pid));\n${body}\n`;
  writeFileSync(path, script);
  chmodSync(path, 0o755);
  return pid;
}

function isRunning(pidFile: string): boolean {
  try {
    return process.kill(Number(readFileSync(pidFile, 'utf8')), 0);
  } catch {
    return false;
  }
}

const forEver = 'setInterval(() => undefined, 1000);';

t.test('a journal is followed by its program, which ends with the following', async (t) => {
  const { folder, env } = home(t);
  const pid = program(
    folder,
    'journalctl',
    `console.log('-- Journal begins at Monday --'); console.log(process.argv.slice(2).join(' ')); process.stdout.write('half'); setTimeout(() => console.log(' a line'), 30); ${forEver}`,
  );
  const { logs, told, until } = follow(t, env);
  const { source } = await logs.start(server);
  t.match(source, /^journalctl --unit=ollama .*--follow/);
  await until('--unit=ollama --no-pager --follow', 'half a line');
  t.ok(isRunning(pid));
  t.strictSame(await logs.stop(server), { source });
  t.notOk(isRunning(pid));
  t.notOk(told.some(({ level }) => level === 'warn'));
});

t.test('a journal without entries is none, and the container is taken', async (t) => {
  const { folder, env } = home(t);
  const journal = program(folder, 'journalctl', `console.log('-- No entries --'); ${forEver}`);
  const docker = program(
    folder,
    'docker',
    `if (process.argv[2] === 'ps') console.log('ai\\tollama/ollama\\t127.0.0.1:11434->11434/tcp'); else { console.log('out ' + process.argv.slice(2).join(' ')); console.error('err level=WARN'); ${forEver} }`,
  );
  const { logs, until, told } = follow(t, env);
  t.strictSame(await logs.start(server), { source: 'docker logs --follow --tail 100 ai' });
  await until('out logs --follow --tail 100 ai', 'err');
  t.equal(told.find(({ message }) => message.startsWith('err'))?.level, 'warn');
  t.notOk(isRunning(journal));
  await logs.close();
  t.notOk(isRunning(docker));
});

t.test('a follower that ends by itself is told and forgotten', async (t) => {
  const { folder, env } = home(t);
  program(folder, 'journalctl', `console.log('one'); setTimeout(() => process.exit(3), 30);`);
  const { logs, until } = follow(t, env);
  const first = await logs.start(server);
  await until('one', 'ended with code 3');
  t.strictSame(await logs.start(server), first);
});

t.test('no log is an error that says what was looked for, also over the wire', async (t) => {
  const { folder, env } = home(t);
  const nowhere = { ...env, PATH: join(folder, 'bin') };
  const { logs } = follow(t, nowhere);
  await t.rejects(
    logs.start(server),
    failsWith({
      kind: 'not-supported',
      message: /server\.log \(is not there\).*journalctl.*docker.*Start the runner as a service/,
    }),
  );
  await t.rejects(
    logs.start({ name: 'far', url: 'https://runner.example.org' }),
    failsWith({ kind: 'not-supported', message: /not on this machine/ }),
  );

  const { log, env: withLog } = home(t);
  writeFileSync(log, 'Authorization: Bearer abcdefgh\nlevel=DEBUG prompt="secret plan"\n');
  const { daemon } = await startDaemonWithRunner(t, {}, { pair: { env: withLog } });
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

t.test('the setting starts it after the editor is ready, and stops it', async (t) => {
  const { log, env } = home(t);
  writeFileSync(log, 'hello\n');
  const { daemon } = await startDaemonWithRunner(t, { streamLogs: true }, { pair: { env } });
  const next = (text: string) =>
    new Promise<void>((resolve) =>
      daemon.on(logNotification, ({ source, message }) => {
        if (source === 'server' && message === text) resolve();
      }),
    );
  const again = next('again');
  appendFileSync(log, 'again\n');
  await again;
  await daemon.connection.sendNotification('workspace/didChangeConfiguration', {
    settings: { runner: { streamLogs: false } },
  });
  while ((await daemon.request(stopLogsRequest, {})).source !== 'none');
  t.pass();
});
