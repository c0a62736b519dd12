import { PassThrough } from 'node:stream';
import { logNotification } from '../../protocol/log.ts';
import { listModelsRequest } from '../../protocol/models.ts';
import { statusRequest } from '../../protocol/status.ts';
import { listToolsRequest } from '../../protocol/tools.ts';
import { forTerminal } from './advice.ts';
import type { CommandLine } from './commandLine.ts';
import { connect, isFaultOfConfiguration, namedRunner } from './connection.ts';
import { showLine } from './controlCharacters.ts';
import type { Daemon } from './daemon.ts';
import { failureOf } from './failure.ts';
import { examineConfiguration, examineModels, examineProxy, type Finding } from './findings.ts';
import { type Surroundings, writeLine, writeText } from './streams.ts';
import { styleFor } from './style.ts';

/** Looks at all that could be in the way. Returns 1 when something failed. */
export async function runDoctor(surroundings: Surroundings, commandLine: CommandLine): Promise<number> {
  let hasFailed = false;
  for await (const finding of examine(surroundings, commandLine)) {
    hasFailed ||= finding.state === 'fail';
    await report(surroundings, commandLine, finding);
  }
  return hasFailed ? 1 : 0;
}

async function* examine(surroundings: Surroundings, commandLine: CommandLine): AsyncGenerator<Finding> {
  yield { check: 'runner', state: 'ok', found: surroundings.version };
  yield { check: 'node', state: 'ok', found: process.versions.node };
  yield* examineProxy(surroundings.env);
  const file = await examineConfiguration(surroundings.env);
  const daemon = await tryDaemon(surroundings, commandLine);
  if ('check' in daemon) return yield* [file, daemon];
  // What the daemon has to say of its own start, such as of the user's configuration.
  const warnings: string[] = [];
  daemon.onNotification(logNotification, ({ level, message }) => {
    if (level === 'warn' || level === 'error') warnings.push(message);
  });
  try {
    yield { check: 'runnerd', state: 'ok', found: daemon.version };
    const namedBy = namedRunner(surroundings, commandLine)?.by;
    yield* examineServer(daemon, namedBy ?? (daemon.isHostNamed ? 'your configuration' : undefined));
    yield* examineTools(daemon);
    const faults = warnings.filter(isFaultOfConfiguration);
    if (faults.length === 0 || file.state !== 'ok') yield file;
    for (const found of faults)
      yield { check: 'configuration', state: 'fail', found, mend: mendConfiguration };
    // Of a token that is withheld the status has spoken.
    for (const found of warnings)
      if (!faults.includes(found) && !withheldToken(found)) yield { check: 'runnerd', state: 'warn', found };
    if (daemon.said() !== '') yield { check: 'runnerd', state: 'warn', found: daemon.said() };
  } finally {
    await daemon.close();
  }
}

const mendConfiguration = 'Correct it there. The settings are in docs/PROTOCOL.md, under "initialize".';

async function tryDaemon(surroundings: Surroundings, commandLine: CommandLine): Promise<Daemon | Finding> {
  try {
    // What is wrong with the configuration is a finding here.
    const stderr = Object.assign(new PassThrough().resume(), { isTTY: false });
    return await connect({ ...surroundings, stderr }, commandLine);
  } catch (error) {
    const { kind, message } = failureOf(error);
    return kind === 'daemon-failed' || kind === 'internal'
      ? { check: 'runnerd', state: 'fail', found: message, mend: 'Build it anew with "npm run build".' }
      : { check: 'address', state: 'fail', found: message, mend: 'Write host:port or http://host:port.' };
  }
}

async function* examineServer(
  daemon: Daemon,
  namedBy: '--server' | 'OLLAMA_HOST' | 'your configuration' | undefined,
): AsyncGenerator<Finding> {
  try {
    const { state, kind, message, version } = await daemon.request(statusRequest, {});
    const found = `${forTerminal(message)}${version === undefined ? '' : ` Its version is ${version}.`}`;
    if (state === 'offline') {
      const mend = isOtherServer(message)
        ? `Something else answers there, such as the page of a proxy. Correct the address in ${namedBy ?? '--server URL or OLLAMA_HOST'}, or sign in at the proxy.`
        : namedBy === undefined
          ? 'Get one from https://ollama.com/download, or name another with --server URL or OLLAMA_HOST.'
          : `Start it there, or correct the address in ${namedBy}.`;
      return yield { check: 'server', state: 'fail', found, mend };
    }
    yield { check: 'server', state: kind === 'ok' ? 'ok' : 'warn', found };
    const { models } = await daemon.request(listModelsRequest, { refresh: true });
    yield* examineModels(models);
  } catch (error) {
    const { kind, message } = failureOf(error);
    // The status before has said it.
    if (kind === 'unauthorized')
      return yield {
        check: 'token',
        state: 'fail',
        found: 'the runner wants one',
        mend: withheldToken(message) ?? mendToken,
      };
    yield { check: 'server', state: 'fail', found: message };
  }
}

const mendToken =
  'In ~/.config/runner/config.json: { "auth": { "command": ["pass", "show", "NAME"] } }, or { "auth": { "file": "PATH" } }.';

/** What the daemon says about a token that the runner does not get. */
function withheldToken(message: string): string | undefined {
  return /The token for \S+ is not sent .*/.exec(message)?.[0];
}

/** Whether the daemon's sentence says that what answers is no runner. */
function isOtherServer(message: string): boolean {
  return /answered with (?:a web page|a redirect)/.test(message);
}

/** Each tool server is started and asked. */
async function* examineTools(daemon: Daemon): AsyncGenerator<Finding> {
  try {
    const { servers } = await daemon.request(listToolsRequest, {});
    for (const { name, state, message = '', needsLogin, tools } of servers)
      yield state === 'failed'
        ? { check: 'tools', state: 'fail', found: message, mend: mendOf(name, needsLogin) }
        : { check: 'tools', state: 'ok', found: `${name} ${describeTools(state, tools.length)}` };
  } catch (error) {
    yield { check: 'tools', state: 'fail', found: failureOf(error).message };
  }
}

function mendOf(server: string, needsLogin = false): string {
  return needsLogin ? `Run: runner mcp login ${server}` : 'Correct its entry in "mcpServers".';
}

function describeTools(state: 'ready' | 'disabled', count: number): string {
  if (state === 'disabled') return 'is disabled';
  return `offers ${count === 1 ? 'one tool' : `${count} tools`}`;
}

async function report({ stdout, env }: Surroundings, { json }: CommandLine, finding: Finding): Promise<void> {
  if (json) return writeLine(stdout, JSON.stringify(finding));
  const style = styleFor(stdout, env);
  const marks = { ok: style.green('ok  '), warn: style.yellow('warn'), fail: style.red('fail') };
  const { check, state, found, mend } = finding;
  await writeText(stdout, `${marks[state]}  ${showLine(`${check}: ${found}`)}`);
  if (mend !== undefined) await writeText(stdout, `      -> ${showLine(mend)}`);
}
