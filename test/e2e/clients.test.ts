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
import t from 'tap';
import { browse, startAuthorizationPeer } from '../support/authorizationPeer.ts';
import { startDaemonProcess } from '../support/daemonProcess.ts';
import { needs, places } from '../support/parts.ts';
import { startStandIn } from '../support/runnerStandIn.ts';
import { toolServerPath } from '../support/toolDaemon.ts';
import { patience } from '../support/waiting.ts';

const page = readFileSync('docs/CLIENTS.md', 'utf8');

const blocks = (language: string): readonly string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, text = '']) => text,
  );

interface Example {
  readonly request?: string;
  readonly notification?: string;
  readonly toDaemon?: string;
  /** A request of the daemon, and what the client answers. */
  readonly fromDaemon?: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
}

const examples = blocks('json').map((text) => JSON.parse(text) as Example);

const exampleSession = '20261122-abcd1234';

const models = [
  { name: 'qwen3:4b', capabilities: ['completion', 'tools'] as const, size: 2.6e9 },
  { name: 'coder:1b', capabilities: ['completion', 'insert'] as const, size: 1e9 },
];
const catalog = [{ name: 'mistral:7b', capabilities: ['completion'] as const, size: 1e6 }];

t.test('the page of examples has every message', async (t) => {
  const methods = readFileSync('docs/PROTOCOL.md', 'utf8').match(/`(runner\/[\w/]+)`/g) ?? [];
  const known = new Set(methods.map((method) => method.slice(1, -1)));
  const shown = new Set(
    examples.flatMap(
      ({ request, notification, toDaemon, fromDaemon }) =>
        request ?? notification ?? toDaemon ?? fromDaemon ?? [],
    ),
  );
  t.strictSame(
    [...known].filter((method) => !shown.has(method)),
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

t.test('the daemon accepts each example and returns its result', async (t) => {
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
  for (const method of examples.flatMap(({ notification }) => notification ?? []))
    daemon.connection.onNotification(method, (params: object) => void told.push({ method, params }));
  for (const { fromDaemon, result } of examples)
    if (fromDaemon)
      daemon.connection.onRequest(fromDaemon, (params: object) => {
        told.push({ method: fromDaemon, params });
        return result;
      });
  const document = { uri: 'file:///example/sum.js', languageId: 'javascript', version: 1 };
  const text = 'function sum(a, b) {\n  return \n}\n';
  await daemon.connection.sendNotification('textDocument/didOpen', { textDocument: { ...document, text } });
  runner.on('/api/generate').say('a + b;');
  /** The conversation that the daemon made stands in for the one of the page. */
  let session = exampleSession;
  for (const { request, toDaemon, params: shown, result } of examples) {
    const params = JSON.parse(
      JSON.stringify(shown)
        .replaceAll(exampleSession, session)
        .replaceAll('/home/me/project', home)
        .replaceAll('/home/me/app', project)
        .replace(/http:\/\/127\.0\.0\.1:11434|https:\/\/ollama\.com/, runner.url),
    );
    if (toDaemon) await daemon.connection.sendNotification(toDaemon, params);
    if (!request) continue;
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
    // Which runners stand at the known ports depends on the machine; often there is none.
    if (request === 'runner/discover') t.ok(Array.isArray(Reflect.get(answer, 'runners')), request);
    else t.strictSame(shapeOf(answer, result), shapeOf(result, result), request);
  }
  for (const { notification, fromDaemon, params } of examples) {
    const sent = notification ?? fromDaemon;
    if (!sent) continue;
    const wanted = shapeOf(params, params);
    t.ok(
      told.some(({ method, params: given }) => method === sent && same(shapeOf(given, params), wanted)),
      sent,
    );
  }
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

/** The names and types of a value, as far as the example has them; of an array its first item. */
function shapeOf(value: unknown, example: unknown): unknown {
  if (Array.isArray(example))
    return Array.isArray(value)
      ? [...example.slice(0, 1).map((item) => shapeOf(value[0], item))]
      : typeof value;
  if (typeof example !== 'object' || example === null) return typeof value;
  if (typeof value !== 'object' || value === null) return typeof value;
  const given = value as Record<string, unknown>;
  return Object.fromEntries(Object.entries(example).map(([key, item]) => [key, shapeOf(given[key], item)]));
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
