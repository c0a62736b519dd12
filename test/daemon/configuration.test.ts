import {
  copyFileSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { createLog } from '../../daemon/base/log.ts';
import { validate } from '../../daemon/base/validate.ts';
import { ConfigurationStore, readHost } from '../../daemon/config/configuration.ts';
import { indexOfFault } from '../../daemon/config/jsonFault.ts';
import { createSettingsReader } from '../../daemon/config/settingsReader.ts';
import { schemaFor } from '../../daemon/config/settingsTable.ts';
import {
  emptyUserConfig,
  enabledServers,
  openUserFile,
  parseUserConfig,
  type UserConfig,
  unusableUserConfig,
} from '../../daemon/config/userFile.ts';
import { keepHost } from '../../daemon/config/userHost.ts';
import type { InitializationOptions } from '../../protocol/messages/initialize.ts';
import { logNotification } from '../../protocol/messages/log.ts';
import { listSettingsRequest, type RunnerOptions } from '../../protocol/messages/settings.ts';
import { setHostRequest, statusDidChange } from '../../protocol/messages/status.ts';
import { startPair } from '../support/daemonPair.ts';
import { failsWith } from '../support/failsWith.ts';
import { has } from '../support/systems.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';

t.test('a wrong setting is named', async (t) => {
  const cases: readonly (readonly [options: object, path: string])[] = [
    [{ host: 5 }, 'host'],
    [{ host: 'ftp://x' }, 'host'],
    [{ servers: [{ name: 'a', url: 7 }] }, 'servers[0].url'],
    [{ servers: ['x', 'y'].map((url) => ({ name: 'a', url })) }, 'servers[1].name'],
    [{ servers: [{ name: 'default', url: 'x' }] }, 'servers[0].name'],
    [{ timeouts: { idle: -1 } }, 'timeouts.idle'],
    [{ timeouts: { list: 0.5 } }, 'timeouts.list'],
    [{ timeouts: { list: 2 ** 31 } }, 'timeouts.list'],
    [{ logLevel: 'loud' }, 'logLevel'],
    [{ engine: { keepRunning: 'yes' } }, 'engine.keepRunning'],
    [{ keepAlive: 'soon' }, 'keepAlive'],
    [{ trusted: 'yes' }, 'trusted'],
    [{ exclude: ['a', 'b'.repeat(1_001)] }, 'exclude[1]'],
    [{ exclude: Array(1_001).fill('0123456789') }, 'exclude'],
  ];
  for (const [options, path] of cases)
    t.throws(() => validate(schemaFor(options), options), failsWith({ path }), path);
  const most = { exclude: ['b'.repeat(1_000), ...Array(900).fill('0123456789')] };
  t.strictSame(validate(schemaFor(most), most), most, 'as many and as long globs as there may be');
  const given = { keepAlive: '10m', unknown: 1 };
  t.strictSame(validate(schemaFor(given), given), { keepAlive: '10m' });
});

/** A log that is kept, and what reads settings for it. */
function readSettings() {
  const said: string[] = [];
  const log = createLog(
    () => 'debug',
    (text) => text,
  );
  log.onDidWrite(({ level, message }) => said.push(`${level} ${message}`));
  const reader = createSettingsReader(log);
  return { said, ...reader };
}

t.test('null restores the default, and an absent key keeps its value', async (t) => {
  const { start, change, ready, said } = readSettings();
  ready();
  const configuration = new ConfigurationStore('http://environment:1');
  const fresh = configuration.current;
  configuration.start(start({ host: 'http://mine:1', keepAlive: '7m', caFile: '', trusted: true }));
  t.match(configuration.current, { keepAlive: '7m', exclude: [], servers: [{ url: 'http://mine:1' }] });
  configuration.change(
    change({
      ...{ contextLength: 5_000, caFile: '/a.pem', modelfilesPath: '/m', timeouts: { list: 1, idle: null } },
      ...{ exclude: ['*.py'], completionModel: 'a', servers: [{ name: 'b', url: 'http://b', caFile: null }] },
    }),
  );
  t.match(configuration.current, {
    ...{
      keepAlive: '7m',
      contextLength: 5_000,
      modelfilesPath: '/m',
      exclude: ['*.py'],
      completionModel: 'a',
    },
    timeouts: { list: 1, idle: 300_000 },
    servers: [
      { name: 'default', url: 'http://mine:1', caFile: '/a.pem' },
      { name: 'b', url: 'http://b' },
    ],
  });
  configuration.change(
    change({
      ...{ host: null, keepAlive: '', contextLength: null, caFile: null, modelfilesPath: '', timeouts: null },
      ...{ exclude: null, completionModel: '', servers: null },
    }),
  );
  t.strictSame(configuration.current, fresh);
  t.strictSame(said, []);
});

t.test('the host may be the name of a server', async (t) => {
  const servers = [{ name: 'box', url: 'http://192.168.0.7:1', caFile: '/b.pem' }];
  const at = (host: string) => {
    const configuration = new ConfigurationStore('', { servers, caFile: '/a.pem' });
    configuration.start({ host });
    return configuration.current.servers[0];
  };
  const named = { name: 'default', url: 'http://192.168.0.7:1', caFile: '/b.pem' };
  t.strictSame(at('box'), named);
  t.strictSame(at(' box '), named);
  t.strictSame(at('other'), { name: 'default', url: 'http://other:11434', caFile: '/a.pem' });
});

t.test('each changed setting counts by itself, and an unknown one is reported once', async (t) => {
  const { start, change, ready, said } = readSettings();
  t.strictSame(start({ hots: 'x', timeouts: { conect: 1 } }), { timeouts: {} });
  t.strictSame(said, [], 'before anybody hears it, nothing is said');
  ready();
  const odd = { servers: [{ name: 'a', url: 'b', path: 1 }], hots: 'y', toString: 1, trusted: false };
  for (const _ of ['once', 'twice'])
    t.strictSame(change({ ...odd, exclude: 'x', keepAlive: 5 }), {
      servers: [{ name: 'a', url: 'b' }],
      keepAlive: 5,
    });
  const wrong = /^warn A setting is left as it was\. The parameter "runner\.exclude" is not valid: /;
  t.match(said, [
    /^warn There is no setting "hots"; /,
    /^warn There is no setting "timeouts.conect"; /,
    /^warn There is no setting "servers\[0\]\.path"; /,
    /^warn There is no setting "toString"; /,
    'warn The setting "trusted" counts in initializationOptions alone; here it is left out.',
    wrong,
    wrong,
  ]);
  change(Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`key${n}`, n])));
  t.equal(said.length, 22, 'a workspace cannot fill the log with names');
  for (const nothing of [undefined, null, [], 'x', 7]) t.strictSame(change(nothing), {});
});

t.test('what is said of one model leaves what the user says of others', async (t) => {
  const configuration = new ConfigurationStore('', { modelCapabilities: { a: { tools: true }, b: {} } });
  configuration.start({});
  configuration.change({ modelCapabilities: { b: { vision: false } } });
  t.strictSame(configuration.current.modelCapabilities, { a: { tools: true }, b: { vision: false } });
});

t.test('a workspace that is not trusted cannot say where prompts go', async (t) => {
  const configuration = new ConfigurationStore('http://environment:1');
  t.equal(configuration.current.servers[0]?.url, 'http://environment:1');
  const { change } = readSettings();
  const mine = { host: 'http://mine:1', exclude: ['*.mine'], completionModel: 'mine', trusted: false };
  configuration.start(mine);
  const before = configuration.current;
  const { keepAlive, logLevel, ...guarded } = workspaceValues;
  configuration.change(change({ ...guarded, trusted: true, sendsUserSettings: true }));
  t.strictSame(configuration.current, before, 'whatever is not said to be harmless waits');
  configuration.change(change({ keepAlive, logLevel }));
  t.strictSame(configuration.current, { ...before, keepAlive, logLevel });
  configuration.change(change(Object.fromEntries(Object.keys(guarded).map((key) => [key, null]))));
  t.strictSame(configuration.current, { ...before, keepAlive, logLevel }, 'it takes nothing back either');
  configuration.change(change(guarded));
  configuration.trust(true);
  t.match(configuration.current, {
    ...rest(guarded),
    servers: [{ url: workspaceValues.host }, ...workspaceValues.servers],
  });
  configuration.change({ contextLength: 0 });
  t.equal(configuration.current.contextLength, undefined);
  configuration.trust(false);
  t.strictSame(configuration.current, { ...before, keepAlive, logLevel }, 'and trust can be taken back');
});

t.test("a client that sends only the user's settings is trusted", async (t) => {
  const configuration = new ConfigurationStore('http://environment:1');
  const { start, change } = readSettings();
  configuration.start(start({ host: 'http://mine:1', trusted: false, sendsUserSettings: true }));
  configuration.change(change({ host: 'http://other:1', completionModel: 'mine' }));
  t.match(configuration.current, { completionModel: 'mine', servers: [{ url: 'http://other:1' }] });
  configuration.change(change({ host: null }));
  t.match(configuration.current, { trusted: false, servers: [{ url: 'http://environment:1' }] });
});

t.test(
  'where a client says nothing of trust, a project cannot redirect prompts or start programs',
  async (t) => {
    const { host, servers, caFile, catalogUrl, modelfilesPath, cacheDir, mcpServers, ...free } =
      workspaceValues;
    const kept = { host, servers, caFile, catalogUrl, modelfilesPath, cacheDir, mcpServers };
    const mine = { host: 'http://mine:1', mcpServers: { mine: { command: 'mine' } } };
    const changed = (options: InitializationOptions) => {
      const configuration = new ConfigurationStore();
      configuration.start({ ...mine, ...options });
      const before = configuration.current;
      const { change } = readSettings();
      return { configuration, before, left: configuration.change(change(workspaceValues)) };
    };
    const silent = changed({});
    t.strictSame([...silent.left].sort(), Object.keys(kept).sort());
    t.strictSame(silent.configuration.current, {
      ...silent.before,
      ...rest(free),
      servers: [{ name: 'default', url: 'http://mine:1', api: free.api }],
    });
    t.strictSame(silent.configuration.change({ host: null }), [], 'what is not set is not left out');
    for (const options of [{ trusted: true }, { sendsUserSettings: true }])
      t.match(changed(options), { left: [], configuration: { current: { servers: [{ url: host }] } } });
    silent.configuration.trust(true);
    t.match(silent.configuration.current, { catalogUrl, modelfilesPath }, 'said later');
  },
);

/** A value for each setting that can be changed, as a workspace that is not trusted may try to set it. */
const workspaceValues = {
  host: 'http://workspace:1',
  servers: [{ name: 'workspace', url: 'http://workspace:2' }],
  caFile: '/workspace.pem',
  timeouts: { connect: 1, list: 1, firstByte: 1, idle: 1, tool: 1, toolTotal: 1, toolStart: 1 },
  mcpServers: { workspace: { command: '/workspace' } },
  keepAlive: 5,
  contextLength: 9,
  logLevel: 'debug',
  chatModel: 'workspace',
  completionModel: 'workspace',
  exclude: [],
  streamLogs: true,
  cacheDir: '/workspace',
  modelfilesPath: '/workspace',
  catalogUrl: 'http://workspace:3',
  keepSessions: false,
  sessionDays: 1,
  engine: { keepRunning: true },
  api: 'openai',
  modelCapabilities: { m: { tools: true } },
} as const satisfies Required<RunnerOptions>;

/** What the configuration has as it is. */
function rest({ host: _, servers: __, caFile: ___, api: ____, ...settings }: RunnerOptions): RunnerOptions {
  return settings;
}

t.test(
  "a problem of the user's own configuration is told once, however often the file is read",
  async (t) => {
    const path = join(await temporaryFolder(t), 'config.json');
    writeFileSync(path, '{"keepAlive": 5, "contextLength": -1}');
    const file = await openUserFile({ path, clientHasSettings: false });
    t.match(file.atStart.problems, [/"contextLength"/]);
    t.strictSame((await file.read()).problems, []);
    writeFileSync(path, '{"contextLength": -1, "streamLogs": 1}');
    t.match((await file.read()).problems, [/"streamLogs"/]);
    t.strictSame((await file.read()).problems, []);
  },
);

t.test("the user's own configuration is optional; an unreadable one is reported", async (t) => {
  const folder = await temporaryFolder(t);
  writeFileSync(join(folder, 'file'), '{"keepAlive": 5}');
  const cases: readonly { name: string; path: string; want: UserConfig }[] = [
    { name: 'no file', path: join(folder, 'config.json'), want: emptyUserConfig },
    { name: 'no folder', path: join(folder, 'runner', 'config.json'), want: emptyUserConfig },
    {
      name: 'a file in the place of its folder',
      path: join(folder, 'file', 'config.json'),
      want: emptyUserConfig,
    },
    {
      name: 'a folder in its place',
      path: folder,
      want: unusableUserConfig(`The configuration ${folder} cannot be read: it is not a regular file.`),
    },
  ];
  for (const { name, path, want } of cases)
    t.strictSame((await openUserFile({ path, clientHasSettings: false })).atStart, want, name);
});

t.test("the host is written into the user's own configuration, and nothing of it is lost", async (t) => {
  const folder = await temporaryFolder(t);
  const url = 'http://127.0.0.1:8080';
  const token = { command: ['pass', 'show', 'a'] };
  const pinned = { origin: 'http://127.0.0.1:11434', ...token };
  const servers = [{ name: 'box', url: 'http://192.168.0.7:1/v1' }];
  const cases = [
    { name: 'no file', given: undefined, want: { host: url } },
    {
      name: 'what was about the former host',
      given: { chatModel: 'm', host: 'https://old.example', api: 'ollama' },
      want: { host: url, chatModel: 'm' },
    },
    {
      name: 'a token of the usual runner stays there',
      given: { auth: token },
      want: { host: url, auth: pinned },
    },
    {
      name: 'so does that of a named server, among tokens of other origins',
      given: { host: 'box', servers, auth: [token, { ...token, origin: 'https://b' }] },
      want: {
        host: url,
        servers,
        auth: [
          { ...token, origin: 'http://192.168.0.7:1' },
          { ...token, origin: 'https://b' },
        ],
      },
    },
    {
      name: 'a wrong host counts as none',
      given: { host: 'ftp://x', auth: token },
      want: { host: url, auth: pinned },
    },
  ];
  const start = async (path: string, clientHasSettings = false) => openUserFile({ path, clientHasSettings });
  for (const [index, { name, given, want }] of cases.entries()) {
    const path = join(folder, `${index}`, 'config.json');
    if (given) {
      mkdirSync(join(folder, `${index}`));
      writeFileSync(join(folder, 'kept.json'), JSON.stringify(given));
      if (has('links')) symlinkSync(join(folder, 'kept.json'), path);
      else copyFileSync(join(folder, 'kept.json'), path);
    }
    t.equal(await keepHost(await start(path), url), path);
    t.strictSame(JSON.parse(readFileSync(path, 'utf8')), want, name);
    if (has('modes')) t.equal(statSync(path).mode & 0o777, 0o600, 'nobody else can read it');
    if (has('links')) t.equal(lstatSync(path).isSymbolicLink(), given !== undefined, 'a link stays one');
  }
  const broken = join(folder, 'broken.json');
  writeFileSync(broken, '{ "host": ');
  const wrong = { kind: 'invalid-request', message: /not a JSON object.*set "host" to "http:.*8080"/ };
  await t.rejects(keepHost(await start(broken), url), failsWith(wrong));
  t.equal(readFileSync(broken, 'utf8'), '{ "host": ', 'it stays as it is');
  await t.rejects(keepHost(await start(join(folder, 'a'), true), url), failsWith({ kind: 'not-supported' }));
  const unread = { kind: 'invalid-request', message: /cannot be read: it is not a regular file\. Mend that/ };
  await t.rejects(keepHost({ ...(await start(join(folder, 'a'))), path: folder }, url), failsWith(unread));
});

t.test('the place of a fault in JSON is found, whatever the fault is', async (t) => {
  const cases: readonly (readonly [before: string, fault: string])[] = [
    ['', ''],
    ['{', ''],
    ['{"a": 1,\n', '}'],
    ['{"a": ', '}'],
    ['{', 'a: 1}'],
    ['[1, ', ']'],
    ['{} ', '{}'],
    ['{"a": ', "'b'}"],
    ['{"a": "\\u00e9\u0085\\n", ', '// why\n "b": 1}'],
    ['{"a": ', '"line\nend"}'],
    ['{"a": ', '"\\x"}'],
    ['{"a": ', 'nul}'],
  ];
  for (const [before, fault] of cases) {
    t.throws(() => JSON.parse(before + fault), before + fault);
    t.equal(indexOfFault(before + fault), before.length, before + fault);
  }
  fc.assert(
    fc.property(fc.json(), (text) => {
      t.equal(indexOfFault(`${text}@`), text.length);
    }),
  );
  fc.assert(
    fc.property(fc.string(), fc.json(), fc.nat(), (noise, text, cut) => {
      const index = indexOfFault(text.slice(0, cut % (text.length + 1)) + noise);
      t.ok(index >= 0 && index <= text.length + noise.length);
    }),
  );
});

t.test("unusable entries of the user's own configuration are named, and the rest counts", async (t) => {
  const read = (text: string, clientHasSettings = false) =>
    parseUserConfig(text, { path: '/c', clientHasSettings });
  t.strictSame(read('{}'), emptyUserConfig);
  const auth = { origin: 'http://a', file: '/f' };
  t.match(read(JSON.stringify({ auth, keepAlive: 5, host: null })), {
    auth: [auth],
    settings: { keepAlive: 5 },
    problems: [],
  });
  const cases: readonly (readonly [text: string, problem: RegExp])[] = [
    ['[]', /^The configuration \/c is not a JSON object\./],
    ['', /^The configuration \/c, line 1, is not JSON\./],
    ['{\n"keepAlive": planted }', /^The configuration \/c, line 2, is not JSON\./],
    ['{"keepAlive": 5,\n"a": 1,\n}', /^The configuration \/c, line 3, is not JSON\./],
    ['{"keepAlive": 5,\n"auth": "planted"}', /^The configuration \/c, line 2, has "auth", .*: it takes /],
    ['{"keepAlive": 5,\n\n"host": "ftp://planted"}', /, line 3, has "host", which is left out: /],
    [
      '{"keepAlive": 5, "host": "http://me:planted@box"}',
      / has "host", which is left out: it has a user name or a password; .* store "user:password" as the token/,
    ],
    ['{"keepAlive": 5,\n"contextLength": -1}', /: it must be at least 0\./],
    ['{"keepAlive": 5,\n"agentContext": 2048}', /"agentContext".*: it must be at least 3072\./],
    ['{"keepAlive": 5,\n"servers": "planted"}', /: it must be a list of \{ "name": "…", "url": "…" \}\./],
    [
      '{"keepAlive": 5,\n"timeouts": {\n"list": 0.5}}',
      /, line 3, has "timeouts\.list", so all of "timeouts" is left out: /,
    ],
    [
      '{"keepAlive": 5,\n"servers": [{"name": "a b", "url": "http://a"}]}',
      /, line 2, has "servers\[0\]\.name", so all of "servers\[0\]" is left out: a name has up to 64 /,
    ],
    ['{"keepAlive": 5,\n"timeouts": {\n"lst": 5}}', /, line 3, has "timeouts\.lst", .*: there is no such/],
    ['{"keepAlive": 5, "trusted": true}', /, line 1, has "trusted", .*: there is no such setting\.$/],
    ['{"keepAlive": 5, "caFile": "caFile"}', /^The configuration \/c has "caFile", which is left out: /],
    ['{"keepAlive": 5,\n"mcpServers": "planted"}', /, line 2, has "mcpServers", which is left out: /],
    [
      '{"keepAlive": 5,\n"modelCapabilities": {\n"q2.5:7b": { "tools": "planted" } } }',
      /, line 3, has "modelCapabilities\.q2\.5:7b\.tools", so all of "modelCapabilities" is left out: it must be true or false\./,
    ],
    [
      '{"keepAlive": 5, "modelCapabilities": { "m": { "tool": true } } }',
      / has "modelCapabilities\.m\.tool", which is left out: there is no such setting\./,
    ],
    [
      '{"keepAlive": 5,\n"approvals": {"a": "planted"}}',
      / has "approvals\.a", so all of "approvals" is left out: it is neither/,
    ],
    ['{"keepAlive": 5,\n"sessionDays": 0}', /, line 2, has "sessionDays", .* no conversation is kept\.$/],
  ];
  for (const [text, problem] of cases) {
    const { settings, sessions, problems } = read(text);
    t.match(problems, [problem], text);
    t.equal(problems.length, 1, text);
    t.notMatch(problems.join(), /planted/, 'and the text is not quoted');
    const isUnusable = /not JSON|JSON object/.test(problem.source);
    t.equal(settings.keepAlive, isUnusable ? undefined : 5, text);
    const mayHaveSaid = isUnusable || text.includes('sessionDays');
    t.strictSame(sessions, mayHaveSaid ? { keepSessions: false } : {}, text);
  }
  const tools = {
    mcpServers: { a: { command: 'a' }, b: 5 },
    approvals: { a: 'always' },
    builtinTools: true,
    checks: { '/proj': { test: { command: ['npm', 'test'] } } },
  };
  const whole = JSON.stringify({ ...tools, keepSessions: false, sessionDays: 5, keepAlive: 5, auth, odd: 1 });
  const sessions = { keepSessions: false, sessionDays: 5 };
  t.strictSame(
    read(whole, true),
    { ...emptyUserConfig, tools, sessions },
    'a client with settings takes what holds for every client, and the rest is none of its business',
  );
  t.match(read(whole), { tools, sessions, settings: { ...sessions, keepAlive: 5 }, problems: [/"odd"/] });
  const configuration = new ConfigurationStore('', {
    host: 'http://mine:1',
    keepAlive: '9m',
    exclude: ['a'],
  });
  configuration.start({ exclude: ['b'], trusted: true });
  t.match(configuration.current, { keepAlive: '9m', exclude: ['b'], servers: [{ url: 'http://mine:1' }] });
  configuration.change({ exclude: null, host: 'http://other:1' });
  t.match(configuration.current, { exclude: ['a'], servers: [{ url: 'http://other:1' }] });
});

t.test('an editor is asked for its settings at the start, and when it sends none', async (t) => {
  let asked = 'http://127.0.0.1:9';
  const daemon = await startPair(
    { trusted: true },
    { settings: {}, answers: { 'workspace/configuration': () => [{ host: asked }] } },
  );
  t.teardown(() => daemon.close());
  const told = ({ message }: { readonly message: string }) => /talks to (.*)\.$/.exec(message)?.[1];
  const atStart = await new Promise((resolve) => {
    const hear = (line: { readonly message: string }) => told(line) && resolve(told(line));
    daemon.logs.forEach(hear);
    daemon.on(logNotification, hear);
  });
  t.equal(atStart, 'http://127.0.0.1:9');
  const later = new Promise<string>((resolve) =>
    daemon.on(statusDidChange, ({ message }) => message.includes('127.0.0.1:7') && resolve(message)),
  );
  asked = 'http://127.0.0.1:7';
  await daemon.connection.sendNotification('workspace/didChangeConfiguration', { settings: null });
  t.match(await later, /No runner answers at http:\/\/127\.0\.0\.1:7\./);
});

t.test('a client asks which settings count', async (t) => {
  const folder = await temporaryFolder(t);
  mkdirSync(join(folder, 'runner'));
  const path = join(folder, 'runner', 'config.json');
  const own = {
    ...{ keepAlive: '5m', host: 'http://file:1', builtinTools: true, auth: { file: '/secret' } },
    ...{ servers: [{ name: 'far', url: 'https://far/x' }], keepSessions: false, sessionDays: 30 },
    mcpServers: {
      files: { command: 'npx', args: ['--key=secret'], env: { KEY: 'secret' } },
      web: { url: 'https://me:secret@web/mcp?key=secret', headers: { Authorization: 'secret' } },
      lost: { url: 'secret', disabled: true },
    },
  };
  writeFileSync(path, JSON.stringify(own));
  const pair = { env: { XDG_CONFIG_HOME: folder }, readsUserSettings: true };
  const client = { host: 'http://127.0.0.1:9', exclude: ['a'], keepSessions: true, sessionDays: 60 };
  const daemon = await startPair(client, pair);
  t.teardown(() => daemon.close());
  const result = await daemon.request(listSettingsRequest, {});
  t.notMatch(JSON.stringify(result), 'secret');
  const counted = Object.fromEntries(
    result.settings
      .filter(({ from }) => from !== 'default')
      .map(({ name, value, from }) => [name, [value, from]]),
  );
  t.strictSame(
    [result.path, counted],
    [
      path,
      {
        host: ['http://127.0.0.1:9', 'client'],
        keepAlive: ['5m', 'file'],
        servers: [[{ name: 'far', url: 'https://far/x' }], 'file'],
        exclude: [['a'], 'client'],
        builtinTools: [true, 'file'],
        mcpServers: [{ files: 'npx', web: 'https://web', lost: ' (disabled)' }, 'file'],
        // Of the client's and the user's own the stricter one counts.
        keepSessions: [false, 'file'],
        sessionDays: [30, 'file'],
      },
    ],
  );
});

t.test('a wrong address in the environment is reported, and counts as not set', async (t) => {
  for (const nothing of [undefined, '', ' ']) t.strictSame(readHost(nothing), {});
  t.strictSame(readHost(' box '), { host: 'http://box:11434' });
  t.strictSame(readHost('ftp://box'), {
    problem: 'OLLAMA_HOST is left out: the scheme "ftp" is not http or https. It counts as not set.',
  });
});

t.test('the tool servers that are entered and not disabled have names', async (t) => {
  const mcpServers = {
    notes: { command: 'a' },
    off: { command: 'b', disabled: true },
    builtin: { command: 'c' },
    web: { url: 'http://a', disabled: false },
  };
  const tools = { mcpServers, approvals: {} };
  t.strictSame(enabledServers({ ...tools, builtinTools: true }), ['builtin', 'notes', 'web']);
  t.strictSame(enabledServers({ ...tools, builtinTools: false }), ['notes', 'web']);
});

t.test('a client sets the host for all clients of its user', async (t) => {
  const folder = await temporaryFolder(t);
  const pair = { env: { XDG_CONFIG_HOME: folder }, readsUserSettings: true };
  const daemon = await startPair({}, pair);
  t.teardown(() => daemon.close());
  const path = join(folder, 'runner', 'config.json');
  t.strictSame(await daemon.request(setHostRequest, { url: '127.0.0.1:8080' }), { path });
  t.strictSame(JSON.parse(readFileSync(path, 'utf8')), { host: 'http://127.0.0.1:8080' });
  await t.rejects(daemon.request(setHostRequest, { url: 'ftp://a' }), failsWith({ code: -32602 }));
  t.strictSame(JSON.parse(readFileSync(path, 'utf8')), { host: 'http://127.0.0.1:8080' });
});
