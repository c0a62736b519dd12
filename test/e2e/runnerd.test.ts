import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { InitializationOptions } from '../../protocol/messages/initialize.ts';
import { startLogsRequest } from '../../protocol/messages/log.ts';
import { listModelsRequest } from '../../protocol/messages/models.ts';
import { statusRequest } from '../../protocol/messages/status.ts';
import { finishLoginRequest, loginRequest } from '../../protocol/messages/tools.ts';
import { type DaemonProcess, runnerdPath, startDaemonProcess } from '../support/daemonProcess.ts';
import { failsWith } from '../support/failsWith.ts';
import { closeServer, portOf } from '../support/recordings.ts';
import { endedBySignal, has, where } from '../support/systems.ts';
import { poll, withPatience } from '../support/waiting.ts';

const message = (content: string) => [{ role: 'user' as const, content }];

/** A runner whose answers the test writes. */
async function startRunner(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => closeServer(server));
  return { url: `http://127.0.0.1:${portOf(server)}`, server };
}

const line = (content: string) =>
  `${JSON.stringify({ model: 'm', message: { role: 'assistant', content }, done: false })}\n`;

t.test('an error of a part that is loaded later keeps its kind', async (t) => {
  const { url } = await startRunner((_request, response) => response.writeHead(404).end());
  const daemon = await startDaemonProcess({ mcpServers: { web: { url: `${url}/mcp` } } });
  t.teardown(() => daemon.close());
  await t.rejects(daemon.request(loginRequest, { server: 'web' }), {
    message: /offers no login/,
    data: { kind: /./ },
  });
  await t.rejects(daemon.request(finishLoginRequest, { server: 'web' }), {
    code: -32602,
    data: { path: 'server' },
  });
});

t.test('flags', async (t) => {
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [runnerdPath, ...args], { encoding: 'utf8' });
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  t.equal(run('--version').stdout, `${version}\n`);
  t.match(run('--help').stdout, /--stdio.*--acp/s);
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [[], /--stdio/],
    [['--nonsense'], /nonsense/],
    [['--stdio', '--secrets-fd', 'x'], /secrets-fd/],
  ];
  for (const [args, says] of cases) {
    const { status, stderr, stdout } = run(...args);
    t.equal(status, 2, args.join(' '));
    t.match(stderr, says);
    t.equal(stdout, '');
  }
});

t.test(
  'standard output is protocol and nothing else, and malformed input does not end the daemon',
  async (t) => {
    const home = mkdtempSync(join(tmpdir(), 'runner-home-'));
    t.teardown(() => rmSync(home, { recursive: true, force: true }));
    mkdirSync(join(home, 'runner'));
    const mcpServers = { files: { command: 'x' }, off: { command: 'x', disabled: true }, wrong: 'x' };
    writeFileSync(join(home, 'runner', 'config.json'), JSON.stringify({ mcpServers }));
    const env = { ...process.env, XDG_CONFIG_HOME: home };
    const child = spawn(process.execPath, [runnerdPath, '--stdio'], { stdio: ['pipe', 'pipe', 'pipe'], env });
    const frames: unknown[] = [];
    let buffered = Buffer.alloc(0);
    child.stdout.on('data', (chunk: Buffer) => {
      buffered = Buffer.concat([buffered, chunk]);
      for (;;) {
        const header = /^Content-Length: (\d+)\r\n\r\n/.exec(buffered.toString('latin1', 0, 64));
        if (!header || buffered.length < header[0].length + Number(header[1])) return;
        frames.push(
          JSON.parse(buffered.toString('utf8', header[0].length, header[0].length + Number(header[1]))),
        );
        buffered = buffered.subarray(header[0].length + Number(header[1]));
        child.emit('frame');
      }
    });
    const send = (body: string) =>
      child.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    const answer = async (id: number | null, code?: number) => {
      const isIt = (frame: unknown) => {
        const { id: own, error } = frame as { id?: unknown; error?: { code: number } };
        return own === id && error?.code === code;
      };
      while (!frames.some(isIt)) await once(child, 'frame');
      const [found] = frames.splice(frames.findIndex(isIt), 1);
      return found as {
        result?: unknown;
        error?: { code: number; data?: { path?: string }; message: string };
      };
    };
    child.stdin.write('this is no frame\r\n\r\n');
    await answer(null, -32700);
    send('{"broken"');
    await answer(null, -32700);
    send('[]');
    await answer(null, -32600);
    send('{"jsonrpc":"2.0","id":1,"method":"runner/models/list","params":{}}');
    await answer(1, -32002);
    send(
      '{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{},"initializationOptions":{"timeouts":{"idle":"long"}}}}',
    );
    t.equal((await answer(2, -32602)).error?.data?.path, 'initializationOptions.timeouts.idle');
    send(
      '{"jsonrpc":"2.0","id":3,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{},"initializationOptions":{"host":"http://127.0.0.1:9"}}}',
    );
    const announced = { protocolVersion: 1, isHostNamed: Boolean, toolServers: ['files', 'wrong'] };
    t.match((await answer(3)).result, {
      capabilities: { experimental: { runner: announced } },
      serverInfo: { name: 'runnerd' },
    });
    send('{"jsonrpc":"2.0","method":"initialized","params":{}}');
    send('{"jsonrpc":"2.0","id":4,"method":"runner/no/such","params":{}}');
    await answer(4, -32601);
    const wrong: readonly (readonly [object, string])[] = [
      [{}, 'streamId'],
      [{ streamId: 's', model: 'm' }, 'messages'],
      [{ streamId: 's', model: 'm', messages: [] }, 'messages'],
      [{ streamId: 's', model: 'm', messages: [{ role: 'robot', content: '' }] }, 'messages[0].role'],
      [{ streamId: 's', model: 'm', messages: [{ role: 'user', content: null }] }, 'messages[0].content'],
      [
        {
          streamId: 's',
          model: 'm',
          messages: [{ role: 'user', content: '', images: ['data:image/png;base64,AAAA'] }],
        },
        'messages[0].images[0]',
      ],
      [
        {
          streamId: 's',
          model: 'm',
          messages: [
            { role: 'assistant', content: '', toolCalls: [{ id: 'a', name: 'f', arguments: '{}' }] },
          ],
        },
        'messages[0].toolCalls[0].arguments',
      ],
      [{ streamId: 's', model: 'm', messages: message('x'), keepAlive: 'soon' }, 'keepAlive'],
      [{ streamId: 's', model: 'm', messages: message('x'), server: 'nobody' }, 'server'],
    ];
    for (const [params, path] of wrong) {
      send(JSON.stringify({ jsonrpc: '2.0', id: 5, method: 'runner/chat', params }));
      const { error } = await answer(5, -32602);
      t.equal(error?.data?.path, path);
      t.match(error?.message ?? '', path.replace(/\[.*/, ''));
    }
    send(
      JSON.stringify({
        jsonrpc: '2.0',
        id: 6,
        method: 'runner/chat',
        params: { streamId: 's', model: 'a b', messages: message('x') },
      }),
    );
    await answer(6, -33011);
    send(
      JSON.stringify({
        jsonrpc: '2.0',
        id: 7,
        method: 'runner/chat',
        params: { streamId: 's', model: 'm', messages: message('x') },
      }),
    );
    t.match(await answer(7, -33001), {
      error: { data: { kind: 'server-unreachable', retryable: true, server: 'default' } },
    });
    send('{"jsonrpc":"2.0","id":9,"method":"runner/status","params":[{},null]}');
    await answer(9, -32602);
    send('{"jsonrpc":"2.0","id":8,"method":"shutdown"}');
    await answer(8);
    send('{"jsonrpc":"2.0","method":"exit"}');
    const [code] = await once(child, 'close');
    t.equal(code, 0);
    t.equal(buffered.length, 0, 'nothing but frames');
  },
);

t.test('the daemon works with a closed standard error', async (t) => {
  const daemon = await startDaemonProcess({ host: 'http://127.0.0.1:9', logLevel: 'debug' });
  daemon.child.stderr?.destroy();
  for (const params of [undefined, null, [], 5, { id: null }, { id: {} }]) {
    const body = JSON.stringify({ jsonrpc: '2.0', method: '$/cancelRequest', params });
    daemon.child.stdin?.write(`Content-Length: ${body.length}\r\n\r\n${body}`);
    t.match(await daemon.request(statusRequest, {}), { state: 'offline' }, body);
  }
  // An answer that nobody asked for is what the library complains about.
  daemon.child.stdin?.write('Content-Length: 41\r\n\r\n{"jsonrpc":"2.0","id":null,"result":null}');
  t.match(await daemon.request(statusRequest, {}), { state: 'offline' });
  await daemon.close();
});

t.test('the daemon ends with its editor, and the runner sees it', async (t) => {
  for (const how of ['its input ends', 'its editor is killed'] as const) {
    let onStart: (() => void) | undefined;
    let onClose: (() => void) | undefined;
    const started = new Promise<void>((resolve) => (onStart = resolve));
    const closed = new Promise<void>((resolve) => (onClose = resolve));
    const { url } = await startRunner((request, response) => {
      if (request.url !== '/api/chat') {
        response.end('{}');
        return;
      }
      response.on('close', () => onClose?.());
      response.write(line('begun'));
      onStart?.();
    });
    const { pid, end } = await startChatting(url, how);
    await started;
    end();
    await closed;
    await untilGone(pid);
    t.pass(how);
  }
});

t.test(
  'a signal ends a daemon that is stuck in a loop',
  { skip: process.platform === 'win32' },
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'runner-busy-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    const loop = join(folder, 'loop.cjs');
    writeFileSync(loop, "process.on('SIGUSR2', () => { process.stderr.write('busy'); for (;;); });");
    const ends = (['SIGTERM', 'SIGINT', 'SIGHUP'] as const).map(async (sent) => {
      const { child, connection } = await startDaemonProcess(
        { host: 'http://127.0.0.1:9' },
        { nodeOptions: `--require ${loop}` },
      );
      child.kill('SIGUSR2');
      if (child.stderr) await once(child.stderr, 'data');
      child.kill(sent);
      const [, signal] = await once(child, 'close');
      connection.dispose();
      t.equal(signal, sent);
    });
    await Promise.all(ends);
  },
);

t.test('a daemon whose runner floods it ends with its editor', async (t) => {
  const { url } = await startRunner((request, response) => {
    request.resume();
    if (request.url !== '/api/chat') return void response.end('{}');
    const flood = line(`<tool_call>{"name":"read","arguments":{"a":"${'\\u0001'.repeat(200_000)}`);
    const send = () => {
      while (!response.destroyed && response.write(flood));
    };
    response.on('drain', send);
    send();
  });
  const tools = [{ name: 'read', description: '', inputSchema: {} }];
  const ends: Readonly<Record<string, (child: ChildProcess) => void>> = {
    'its input': (child) => child.stdin?.end(),
    SIGTERM: (child) => child.kill('SIGTERM'),
  };
  for (const [how, end] of Object.entries(ends)) {
    const { child, connection, chat } = await startDaemonProcess({ host: url });
    chat({ model: 'm', messages: message('hi'), tools }).catch(() => undefined);
    const closed = once(child, 'close');
    // What is held back is shown once the answer is too long; so it is also in the middle of its worst work.
    setTimeout(() => end(child), 100);
    await withPatience(closed, () => `It was still there after ${how}.`);
    connection.dispose();
    t.pass(how);
  }
});

t.test('no child outlives the daemon', { skip: process.platform !== 'linux' }, async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'runner-children-'));
  t.teardown(() => rmSync(home, { recursive: true, force: true }));
  const script = `#!/bin/sh\necho $$ > "$HOME/pid"\necho line\nexec /bin/sleep 60\n`;
  writeFileSync(join(home, 'journalctl'), script, { mode: 0o755 });
  const ends: Readonly<Record<string, (daemon: DaemonProcess) => unknown>> = {
    'exit without shutdown': ({ connection }) => connection.sendNotification('exit'),
    'the end of its input': ({ child }) => child.stdin?.end(),
    SIGTERM: ({ child }) => child.kill('SIGTERM'),
    SIGHUP: ({ child }) => child.kill('SIGHUP'),
    SIGKILL: ({ child }) => child.kill('SIGKILL'),
  };
  for (const [how, end] of Object.entries(ends)) {
    const env = { HOME: home, PATH: home };
    const daemon = await startDaemonProcess({ host: 'http://127.0.0.1:9' }, { env });
    await daemon.request(startLogsRequest, {});
    const pid = Number(readFileSync(join(home, 'pid'), 'utf8'));
    const closed = once(daemon.child, 'close');
    end(daemon);
    await closed;
    daemon.connection.dispose();
    await untilGone(pid);
    t.pass(how);
  }
});

/** A daemon in the middle of a chat, under an editor that can be killed. */
async function startChatting(url: string, how: string): Promise<{ pid: number; end: () => void }> {
  if (how === 'its input ends') {
    const daemon = await startDaemonProcess({ host: url });
    daemon.chat({ model: 'm', messages: message('hi') }).catch(() => undefined);
    return { pid: daemon.child.pid ?? 0, end: () => daemon.child.stdin?.end() };
  }
  const editor = spawn(process.execPath, ['-e', editorScript, process.execPath, runnerdPath, url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [pid] = await once(editor.stdout ?? editor, 'data');
  return { pid: Number(String(pid)), end: () => editor.kill('SIGKILL') };
}

const editorScript = `
  const child = require('node:child_process').spawn(process.argv[1], [process.argv[2], '--stdio'], { stdio: ['pipe', 'ignore', 'ignore'] });
  const send = (body) => { const text = JSON.stringify({ jsonrpc: '2.0', ...body }); child.stdin.write('Content-Length: ' + text.length + '\\r\\n\\r\\n' + text); };
  send({ id: 1, method: 'initialize', params: { processId: process.pid, rootUri: null, capabilities: {}, initializationOptions: { host: process.argv[3] } } });
  send({ method: 'initialized', params: {} });
  send({ id: 2, method: 'runner/chat', params: { streamId: 's', model: 'm', messages: [{ role: 'user', content: 'hi' }] } });
  process.stdout.write(String(child.pid));
  setInterval(() => {}, 1000);
`;

async function untilGone(pid: number): Promise<void> {
  const isThere = async () => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  await poll(isThere, (is) => !is);
}

t.test('a planted secret reaches its server and no output', where('modes'), async (t) => {
  const seen: (string | undefined)[] = [];
  const { url } = await startRunner((request, response) => {
    seen.push(request.headers.authorization);
    const error = JSON.stringify({ error: `bad token ${request.headers.authorization}` });
    const elsewhere = { location: 'http://127.0.0.1:9/?token=planted-0123' };
    if (request.url === '/api/chat') response.writeHead(500).end(error);
    else if (request.url === '/api/tags') response.writeHead(307, elsewhere).end();
    else response.end(JSON.stringify({ version: '1', models: [] }));
  });
  const other: (string | undefined)[] = [];
  const { url: otherUrl } = await startRunner((request, response) => {
    other.push(request.headers.authorization);
    response.end(JSON.stringify({ version: '1', models: [] }));
  });
  const folder = mkdtempSync(join(tmpdir(), 'runner-trace-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const trace = join(folder, 'trace');
  const secrets = `{"origin":"${url}","secret":"planted-0123"}\nnot json planted-0123\n`;
  const daemon = await startDaemonProcess(
    { host: url, servers: [{ name: 'other', url: otherUrl }], logLevel: 'debug' },
    { secrets, args: ['--trace', trace] },
  );
  await daemon.request(statusRequest, {});
  await daemon.request(statusRequest, { server: 'other' });
  const errors: string[] = [];
  await daemon
    .request(listModelsRequest, {})
    .catch((error) => errors.push(`${error.message} ${JSON.stringify(error.data)}`));
  await daemon
    .chat({ model: 'm', messages: message('hi') })
    .catch((error) => errors.push(`${error.message} ${JSON.stringify(error.data)}`));
  const argv = readFileSync(`/proc/${daemon.child.pid}/cmdline`, 'utf8');
  const environment = readFileSync(`/proc/${daemon.child.pid}/environ`, 'utf8');
  await daemon.close();
  t.ok(seen.length > 2 && seen.every((header) => header === 'Bearer planted-0123'), 'the server got it');
  t.ok(other.length > 0 && other.every((header) => header === undefined), 'the other server did not');
  t.equal(errors.length, 2);
  t.ok(daemon.logs.length > 0, 'there is a log');
  const traced = readFileSync(trace, 'utf8');
  t.match(traced, /"method":"runner\/chat"/, 'there is a trace');
  t.equal(statSync(trace).mode & 0o077, 0, 'which only its owner can read');
  const logged = daemon.logs.map((log) => log.message);
  t.notMatch([...errors, ...logged, daemon.stderr(), argv, environment, traced].join('\n'), /planted/);
});

t.test("the user's own configuration names a secret; a file that others can read is refused", async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'runner-home-'));
  t.teardown(() => rmSync(home, { recursive: true, force: true }));
  mkdirSync(join(home, '.config', 'runner'), { recursive: true });
  const configure = (auth: unknown) =>
    writeFileSync(join(home, '.config', 'runner', 'config.json'), JSON.stringify({ auth }));
  const headers: (string | undefined)[] = [];
  const { url } = await startRunner((request, response) => {
    headers.push(request.headers.authorization);
    response.end('{"version":"1"}');
  });
  const ask = async () => {
    const daemon = await startDaemonProcess({ host: url }, { env: { HOME: home } });
    await daemon.request(statusRequest, {});
    await daemon.close();
    return { header: headers.at(-1), log: daemon.logs.map((log) => log.message).join('\n') };
  };
  configure({ command: [process.execPath, '-e', 'console.log("from-command")'] });
  t.equal((await ask()).header, 'Bearer from-command');
  const file = join(home, 'token');
  writeFileSync(file, 'from-file\n', { mode: 0o600 });
  configure([{ origin: new URL(url).origin, file }]);
  t.equal((await ask()).header, 'Bearer from-file');
  writeFileSync(join(home, 'open'), 'from-file\n', { mode: 0o644 });
  configure({ file: join(home, 'open') });
  const refused = await ask();
  t.equal(refused.header, has('modes') ? undefined : 'Bearer from-file');
  if (has('modes')) t.match(refused.log, /chmod 600/);
  configure({ command: [process.execPath, '-e', 'console.log("leaked-output"); process.exit(3)'] });
  const failed = await ask();
  t.equal(failed.header, undefined);
  t.match(failed.log, /auth/);
  t.notMatch(failed.log, /leaked/);
});

t.test("only an entry of the user's file that names the origin sends a token over plain http", async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'runner-home-'));
  t.teardown(() => rmSync(home, { recursive: true, force: true }));
  mkdirSync(join(home, 'runner'));
  const path = join(home, 'runner', 'config.json');
  const headers: (string | undefined)[] = [];
  const runner = await startRunner((request, response) => {
    headers.push(request.headers.authorization);
    response.end('{"version":"1"}');
  });
  // For the daemon this is another machine; nothing leaves this one.
  const url = runner.url.replace('127.0.0.1', '[::ffff:127.0.0.1]');
  const { origin } = new URL(url);
  const print = (text: string) => [process.execPath, '-e', `console.log(${JSON.stringify(text)})`];
  const line = JSON.stringify({ origin, secret: 'the-token', allowPlainHttp: true });
  const cases = [
    { auth: { origin, command: print('the-token'), allowPlainHttp: true }, isSent: true },
    { auth: { origin: `${url}/prefix`, command: print(line), allowPlainHttp: true }, isSent: true },
    { auth: { origin, command: print('the-token') }, isSent: false },
    { auth: { origin, command: print('the-token'), allowPlainHttp: false }, isSent: false },
    { auth: { command: print('the-token'), allowPlainHttp: true }, isSent: false },
    { auth: { origin: 'http://box', command: print(line), allowPlainHttp: true }, isSent: false },
  ];
  for (const { auth, isSent } of cases) {
    writeFileSync(path, JSON.stringify({ auth }));
    const daemon = await startDaemonProcess({ host: url }, { env: { XDG_CONFIG_HOME: home } });
    const status = await daemon.request(statusRequest, {});
    await daemon.close();
    const name = JSON.stringify(auth);
    t.equal(headers.at(-1), isSent ? 'Bearer the-token' : undefined, name);
    t.equal(status.kind, isSent ? 'ok' : 'warning', name);
    const way = `add "origin": "${origin}" and "allowPlainHttp": true to its entry in "auth" of ${path}.`;
    t.equal(status.message.includes(way), !isSent, status.message);
  }
});

t.test("the settings of the user's own configuration count, and unusable ones are reported", async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'runner-home-'));
  t.teardown(() => rmSync(home, { recursive: true, force: true }));
  const path = join(home, 'runner', 'config.json');
  mkdirSync(join(home, 'runner'));
  const bodies: Record<string, unknown>[] = [];
  const { url } = await startRunner((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += chunk));
    request.on('end', () => {
      if (request.url === '/api/chat') bodies.push(JSON.parse(text));
      response.end(request.url === '/api/chat' ? `${line('hello')}{"done":true}\n` : '{}');
    });
  });
  const ask = async (options: InitializationOptions, env: Readonly<Record<string, string>> = {}) => {
    const daemon = await startDaemonProcess(options, { env: { XDG_CONFIG_HOME: home, ...env } });
    const { result } = await daemon.chat({ model: 'm', messages: message('hi') });
    await daemon.close();
    return { body: bodies.at(-1), said: result.message.content, log: daemon.logs.map((log) => log.message) };
  };
  writeFileSync(path, `{\n  "host": "${url}",\n  "keepAlive": "9m",\n  "hots": 1,\n  "exclude": "x"\n}`);
  const { body, said, log } = await ask({});
  t.equal(said, 'hello');
  t.match(body, { keep_alive: '9m' });
  t.match(
    log.filter((text) => text.includes(path)),
    [/config\.json, line 5, has "exclude", which is left out: /, /line 4, has "hots", .* no such setting/],
  );
  t.match((await ask({ keepAlive: '1m' })).body, { keep_alive: '1m' }, 'what the editor says wins');

  writeFileSync(path, JSON.stringify({ host: 'http://127.0.0.1:9' }));
  t.equal((await ask({}, { OLLAMA_HOST: url })).said, 'hello', 'and so does the environment');
  writeFileSync(path, '{\n "host": 1,,\n}');
  t.match((await ask({ host: url })).log.join(), /config\.json.* is not JSON\. Nothing in it counts\./);
});

t.test('the practice runner is served on loopback, and in the daemon', async (t) => {
  const child: ChildProcess = spawn(process.execPath, [runnerdPath, '--practice'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (!child.stdout) throw new Error('There is no output.');
  const url = String((await once(child.stdout, 'data'))[0]).trim();
  t.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
  t.match(await (await fetch(`${url}/api/tags`)).json(), { models: [{ name: /practice/ }] });
  child.kill('SIGTERM');
  const [code] = await once(child, 'close');
  t.equal(code, endedBySignal);

  const daemon = await startDaemonProcess({}, { args: ['--practice'] });
  const { models } = await daemon.request(listModelsRequest, {});
  const { result } = await daemon.chat({
    model: models[0]?.name ?? '',
    messages: message('what is a Modelfile'),
  });
  t.match(result.message.content, /practice/i);
  t.match(result.message.content, /recipe/i, 'it quotes the page');
  await daemon.close();
});

for (const variable of ['RUNNER_TEST_HOST', 'RUNNER_TEST_LLAMA']) {
  const host = process.env[variable];
  t.test(`a real runner: ${variable}`, { skip: host ? false : 'it names none' }, async (t) => {
    const daemon = await startDaemonProcess({ host: host ?? '' });
    const { models } = await daemon.request(listModelsRequest, {});
    t.ok(models.length > 0);
    const able = models.find(({ capabilities }) => capabilities.completion.value === true);
    const { name: model = '', context = {} } = able ?? {};
    const options = { num_predict: 40, num_ctx: 512 };
    const { result, deltas } = await daemon.chat({ model, messages: message('Say hello.'), options });
    const joined = deltas.map((delta) => (delta.kind === 'text' ? delta.text : '')).join('');
    t.equal(joined, result.message.content);
    t.ok(result.usage.completionTokens > 0);
    const cancelled = await daemon.chat({ model, messages: message('Go on.') }, { cancelAt: () => true });
    t.equal(cancelled.result.finishReason, 'cancelled');
    const long = message('word '.repeat((context.allocated ?? 512) * 2));
    await t.rejects(daemon.chat({ model, messages: long, options }), {
      data: { kind: 'context-exceeded' },
      message: /The prompt needs about \d+ tokens and the context window holds \d+/,
    });
    await t.rejects(
      daemon.chat({ model: 'no-such-model:1b', messages: message('hi') }),
      failsWith({ code: -33004 }),
    );
    await daemon.close();
  });
}
