import { spawn } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import t from 'tap';
import { CancellationTokenSource } from 'vscode-jsonrpc/node';
import { browse, startAuthorizationPeer } from '../support/authorizationPeer.ts';
import { connectClient } from '../support/daemonClient.ts';
import { startDaemonProcess } from '../support/daemonProcess.ts';
import { needs, places } from '../support/parts.ts';
import { protocolModel } from '../support/protocolModel.ts';
import { startStandIn } from '../support/runnerStandIn.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { toolServerPath } from '../support/toolDaemon.ts';
import { patience } from '../support/waiting.ts';
import { inWordsOf, messagesIn, type ShownMessage, shapeOf, withMessages } from '../support/wirePage.ts';

const page = readFileSync('docs/CLIENTS.md', 'utf8');

const blocks = (language: string): readonly string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, text = '']) => text,
  );

const protocolPage = readFileSync('docs/PROTOCOL.md', 'utf8');
const shown = messagesIn(protocolPage);

/** The methods that the daemon sends. */
const ofDaemon: ReadonlySet<string> = new Set(
  JSON.parse(readFileSync('docs/protocol/openrpc.json', 'utf8')).methods.flatMap(
    ({ name, tags }: { name: string; tags: readonly { name: string }[] }) =>
      tags.some((tag) => tag.name === 'from daemon') ? [name] : [],
  ),
);

/** `ACCEPT=1` writes what the daemon sends into the page, in the words that are there. */
const isAccepted = process.env['ACCEPT'] === '1';

const exampleSession = '20261122-abcd1234';

const models = [
  { name: 'qwen3:4b', capabilities: ['completion', 'tools'] as const, size: 2.6e9 },
  { name: 'coder:1b', capabilities: ['completion', 'insert'] as const, size: 1e9 },
];
const catalog = [{ name: 'mistral:7b', capabilities: ['completion'] as const, size: 1e6 }];

t.test('the page of the protocol shows every message', async (t) => {
  const methods: readonly { name: string }[] = JSON.parse(
    readFileSync('docs/protocol/openrpc.json', 'utf8'),
  ).methods;
  const there = new Set(shown.map(({ method }) => method));
  t.strictSame(
    methods.filter(({ name }) => !there.has(name)),
    [],
  );
});

/** The prompt that the examples use. */
function keepPrompt(home: string): void {
  const prompts = join(home, '.config', 'runner', 'prompts');
  mkdirSync(prompts, { recursive: true });
  const front = 'description: Reviews a file\narguments: [{ name: file, required: true }]';
  writeFileSync(join(prompts, 'review.md'), `---\n${front}\n---\nLook at {{file}}.`);
}

/** The library of the engine, the small model and a llama-server, as far as the examples see of them. */
function installEngine(home: string): void {
  const engine = join(home, '.local', 'share', 'runner', 'engine');
  const library = join(engine, 'node_modules', 'node-llama-cpp');
  const { dependencies } = JSON.parse(readFileSync('daemon/engine/lock/package.json', 'utf8'));
  const sample = join(engine, 'models', 'SmolLM2-135M-Instruct.Q4_1.gguf');
  const program = join(home, 'bin', 'llama-server');
  for (const folder of [library, dirname(sample), dirname(program)]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(library, 'package.json'), JSON.stringify({ version: dependencies['node-llama-cpp'] }));
  writeFileSync(sample, 'GGUF');
  truncateSync(sample, 98_362_432);
  const standIn = resolve('test/support/engineStandIn.cjs');
  const script = `#!/bin/sh\nexec ${process.execPath} ${standIn} llama-server "$@"\n`;
  writeFileSync(program, script, { mode: 0o755 });
}

t.test('the daemon accepts each message of the page, and sends the others', async (t) => {
  const runner = await startStandIn({ models, catalog });
  const peer = await startAuthorizationPeer(t);
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'runner-clients-')));
  mkdirSync(join(home, '.ollama', 'logs'), { recursive: true });
  writeFileSync(join(home, '.ollama', 'logs', 'server.log'), 'a line\n');
  writeFileSync(join(home, 'notes.md'), '# Notes\n');
  mkdirSync(join(home, 'src'));
  writeFileSync(join(home, 'src', 'sum.lua'), 'local sum = 1\nreturn sum');
  const project = join(home, 'project');
  mkdirSync(join(project, 'src'), { recursive: true });
  writeFileSync(join(project, 'src', 'a.ts'), 'const a = 1;\n');
  writeFileSync(join(project, 'Makefile'), 'test:\n\ttrue\n');
  installEngine(home);
  keepPrompt(home);
  const daemon = await startDaemonProcess(
    {
      host: runner.url,
      catalogUrl: runner.url,
      completionModel: 'coder:1b',
      builtinTools: true,
      mcpServers: {
        files: { command: process.execPath, args: [toolServerPath] },
        team: { command: process.execPath, args: [resolve('test', 'support', 'offeringServer.cjs')] },
        web: { url: peer.url },
      },
    },
    {
      env: { HOME: home, PATH: `${join(home, 'bin')}:${process.env['PATH']}` },
      capabilities: {
        experimental: { runner: { approvesTools: true, elicits: true, showsDiffs: true, folder: project } },
      },
    },
  );
  t.teardown(async () => {
    await daemon.close();
    await runner.close();
    rmSync(home, { recursive: true, force: true });
  });
  const told: { method: string; params: object }[] = [];
  for (const [index, { id, method = '' }] of shown.entries())
    if (ofDaemon.has(method) && id === undefined)
      daemon.connection.onNotification(method, (params: object) => void told.push({ method, params }));
    else if (ofDaemon.has(method))
      daemon.connection.onRequest(method, (params: object) => {
        told.push({ method, params });
        return shown[index + 1]?.result;
      });
  /** As the page has it. */
  const actual: ShownMessage[] = [...shown];
  const asShown = (value: unknown) =>
    JSON.parse(
      JSON.stringify(value)
        .replaceAll(project, '/home/me/app')
        .replaceAll(`${home}/.`, '/home/me/.')
        .replaceAll(home, '/home/me/project')
        .replaceAll(runner.url, 'http://127.0.0.1:11434')
        .replaceAll(session, exampleSession),
    );
  const document = { uri: 'file:///example/sum.js', languageId: 'javascript', version: 1 };
  const text = 'function sum(a, b) {\n  return \n}\n';
  await daemon.connection.sendNotification('textDocument/didOpen', { textDocument: { ...document, text } });
  runner.on('/api/generate').say('a + b;');
  /** The conversation that the daemon made stands in for the one of the page. */
  let session = exampleSession;
  for (const [index, { id, method: request = '', params: given }] of shown.entries()) {
    if (given === undefined || ofDaemon.has(request)) continue;
    const params = JSON.parse(
      JSON.stringify(given)
        .replaceAll(exampleSession, session)
        .replaceAll('/home/me/project', home)
        .replaceAll('/home/me/app', project)
        .replace(/http:\/\/127\.0\.0\.1:11434|https:\/\/ollama\.com/, runner.url),
    );
    if (id === undefined) {
      await daemon.connection.sendNotification(request, params);
      continue;
    }
    if ('hostedTools' in params) {
      const edits = [{ old: 'a = 1', new: 'a = 2' }];
      const isEdit = params.hostedTools.includes('builtin');
      runner.toolCalls([
        params.hostedTools.includes('team')
          ? { name: 'ask', arguments: { what: 'name' } }
          : isEdit
            ? { name: 'edit_file', arguments: { path: 'src/a.ts', edits } }
            : { name: 'echo', arguments: { word: 'Hello' } },
      ]);
      runner.say('Done.');
    }
    if (request === 'runner/chat' && 'tools' in params)
      runner.failWith(400, { error: 'registry.ollama.ai/library/coder:1b does not support tools' });
    if (request === 'runner/chat' && !('hostedTools' in params)) runner.say('Hello to you.');
    if (request === 'runner/edit') runner.say('```lua\n  local total = 1\n```');
    const answer: { readonly session?: { readonly id: string }; readonly url?: string } =
      await daemon.connection.sendRequest(request, params);
    if (request === 'runner/tools/login') await browse(answer.url ?? '');
    if (request === 'runner/sessions/create') session = answer.session?.id ?? session;
    const { result } = shown[index + 1] ?? {};
    // Which runners stand at the known ports, and what can be started, depends on the machine.
    if (/discover|engine\/offers/.test(request)) continue;
    actual[index + 1] = { ...shown[index + 1], result: inWordsOf(result, asShown(answer)) };
    if (!isAccepted) t.strictSame(shapeOf(result, result), shapeOf(answer, result), `${request} ${id}`);
  }
  for (const [index, { method = '', params }] of shown.entries()) {
    if (!ofDaemon.has(method)) continue;
    const ofKind = told.filter(
      (each) => each.method === method && Reflect.get(each.params, 'kind') === params?.['kind'],
    );
    const same = ofKind.find((each) =>
      isDeepStrictEqual(shapeOf(each.params, params), shapeOf(params, params)),
    );
    const { params: other = params } =
      ofKind.find((each) => Object.keys(params ?? {}).every((key) => key in each.params)) ?? {};
    if (!isAccepted)
      t.ok(same, `${method}: ${JSON.stringify(ofKind.map((each) => each.params)).slice(0, 1000)}`);
    if (!same) actual[index] = { ...shown[index], params: Object(inWordsOf(params, asShown(other))) };
  }
  if (isAccepted) writeFileSync('docs/PROTOCOL.md', withMessages(protocolPage, actual));
});

t.test('the first messages of the page are those of a practice daemon', async (t) => {
  const home = await temporaryFolder(t);
  const child = spawn(process.execPath, ['dist/runnerd.cjs', '--stdio', '--practice'], {
    env: { PATH: process.env['PATH'], HOME: home },
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const { connection, disconnect } = connectClient(child.stdout, child.stdin);
  const messages = messagesIn(page);
  const actual = [...messages];
  const deltas: object[] = [];
  let onDelta: () => void = () => undefined;
  connection.onNotification('runner/chat/delta', (delta: object) => {
    deltas.push(delta);
    onDelta();
  });
  const schema = protocolModel('closed');
  let session = exampleSession;
  for (const [index, { id, method = '', params }] of messages.entries()) {
    const after = messages.slice(index + 1);
    const at = messages.findIndex(
      (each, place) => place > index && each.method === undefined && each.id === id,
    );
    if (ofDaemon.has(method) && id !== undefined) {
      t.equal(schema.problemWith(method, 'params', params), undefined, method);
    } else if (ofDaemon.has(method)) {
      const same = deltas.find((delta) => isDeepStrictEqual(shapeOf(delta, params), shapeOf(params, params)));
      t.ok(same, method);
    } else if (method !== '' && id === undefined) {
      if (!method.startsWith('$/')) await connection.sendNotification(method, params);
    } else if (method !== '') {
      const source = new CancellationTokenSource();
      onDelta = () => {
        if (after[0]?.method === '$/cancelRequest') source.cancel();
      };
      const sent = JSON.parse(JSON.stringify(params).replaceAll(exampleSession, session));
      const answer = await connection
        .sendRequest<{ session?: { id: string } }>(method, sent, source.token)
        .then(
          (result) => ({ result }),
          ({ code, message, data }) => ({ error: { code, message, data } }),
        );
      if ('result' in answer) session = answer.result?.session?.id ?? session;
      const { jsonrpc, ...wanted } = { jsonrpc: '2.0', ...messages[at] };
      const whole = {
        id,
        ...JSON.parse(
          JSON.stringify(answer)
            .replace(/127\.0\.0\.1:\d+/, '127.0.0.1:11434')
            .replaceAll(session, exampleSession),
        ),
      };
      actual[at] = { jsonrpc, ...Object(inWordsOf(wanted, whole)) };
      if (!isAccepted) t.strictSame(shapeOf(wanted, wanted), shapeOf(whole, wanted), method);
      if (method === 'runner/chat' && 'error' in wanted) t.match(whole, { error: { code: -33004 } });
    }
  }
  await ended;
  disconnect();
  if (isAccepted) writeFileSync('docs/CLIENTS.md', withMessages(page, actual));
});

t.test('the client in Python chats', needs('python'), async (t) => {
  const runner = await startStandIn({ models });
  t.teardown(() => runner.close());
  const [script = ''] = blocks('python');
  t.ok(script.trim().split('\n').length <= 36, 'it is short');
  runner.say(['Because ', 'of the air.']);
  const { stdout, stderr } = await run('python3', ['-c', script, 'Why is the sky blue?', ...daemonCommand], {
    OLLAMA_HOST: runner.url,
  });
  t.equal(stdout, 'Because of the air.\nstop\n', stderr);
});

t.test('the client in Lua chats', needs('neovim'), async (t) => {
  const runner = await startStandIn({ models });
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'runner-lua-')));
  t.teardown(async () => {
    await runner.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const [client = ''] = blocks('lua');
  const script = `${client}
vim.wait(8000, function() return vim.g.answered ~= nil end, 10)
vim.fn.writefile(vim.api.nvim_buf_get_lines(0, 0, -1, false), vim.env.OUT)
vim.cmd('qa!')
`;
  writeFileSync(join(folder, 'client.lua'), script);
  runner.say(['Because ', 'of the air.']);
  const { stderr } = await run(
    places.neovim,
    ['--clean', '--headless', '-c', `luafile ${join(folder, 'client.lua')}`, '-c', 'cq'],
    {
      ...{ OLLAMA_HOST: runner.url, RUNNERD: daemonCommand.join(' '), OUT: join(folder, 'out') },
      ...{ HOME: folder, XDG_STATE_HOME: folder, XDG_CACHE_HOME: folder },
    },
  );
  t.match(readFileSync(join(folder, 'out'), 'utf8'), /Because of the air\./, stderr);
});

const daemonCommand = [process.execPath, resolve('dist/runnerd.cjs'), '--stdio'];

/** Runs a program while the stand-in answers in this process. */
async function run(command: string, args: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn(command, args, { env: { PATH: process.env['PATH'], ...env }, timeout: patience });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  await new Promise((resolve) => child.once('close', resolve));
  return { stdout, stderr };
}
