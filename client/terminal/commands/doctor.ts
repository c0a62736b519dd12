import { PassThrough } from 'node:stream';
import { type LogParams, logNotification } from '../../../protocol/messages/log.ts';
import { listModelsRequest } from '../../../protocol/messages/models.ts';
import { statusRequest } from '../../../protocol/messages/status.ts';
import { listToolsRequest } from '../../../protocol/messages/tools.ts';
import type { CommandLine } from '../cli/commandLine.ts';
import { failureOf } from '../cli/failure.ts';
import { type Surroundings, writeLine, writeText } from '../cli/streams.ts';
import { forTerminal } from '../daemon/advice.ts';
import { connect, namedRunner } from '../daemon/connection.ts';
import type { Daemon } from '../daemon/daemon.ts';
import { showLine } from '../screen/controlCharacters.ts';
import { styleFor } from '../screen/style.ts';
import { examineConfiguration, examineModels, examineProxy, type Finding } from './findings.ts';

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
  const warnings: LogParams[] = [];
  daemon.onNotification(logNotification, (line) => {
    if (line.level === 'warn' || line.level === 'error') warnings.push(line);
  });
  try {
    yield { check: 'runnerd', state: 'ok', found: daemon.version };
    const namedBy = namedRunner(surroundings, commandLine)?.by;
    yield* examineServer(daemon, namedBy ?? (daemon.isHostNamed ? 'your configuration' : undefined));
    yield* examineTools(daemon);
    const faults = warnings.filter(({ code }) => code === 'configuration');
    if (faults.length === 0 || file.state !== 'ok') yield file;
    for (const { message: found } of faults)
      yield { check: 'configuration', state: 'fail', found, mend: mendConfiguration };
    // The status has named a token that is not sent.
    for (const { code, message: found } of warnings)
      if (code !== 'configuration' && code !== 'token') yield { check: 'runnerd', state: 'warn', found };
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
    const status = await daemon.request(statusRequest, {});
    const { state, kind, version, advice } = status;
    const found = `${forTerminal(status)}${version === undefined ? '' : ` Its version is ${version}.`}`;
    if (state === 'offline') {
      const mend =
        advice?.code === 'check-proxy' || advice?.code === 'set-address'
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
    const { kind, message, advice } = failureOf(error);
    // The status before has said it.
    if (kind === 'unauthorized')
      return yield {
        check: 'token',
        state: 'fail',
        found: 'the runner wants one',
        mend: advice?.code === 'use-https' ? advice.text : mendToken,
      };
    yield { check: 'server', state: 'fail', found: message };
  }
}

const mendToken =
  'In ~/.config/runner/config.json: { "auth": { "command": ["pass", "show", "NAME"] } }, or { "auth": { "file": "PATH" } }.';

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
