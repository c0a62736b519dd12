import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { createApprovals } from '../../daemon/tools/approvals.ts';
import { decisiveFolder, readServerEntry, startFolder } from '../../daemon/tools/serverEntry.ts';
import { readToolList, type ToolPage } from '../../daemon/tools/toolList.ts';
import { namesForModel } from '../../daemon/tools/toolOffer.ts';
import { readToolResult } from '../../daemon/tools/toolResult.ts';
import { createProcessGroups } from '../../protocol/base/platform/processGroups.ts';
import { listSessionsRequest } from '../../protocol/messages/sessions.ts';
import { statusRequest } from '../../protocol/messages/status.ts';
import { listToolsRequest, toolsDidChange } from '../../protocol/messages/tools.ts';
import { startDaemonProcess } from '../support/daemonProcess.ts';
import type { Teardown } from '../support/daemonWithRunner.ts';
import { where } from '../support/systems.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import {
  answersOf,
  echo,
  offeredTo,
  resultsOf,
  startWithTools,
  toolServerPath,
} from '../support/toolDaemon.ts';
import { poll } from '../support/waiting.ts';

t.test('a list is bounded, whatever the server sends', async (t) => {
  const { daemon, runner, ask } = await startWithTools(t, ['many', 'endless', 'wordy']);
  const { servers } = await daemon.request(listToolsRequest, {});
  const [many, endless, wordy] = servers;
  t.equal(many?.tools.length, 1_000);
  t.equal(endless?.tools.length, 1_000);
  const description = wordy?.tools[0]?.description ?? '';
  t.equal(description, 'x'.repeat(1_023), 'no character is cut in half');
  const warnings = daemon.logs.map(({ message }) => message);
  for (const sentence of [
    /endless: It lists more than 1,000 tools/,
    /wordy: The description of the tool "wordy" is cut/,
  ])
    t.ok(
      warnings.some((message) => sentence.test(message)),
      String(sentence),
    );
  runner.say('hi');
  const tool = { name: 'mine', description: '', inputSchema: { type: 'object' } };
  await ask({ tools: [tool], hostedTools: ['many', 'endless'], options: { num_ctx: 131_072 } });
  const offered = offeredTo(runner);
  t.equal(offered.length, 128);
  t.strictSame([offered[0], offered[1], offered[127]], ['mine', 'tool_0', 'tool_126']);
  t.ok(
    daemon.logs.some(({ message }) =>
      /a model is offered at most 128: the last 1,?873 are left out/.test(message),
    ),
  );
});

t.test('tools are sent in an order that stays, and only where they are switched on', async (t) => {
  const { runner, ask, daemon } = await startWithTools(t, ['shuffled', 'good']);
  const turn = async (hostedTools?: readonly string[]) => {
    runner.say('hi');
    await ask(hostedTools ? { hostedTools } : {});
    return offeredTo(runner);
  };
  const first = await turn();
  t.strictSame(first.slice(0, 2), ['a', 'b']);
  await daemon.request(listToolsRequest, {});
  t.strictSame(await turn(), first);
  t.strictSame(await turn([]), []);
  runner.say('hi');
  await daemon.chat({ model: 'able', messages: [{ role: 'user', content: 'go' }] });
  t.strictSame(offeredTo(runner), []);
});

t.test('a result that never ends ends the server, and the turn goes on', async (t) => {
  const { runner, ask, daemon } = await startWithTools(t, ['flood']);
  runner.toolCalls([{ id: 'a', name: 'flood', arguments: {} }]);
  runner.say('ok');
  const { result } = await ask();
  t.strictSame(answersOf(result.messages), ['The tool server flood sent a message of more than 16 MB.']);
  t.ok(daemon.logs.some(({ message }) => message.includes('flood sent a message of more than 16 MB')));
});

t.test('a tool that changes while it is used is asked about again, and reported once', async (t) => {
  const { runner, daemon, ask, questions } = await startWithTools(t, ['telling'], {
    decide: () => 'session',
  });
  let changes = 0;
  daemon.on(toolsDidChange, () => (changes += 1));
  for (let turn = 0; turn < 2; turn += 1) {
    runner.toolCalls([echo('x')]);
    runner.say('ok');
    await ask();
  }
  t.equal(questions.length, 2);
  t.match(questions[1]?.description, 'The tool echo, version 2.');
  t.ok(changes >= 2 && changes < 6, `${changes} changes for 2,000 notifications`);
});

t.test('noise is reported once, and a flood on standard error is counted', async (t) => {
  const { daemon } = await startWithTools(t, ['noisy'], { logLevel: 'debug' });
  const { servers } = await daemon.request(listToolsRequest, {});
  t.equal(servers[0]?.state, 'ready');
  const lines = () => daemon.logs.filter(({ message }) => message.startsWith('noisy: '));
  await poll(
    async () => lines().length,
    (count) => count > 100,
  );
  t.ok(lines().length < 2_000);
  t.ok(lines().every(({ level, message }) => level === 'debug' && !message.includes('\u001b')));
  t.equal(daemon.logs.filter(({ message }) => message.includes('something other than messages')).length, 1);
});

t.test('a server that writes what is no message on and on is ended, and others are answered', async (t) => {
  const { daemon } = await startWithTools(t, ['babbling', 'blank', 'good']);
  const asked = daemon.request(listToolsRequest, {});
  await daemon.request(statusRequest, {});
  const { servers } = await asked;
  const ended = 'wrote 5,000 lines in a row to its standard output that are no messages, and was ended';
  t.match(servers, [
    { name: 'babbling', state: 'failed', message: `The tool server babbling ${ended}.` },
    { name: 'blank', state: 'failed', message: `The tool server blank ${ended}.` },
    { name: 'good', state: 'ready' },
  ]);
  const noisy = daemon.logs.filter(({ message }) => message.includes('something other than messages'));
  t.match(noisy, [{ message: /babbling/ }]);
  t.equal(noisy.length, 1, 'blank lines are not worth a warning');
});

t.test(
  'null in an answer is absent, and an answer that does not follow MCP fails its call at once',
  async (t) => {
    const text = { type: 'text', text: 'T' };
    const unfit = ' sent an answer that does not follow MCP.';
    const cases: readonly (readonly [Record<string, unknown>, string])[] = [
      [{ result: { content: [text], _meta: null, isError: null, structuredContent: null } }, 'T'],
      [{ result: { content: [{ ...text, annotations: null, _meta: null }] } }, 'T'],
      [{ result: { content: null, structuredContent: { a: null, b: [null] } } }, '{"a":null,"b":[null]}'],
      [{ result: { content: [text] }, error: null }, 'T'],
      [{ result: null, error: { code: -1, message: 'no', data: null } }, ' answered with an error: no.'],
      [{ result: 'T' }, unfit],
      [{ result: [text] }, unfit],
      [{ result: null }, unfit],
      [{ error: 'no' }, unfit],
      [{ result: { content: 'T' } }, 'The tool server sent an answer that is not the result of a tool.'],
    ];
    const rawTools = [{ name: 'raw', description: null, annotations: null, inputSchema: { type: 'object' } }];
    const answer =
      (type: string): Parameters<typeof startHttpServer>[1] =>
      (_, response, { id, method, params }) => {
        const known = {
          initialize: { result: { ...httpResults['initialize'], instructions: null, _meta: null } },
          'tools/list': { result: { tools: rawTools, nextCursor: null, _meta: null } },
          'tools/call': params?.['arguments'] ?? {},
        }[method ?? ''];
        if (!known) return false;
        const body = JSON.stringify({ jsonrpc: '2.0', id, ...known }, null, type.endsWith('json') ? 1 : 0);
        response.writeHead(200, { 'content-type': type });
        response.end(type.endsWith('json') ? body : `: hi\r\nevent: message\r\ndata: ${body}\r\n\r\n`);
        return true;
      };
    const json = await startHttpServer(t, answer('application/json'));
    const stream = await startHttpServer(t, answer('text/event-stream; charset=utf-8'));
    const { runner, ask, daemon } = await startWithTools(t, ['raw'], {
      userConfig: { mcpServers: { json: { url: json.url }, stream: { url: stream.url } } },
      approvals: { raw: 'always', json: 'always', stream: 'always' },
      timeouts: { tool: 2_000 },
    });
    const { servers } = await daemon.request(listToolsRequest, {});
    t.match(servers, [
      { name: 'raw', tools: [{ name: 'raw', description: '', annotations: { readOnlyHint: true } }] },
      { name: 'json', state: 'ready', tools: [{ name: 'raw', description: '' }] },
      { name: 'stream', state: 'ready', tools: [{ name: 'raw', description: '' }] },
    ]);
    for (const name of ['raw', 'json', 'stream']) {
      runner.toolCalls(
        cases.map(([message], index) => ({ id: `${index}`, name: 'raw', arguments: message })),
      );
      runner.say('ok');
      const answers = answersOf((await ask({ hostedTools: [name] })).result.messages);
      const wants = cases.map(([, want]) => (want.startsWith(' ') ? `The tool server ${name}${want}` : want));
      t.strictSame(answers, wants, name);
    }
  },
);

t.test('how a program ends that is no tool server', where('sh'), async (t) => {
  const folder = await temporaryFolder(t, { 'tool.sh': 'echo a' });
  const node = (script: string) => ({ command: process.execPath, args: ['-e', script] });
  const cases = [
    {
      entry: { command: join(folder, 'tool.sh') },
      want: 'cannot be started: its command is not executable.',
    },
    { entry: { command: '/' }, want: 'cannot be started: its command is not executable.' },
    {
      entry: node("process.stderr.write('first\\nhalf a line\\r'); process.exitCode = 3;"),
      want: 'ended with code 3 and wrote: "half a line".',
    },
    {
      entry: node(`process.stdout.write('x'.repeat(${16 * 1024 * 1024 + 1})); process.stdin.resume();`),
      want: 'sent a message of more than 16 MB.',
    },
  ];
  const { daemon } = await startWithTools(t, [], {
    mcpServers: Object.fromEntries(cases.map(({ entry }, index) => [`s${index}`, entry])),
  });
  const { servers } = await daemon.request(listToolsRequest, {});
  for (const [index, { want }] of cases.entries())
    t.equal(servers[index]?.message, `The tool server s${index} ${want}`);
});

t.test('a server that does not start is tried at once, and then later and later', async (t) => {
  let now = 1_000;
  const { daemon } = await startWithTools(t, [], {
    mcpServers: { none: { command: '/no/such/program' } },
    pair: { env: {}, now: () => now },
  });
  const problem =
    'The tool server none cannot be started: its command, or the folder in which it should start, does not exist.';
  const state = async () => (await daemon.request(listToolsRequest, {})).servers[0];
  t.match(await state(), { state: 'failed', message: problem, advice: undefined });
  for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
    t.equal((await state())?.message, problem, `before ${seconds} seconds`);
    const waits = (length: string) => {
      const text = `It is started again in ${length} at the earliest.`;
      return { message: `${problem} ${text}`, advice: { code: 'wait-for-restart', problem, text } };
    };
    t.match(await state(), waits(seconds === 1 ? 'a second' : `${seconds} seconds`));
    now += seconds * 1_000 - 1;
    t.match(await state(), waits('a second'), 'a part of a second is one');
    now += 1;
  }
});

t.test('what a server is given is in no log, no error and no answer of ours', async (t) => {
  const word = 'plain words of mine';
  const home = await temporaryFolder(t);
  const trace = join(home, 'trace');
  const entry = { command: process.execPath, args: [toolServerPath, 'secretive'], env: { PLAIN: word } };
  const { runner, ask, daemon } = await startWithTools(t, [], {
    logLevel: 'debug',
    mcpServers: { secretive: entry },
    approvals: { secretive: 'always' },
  });
  runner.toolCalls([echo('x')]);
  runner.say('ok');
  const { result } = await ask();
  t.strictSame(answersOf(result.messages), ['The tool server secretive answered with an error: no: ***.']);
  await poll(
    async () => daemon.logs,
    (logs) => logs.some(({ message }) => message.includes('my word is ***')),
  );
  t.notOk(JSON.stringify(daemon.logs).includes(word));
  const traced = await startDaemonProcess({ mcpServers: { secretive: entry } }, { args: ['--trace', trace] });
  await traced.request(listToolsRequest, {});
  await traced.close();
  const text = await readFile(trace, 'utf8');
  t.match(text, /"mcpServers"/);
  t.notOk(text.includes(word));
});

t.test('a workspace that is not trusted starts nothing', async (t) => {
  const { daemon, recorded, entry } = await startWithTools(t, ['good'], { trusted: false });
  const change = (settings: object) =>
    daemon.connection.sendNotification('workspace/didChangeConfiguration', {
      settings: { runner: settings },
    });
  const names = async () => {
    const { servers } = await daemon.request(listToolsRequest, {});
    return servers.map(({ name, state }) => `${name} ${state}`);
  };
  await change({ mcpServers: { other: entry('other') }, approvals: { other: 'always' } });
  t.strictSame(await names(), ['good ready'], 'the editor vouches for its own');
  t.strictSame(await recorded('other'), []);
  await daemon.connection.sendNotification('runner/trust/didChange', { trusted: true });
  t.strictSame(await names(), ['good ready', 'other ready']);
  await daemon.connection.sendNotification('runner/trust/didChange', { trusted: false });
  t.strictSame(await names(), ['good ready']);
  const pid = (await recorded('other')).find((line) => line['pid'])?.['pid'] as number;
  await gone(pid);
});

t.test('a change of the tool servers in the settings is published', async (t) => {
  const { daemon, entry } = await startWithTools(t, ['good']);
  let changes = 0;
  daemon.on(toolsDidChange, () => (changes += 1));
  const change = async (settings: object) => {
    await daemon.connection.sendNotification('workspace/didChangeConfiguration', {
      settings: { runner: settings },
    });
    // Answered after the change.
    await daemon.request(listSessionsRequest, {}).catch(() => undefined);
    return changes;
  };
  t.equal(await change({ logLevel: 'warn' }), 0);
  t.equal(await change({ mcpServers: { other: entry('other') } }), 1);
  t.equal(await change({ mcpServers: { other: entry('other') } }), 1, 'the same again');
  t.equal(await change({ mcpServers: {} }), 2);
});

t.test('the name of a tool server may be that of any other host', async (t) => {
  const good = ['files', 'Brave Search (v2)', 'my server', 'données', 'a.b-c_d', 'メモ', "Ann's", 'a&b'];
  const bad = ['', ' a', 'a ', 'a  b', 'a\nb', 'a\u202eb', 'a/b', 'a,b', '"a"', 'x'.repeat(65)];
  const kindOf = (name: string) => readServerEntry(name, { command: 'x' }).kind;
  for (const name of good) t.equal(kindOf(name), 'stdio', name);
  for (const name of bad) t.equal(kindOf(name), 'wrong', JSON.stringify(name));
  const { runner, ask } = await startWithTools(t, [], {
    mcpServers: { 'my server': { command: process.execPath, args: [toolServerPath, 'good'] } },
    approvals: { 'my server': 'always' },
  });
  runner.toolCalls([echo('hi')]);
  runner.say('ok');
  t.match(resultsOf((await ask({ hostedTools: ['my server'] })).deltas), [
    { server: 'my server', content: 'You said hi.' },
  ]);
});

t.test('entries of the user win over those of settings, and those over the editor’s', async (t) => {
  const { daemon, entry } = await startWithTools(t, ['good', 'many'], {
    userConfig: { mcpServers: { good: { command: 'x', disabled: true } } },
  });
  await daemon.connection.sendNotification('workspace/didChangeConfiguration', {
    settings: { runner: { mcpServers: { good: entry('good'), many: entry('other'), wrong: 5 } } },
  });
  const { servers } = await daemon.request(listToolsRequest, {});
  t.match(servers, [
    { name: 'good', state: 'disabled' },
    { name: 'many', state: 'ready', tools: [{ name: 'echo' }, {}, {}, {}] },
    { name: 'wrong', state: 'failed' },
  ]);
});

t.test(
  "each fault of the user's own file is said once, whoever reads it, and tools count as it is now",
  async (t) => {
    for (const { name, pair, before } of [
      { name: 'of a client without settings', pair: { readsUserSettings: true }, before: [/"logLevel"/] },
      { name: 'of a client with settings', pair: {}, before: [] },
    ]) {
      const file = { logLevel: 'loud', mcpServers: 5, sessionDays: 0, approvals: {} };
      const { daemon, home } = await startWithTools(t, [], { userConfig: file, pair });
      const ask = async () => {
        await daemon.request(listSessionsRequest, {});
        return (await daemon.request(listToolsRequest, {})).servers.map(({ name: own, state }) => [
          own,
          state,
        ]);
      };
      const warnings = () => daemon.logs.flatMap(({ level, message }) => (level === 'warn' ? [message] : []));
      t.strictSame([await ask(), await ask()], [[], []], name);
      const said = [...before, /"mcpServers"/, /"sessionDays".* no conversation is kept\./];
      t.match(warnings(), said, name);
      t.equal(warnings().length, said.length, name);

      const path = join(home, 'runner', 'config.json');
      await writeFile(path, JSON.stringify({ mcpServers: { off: { command: 'x', disabled: true } } }));
      t.strictSame(await ask(), [['off', 'disabled']], name);
      await writeFile(path, '{');
      t.strictSame([await ask(), await ask()], [[], []], name);
      t.match(warnings().slice(said.length), [/config\.json.* is not JSON\. Nothing in it counts\./], name);
      t.equal(warnings().length, said.length + 1, name);
    }
  },
);

t.test(
  'a server starts in the folder of its entry, else in that of the workspace, else at home',
  async (t) => {
    const own = await temporaryFolder(t);
    const { daemon, recorded, entry, home } = await startWithTools(t, ['good'], {
      userConfig: { mcpServers: {} },
    });
    await daemon.connection.sendNotification('workspace/didChangeConfiguration', {
      settings: { runner: { mcpServers: { other: { ...entry('other'), cwd: own } } } },
    });
    await daemon.request(listToolsRequest, {});
    const folderOf = async (kind: string) => (await recorded(kind)).find((line) => line['cwd'])?.['cwd'];
    t.equal(await folderOf('good'), home);
    t.equal(await folderOf('other'), own);
  },
);

/** Settles once no process has this id. */
async function gone(pid: number): Promise<void> {
  const isThere = async () => {
    try {
      process.kill(pid, 0);
      // What nobody has waited for yet is gone as well.
      return !/\) Z /.test(await readFile(`/proc/${pid}/stat`, 'utf8'));
    } catch {
      return false;
    }
  };
  await poll(isThere, (there) => !there);
}

t.test(
  'a server that is ended while the daemon goes on is asked first, and killed after that',
  where('sh'),
  async (t) => {
    const groups = createProcessGroups({ platform: process.platform, env: process.env });
    t.teardown(() => groups.close());
    for (const { name, trap, signal } of [
      { name: 'one that takes it', trap: '', signal: 'SIGTERM' },
      { name: 'one that does not', trap: "trap '' TERM; ", signal: 'SIGKILL' },
    ]) {
      const child = spawn('/bin/sh', ['-c', `${trap}echo there; exec sleep 60`], {
        detached: true,
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      groups.add(child);
      await once(child.stdout, 'data');
      const exited = once(child, 'exit');
      await groups.end(child);
      t.strictSame(await exited, [null, signal], name);
      const group = -(child.pid ?? 0);
      t.throws(() => process.kill(group, 0), { code: 'ESRCH' }, `${name} is gone`);
    }
  },
);

t.test('servers end with the daemon, with all that they have started', async (t) => {
  for (const { name, end } of [
    { name: 'at the end of its input', end: 'stdin' },
    { name: 'when it is told to', end: 'SIGTERM' },
    { name: 'when it is killed', end: 'SIGKILL' },
  ] as const)
    await t.test(name, async (t) => {
      const home = await temporaryFolder(t);
      const record = (kind: string) => join(home, kind);
      const kinds = ['stubborn', 'forking', 'good'];
      const daemon = await startDaemonProcess(
        {
          mcpServers: Object.fromEntries(
            kinds.map((kind) => [
              kind,
              { command: process.execPath, args: [toolServerPath, kind, record(kind)] },
            ]),
          ),
        },
        { env: { HOME: home } },
      );
      const { servers } = await daemon.request(listToolsRequest, {});
      t.strictSame(
        servers.map(({ state }) => state),
        ['ready', 'ready', 'ready'],
      );
      const pids: number[] = [];
      for (const kind of kinds)
        for (const line of (await readFile(record(kind), 'utf8')).trim().split('\n')) {
          const { pid, forked } = JSON.parse(line) as { pid?: number; forked?: number };
          pids.push(...[pid, forked].filter((one) => one !== undefined));
        }
      t.equal(pids.length, 4);
      if (end === 'stdin') await daemon.close();
      else {
        const closed = once(daemon.child, 'close');
        daemon.child.kill(end);
        await closed;
      }
      for (const pid of pids) await gone(pid);
      t.pass('all are gone');
    });
});

/** An MCP server in a few lines, with one tool, which does to each request what it is told. */
async function startHttpServer(
  test: Teardown,
  answer: (request: IncomingMessage, response: ServerResponse, message: Message) => boolean = () => false,
) {
  const asked: { method: string; message?: Message; headers: IncomingMessage['headers'] }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const message = (body === '' ? {} : JSON.parse(body)) as Message;
    asked.push({ method: request.method ?? '', message, headers: request.headers });
    if (answer(request, response, message)) return;
    if (request.method !== 'POST') return void response.writeHead(405).end();
    if (message.id === undefined) return void response.writeHead(202).end();
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(
        JSON.stringify({ jsonrpc: '2.0', id: message.id, result: httpResults[message.method ?? ''] ?? {} }),
      );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  test.teardown(async () => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, asked };
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, object>>;
}

const httpResults: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'web', version: '1' },
  },
  'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: 'from the web' }] },
};

t.test('a server over HTTP gets the headers of its entry, and the token of its origin', async (t) => {
  const web = await startHttpServer(t);
  const { runner, ask, daemon } = await startWithTools(t, [], {
    logLevel: 'debug',
    mcpServers: { web: { type: 'http', url: web.url, headers: { 'X-Word': 'a word of mine' } } },
    approvals: { web: 'always' },
    pair: {
      env: {},
      secrets: [{ origin: new URL(web.url).origin, secret: 'a-token-of-mine' }],
    },
  });
  runner.toolCalls([{ id: 'a', name: 'echo', arguments: {} }]);
  runner.say('ok');
  t.strictSame(answersOf((await ask()).result.messages), ['from the web']);
  t.ok(web.asked.length > 2);
  t.ok(web.asked.every(({ headers }) => headers['x-word'] === 'a word of mine'));
  t.ok(web.asked.every(({ headers }) => headers.authorization === 'Bearer a-token-of-mine'));
  t.notMatch(JSON.stringify(daemon.logs), /of mine|of-mine/);
});

t.test('a server without tools is ready, and is asked for none', async (t) => {
  const web = await startHttpServer(t, (_, response, { id, method }) => {
    if (method !== 'initialize') return false;
    const result = { ...(httpResults['initialize'] as object), capabilities: { prompts: {} } };
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    return true;
  });
  const { daemon } = await startWithTools(t, [], { mcpServers: { web: { url: web.url } } });
  t.match(await daemon.request(listToolsRequest, {}), { servers: [{ state: 'ready', tools: [] }] });
  t.notOk(web.asked.some(({ message }) => message?.method === 'tools/list'));
});

t.test('a token that is refused, and a login that is wanted for the call alone, are said', async (t) => {
  const isCall: Parameters<typeof startHttpServer>[1] = (_, response, { method }) => {
    if (method === 'tools/call') response.writeHead(401).end();
    return method === 'tools/call';
  };
  const web = await startHttpServer(t, isCall);
  for (const { name, headers, want } of [
    {
      name: 'refused',
      headers: { authorization: 'Bearer a-token-of-mine' },
      want: 'The tool server refused refused the token that Runner sent (401). Enter another one in its entry, or under "auth" in ~/.config/runner/config.json.',
    },
    {
      name: 'wanted',
      headers: {},
      want: 'The tool server wanted wants a login (401). Run "runner mcp login wanted" (with its address instead of its name, if only an editor has the server), or enter a token for its address under "auth" in ~/.config/runner/config.json.',
    },
  ]) {
    const { runner, ask } = await startWithTools(t, [], {
      mcpServers: { [name]: { url: web.url, headers } },
      approvals: { [name]: 'always' },
    });
    runner.toolCalls([{ id: 'a', name: 'echo', arguments: {} }]);
    runner.say('ok');
    t.strictSame(answersOf((await ask()).result.messages), [want]);
  }
});

t.test('what is wrong at the other end of HTTP is said, and nothing is followed elsewhere', async (t) => {
  const elsewhere = await startHttpServer(t);
  const cases: { name: string; answer: Parameters<typeof startHttpServer>[1]; want: RegExp }[] = [
    {
      name: 'redirect',
      answer: (_, response) => {
        response.writeHead(307, { location: elsewhere.url }).end();
        return true;
      },
      want: /^The tool server redirect answered with status 307: .*redirect/,
    },
    {
      name: 'unauthorized',
      answer: (_, response) => {
        response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
        return true;
      },
      want: /^The tool server unauthorized wants a login \(401\)\. Run "runner mcp login unauthorized" \(with its address instead of its name, if only an editor has the server\), or enter a token for its address under "auth" in .*config\.json\.$/,
    },
    {
      name: 'forbidding',
      answer: (_, response) => {
        response.writeHead(403).end();
        return true;
      },
      want: /^The tool server forbidding does not allow this with the token or login that Runner sent \(403\)\.$/,
    },
    {
      name: 'page',
      answer: (_, response) => {
        response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Hello</p>');
        return true;
      },
      want: /^The tool server page failed: Unexpected content type: text\/html\.$/,
    },
    {
      name: 'endless',
      answer: (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const more = () => void response.write('x'.repeat(1024 * 1024), more);
        more();
        return true;
      },
      want: /^The tool server endless failed: It sent a message of more than 16 MB\.$/,
    },
  ];
  const servers = await Promise.all(cases.map(({ answer }) => startHttpServer(t, answer)));
  const { daemon } = await startWithTools(t, [], {
    mcpServers: {
      ...Object.fromEntries(cases.map(({ name }, index) => [name, { url: servers[index]?.url ?? '' }])),
      closed: { url: 'http://127.0.0.1:9/mcp' },
    },
  });
  const list = await daemon.request(listToolsRequest, {});
  for (const { name, want } of cases)
    t.match(list.servers.find((server) => server.name === name)?.message, want, name);
  t.equal(list.servers.at(-1)?.message, 'The tool server closed cannot be reached (no connection).');
  t.strictSame(elsewhere.asked, []);
});

t.test(
  'a server over HTTP that has forgotten its session is greeted again, and runs the call once',
  async (t) => {
    let [sessions, runs] = [0, 0];
    let description = 'The tool echo.';
    let refusal = { status: 404, text: 'Not found' };
    const known = new Set<string>();
    const reply = (response: ServerResponse, id: number | undefined, result: unknown, headers = {}) =>
      response
        .writeHead(200, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    const web = await startHttpServer(t, (request, response, { id, method }) => {
      const session = String(request.headers['mcp-session-id']);
      if (method === 'initialize') {
        sessions += 1;
        known.add(`session-${sessions}`);
        reply(response, id, httpResults[method], { 'mcp-session-id': `session-${sessions}` });
      } else if (!known.has(session)) response.writeHead(refusal.status).end(refusal.text);
      else if (request.method === 'DELETE') response.writeHead(known.delete(session) ? 200 : 404).end();
      else if (method === 'tools/list') {
        reply(response, id, { tools: [{ name: 'echo', description, inputSchema: { type: 'object' } }] });
      } else {
        if (method === 'tools/call') runs += 1;
        return false;
      }
      return true;
    });
    let betweenListAndCall = () => undefined as unknown;
    const { runner, ask, daemon } = await startWithTools(t, [], {
      mcpServers: { web: { url: web.url } },
      decide: () => {
        betweenListAndCall();
        return 'once';
      },
    });
    const callAfter = async (work: () => unknown) => {
      betweenListAndCall = work;
      runner.toolCalls([echo('x')]);
      runner.say('ok');
      return answersOf((await ask()).result.messages);
    };
    t.strictSame(await callAfter(() => undefined), ['from the web']);
    for (const now of [refusal, { status: 400, text: 'Bad Request: No valid session ID provided' }]) {
      refusal = now;
      t.strictSame(await callAfter(() => known.clear()), ['from the web'], now.text);
    }
    t.strictSame([sessions, runs], [3, 3]);
    known.clear();
    const { servers } = await daemon.request(listToolsRequest, {});
    t.match(servers, [{ state: 'ready', tools: [{ name: 'echo' }] }]);
    t.equal(sessions, 4);
    const changed = await callAfter(() => {
      known.clear();
      description = 'Another tool.';
    });
    t.match(changed, [/was restarted, and its tool echo has changed\. Ask again\.$/]);
    t.strictSame([sessions, runs], [5, 3]);
    refusal = { status: 404, text: 'Never heard of' };
    t.equal(known.size, 1);
    await daemon.connection.sendNotification('workspace/didChangeConfiguration', {
      settings: { runner: { mcpServers: { web: { url: web.url, disabled: true } } } },
    });
    await poll(
      async () => known.size,
      (size) => size === 0,
    );
    t.equal(known.size, 0, 'the session is ended at the server, too');
  },
);

t.test('an event stream that ends at once is not opened for ever', async (t) => {
  const web = await startHttpServer(t, (request, response) => {
    if (request.method !== 'GET') return false;
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end('retry: 0\nid: 1\ndata:\n\n');
    return true;
  });
  const { daemon } = await startWithTools(t, [], { mcpServers: { web: { url: web.url } } });
  const { servers } = await daemon.request(listToolsRequest, {});
  t.equal(servers[0]?.state, 'ready');
  const streams = () => web.asked.filter(({ method }) => method === 'GET').length;
  await poll(
    async () => streams(),
    (count) => count >= 30,
  );
  await daemon.request(listToolsRequest, {});
  t.ok(streams() <= 30, `${streams()} streams`);
});

t.test('a server that speaks the newer revision alone is greeted by that', async (t) => {
  const script = resolve('test', 'support', 'newerToolServer.cjs');
  const child = spawn(process.execPath, [script, 'http'], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill());
  const [address] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  for (const { name, entry, want } of [
    { name: 'over HTTP', entry: { url: address.trim() }, want: 'You said x; header: x.' },
    {
      name: 'as a process',
      entry: { command: process.execPath, args: [script] },
      want: 'You said x; header: none.',
    },
  ])
    await t.test(name, async (t) => {
      const { runner, ask, daemon } = await startWithTools(t, [], {
        mcpServers: { newer: entry },
        approvals: { newer: 'always' },
      });
      const { servers } = await daemon.request(listToolsRequest, {});
      t.match(servers, [{ name: 'newer', state: 'ready', tools: [{ description: /version 1/ }] }]);
      runner.toolCalls([echo('x')]);
      runner.say('ok');
      t.strictSame(answersOf((await ask()).result.messages), [want]);
      const description = async () =>
        (await daemon.request(listToolsRequest, {})).servers[0]?.tools[0]?.description;
      await poll(description, (text) => text === 'The tool echo, version 2.');
    });
});

t.test('tools get different names for the model, whatever their own names are', async (t) => {
  const word = fc.oneof(
    fc.string({ maxLength: 80 }),
    fc.constantFrom('a', 'b', 'a_b', 'a_b_2', 'x'.repeat(70)),
  );
  fc.assert(
    fc.property(
      fc.array(fc.record({ server: word, ownName: word }), { maxLength: 20 }),
      fc.array(word, { maxLength: 3 }),
      (tools, taken) => {
        const names = namesForModel(tools, taken);
        return (
          names.length === tools.length &&
          names.every((name) => /^[A-Za-z0-9_-]{1,64}$/.test(name) && !taken.includes(name)) &&
          new Set(names).size === names.length
        );
      },
    ),
  );
  t.strictSame(
    namesForModel(
      [
        { server: 'a', ownName: 'read' },
        { server: 'b', ownName: 'read' },
        { server: 'evil', ownName: 'a_read' },
      ],
      [],
    ),
    ['a_read', 'b_read', 'evil_a_read'],
    'no tool takes the name that another gets',
  );
  const long = ['x', 'y', 'z'].map((end) => ({ server: 's', ownName: `${'a'.repeat(70)}${end}` }));
  const same = `s_${'a'.repeat(62)}`;
  t.strictSame(
    namesForModel(long, [`${same.slice(0, -2)}_3`]),
    [same, `${same.slice(0, -2)}_2`, `${same.slice(0, -2)}_4`],
    'names that are the same once they are cut are counted',
  );
});

t.test('a result is read up to its limits', (t) => {
  const image = (length: number) => ({ type: 'image', data: 'A'.repeat(length), mimeType: 'image/png' });
  const tooMuch = '[an image that is too much is left out]';
  const nine = readToolResult({ content: Array.from({ length: 9 }, () => image(4)) });
  t.equal(nine.images?.length, 8);
  t.equal(nine.content, [...Array.from({ length: 8 }, () => '[image, image/png]'), tooMuch].join('\n'));
  const most = 16 * 1024 * 1024;
  t.equal(readToolResult({ content: [image(most)] }).images?.length, 1);
  const { images, content } = readToolResult({ content: [image(most - 4), image(8)] });
  t.equal(images?.length, 1);
  t.equal(content, `[image, image/png]\n${tooMuch}`);
  const textOf = (text: string) => readToolResult({ content: [{ type: 'text', text }] }).content;
  t.equal(textOf('x'.repeat(32_000)).length, 32_000);
  const note = 'characters are left out after the first part';
  t.match(
    textOf(`${'x'.repeat(32_000)}y`),
    new RegExp(`^\\[\\d\\d ${note}\\.\\]\\nx{7900,}\\n…\\nx{23900,}y$`),
  );
  t.match(textOf('x'.repeat(50_000)), new RegExp(`^\\[18,0\\d\\d ${note}\\.\\]\\nx`));
  t.same(readToolResult({ content: [], isError: true }), { content: '', isError: true });
  t.same(readToolResult({}), { content: '', isError: false });
  const deep = JSON.parse(`${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`);
  t.match(readToolResult({ structuredContent: deep }).content, /nested too deep is left out/);
  const both = { content: [{ type: 'text', text: 'a' }], structuredContent: { b: 1 } };
  t.equal(readToolResult(both).content, 'a', 'what is said in words counts');
  t.equal(readToolResult({ content: ['odd', { type: 'text', text: 'a' }] }).content, 'a');
  for (const data of ['', 'no base64!'])
    t.match(readToolResult({ content: [{ ...image(1), data }] }), { content: /^\[image is left out/ });
  t.match(readToolResult({ content: [{ type: 'x'.repeat(99) }] }).content, /^\[x{64} is left out/);
  t.end();
});

t.test('the tools of a server are read page by page, up to their limits', async (t) => {
  const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: 'object' }, ...more });
  const read = async (pages: Readonly<Record<string, ToolPage>>) => {
    const said: string[] = [];
    const asked: (string | undefined)[] = [];
    const page = async (cursor = '') => {
      asked.push(cursor);
      return pages[cursor] ?? { tools: [] };
    };
    const tools = await readToolList(page, (sentence) => said.push(sentence));
    return { tools, said, asked };
  };
  const schemaOf = (length: number) => {
    const around = JSON.stringify({ a: '' }).length;
    return { inputSchema: { a: 'x'.repeat(length - around) } };
  };

  const [long, text] = ['n'.repeat(256), 'd'.repeat(1_024)];
  const whole = await read({
    '': { tools: [tool('a', { title: 'T', description: text })], nextCursor: 'b' },
    b: { tools: [tool(long, schemaOf(32_768))] },
  });
  t.same(whole.said, []);
  t.same(whole.asked, ['', 'b']);
  t.match(whole.tools, [
    { name: 'a', title: 'T', description: text, inputSchema: { type: 'object' } },
    { name: long, description: '' },
  ]);
  t.notOk('title' in (whole.tools[1] ?? {}) || 'annotations' in (whole.tools[0] ?? {}));

  const remarks: readonly (readonly [object, RegExp])[] = [
    [tool(''), /^A tool is left out: its description does not follow MCP/],
    [tool('n'.repeat(257)), /^A tool is left out/],
    [{ name: 'x' }, /^A tool is left out/],
    [tool('a'), /"a" is left out: another one has the same name/],
    [tool('b', schemaOf(32_769)), /"b" is left out: its schema has 32,769 characters/],
    [tool('c', { description: 'd'.repeat(1_025) }), /description of the tool "c" is cut at 1,024/],
    [tool('d', { inputSchema: { a: JSON.parse('['.repeat(999) + ']'.repeat(999)) } }), /nested too deeply/],
  ];
  for (const [odd, want] of remarks) {
    const { said, tools } = await read({ '': { tools: [tool('a'), odd] } });
    t.equal(said.length, 1);
    t.match(said[0], want);
    t.equal(tools.length, want.source.includes('is cut') ? 2 : 1);
  }
  for (const count of [5, 6]) {
    const { said } = await read({ '': { tools: Array.from({ length: count }, () => 5) } });
    t.same(said.slice(5), count === 5 ? [] : ['There are 1 more remarks about its tools.']);
  }

  const many = Array.from({ length: 1_001 }, (_, index) => tool(`t${index}`));
  const exact = await read({ '': { tools: many.slice(0, 1_000) } });
  t.equal(exact.tools.length, 1_000);
  t.same(exact.said, []);
  const more = await read({ '': { tools: many, nextCursor: 'b' } });
  t.equal(more.tools.length, 1_000);
  t.match(more.said, [/more than 1,000 tools; the rest is left out/]);
  t.same(more.asked, ['']);
  const round = await read({ '': { tools: [], nextCursor: 'b' }, b: { tools: [], nextCursor: 'b' } });
  t.match(round.said, [/does not end/]);
  t.same(round.asked, ['', 'b']);
  let number = 0;
  await readToolList(
    async () => ({ tools: [], nextCursor: String(number++) }),
    (sentence) => t.match(sentence, /does not end/),
  );
  t.equal(number, 100, 'pages');
  const heavy = Array.from({ length: 257 }, (_, index) => tool(`h${index}`, schemaOf(32_768)));
  const bounded = await read({ '': { tools: heavy } });
  t.equal(bounded.tools.length, 256);
  t.match(bounded.said, [/more than 8 MB in total/]);
});

t.test('an entry is read, or what is wrong with it is said without its values', async (t) => {
  const read = (value: unknown) => readServerEntry('a', value);
  const full = { command: 'x', args: ['1'], env: { A: 'b' }, cwd: '/w' };
  t.same(read({ type: 'stdio', ...full }), { name: 'a', kind: 'stdio', ...full });
  t.same(read({ command: 'x' }), { name: 'a', kind: 'stdio', command: 'x', args: [], env: {} });
  const web = { url: 'https://a.example/mcp', headers: { 'X-A': 'b' }, clientId: 'c' };
  for (const type of ['http', 'streamable-http'])
    t.same(read({ type, ...web }), { name: 'a', kind: 'http', ...web });
  const plain = { url: 'http://a.example', clientId: '' };
  t.same(read(plain), { name: 'a', kind: 'http', url: 'http://a.example', headers: {} });
  for (const off of [{ disabled: true }, { enabled: false }, { enabled: false, disabled: false }])
    t.same(read({ command: 'x', ...off }), { name: 'a', kind: 'disabled' });
  t.match(read({ enabled: true, command: 'x' }), { kind: 'stdio' });
  t.match(read({ command: 'x', env: { PORT: 3000, DEBUG: true } }), { env: { PORT: '3000', DEBUG: 'true' } });
  t.match(read({ disabled: false, command: 'x' }), { kind: 'stdio' });
  const wrong: readonly (readonly [unknown, RegExp])[] = [
    [null, /not an object/],
    ['x', /not an object/],
    [[], /not an object/],
    [{ disabled: 'yes' }, /"disabled" is true or false/],
    [{}, /needs "command" or "url"/],
    [{ command: 'x', url: 'http://a.example' }, /both "command" and "url"/],
    [{ command: '' }, /^"command" is not/],
    [{ command: 'x', type: 'http' }, /^"type" is not/],
    [{ command: 'x', args: ['a', 'secret\0'] }, /^"args\[1\]" is not/],
    [{ command: 'x', args: Array.from({ length: 1_001 }, () => '') }, /^"args" is not/],
    [{ command: 'x', env: { 'A=B': 'secret' } }, /^"env" is not/],
    [{ command: 'x', env: { A: {} } }, /^"env" is not/],
    [{ enabled: 'no' }, /"enabled" is true or false/],
    [{ httpUrl: 'https://secret' }, /has "httpUrl"; here it is .*"url"/],
    [{ serverUrl: 'https://secret' }, /has "serverUrl"/],
    [{ type: 'streamableHttp', url: 'https://secret' }, /has "streamableHttp".*"type": "http"/],
    [{ url: 'secret' }, /^"url" is not/],
    [{ url: 'ftp://a.example' }, /^"url" is not/],
    [{ url: 'https://secret@a.example' }, /^"url" is not/],
    [{ url: 'https://:secret@a.example' }, /^"url" is not/],
    [{ url: 'https://a.example', headers: { 'X A': 'secret' } }, /^"headers" is not/],
    [{ url: 'https://a.example', headers: { 'X-A': 'secret\n' } }, /^"headers" is not/],
  ];
  for (const [value, want] of wrong) {
    const entry = read(value);
    t.match(entry, { kind: 'wrong', problem: want }, JSON.stringify(value)?.slice(0, 60));
    t.notMatch(entry, { problem: /secret/ });
  }
  t.match(readServerEntry('BuiltIn', full), { kind: 'wrong', problem: /belongs to the built-in tools/ });
  t.match(readServerEntry('x'.repeat(64), full), { kind: 'stdio' });

  const root = await temporaryFolder(t, { 'serve.js': '', 'home/own.js': '' });
  const place = { root, env: { HOME: join(root, 'home') } };
  const starting = (more: object) => {
    const entry = readServerEntry('a', { command: 'node', ...more });
    if (entry.kind !== 'stdio') throw new Error('It starts nothing.');
    return entry;
  };
  t.equal(startFolder(starting({ cwd: '/w' }), place), resolve('/w'));
  t.equal(startFolder(starting({}), place), root);
  t.equal(startFolder(starting({}), { ...place, root: join(root, 'gone') }), join(root, 'home'));
  t.equal(startFolder(starting({}), { root: undefined, env: {} }), homedir(), 'Windows has no HOME');
  t.equal(decisiveFolder(starting({ args: ['serve.js', '/x'] }), place), root, 'a name in the folder');
  t.equal(decisiveFolder(starting({ args: ['', 'other.js', '/a/b'] }), place), undefined);
  for (const word of ['./other.js', 'a\\b'])
    t.equal(decisiveFolder(starting({ args: [word] }), place), root, 'a relative path');
  t.equal(decisiveFolder(read(plain), place), undefined);
});

/** Written with `#`, because the linter takes `${` in a text for a mistake. */
const withVariables = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll('#', '$'));

t.test(
  "variables of the environment are filled into the user's own entries, and named if they are missing",
  async (t) => {
    const env = { TOKEN: 's3cret', HOST: 'a.example', EMPTY: '', 'A-B': 'no' };
    const read = (value: unknown) => readServerEntry('a', withVariables(value), env);
    const argument = (text: string) => {
      const entry = read({ command: 'x', args: [text] });
      return entry.kind === 'stdio' ? entry.args[0] : entry.kind === 'wrong' ? entry.problem : undefined;
    };
    for (const [text, want] of [
      ['Bearer #{TOKEN}', 'Bearer s3cret'],
      ['#{env:TOKEN}#{TOKEN}', 's3crets3cret'],
      ['#{NONE:-a b}', 'a b'],
      ['#{env:NONE:-}', ''],
      ['#{TOKEN:-d}', 's3cret'],
      ['#{EMPTY}-#{EMPTY:-d}', '-d'],
      ['##{TOKEN}', '#{TOKEN}'],
      ['#TOKEN # {TOKEN} #{A-B} #{x%.*} #{} #{', '#TOKEN # {TOKEN} #{A-B} #{x%.*} #{} #{'],
      ['#{NONE}', /^The variable NONE is not set in the environment\. .*"\$\{NONE:-…\}"/],
      ['#{constructor}', /^The variable constructor is not set/],
      ['#{input:key}', /^"\$\{input:key\}" is no variable of the environment/],
    ] as const)
      if (typeof want === 'string') t.equal(argument(text), withVariables(want), text);
      else t.match(argument(text), want, text);
    t.match(read({ command: '#{TOKEN}/x', env: { K: '#{HOST}' }, cwd: '/#{HOST}' }), {
      ...{ command: 's3cret/x', env: { K: 'a.example' }, cwd: withVariables('/#{HOST}') },
      variables: { used: ['s3cret', 'a.example'] },
    });
    const web = withVariables({ url: 'https://#{HOST}/mcp', headers: { 'X-A': '#{env:TOKEN}' } });
    t.match(read(web), { kind: 'http', url: 'https://a.example/mcp', headers: { 'X-A': 's3cret' } });
    t.match(read({ url: '#{TOKEN}' }), { kind: 'wrong', problem: /^"url" is not/ });
    t.match(readServerEntry('a', web), { kind: 'http', url: web.url, headers: web.headers });

    const word = 'plain words of mine';
    const entry = withVariables({
      ...{ command: '#{NODE}', args: [toolServerPath, 'secretive'] },
      env: { PLAIN: '#{WORD}' },
    });
    for (const { name, userConfig = {}, options = {}, workspace, want } of [
      { name: "the user's file", userConfig: { mcpServers: { own: entry } }, want: 'ready' },
      {
        name: 'a client that sends the settings of its user',
        options: { mcpServers: { own: entry }, sendsUserSettings: true },
        want: 'ready',
      },
      { name: 'another client', options: { mcpServers: { own: entry } }, want: 'failed' },
      {
        name: 'a workspace, under a name of the client',
        options: { mcpServers: { own: { ...entry } }, sendsUserSettings: true },
        workspace: { mcpServers: { own: { ...entry } } },
        want: 'failed',
      },
    ]) {
      const env = { PATH: process.env['PATH'], NODE: process.execPath, WORD: word };
      const { daemon, runner, ask } = await startWithTools(t, [], {
        ...{ approvals: { own: 'always' }, logLevel: 'debug', mcpServers: {}, ...options },
        userConfig,
        pair: {
          env: {
            ...env,
            XDG_CONFIG_HOME: await temporaryFolder(t, { 'runner/config.json': JSON.stringify(userConfig) }),
          },
        },
      });
      if (workspace)
        await daemon.connection.sendNotification('workspace/didChangeConfiguration', {
          settings: { runner: workspace },
        });
      const { servers } = await daemon.request(listToolsRequest, {});
      t.match(servers, [{ name: 'own', state: want }], name);
      if (want === 'failed') continue;
      runner.toolCalls([echo('x')]);
      runner.say('ok');
      const answers = answersOf((await ask()).result.messages);
      t.strictSame(answers, ['The tool server own answered with an error: no: ***.'], name);
      t.notOk(JSON.stringify(daemon.logs).includes(word));
    }
  },
);

t.test('what is allowed by name counts for the entry that has the name alone', async (t) => {
  const kept = new Set<string>();
  const open = () =>
    createApprovals({
      has: async (key) => kept.has(key),
      add: async (key) => void kept.add(key),
      close: async () => undefined,
    });
  const named = (given: object) => ({
    entryOf: (name: string) => (name === 'a' ? readServerEntry(name, given) : undefined),
  });
  const given = { command: 'x' };
  const entry = readServerEntry('a', given);
  const tool = { entry, folder: undefined, tools: ['read'], fingerprint: '1' };
  const eachTime = { ...tool, act: 'edit' as const };
  const none = { user: {}, client: {}, ...named(given) };
  const nobody = { client: {}, entryOf: () => undefined };
  const approvals = open();
  const cases = [
    { tool, named: none, want: false },
    { tool, named: { ...none, user: { a: 'always' as const } }, want: true },
    { tool, named: { ...none, client: { a: 'always' as const } }, want: true },
    { tool, named: { ...none, user: { a: ['read'] } }, want: true },
    { tool, named: { ...none, user: { a: ['write'] } }, want: false },
    { tool, named: { ...none, user: { b: 'always' as const } }, want: false },
    { tool, named: { user: { a: 'always' as const }, ...nobody }, want: false },
    {
      tool,
      named: { user: { a: 'always' as const }, client: {}, ...named({ command: 'y' }) },
      want: false,
    },
    { tool: eachTime, named: { ...none, user: { a: ['read'] } }, want: false },
    { tool: eachTime, named: { ...none, client: { a: 'always' as const } }, want: false },
    { tool: eachTime, named: { ...none, client: { a: ['read'] } }, want: true },
    {
      tool: { ...tool, entry: { name: 'builtin', kind: 'builtin' as const, folders: [] } },
      named: { user: { builtin: ['read'] }, ...nobody },
      want: true,
    },
  ];
  for (const { tool, named, want } of cases)
    t.equal(await approvals.isApproved(tool, named), want, JSON.stringify({ tool, named }));
  await approvals.allow(tool, 'session');
  await approvals.allow(eachTime, 'session');
  t.equal(await approvals.isApproved(tool, none), true);
  t.equal(await approvals.isApproved(eachTime, none), false, 'it is asked about each time');
  t.equal(await open().isApproved(tool, none), false, 'for the session alone');
  await approvals.allow(tool, 'always');
  t.equal(await open().isApproved(tool, none), true);
  for (const other of [
    { fingerprint: '2' },
    { tools: ['write'] },
    { folder: '/w' },
    { entry: readServerEntry('b', given) },
  ])
    t.equal(await open().isApproved({ ...tool, ...other }, none), false, JSON.stringify(other));

  const filled = (TOKEN: string, text = '#{TOKEN}') => ({
    ...tool,
    entry: readServerEntry('a', withVariables({ command: 'x', args: [text] }), { TOKEN }),
  });
  await approvals.allow(filled('1'), 'always');
  t.equal(await open().isApproved(filled('2'), none), true, 'another value of a variable');
  t.equal(
    await open().isApproved(filled('1', '#{env:TOKEN}'), none),
    false,
    'an entry that is written in another way',
  );
  t.equal(
    await open().isApproved(
      { ...tool, entry: readServerEntry('a', withVariables({ command: 'x', args: ['#{TOKEN}'] })) },
      none,
    ),
    false,
    'an entry that gets no variables',
  );
});

t.test('any answer is read as a result', async (t) => {
  fc.assert(
    fc.property(fc.anything({ withBigInt: false }), fc.boolean(), (value, isError) => {
      for (const answer of [
        value,
        { content: value, isError },
        { content: [value, { type: 'text', text: value }] },
      ]) {
        const outcome = readToolResult(answer);
        if (typeof outcome.content !== 'string' || outcome.content.length > 32_000) return false;
      }
      return true;
    }),
  );
  t.match(readToolResult(5), { isError: true, content: /not the result of a tool/ });
});

t.test('a server that starts slowly is waited for as long as the user says, and says so', async (t) => {
  const { daemon } = await startWithTools(t, ['mute'], { timeouts: { toolStart: 200 } });
  const { servers } = await daemon.request(listToolsRequest, {});
  const problem = 'The tool server mute did not answer within 0.2 seconds.';
  const text =
    'It is still starting, and is there once it has. A first start may download it, as npx and uvx do. "timeouts.toolStart" sets how long Runner waits.';
  t.match(servers, [
    { state: 'failed', message: `${problem} ${text}`, advice: { code: 'wait-for-restart', problem, text } },
  ]);
  const message = 'The tool server mute is starting. A first start may download it, as npx and uvx do.';
  const said = await poll(
    async () => daemon.logs.filter(({ code }) => code === 'tool-server'),
    (lines) => lines.length > 0,
  );
  t.match(said, [{ level: 'info', message }]);
});
