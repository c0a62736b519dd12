import { logNotification } from '../../protocol/log.ts';
import { listModelsRequest } from '../../protocol/models.ts';
import { statusRequest } from '../../protocol/status.ts';
import { listToolsRequest } from '../../protocol/tools.ts';
import type { CommandLine } from './commandLine.ts';
import { connect, namedRunner } from './connection.ts';
import { showLine } from './controlCharacters.ts';
import type { Daemon } from './daemon.ts';
import { failureOf } from './failure.ts';
import { examineConfiguration, examineModels, examineProxy, type Finding } from './findings.ts';
import { type Surroundings, writeLine } from './streams.ts';
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
  yield await examineConfiguration(surroundings.env);
  const daemon = await tryDaemon(surroundings, commandLine);
  if ('check' in daemon) return yield daemon;
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
    for (const found of warnings) yield { check: 'runnerd', state: 'warn', found };
    if (daemon.said() !== '') yield { check: 'runnerd', state: 'warn', found: daemon.said() };
  } finally {
    await daemon.close();
  }
}

async function tryDaemon(surroundings: Surroundings, commandLine: CommandLine): Promise<Daemon | Finding> {
  try {
    return await connect(surroundings, commandLine, { logLevel: 'warn' });
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
    const found = `${message}${version === undefined ? '' : ` Its version is ${version}.`}`;
    if (state === 'offline') {
      const mend =
        namedBy === undefined
          ? 'Get one from https://ollama.com/download, or name another with --server URL or OLLAMA_HOST.'
          : `Start it there, or correct the address in ${namedBy}.`;
      return yield { check: 'server', state: 'fail', found, mend };
    }
    yield { check: 'server', state: kind === 'ok' ? 'ok' : 'warn', found };
    const { models } = await daemon.request(listModelsRequest, { refresh: true });
    yield* examineModels(models);
  } catch (error) {
    yield { check: 'server', state: 'fail', found: failureOf(error).message };
  }
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
  await writeLine(stdout, `${marks[state]}  ${showLine(`${check}: ${found}`)}`);
  if (mend !== undefined) await writeLine(stdout, `      -> ${showLine(mend)}`);
}
