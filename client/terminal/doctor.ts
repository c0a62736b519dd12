import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { listModelsRequest, type Model } from '../../protocol/models.ts';
import { statusRequest } from '../../protocol/status.ts';
import { canChat } from './chooseModel.ts';
import type { CommandLine } from './commandLine.ts';
import { connect } from './connection.ts';
import type { Daemon } from './daemon.ts';
import { failureOf } from './failure.ts';
import { type Surroundings, writeLine } from './streams.ts';
import { createStyle } from './style.ts';

/** One thing that was looked at, what was found, and how to mend it. */
export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'failed';
  readonly found: string;
  readonly mend?: string;
}

/** Looks at all that could be in the way. Returns 1 when something failed. */
export async function runDoctor(surroundings: Surroundings, commandLine: CommandLine): Promise<number> {
  const findings: Finding[] = [];
  for await (const finding of examine(surroundings, commandLine)) {
    findings.push(finding);
    await report(surroundings, commandLine, finding);
  }
  return findings.some(({ state }) => state === 'failed') ? 1 : 0;
}

async function* examine(surroundings: Surroundings, commandLine: CommandLine): AsyncGenerator<Finding> {
  yield { check: 'node', state: 'ok', found: process.versions.node };
  yield* examineEnvironment(surroundings.env);
  yield await examineUserConfig(surroundings.env);
  const daemon = await connect(surroundings, commandLine).catch((error) => failureOf(error));
  if ('kind' in daemon) {
    yield {
      check: 'runnerd',
      state: 'failed',
      found: daemon.message,
      mend: 'Build it anew with "npm run build".',
    };
    return;
  }
  try {
    yield { check: 'runnerd', state: 'ok', found: daemon.version };
    yield* examineRunner(daemon);
  } finally {
    await daemon.close();
  }
}

function* examineEnvironment(env: Surroundings['env']): Generator<Finding> {
  const proxy = ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'].find((name) => env[name]);
  if (proxy !== undefined) {
    yield {
      check: 'proxy',
      state: 'ok',
      found: `${proxy} is set; Runner goes past it, other clients of the runner may not`,
    };
  }
  const host = env['OLLAMA_HOST'];
  if (host === undefined || host.trim() === '') return;
  const isOdd = /\s|^[a-z]+:\/[^/]/i.test(host.trim());
  yield isOdd
    ? {
        check: 'OLLAMA_HOST',
        state: 'warning',
        found: 'it does not look like an address',
        mend: 'Set it to host:port or http://host:port.',
      }
    : { check: 'OLLAMA_HOST', state: 'ok', found: host.replace(/\/\/[^/@]*@/, '//***@') };
}

async function examineUserConfig(env: Surroundings['env']): Promise<Finding> {
  const path = join(
    env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config'),
    'runner',
    'config.json',
  );
  const found = await stat(path).catch(() => undefined);
  if (!found) return { check: 'configuration', state: 'ok', found: `none at ${path}; none is needed` };
  const isOpen = process.platform !== 'win32' && (found.mode & 0o022) !== 0;
  if (!isOpen) return { check: 'configuration', state: 'ok', found: path };
  return {
    check: 'configuration',
    state: 'warning',
    found: `others can write ${path}`,
    mend: `Run: chmod go-w ${path}`,
  };
}

async function* examineRunner(daemon: Daemon): AsyncGenerator<Finding> {
  const status = await daemon.request(statusRequest, {});
  const version = status.version === undefined ? '' : ` (version ${status.version})`;
  if (status.state === 'offline') {
    yield {
      check: 'runner',
      state: 'failed',
      found: status.message,
      mend: 'Get one from https://ollama.com/download, or name another with --server URL or OLLAMA_HOST.',
    };
    return;
  }
  yield { check: 'runner', state: status.kind === 'ok' ? 'ok' : 'warning', found: status.message + version };
  const listed = await daemon
    .request(listModelsRequest, { refresh: true })
    .catch((error) => failureOf(error));
  if ('kind' in listed) yield { check: 'models', state: 'failed', found: listed.message };
  else yield* examineModels(listed.models);
}

function* examineModels(models: readonly Model[]): Generator<Finding> {
  const able = models.filter(canChat);
  const loaded = models.filter(({ running }) => running);
  if (able.length === 0) {
    yield {
      check: 'models',
      state: 'failed',
      found: `${models.length} installed, none that can chat`,
      mend: 'Pull one, for example with "ollama pull qwen3:4b".',
    };
    return;
  }
  yield {
    check: 'models',
    state: 'ok',
    found: `${models.length} installed, ${able.length} can chat, ${loaded.length} loaded`,
  };
  for (const { name, context } of loaded) {
    const { allocated, maximum } = context;
    if (allocated === undefined || maximum === undefined || allocated >= 8192 || allocated >= maximum)
      continue;
    yield {
      check: 'context window',
      state: 'warning',
      found: `${name} has ${allocated} tokens of ${maximum}; long prompts are refused`,
      mend: 'Set a larger context length (OLLAMA_CONTEXT_LENGTH, or PARAMETER num_ctx in its Modelfile).',
    };
  }
}

async function report({ stdout, env }: Surroundings, { json }: CommandLine, finding: Finding): Promise<void> {
  if (json) return writeLine(stdout, JSON.stringify(finding));
  const style = createStyle(stdout.isTTY === true && !env['NO_COLOR']);
  const marks = {
    ok: style.green('ok     '),
    warning: style.yellow('warning'),
    failed: style.red('failed '),
  };
  await writeLine(stdout, `${marks[finding.state]}  ${finding.check}: ${finding.found}`);
  if (finding.mend !== undefined) await writeLine(stdout, `         -> ${finding.mend}`);
}
