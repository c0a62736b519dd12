import { access, constants, stat } from 'node:fs/promises';
import { userConfigFile } from '../../../protocol/base/platform/folders.ts';
import { isOpenToOthers } from '../../../protocol/base/platform/privateFile.ts';
import { messageOf, showLine } from '../../../protocol/base/text.ts';
import { engineNames, engineOffersRequest, engineStatusRequest } from '../../../protocol/messages/engine.ts';
import { type LogParams, logNotification } from '../../../protocol/messages/log.ts';
import { canChat, listModelsRequest, type Model } from '../../../protocol/messages/models.ts';
import {
  describeFound,
  discoverRequest,
  nameAfter,
  type Product,
  serversRequest,
  statusRequest,
} from '../../../protocol/messages/status.ts';
import { builtinServer, listToolsRequest } from '../../../protocol/messages/tools.ts';
import type { CommandContext } from '../cli/command.ts';
import { failureOf } from '../cli/failure.ts';
import { forTerminal, isOwnStopped, startOwn } from '../daemon/advice.ts';
import { connect, namedRunner } from '../daemon/connection.ts';
import type { DaemonClient } from '../daemon/daemon.ts';
import type { Output } from '../screen/output.ts';

/** Checks everything that could go wrong. Returns 1 if something failed. */
export async function runDoctor(context: CommandContext): Promise<number> {
  const { terminal, commandLine } = context;
  let hasFailed = false;
  for await (const finding of examine(context)) {
    hasFailed ||= finding.state === 'fail';
    await report(terminal.stdout, finding, commandLine.json);
  }
  return hasFailed ? 1 : 0;
}

/** One check, its result, and how to mend what is wrong. */
export interface DoctorFinding {
  readonly check: string;
  readonly state: 'ok' | 'warn' | 'fail';
  /** A sentence, a version or a path. */
  readonly found: string;
  readonly mend?: string;
}

const findings = (state: DoctorFinding['state']) => {
  return (check: string, found: string, mend?: string): DoctorFinding => ({
    check,
    state,
    found,
    ...(mend !== undefined && { mend }),
  });
};
const [ok, warn, fail] = [findings('ok'), findings('warn'), findings('fail')];

async function report(stdout: Output, finding: DoctorFinding, json: boolean): Promise<void> {
  if (json) return stdout.writeJson(finding);
  const { style } = stdout;
  const marks = { ok: style.green('ok  '), warn: style.yellow('warn'), fail: style.red('fail') };
  const { check, state, found, mend } = finding;
  await stdout.writeText(`${marks[state]}  ${showLine(`${check}: ${found}`)}`);
  if (mend !== undefined) await stdout.writeText(`      -> ${showLine(mend)}`);
}

async function* examine(context: CommandContext): AsyncGenerator<DoctorFinding> {
  const { terminal, program } = context;
  yield ok('runner', program.version);
  yield ok('node', process.versions.node);
  yield* examineProxy(terminal.env);
  const file = await examineConfiguration(terminal.env);
  const daemon = await tryDaemon(context);
  if ('check' in daemon) return yield* [file, daemon];
  // What the daemon reports about its start, such as mistakes in the user's configuration.
  const warnings: LogParams[] = [];
  daemon.onNotification(logNotification, (line) => {
    if (line.level === 'warn' || line.level === 'error') warnings.push(line);
  });
  try {
    yield ok('runnerd', daemon.version);
    const namedBy = namedRunner(context)?.by;
    yield* examineServer(daemon, namedBy ?? (daemon.isHostNamed ? 'your configuration' : undefined));
    yield* examineFurther(daemon);
    yield* examineTools(daemon);
    const faults = warnings.filter(({ code }) => code === 'configuration');
    if (faults.length === 0 || file.state !== 'ok') yield file;
    for (const { message } of faults) yield fail('configuration', message, mendConfiguration);
    // The status has reported a token that is not sent.
    for (const { code, message } of warnings)
      if (code !== 'configuration' && code !== 'token') yield warn('runnerd', message);
    if (daemon.said() !== '') yield warn('runnerd', daemon.said());
  } finally {
    await daemon.close();
  }
}

const mendConfiguration = 'Correct it there. The settings are in docs/PROTOCOL.md, under "initialize".';

async function tryDaemon(context: CommandContext): Promise<DaemonClient | DoctorFinding> {
  try {
    return await connect(context);
  } catch (error) {
    const { kind, message } = failureOf(error);
    return kind === 'daemon-failed' || kind === 'internal'
      ? fail('runnerd', message, 'Build it anew with "npm run build".')
      : fail('address', message, 'Write host:port or http://host:port.');
  }
}

async function* examineServer(
  daemon: DaemonClient,
  namedBy: '--server' | 'OLLAMA_HOST' | 'your configuration' | undefined,
): AsyncGenerator<DoctorFinding> {
  try {
    const status = await daemon.request(statusRequest, {});
    const { state, kind, version, advice, product } = status;
    const about = version === undefined ? '' : `Its version is ${version}.`;
    const found = [forTerminal(status), about, nameAfter(status)].filter(Boolean).join(' ');
    if (state === 'offline') {
      const mend =
        advice?.code === 'check-proxy' || advice?.code === 'set-address'
          ? `Something else answers there, such as the page of a proxy. Correct the address in ${namedBy ?? '--server URL or OLLAMA_HOST'}, or sign in at the proxy.`
          : namedBy === undefined && isOwnStopped(found, process.env)
            ? `${startOwn}.`
            : namedBy === undefined
              ? 'Get one from https://ollama.com/download, or name another with --server URL or OLLAMA_HOST.'
              : `Start it there, or correct the address in ${namedBy}.`;
      yield fail('server', found, mend);
      yield* examineOthers(daemon);
      return yield* examineEngine(daemon, true);
    }
    yield (kind === 'ok' ? ok : warn)('server', found);
    yield* examineEngine(daemon, false);
    const { models } = await daemon.request(listModelsRequest, { refresh: true });
    yield* examineModels(models, product);
  } catch (error) {
    const { kind, message, advice } = failureOf(error);
    const isPassword = advice?.code === 'set-password';
    // The status has reported it already.
    if (kind === 'unauthorized')
      return yield fail(
        'token',
        isPassword ? 'the runner wants a user name and a password' : 'the runner wants one',
        advice?.code === 'use-https' ? advice.text : `${isPassword ? mendPassword : ''}${mendToken}`,
      );
    yield fail('server', message);
  }
}

/** What Runner has started itself. If no runner answers, also what is installed, but not running. */
async function* examineEngine(daemon: DaemonClient, isOffline: boolean): AsyncGenerator<DoctorFinding> {
  const check = 'engine';
  const status = await daemon.request(engineStatusRequest, {}).catch(() => undefined);
  // The daemon starts nothing.
  if (!status) return;
  const { state, message: found } = status;
  if (state === 'running') yield ok(check, found);
  if (state === 'down') yield warn(check, found, 'Start it again with "runner engine start".');
  if (!isOffline) return;
  if (state === 'stopped')
    yield ok(check, `${found} The engine is ${status.isInstalled ? '' : 'not '}installed.`);
  const { programs } = await daemon.request(engineOffersRequest, {});
  for (const { product, path, version } of programs) {
    const found = `${engineNames[product]} ${version} is installed, but not running: ${path}`;
    const mend =
      product === 'ollama' ? 'Start it with "ollama serve".' : 'Start it with "runner engine start FILE".';
    yield warn('installed', found, mend);
  }
}

/** The further servers of the configuration. One of them may be the usual one. */
async function* examineFurther(daemon: DaemonClient): AsyncGenerator<DoctorFinding> {
  const { servers } = await daemon.request(serversRequest, {});
  for (const { name, url, status } of servers.filter(({ url }) => url !== servers[0]?.url)) {
    const { kind, state } = status;
    const check = `server ${name}`;
    const problem = status.advice?.problem ?? status.message;
    const mend = `Start it at ${url}, or correct its entry in "servers".`;
    yield state === 'offline'
      ? fail(check, problem, mend)
      : (kind === 'ok' ? ok : warn)(check, `${forTerminal(status)} ${nameAfter(status)}`.trim());
  }
}

/** Runners on this machine that nobody has named. */
async function* examineOthers(daemon: DaemonClient): AsyncGenerator<DoctorFinding> {
  const { runners } = await daemon.request(discoverRequest, {});
  for (const runner of runners)
    yield warn('other', describeFound(runner), `Use it with --server ${runner.url}, or set "host" to it.`);
}

const mendPassword = 'The token is "user:password". ';
const mendToken =
  'In ~/.config/runner/config.json: { "auth": { "command": ["pass", "show", "NAME"] } }, or { "auth": { "file": "PATH" } }.';

/** Starts each tool server and lists its tools. */
async function* examineTools(daemon: DaemonClient): AsyncGenerator<DoctorFinding> {
  try {
    const { servers } = await daemon.request(listToolsRequest, {});
    // The built-in tools depend on the folder alone.
    for (const { name, state, message = '', advice, needsLogin, tools } of servers)
      if (state === 'disabled') yield ok('tools', `${name} is disabled`);
      else if (state === 'ready')
        yield ok('tools', `${name} offers ${tools.length === 1 ? 'one tool' : `${tools.length} tools`}`);
      else if (name === builtinServer) yield warn('tools', message);
      else if (advice?.code === 'wait-for-restart') yield fail('tools', advice.problem, advice.text);
      else if (needsLogin) yield fail('tools', message, `Run: runner mcp login ${name}`);
      else yield fail('tools', message, 'Correct its entry in "mcpServers".');
  } catch (error) {
    yield fail('tools', failureOf(error).message);
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Runner bypasses a proxy to reach a runner on this machine. Other clients of that runner may not. */
function* examineProxy(env: Environment): Generator<DoctorFinding> {
  const names = ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'].filter((name) => env[name]);
  if (names.length === 0) return;
  const exceptions = env['NO_PROXY'] || env['no_proxy'] || '';
  const found = `${names.join(' and ')} set; Runner goes past it`;
  yield /\*|127\.0\.0\.1|localhost/.test(exceptions)
    ? ok('proxy', `${found}, and NO_PROXY names this machine`)
    : warn(
        'proxy',
        `${found}, but other clients of a runner on this machine may not`,
        'Add 127.0.0.1,localhost to NO_PROXY.',
      );
}

/**
 * The permissions of the user's configuration. It says where secrets come from, so only its owner should read or change
 * it. The daemon alone reads what is in it.
 */
async function examineConfiguration(env: Environment): Promise<DoctorFinding> {
  const check = 'configuration';
  const path = userConfigFile(env);
  const file = await stat(path).catch(() => undefined);
  if (!file) return ok(check, `none at ${path}; none is needed`);
  const problem = await access(path, constants.R_OK).then(() => undefined, messageOf);
  if (problem !== undefined)
    return fail(check, `${path} cannot be read: ${problem}`, `Run: chmod u+r ${path}`);
  if (!isOpenToOthers(file)) return ok(check, path);
  const verb = (file.mode & 0o022) === 0 ? 'read' : 'change';
  return warn(check, `others can ${verb} ${path}`, `Run: chmod 600 ${path}`);
}

/** Whether an installed model can chat, and whether the context windows of the loaded ones are large enough. */
function* examineModels(models: readonly Model[], product: Product = 'ollama'): Generator<DoctorFinding> {
  const able = models.filter(canChat);
  const loaded = models.filter(({ running }) => running);
  const counts = `${models.length} installed, ${able.length} can chat, ${loaded.length} loaded`;
  const mend =
    product === 'ollama'
      ? 'Pull one that can chat, for example with "runner pull qwen3:4b".'
      : 'Let the server load one that can chat.';
  yield able.length === 0 ? fail('models', counts, mend) : ok('models', counts);
  const narrow = loaded.flatMap(({ name, context: { allocated, maximum } }) =>
    allocated === undefined || maximum === undefined || allocated >= Math.min(usefulWindow, maximum)
      ? []
      : [{ name, allocated, maximum }],
  );
  if (narrow.length === 0) return;
  const known = narrow.map(({ name, allocated, maximum }) => `${name} has ${allocated} tokens of ${maximum}`);
  const largest = Math.max(...narrow.map(({ maximum }) => maximum));
  const advised = Math.min(usefulWindow, largest);
  yield warn(
    'context window',
    `${known.join(', ')}; longer prompts are refused`,
    product === 'ollama'
      ? `Ask for more with "--context ${advised}", or for good with "contextLength": ${advised} in ~/.config/runner/config.json.`
      : `The server fixes it when it starts: start it with a window of ${advised}${advised < largest ? ' or more' : ''}.`,
  );
}

/** In tokens. */
const usefulWindow = 8192;
