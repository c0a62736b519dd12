import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, resolve, sep } from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import * as formatting from '../daemon/chat/formatting.ts';
import * as thinkingParser from '../daemon/chat/thinkingParser.ts';
import * as toolUtilities from '../daemon/chat/toolUtilities.ts';
import * as stream from '../daemon/stream/stream.ts';
import { adviceCodes } from '../protocol/messages/advice.ts';
import { errorCodes, retryableKinds } from '../protocol/messages/errors.ts';
import { needs } from './support/parts.ts';
import { temporaryFolder, writeFiles } from './support/temporaryFolder.ts';

interface SourceFile {
  readonly path: string;
  readonly text: string;
  /** Paths of files of this project, and names of packages. */
  readonly imports: readonly string[];
}

const sources = ['client', 'daemon', 'docs-service', 'protocol'].flatMap(readSources);

/** Who may import whom: the room of a file, and what it must not reach. */
const rules: readonly { name: string; room: RegExp; never: RegExp }[] = [
  // Only its leaf for all programs may need a library: two copies of a guard would be worse.
  { name: 'protocol imports nobody', room: /^protocol\/messages\//, never: /^(?!protocol\/)/ },
  {
    name: 'what every program shares imports no room',
    room: /^protocol\/base\//,
    never: /^(client|daemon|docs-service|protocol\/(?!base\/))/,
  },
  { name: 'clients import the protocol alone', room: /^client\//, never: /^(daemon|docs-service)\// },
  {
    name: 'the daemon knows no editor and no client',
    room: /^daemon\//,
    never: /^(client|docs-service)\/|^vscode$/,
  },
  { name: 'the document service stands alone', room: /^docs-service\//, never: /^(client|daemon)\// },
  {
    name: 'the terminal imports no other client',
    room: /^client\/terminal\//,
    never: /^client\/(?!terminal\/|shared\/)|^vscode$/,
  },
  {
    name: 'VS Code imports no other client',
    room: /^client\/vscode\//,
    never: /^client\/(?!vscode\/|shared\/)/,
  },
  {
    name: 'what clients share knows none of them',
    room: /^client\/shared\//,
    never: /^client\/(?!shared\/)|^vscode$/,
  },
  {
    name: 'the stream library depends on nothing',
    room: /^daemon\/stream\//,
    never: /^(?!daemon\/stream\/)/,
  },
  {
    name: 'the practice runner is a runner, not a part of the daemon',
    room: /^daemon\/practice\//,
    never: /^daemon\/(?!practice\/)|^protocol\/messages\//,
  },
  {
    name: 'the engine is a runner in a process of its own, and the daemon knows nothing of it',
    room: /^daemon\/(?!engine\/process\/)|^client\//,
    never: /^daemon\/engine\/process\//,
  },
  {
    name: 'and it knows nothing of the daemon',
    room: /^daemon\/engine\/process\//,
    never: /^daemon\/(?!engine\/process\/|base\/)|^protocol\/messages\//,
  },
  {
    name: 'only the chat re-exports reach into the stream library',
    room: /^daemon\/(?!stream\/|chat\/)/,
    never: /^daemon\/stream\//,
  },
  {
    name: 'nobody imports the composition root but main',
    room: /^(?!daemon\/main\.ts)/,
    never: /^daemon\/compose\/(handshake|acpServer)\.ts$/,
  },
  {
    name: 'nobody imports the server but the handshake, which loads it',
    room: /^(?!daemon\/compose\/handshake\.ts)/,
    never: /^daemon\/compose\/server\.ts$/,
  },
  {
    name: 'the agent of the Agent Client Protocol is an adapter, and the core knows nothing of it',
    room: /^(?!daemon\/(acp\/|compose\/acpServer\.ts|main\.ts))/,
    never: /^daemon\/(acp\/|compose\/acpServer)|^@agentclientprotocol\//,
  },
  {
    name: 'the SDK of MCP is in the room of tools, and the chat knows nothing of it',
    room: /^daemon\/(?!tools\/)/,
    never: /^@modelcontextprotocol\//,
  },
  {
    name: 'nobody imports the composition root of the document service but its commands',
    room: /^docs-service\/(?!commands\/)/,
    never: /^docs-service\/service\.ts$/,
  },
  {
    name: 'the library knows nothing of who asks for it',
    room: /^docs-service\/(content|search|library)\//,
    never: /^docs-service\/(http|auth|formats|commands)\//,
  },
  {
    name: 'the files of the library know nothing of its index',
    room: /^docs-service\/content\//,
    never: /^docs-service\/(search|library)\//,
  },
  {
    name: 'the index knows nothing of the indexer, nor of who compares meanings',
    room: /^docs-service\/search\//,
    never: /^docs-service\/(library|meaning)\//,
  },
  {
    name: 'the meaning of documents knows nothing of who asks for it',
    room: /^docs-service\/meaning\//,
    never: /^docs-service\/(http|auth|formats|commands|library|mcp)\//,
  },
  {
    name: 'formats know nothing of who asks for them',
    room: /^docs-service\/formats\//,
    never: /^docs-service\/(http|auth|commands)\//,
  },
  {
    name: 'who may read is decided without the library, its search and its formats',
    room: /^docs-service\/auth\//,
    never: /^docs-service\/(?!auth\/|base\/|library\/slugRegister\.ts)/,
  },
  {
    name: 'what agents can ask is independent of HTTP, which mounts it',
    room: /^docs-service\/mcp\//,
    never: /^docs-service\/(http|auth|commands)\//,
  },
  {
    name: 'what every room of a program uses knows none of them',
    room: /^(daemon|docs-service)\/base\//,
    never: /^(daemon|docs-service)\/(?!base\/)/,
  },
  {
    name: 'only the table of servers knows which wires there are',
    room: /^daemon\/(?!runner\/(?:ollama|openai)\/|runner\/servers\.ts|practice\/)/,
    never: /^daemon\/runner\/(ollama|openai)\//,
  },
  {
    name: 'tools know nothing of the logs of runners',
    room: /^daemon\/tools\//,
    never: /^daemon\/logs\//,
  },
  {
    name: 'only the app and its routes know Fastify',
    room: /^docs-service\/(?!http\/|app\.ts)/,
    never: /^@?fastify/,
  },
  {
    name: 'each engine and each format has its library for itself',
    room: /^(?!docs-service\/formats\/pdf\/)/,
    never: /^pdfmake/,
  },
];

t.test('the rooms import only whom they may', async (t) => {
  t.ok(sources.length > 60, `${sources.length} files were read`);
  t.ok(
    sources.some(({ imports }) => imports.length > 3),
    'imports were found',
  );
  for (const { name, room, never } of rules) {
    const inside = sources.filter(({ path }) => room.test(path));
    const broken = inside.flatMap(({ path, imports }) =>
      imports.filter((target) => never.test(target)).map((target) => `${path} -> ${target}`),
    );
    t.strictSame(broken, [], name);
  }
});

t.test('no path and no field of a wire stands outside of its room', async (t) => {
  const words = [
    /\/(?:api|v1)\/(?:tags|ps|show|chat|generate|embed|pull|create|delete|blobs|version|models|completions)/,
    /\b(?:keep_alive|done_reason|eval_count|prompt_eval_count|draft_files|size_vram)\b/,
    /\b(?:finish_reason|reasoning_content|chat_template_kwargs|stream_options|response_format|n_ctx)\b/,
  ];
  const knows = (path: string) => /^daemon\/(runner\/(ollama|openai)|practice|engine\/process)\//.test(path);
  const inRooms = sources.filter(({ path }) => knows(path));
  for (const word of words.slice(0, 2))
    t.ok(
      inRooms.some(({ text }) => word.test(text)),
      String(word),
    );
  const elsewhere = sources
    .filter(({ path }) => /^(client|daemon|protocol)\//.test(path) && !knows(path))
    // The catalog is another service, which happens to have this path.
    .filter(({ path }) => path !== 'daemon/catalog/catalogClient.ts')
    .flatMap(({ path, text }) => words.filter((word) => word.test(text)).map((word) => `${path}: ${word}`));
  t.strictSame(elsewhere, []);
});

t.test('only composition roots create what a room of the daemon offers to others', async (t) => {
  /** What lives no longer than the request, the client or the server for which it is created. */
  const shortLived = new Set([
    ...['createDownloadProgress', 'createRedaction', 'createToolLoop'],
    ...['new Omissions', 'new Transport'],
  ]);
  const rooms = sources.filter(({ path }) => /^daemon\/(?!base|compose|stream)\w+\//.test(path));
  const creators = rooms.flatMap(({ path, text }) =>
    [...text.matchAll(/^export (?:(?:async )?function (create[A-Z]\w+)|class ([A-Z]\w+))/gm)].map(
      ([, name, built = '']) => ({ path, name: name ?? `new ${built}` }),
    ),
  );
  t.ok(creators.length > 80, 'they were found');
  const creates = (text: string, name: string) =>
    name.startsWith('new ')
      ? text.includes(`${name}(`)
      : new RegExp(`^import (?!type )[^;]*\\b${name}\\b`, 'm').test(text);
  const elsewhere = rooms.flatMap(({ path, imports, text }) =>
    creators
      .filter((creator) => imports.includes(creator.path) && roomOf(creator.path) !== roomOf(path))
      .filter(({ name }) => !shortLived.has(name) && creates(text, name))
      .map(({ name }) => `${path}: ${name}`),
  );
  t.strictSame(elsewhere, []);
});

t.test("the user's configuration is read by one file", async (t) => {
  const knowing = sources.filter(({ text }) => /^import [^;]*\buserConfigFile\b/m.test(text));
  t.strictSame(
    knowing.map(({ path }) => path).sort(),
    ['client/terminal/commands/doctor.ts', 'daemon/main.ts'],
    'the doctor looks at its permissions, and the daemon hands its path to daemon/config/userFile.ts',
  );
  for (const { path, text } of knowing) t.notMatch(text, /\breadFile(Sync)?\b/, path);
});

t.test('nothing imports itself over others, neither file nor room', async (t) => {
  const files = sources.map(({ path, imports }) => [path, imports] as const);
  t.strictSame(circlesIn(files), [], 'files');
  const rooms = files
    .filter(([path]) => /^client\/vscode\/\w+\//.test(path))
    .map(([path, imports]) => [roomOf(path), imports.map(roomOf)] as const);
  t.ok(rooms.length > 30, 'rooms were found');
  t.strictSame(circlesIn(rooms), [], 'rooms of VS Code');
  const known = [
    ['a', ['b', 'e']],
    ['b', ['c']],
    ['c', ['d', 'b']],
    ['d', ['d']],
    ['e', ['d']],
  ] as const;
  t.strictSame(circlesIn(known), [['b', 'c']], 'a circle is found');
});

t.test(
  'the SDK of the Agent Client Protocol is loaded by one file, which is loaded when it is wanted',
  async (t) => {
    const running = sources.filter(({ text }) => /^import (?!type )[^;]*'@agentclientprotocol\//m.test(text));
    t.strictSame(
      running.map(({ path }) => path),
      ['daemon/acp/acpConnection.ts'],
    );
    const atOnce = sources.filter(({ text }) =>
      /^import (?!type )[^;]*\/(acpConnection|acpServer)\.ts'/m.test(text),
    );
    t.strictSame(atOnce, []);
  },
);

t.test('what speaks to tool servers is loaded when it is wanted', async (t) => {
  const inside = sources.filter(({ text }) =>
    /^import (?!type )[^;]*'@modelcontextprotocol\/client/m.test(text),
  );
  t.ok(inside.length > 1);
  t.ok(inside.every(({ path }) => /^daemon\/tools\/(mcp|http|stdio|oauth\/)/.test(path)));
  const atOnce = sources.filter(({ text }) => /^import (?!type )[^;]*\/mcpRuntime\.ts'/m.test(text));
  t.strictSame(atOnce, []);
});

t.test('the built programs take no more memory than their code needs', async (t) => {
  const ofTheLibrary = /^import (?!type )[^;]*'vscode-(languageserver|jsonrpc)(\/\w+)?'/m;
  t.strictSame(
    sources.filter(({ path, text }) => path.startsWith('daemon/') && ofTheLibrary.test(text)),
    [],
    'one file exports what is used of the language server library',
  );
  const programs = ['extension.cjs', 'runnerd.cjs', 'runnerd/handshake.cjs', 'runnerd/server.cjs'];
  for (const name of programs) {
    const text = readFileSync(join('dist', name), 'utf8');
    t.notMatch(text, /[^\0-\x7f]/, `${name} is ASCII`);
    t.notMatch(text, /toESM\(require\("vscode"\)/, `${name} copies nothing of the editor`);
    const copied = [...text.matchAll(/toESM\((require_\w+)\(\)/g)].map(([, module]) => module);
    t.equal(copied.length, new Set(copied).size, `${name} copies no library twice`);
  }
});

/** Programs that read a command, in any way of starting them. `exec` of a database or of a pattern is no shell. */
const shellForms = [
  /\bshell\s*:(?!\s*(?:false|ChildProcess)\b)/,
  /\bexecSync\(|(?<![.\w])exec\(\s*[`'"]|\{[^}]*\bexec(?:Sync)?\b[^}]*\} from '(?:node:)?child_process'/,
  /['"`]\/(?:usr\/)?bin\/(?:env |ba|da|z|k|c|tc|fi)?sh['"`]|\(\s*['"`](?:ba|da|z|k|c|tc|fi)?sh['"`]/,
  /['"`](?:ba|da|z|k|c|tc|fi)?sh['"`]\s*,\s*(?:\[|['"`]-)/,
  /['"`](?:cmd|powershell|pwsh)(?:\.exe)?['"`]\s*,\s*\[|\(\s*['"`](?:cmd|powershell|pwsh)(?:\.exe)?['"`]/i,
  /\b(?:ComSpec|COMSPEC|SHELL)['"`]\]/,
];

const startsShell = (text: string) => shellForms.some((form) => form.test(text));

t.test('processes are started by argument arrays, and standard output is left to the protocol', async (t) => {
  for (const form of [
    'spawn(a, { shell: true })',
    "spawn(a, { shell: platform === 'win32' })",
    "spawn(a, { shell: '/bin/sh' })",
    "spawn('sh', ['-c', a])",
    "spawn('/bin/bash', args)",
    "['sh', ['-c', a]]",
    "spawn('cmd.exe', ['/c', a])",
    "spawn(env['ComSpec'] ?? x)",
    "execSync('a')",
    'exec(`a b`)',
    "import { exec } from 'node:child_process'",
  ])
    t.ok(startsShell(form), form);
  for (const form of [
    "spawn('git', args)",
    'spawn(a, { shell: false })',
    'base.exec(`a`)',
    "all = ['bash', 'zsh']",
  ])
    t.notOk(startsShell(form), form);
  t.strictSame(
    sources
      .filter(({ text }) => startsShell(text))
      .map(({ path }) => path)
      .sort(),
    [
      // The user has typed the command behind a "!", for their own shell, or wrote it in VISUAL or EDITOR for one.
      'client/terminal/cli/systemPrograms.ts',
      // Scripts that never change, which outlive this process: what they end comes as numbers and arguments.
      'daemon/logs/commandFollower.ts',
      'protocol/base/platform/processGroups.ts',
      // Scripts of Windows, whose arguments are written as its command processor reads them.
      'protocol/base/platform/program.ts',
    ],
    'test/specification.md says why these start a shell',
  );
  for (const { path, text } of sources)
    if (/^(daemon|docs-service)\//.test(path) && !path.endsWith('/main.ts'))
      t.notMatch(text, /process\.(stdout|exit)\b/, path);
});

/** What differs between systems: how programs start, how files get their names and modes, and which system it is. */
const ofTheSystem =
  /\{[^}]*\b(?:spawn|execFile|fork|rename|chmod)(?:Sync)?\b[^}]*\} from 'node:(?:child_process|fs)|process\.platform/;

t.test('what differs between systems is in one room', async (t) => {
  t.strictSame(sources.flatMap(({ path, text }) => (ofTheSystem.test(text) ? [path] : [])).sort(), [
    // It appends and moves without waiting: the program may be about to end.
    'client/terminal/conversation/history.ts',
    // It starts the editor itself, by its full path, and the search for others would be a part of the extension.
    'client/vscode/daemon/startedDaemon.ts',
    'protocol/base/platform/folders.ts',
    'protocol/base/platform/privateFile.ts',
    'protocol/base/platform/program.ts',
  ]);
});

t.test(
  'in an editor nothing listens but the practice runner, the end of a login and what Runner starts',
  async (t) => {
    const listening = /\bcreate(Secure)?Server\(|(?<!\bclient)\.listen\((?!connection\)|\))/;
    const paths = sources
      .filter(({ path, text }) => !path.startsWith('docs-service/') && listening.test(text))
      .map(({ path }) => path);
    t.ok(
      paths.some((path) => path.startsWith('daemon/practice/')),
      'what listens is found',
    );
    t.strictSame(paths.filter((path) => !path.startsWith('daemon/practice/')).sort(), [
      // The engine is a process of its own.
      'daemon/engine/process/server.ts',
      // To find a port that is free.
      'daemon/engine/supervisor/launch.ts',
      // A socket in a folder of the user, for who holds what was started.
      'daemon/engine/supervisor/supervise.ts',
      'daemon/tools/oauth/loopbackRedirect.ts',
      // For a moment, in a folder of the user, so that both outputs of a program are one.
      'protocol/base/platform/joinedOutput.ts',
    ]);
  },
);

/** Who may open a connection or a port, and to whom. Runners and the catalog are reached by the transport alone. */
const networkFiles: readonly string[] = [
  // The document service.
  'client/vscode/documents/docsTokens.ts',
  // A socket on a descriptor, which leads to no network.
  'daemon/config/secretSources.ts',
  // The socket of a supervisor, in a folder of the user.
  'daemon/engine/holder.ts',
  // The engine listens on loopback.
  'daemon/engine/process/server.ts',
  // To find a port that is free, and whether what was started is ready.
  'daemon/engine/supervisor/launch.ts',
  'daemon/engine/supervisor/supervise.ts',
  // A page that the user named and agreed to.
  'daemon/files/page.ts',
  'daemon/runner/http/connection.ts',
  'daemon/runner/http/httpAgent.ts',
  // A socket that leads to no network.
  'protocol/base/platform/joinedOutput.ts',
];

t.test('the document service asks other servers in three files', async (t) => {
  const asking = sources.filter(
    ({ path, text }) => path.startsWith('docs-service/') && /^import \{[^}]*\} from 'undici';/m.test(text),
  );
  t.strictSame(
    asking.map(({ path }) => path).sort(),
    ['auth/guardedFetch.ts', 'auth/introspection.ts', 'meaning/embeddings.ts'].map(
      (path) => `docs-service/${path}`,
    ),
  );
});

t.test('a runner is asked by the one client for runners, and by nothing beside it', async (t) => {
  const asking = sources
    .filter(({ path, text }) => !path.endsWith('.d.ts') && speaksToTheNetwork(text))
    .map(({ path }) => path);
  t.ok(asking.includes('daemon/tools/httpTransport.ts'), 'what speaks to tool servers is found');
  // The practice runner is a runner itself.
  const others = /^(docs-service|daemon\/practice|daemon\/tools)\//;
  t.strictSame(asking.filter((path) => !others.test(path)).sort(), networkFiles);
  const caught = [
    "await fetch('http://a')",
    'globalThis.fetch(url)',
    'const ask = fetch;',
    "import { request } from 'undici';",
    "import https from 'node:https';",
    "await import('node:http2')",
    "import { connect } from 'net';",
    'new WebSocket(url)',
    "require('node:tls')",
  ];
  for (const text of caught) t.ok(speaksToTheNetwork(text), text);
  const passed = [
    "import type { Agent } from 'undici';",
    'client.fetch(key)',
    '// fetch it',
    'fetchList(url)',
  ];
  for (const text of passed) t.notOk(speaksToTheNetwork(text), text);
});

t.test('docs/PROTOCOL.md names every message and every error, and nothing else', async (t) => {
  const page = readFileSync('docs/PROTOCOL.md', 'utf8');
  const inSource = new Set(
    sources.filter(({ path }) => path.startsWith('protocol/')).flatMap(({ text }) => methodsIn(text)),
  );
  const inPage = new Set(methodsIn(page));
  t.strictSame([...inPage].filter((method) => !inSource.has(method)).sort(), [], 'the page names no other');
  t.strictSame([...inSource].filter((method) => !inPage.has(method)).sort(), [], 'the page leaves none out');
  for (const [kind, code] of Object.entries(errorCodes)) {
    const row = new RegExp(
      `\\| \`${kind}\` \\| ${code} \\| ${retryableKinds.has(kind as keyof typeof errorCodes) ? 'yes' : 'no'} \\|`,
    );
    t.match(page, row, kind);
  }
});

t.test('docs/PROTOCOL.md and Neovim have words for every advice of the daemon', async (t) => {
  const words = readFileSync('client/neovim/lua/runner/advice.lua', 'utf8');
  const inNeovim = [...words.matchAll(/^ {2}\['([a-z-]+)'\] = /gm)].map(([, code]) => code);
  t.same(inNeovim.sort(), [...adviceCodes].sort());
  const page = readFileSync('docs/PROTOCOL.md', 'utf8');
  const [, table = ''] = /^### Advice$(.*?)^### /ms.exec(page) ?? [];
  const inPage = [...table.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, code]) => code);
  t.same(inPage.sort(), [...adviceCodes].sort());
});

t.test('three modules re-export the stream library, and do nothing else', async (t) => {
  const helpers = ['createToolCallId', 'mendedArguments', 'toolShapes'];
  const modules = { formatting, thinkingParser, toolUtilities };
  const named: readonly (readonly [what: string, module: keyof typeof modules, names: readonly string[]])[] =
    [
      ['extraction of context tags', 'formatting', ['takeLeadingBlocks']],
      ['formatting of responses', 'formatting', ['LongText', 'ThinkingQuote', 'stripThinkingQuotes']],
      ['thinking', 'thinkingParser', ['afterLeadingThinking', 'StreamParser', 'profileForModel']],
      ['tool calls', 'toolUtilities', ['RequestTools', 'unknownMarks']],
    ];
  for (const [what, module, names] of named)
    for (const name of names)
      t.equal(Reflect.get(modules[module], name), Reflect.get(stream, name), `${what}: ${name} of ${module}`);
  t.strictSame(
    named.flatMap(([, , names]) => names).sort(),
    Object.keys(stream).sort(),
    'all of the library is re-exported',
  );
  for (const name of Object.keys(modules)) {
    const { text = '' } = sources.find(({ path }) => path === `daemon/chat/${name}.ts`) ?? {};
    const rest = text
      .replace(/\/\*\*[\s\S]*?\*\//g, '')
      .replace(/^export (type )?\{[^}]*\} from '\.\.\/stream\/stream\.ts';$/gm, '')
      .trim();
    const functions = [...rest.matchAll(/^(?:export )?(?:function|const|class) (\w+)/gm)].map(
      ([, own]) => own,
    );
    if (name === 'toolUtilities') t.strictSame(functions.sort(), helpers, 'with its few helpers');
    else t.equal(rest, '', `${name} re-exports alone`);
  }
  const inside = sources.filter(
    ({ path }) => path.startsWith('daemon/') && !path.startsWith('daemon/stream/'),
  );
  t.strictSame(
    inside
      .filter(({ imports }) => imports.some((name) => name.startsWith('daemon/stream/')))
      .map(({ path }) => path)
      .sort(),
    Object.keys(modules).map((name) => `daemon/chat/${name}.ts`),
    'nobody else imports the library',
  );
});

t.test('the thinking of a completion is read by the library alone', async (t) => {
  const room = sources.filter(({ path }) => path.startsWith('daemon/completion/'));
  const filters = room.find(({ path }) => path.endsWith('/filters.ts'));
  t.ok(filters?.imports.includes('daemon/chat/thinkingParser.ts'));
  for (const { path, text } of room) t.notMatch(text, /<\/?think|thinking>/i, path);
});

/** How often a file of the tests lets a time pass, and why it must. */
const timeWaits: Readonly<Record<string, readonly [count: number, why: string]>> = {
  'test/support/runner/answers.ts': [1, 'a stand-in that is slow on purpose'],
  'test/support/conformanceFixture.ts': [1, 'a stand-in that is slow on purpose'],
  'test/support/daemonPair.ts': [1, 'the clock of the daemon, where a test gives it no other'],
  'test/support/runner/scriptedRunner.ts': [1, 'a pull at the speed that a test wants'],
  'test/support/waiting.ts': [2, 'the one way to ask again until something is so'],
};

t.test('tests wait for what happens, never for a time', async (t) => {
  const paths = pathsBelow('test');
  const tests = paths.filter((path) => /\.(ts|cjs|py|lua)$/.test(path) && !/^test\/(bench|house)/.test(path));
  t.ok(tests.length > 100);
  const found = tests.map((path) => [path, timeWaitsIn(readFileSync(path, 'utf8'))] as const);
  t.strictSame(
    Object.fromEntries(found.filter(([, count]) => count > 0).toSorted()),
    Object.fromEntries(Object.entries(timeWaits).map(([path, [count]]) => [path, count])),
  );
  for (const text of [
    'await new Promise((resolve) => setTimeout(resolve, 30));',
    'await new Promise<void>((done) => setTimeout(done, 30));',
    "import { setTimeout as wait } from 'node:timers/promises';",
    'await page.waitForTimeout(100);',
    'time.sleep(1)',
    'vim.wait(200)',
    "spawnSync('sleep', ['1'])",
  ])
    t.equal(timeWaitsIn(text), 1, text);
  for (const text of [
    'const timer = setTimeout(() => reject(new Error(message())), limit);',
    "import { setImmediate as turn } from 'node:timers/promises';",
    'vim.wait(8000, function() return done end, 5)',
  ])
    t.equal(timeWaitsIn(text), 0, text);
});

t.test('comments have at most 120 columns', async (t) => {
  const paths = ['.ci', 'client', 'daemon', 'docs-service', 'protocol', 'test'].flatMap(pathsBelow);
  const sources = paths.filter((path) => /\.(ts|mjs|cjs)$/.test(path) && !path.startsWith('test/fixtures'));
  t.ok(sources.length > 700);
  const isWide = (line: string) =>
    /^\s*(?:\/\/|\/?\*)/.test(line) && line.length > 120 && !line.includes('://');
  const wide = sources.flatMap((path) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .flatMap((line, index) => (isWide(line) ? [`${path}:${index + 1}`] : [])),
  );
  t.strictSame(wide, []);
});

t.test('the lock file has the packages of every platform', async (t) => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    readonly packages: Record<string, { readonly optionalDependencies?: Record<string, string> }>;
  };
  const names = new Set(Object.keys(packages).map((path) => path.split('node_modules/').at(-1)));
  // `npm ci` refuses a lock file that lacks one. Choose a release of the tool whose platform packages can all be had.
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => !names.has(name))
      .map((name) => `${path}: ${name}`),
  );
  t.strictSame(missing, []);
});

const roomFiles = ['client', 'daemon', 'docs-service', 'protocol'].flatMap(pathsBelow);

/** The pages of rooms, which say what is in them and how to add to it. */
const roomPages = roomFiles.filter(
  (path) => /(?:README|CONTRIBUTING)\.md$/.test(path) && path !== 'client/vscode/README.md',
);

t.test('no two exported types have one name', async (t) => {
  const texts = roomFiles.filter((path) => path.endsWith('.ts')).map((path) => readFileSync(path, 'utf8'));
  const names = texts.flatMap((text) =>
    [...text.matchAll(/^export (?:interface|type|class) (\w+)/gm)].map(([, name = '']) => name),
  );
  t.ok(names.length > 1_000);
  // The document service shares no log with the others.
  const twice = names.filter((name, at) => names.indexOf(name) < at && !/^Log(?:Level|Options)?$/.test(name));
  t.strictSame(twice, []);
});

t.test('docs/ARCHITECTURE.md and the pages of rooms name files that exist', async (t) => {
  const paths = ['client', 'daemon', 'docs-service', 'protocol', 'test', '.ci'].flatMap(pathsBelow);
  const text = ['docs/ARCHITECTURE.md', ...roomPages].map((page) => readFileSync(page, 'utf8')).join('\n');
  const named = [...text.matchAll(/`([\w.-][\w./-]*\.(?:ts|mjs|lua|md))`/g)].map(([, name = '']) => name);
  t.ok(named.length > 200);
  const missing = named.filter((name) => !paths.some((path) => path === name || path.endsWith(`/${name}`)));
  t.strictSame(missing, []);
});

t.test('pages link to what is there', async (t) => {
  const pages = [
    'README.md',
    'CONTRIBUTING.md',
    ...roomPages,
    ...readdirSync('docs')
      .filter((name) => name.endsWith('.md'))
      .map((name) => join('docs', name)),
  ];
  for (const page of pages) {
    for (const [, target = ''] of withoutCode(readFileSync(page, 'utf8')).matchAll(
      /\]\((?!https?:|#)([^)#\s]+)/g,
    )) {
      t.ok(existsSync(join(dirname(page), target)), `${page} -> ${target}`);
    }
  }
});

t.test('docs/VSCODE.md has every setting with its default, and no other', async (t) => {
  const { contributes } = JSON.parse(readFileSync('package.json', 'utf8'));
  const settings: Record<string, { default: unknown; description?: string; markdownDescription?: string }> =
    contributes.configuration.properties;
  const page = readFileSync('docs/VSCODE.md', 'utf8');
  const rows = [...page.matchAll(/^\| `(runner\.[\w.]+)` \| [^|]+ \| ([^|]*) \| (.+) \|$/gm)];
  t.strictSame(rows.map(([, name]) => name).sort(), Object.keys(settings).sort());
  for (const [, name = '', shown = '', description] of rows) {
    const { default: value, description: plain, markdownDescription } = settings[name] ?? { default: '' };
    t.equal(shown.trim(), value === '' ? '' : `\`${JSON.stringify(value).replace(/^"|"$/g, '')}\``, name);
    t.equal(description, markdownDescription ?? plain, name);
  }
});

/** A house so small that each figure is known. Its programs run as the built ones do, function by function. */
const smallHouse = {
  'package.json': '{ "dependencies": { "one": "1.0.0", "two": "2.0.0" } }',
  'client/door.ts': "import { createBell } from './bell.ts';\n\nexport const bell = createBell();\n",
  'client/bell.ts':
    'interface Bell {\n  ring(): void;\n}\n\nexport function createBell(): Bell {\n  return { ring() {} };\n}\n',
  'client/neovim/bell.lua': 'return {}\n',
  'daemon/long.ts': `export function long() {\n${'  long();\n'.repeat(59)}}\n`,
  'docs-service/page.ts': 'export const page = 1;\n',
  'protocol/word.ts': 'export const word = 1;\n',
  'test/door.test.ts': "import '../client/door.ts';\nimport '../daemon/long.ts';\n",
  'dist/terminal.cjs': `
// client/terminal.ts
function chat() {}
// daemon/tools.ts
function call() {}
if (process.argv[2] === 'chat') chat();
if (process.argv[3] === '--tools') call();`,
  'dist/runnerd.cjs': "console.log('http://127.0.0.1:1'); setInterval(() => {}, 1000);",
  'dist/extension.cjs': `
// client/vscode/extension.ts
const vscode = require('vscode');
function answer() { return { metadata: { usage: {} } }; }
exports.activate = () => {
  const changed = new vscode.EventEmitter();
  vscode.lm.registerLanguageModelChatProvider('small', { onDidChangeLanguageModelChatInformation: changed.event });
  vscode.chat.createChatParticipant('small', answer);
  setImmediate(() => changed.fire());
};`,
  'dist/runner-docs.cjs': `
// docs-service/page.ts
function print() {}
// docs-service/search.ts
function search() {}
const answers = { '/mcp': search, '/healthz': () => {} };
const server = require('node:http').createServer(({ url }, response) => response.end((answers[url] ?? print)()));
server.listen(0, '127.0.0.1', () =>
  console.log('served at http://127.0.0.1:' + server.address().port + ' TOKEN=x The token is good'));
process.on('SIGTERM', () => process.exit());`,
};

const sizes = {
  files: 5,
  lines: 73,
  'lines of client': 10,
  'lines of daemon': 61,
  'lines of docs-service': 1,
  'lines of protocol': 1,
  'lines of Lua': 1,
  'files under 40 lines with one importer': 1,
  'functions over 60 lines': 1,
  'interfaces with one creator': 1,
  'lines of tests': 2,
  'product modules that tests import': 2,
  'runtime dependencies': 2,
  'files passed by a chat in the terminal': 1,
  'files passed by a chat in VS Code': 1,
  'files passed by a chat with a tool call in the terminal': 2,
  'files passed by a PDF': 1,
  "files passed by an agent's search": 1,
};

t.test('no figure of the house exceeds its budget', needs('git'), async (t) => {
  const folder = await temporaryFolder(t, smallHouse);
  const rows = Object.entries(sizes);
  const budgetsAbove = (more: number) => Object.fromEntries(rows.map(([row, size]) => [row, size + more]));
  t.strictSame(Object.keys(JSON.parse(readFileSync('.ci/budgets.json', 'utf8'))), Object.keys(sizes));
  t.strictSame(await runGate(folder, sizes), { code: 0, lines: [] });
  t.strictSame(await runGate(folder, budgetsAbove(-1)), {
    code: 1,
    lines: [
      ...rows.map(([row, size]) => `${row}: ${size}, 1 over the budget of ${size - 1}.`),
      `Make room, or raise the budget in .ci/budgets.json. ${howToRaise}`,
    ],
  });
  const { files: _, ...lower } = budgetsAbove(1);
  t.strictSame(await runGate(folder, { ...lower, doors: 1 }), {
    code: 1,
    lines: [
      ...rows.slice(1).map(([row, size]) => `${row}: 1 under the budget. Lower it: "${row}": ${size},`),
      'files: no budget. Add this line to .ci/budgets.json: "files": 5,',
      'doors: nothing is counted under this name. Remove its line from .ci/budgets.json.',
    ],
  });
  t.strictSame(await runGate(folder, { ...sizes, files: '5' }), {
    code: 2,
    lines: ['.ci/budgets.json: the budget of "files" is no whole number.'],
  });
});

t.test('a commit that raises a budget says why', needs('git'), async (t) => {
  const folder = await temporaryFolder(t, { ...smallHouse, '.gitignore': 'dist\n' });
  const name = ['-c', 'user.name=A', '-c', 'user.email=a@example.com'];
  const git = (...args: readonly string[]) =>
    execFileSync('git', [...name, ...args], { cwd: folder, env: environmentIn(folder), encoding: 'utf8' });
  const budgets = { ...sizes };
  const commit = async (message: string, changes: Readonly<Record<string, number>>) => {
    await writeBudgets(folder, Object.assign(budgets, changes));
    git('add', '.');
    git('commit', '--quiet', '--message', message);
    return git('rev-parse', '--short', 'HEAD').trim();
  };
  git('init', '--quiet');
  await commit('A house', { files: 4, lines: 70, 'lines of Lua': 0 });
  await commit('A bell\n\nBudget: it needs a line', { lines: 71 });
  await commit('A bell too much', { lines: 72 });
  await commit('A bell less', { lines: 71 });
  const hash = await commit('A plugin', { 'lines of Lua': 1 });
  t.strictSame(await runGate(folder, sizes), {
    code: 1,
    lines: [
      `files: the budget is raised from 4 to 5. ${howToRaise}`,
      `lines: the budget is raised from 71 to 73. ${howToRaise}`,
      `lines of Lua: commit ${hash} raised the budget from 0 to 1 without a reason. Lower it again, or amend the message. ${howToRaise}`,
    ],
  });
});

const howToRaise = 'The message of a commit that raises a budget has a line "Budget: …", which says why.';

/** The gate starts the programs of the house, each journey up to three times. */
async function runGate(folder: string, budgets: object) {
  await writeBudgets(folder, budgets);
  const options = { cwd: folder, env: environmentIn(folder) };
  const child = spawn(process.execPath, [resolve('.ci/house.mjs'), '--quiet'], options);
  const ended = once(child, 'close');
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await ended;
  return { code, lines: `${out}${errors}`.split('\n').filter((line) => line !== '') };
}

function writeBudgets(folder: string, budgets: object): Promise<void> {
  return writeFiles(folder, { '.ci/budgets.json': JSON.stringify(budgets, null, 2) });
}

/** Git follows neither the configuration of the user nor, in a hook, the repository that the hook belongs to. */
function environmentIn(folder: string): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], HOME: folder, GIT_CONFIG_NOSYSTEM: '1' };
}

const timeWait = new RegExp(
  [
    /\bnew Promise(?:<\w+>)?\(\s*\(?(\w+)\)? => (?:void )?setTimeout\(\1\b/,
    /\bimport \{[^}]*\bsetTimeout\b[^}]*\} from '(?:node:)?timers\/promises'/,
    /\.waitForTimeout\(|\btime\.sleep\(|\bvim\.wait\(\s*\d+\s*\)|\bspawnSync\('sleep'/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);

function timeWaitsIn(text: string): number {
  return text.match(timeWait)?.length ?? 0;
}

const networkModule =
  /^(?!\s*import type ).*\b(?:from|import|require)[\s(]*['"](?:undici(?:\/[^'"]*)?|(?:node:)?(?:https?|http2|net|tls|dgram))['"]/m;
const networkGlobal = /(?:(?<![.\w'])|\bglobalThis\.)(?:fetch|WebSocket|EventSource|XMLHttpRequest)\b(?!')/;

/** Types are no use of a module, and comments are no use of anything. */
function speaksToTheNetwork(text: string): boolean {
  const code = text.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '');
  return networkModule.test(code) || networkGlobal.test(code);
}

/** A link in an example is one of the example's. */
function withoutCode(markdown: string): string {
  return markdown.replace(/^```.*?^```/gms, '').replace(/`[^`\n]*`/g, '');
}

function methodsIn(text: string): string[] {
  return [...text.matchAll(/['"`](runner\/[a-zA-Z/]+)['"`]/g)].map(([, method = '']) => method);
}

/** With slashes on every system. */
function pathsBelow(room: string): string[] {
  return readdirSync(room, { recursive: true }).map((name) => join(room, String(name)).replaceAll(sep, '/'));
}

function readSources(room: string): SourceFile[] {
  return pathsBelow(room)
    .filter((path) => path.endsWith('.ts'))
    .map((path) => {
      const text = readFileSync(path, 'utf8');
      return { path, text, imports: importsOf(path, text) };
    });
}

/** The folder of a capability, such as `daemon/chat`, with all that is in it. */
function roomOf(path: string): string {
  return /^(?:daemon|client\/vscode)\/\w+(?=\/)/.exec(path)?.[0] ?? path;
}

/** The nodes that reach each other, sorted, by Tarjan's algorithm; who only imports itself is none. */
function circlesIn(edges: Iterable<readonly [from: string, to: readonly string[]]>): string[][] {
  const targets = new Map<string, Set<string>>();
  for (const [from, to] of edges) targets.set(from, new Set([...(targets.get(from) ?? []), ...to]));
  const circles: string[][] = [];
  const order = new Map<string, number>();
  const stack: string[] = [];
  const lowest = (node: string): number => {
    const own = order.size;
    order.set(node, own);
    stack.push(node);
    let low = own;
    for (const target of targets.get(node) ?? []) {
      if (!order.has(target)) low = Math.min(low, lowest(target));
      else if (stack.includes(target)) low = Math.min(low, order.get(target) ?? own);
    }
    if (low === own) {
      const circle = stack.splice(stack.indexOf(node));
      if (circle.length > 1) circles.push(circle.sort());
    }
    return low;
  };
  for (const node of targets.keys()) if (!order.has(node)) lowest(node);
  return circles.sort();
}

function importsOf(path: string, text: string): string[] {
  const named = [...text.matchAll(/\bfrom '([^']+)'|\bimport\('([^']+)'\)/g)].map(
    ([, from, lazy]) => from ?? lazy ?? '',
  );
  return named
    .filter((name) => !name.startsWith('node:'))
    .map((name) => (name.startsWith('.') ? normalize(join(dirname(path), name)).replaceAll(sep, '/') : name));
}
