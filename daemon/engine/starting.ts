import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, isAbsolute, join } from 'node:path';
import { withoutUndefined } from '../../protocol/base/json.ts';
import { thisPlatform } from '../../protocol/base/platform/folders.ts';
import { makePrivateFolder } from '../../protocol/base/platform/privateFile.ts';
import { formatBytes, messageOf } from '../../protocol/base/text.ts';
import {
  type EngineModel,
  type EngineProduct,
  type EngineStartParams,
  engineNames,
  type InstalledProgram,
} from '../../protocol/messages/engine.ts';
import { RunnerError } from '../base/errors.ts';
import type { WorkState } from '../rpc/workDoneProgress.ts';
import { forgetLast, type LastEngine, type RunningEngine, readLast, writeLast } from './engineFile.ts';
import { type Holder, startSupervisor } from './holder.ts';
import { installedVersion } from './library.ts';
import { hasSample, sampleDefaults, samplePath } from './sample.ts';
import type { Launch } from './supervisor/launch.ts';

/** The built programs. */
export interface EnginePrograms {
  readonly engine: string;
  readonly supervisor: string;
}

/** Who waits for something that takes long. */
export interface StartWatcher {
  readonly report: (state: WorkState) => void;
  readonly signal: AbortSignal;
}

export interface StartContext extends StartWatcher {
  readonly state: string;
  readonly home: string;
  readonly programs: EnginePrograms;
  /** Seconds after which an idle model leaves the memory. If undefined or negative, it stays. */
  readonly keepAlive: () => number | undefined;
  /** What there is on this machine. */
  readonly found: {
    readonly programs: () => Promise<readonly InstalledProgram[]>;
    readonly models: (path?: string) => Promise<{ readonly models: readonly EngineModel[] }>;
    readonly running: RunningEngine | undefined;
  };
  /** The program that runs the engine. */
  readonly runtime: () => Promise<string>;
  readonly stop: () => Promise<unknown>;
}

/**
 * Starts what is asked for, and waits until it is ready. Undefined if that runs already; anything else that runs is
 * stopped first.
 * @throws {RunnerError} with a sentence, if something is missing or it cannot be started.
 */
export async function startProcess(
  params: EngineStartParams,
  context: StartContext,
): Promise<{ readonly running: RunningEngine; readonly holder: Holder } | undefined> {
  const { state, programs, found, report, signal } = context;
  const { running } = found;
  const isOpen = params.model === undefined && params.context === undefined && params.threads === undefined;
  if (running && isOpen && (params.product ?? running.product) === running.product) return undefined;
  const asked = await completed(params, context);
  if (running && (await isWhatRuns(asked, running, state))) return undefined;
  if (running) await context.stop();
  const launch = await launchOf(asked, context);
  const before = await readLast(state);
  await writeLast(state, { ...asked, socket: launch.socket });
  const what = asked.alias === undefined ? '' : ` with ${asked.alias}`;
  const message = `Starting ${engineNames[asked.product]}${what}`;
  report({ message });
  const total = asked.model === undefined ? 0 : (await stat(asked.model)).size;
  // What did not start is not what the next start takes.
  const forget = () => (before === undefined ? forgetLast(state) : writeLast(state, before));
  const holder = await startSupervisor(programs.supervisor, launch).catch(async (error) => {
    await forget();
    throw error;
  });
  const leave = () => holder.close();
  signal.addEventListener('abort', leave, { once: true });
  try {
    // It may have been aborted while the supervisor was started.
    signal.throwIfAborted();
    const ready = await holder.whenReady((percent) => {
      if (percent !== undefined) report({ message, completed: Math.round((percent / 100) * total), total });
    });
    const { url, pid } = ready;
    const { product, alias: model } = asked;
    const { socket } = launch;
    return { running: withoutUndefined<RunningEngine>({ pid, url, product, model, socket }), holder };
  } catch (error) {
    holder.close();
    await forget();
    signal.throwIfAborted();
    const reason = `${engineNames[asked.product]} could not be started. ${messageOf(error)}`;
    throw new RunnerError('runner-failed', reason, { cause: error });
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

async function isWhatRuns(asked: LastEngine, { product }: RunningEngine, state: string): Promise<boolean> {
  const last = await readLast(state);
  return (
    last !== undefined &&
    product === asked.product &&
    last.model === asked.model &&
    last.context === asked.context &&
    last.threads === asked.threads
  );
}

/** What is asked for, with what was left open: the last model or else the sample, and what can load it. */
async function completed(params: EngineStartParams, context: StartContext): Promise<LastEngine> {
  const last = await readLast(context.state);
  const { context: window, threads } = params;
  const product =
    params.product ?? (await usualProduct(context, params.model === undefined ? last : undefined));
  if (product === 'ollama') return { product };
  const isAgain = params.model === undefined && last?.model !== undefined;
  const { path, name } = isAgain
    ? { path: last.model ?? '', name: last.alias }
    : await modelOf(params.model, context);
  return withoutUndefined({
    product,
    model: path,
    alias: name ?? basename(path),
    context: window ?? (isAgain ? last.context : undefined),
    threads: threads ?? (isAgain ? last.threads : undefined),
  });
}

async function usualProduct(
  { home, found }: StartContext,
  last: LastEngine | undefined,
): Promise<EngineProduct> {
  if (last?.product === 'llama.cpp' || last?.product === 'ollama') return last.product;
  if ((await installedVersion(home)) !== undefined) return 'runner-engine';
  if ((await found.programs()).some(({ product }) => product === 'llama.cpp')) return 'llama.cpp';
  throw notInstalled;
}

const notInstalled = new RunnerError(
  'not-supported',
  `Runner's own engine is not installed. Install it with "runner engine install", or install llama-server or Ollama.`,
);

async function modelOf(
  wanted: string | undefined,
  { home, found }: StartContext,
): Promise<{ readonly path: string; readonly name: string | undefined }> {
  if (wanted === undefined) {
    if (await hasSample(home)) wanted = samplePath(home);
    else
      throw new RunnerError(
        'invalid-request',
        'Say which model to start: a file, or a name of "runner engine models". "runner engine sample" fetches a small one.',
      );
  }
  const isPath = isAbsolute(wanted);
  const { models } = await found.models(isPath ? wanted : undefined);
  const model = models.find(({ name, path }) => (isPath ? path === wanted : isNamed(name, wanted)));
  if (!model)
    throw new RunnerError(
      'model-not-found',
      isPath
        ? `${wanted} is no model file that an engine can load: it must be a file in the GGUF format.`
        : `There is no model file with the name "${wanted}" on this machine. "runner engine models" lists what there is.`,
      { details: { model: wanted } },
    );
  if (!model.fits)
    throw new RunnerError(
      'not-supported',
      `${model.name} has ${formatBytes(model.size)}, which does not fit into the memory of this machine. Choose a smaller one.`,
      { details: { model: model.name } },
    );
  return model;
}

function isNamed(name: string, wanted: string): boolean {
  const [one, other] = [name.toLowerCase(), wanted.toLowerCase()];
  return one === other || one === `${other}:latest` || one.split('/').at(-1) === other;
}

async function launchOf(asked: LastEngine, context: StartContext): Promise<Launch> {
  const { state, home, programs, found, keepAlive, runtime } = context;
  const common = { asked, folder: state };
  if (asked.product === 'runner-engine') {
    if ((await installedVersion(home)) === undefined) throw notInstalled;
    const isSample = asked.model === samplePath(home);
    return withoutUndefined<Launch>({
      ...common,
      program: programs.engine,
      library: home,
      runtime: await runtime(),
      socket: await socketIn(state),
      defaults: isSample ? sampleDefaults : undefined,
      keepAliveSeconds: keepAlive(),
    });
  }
  const program = (await found.programs()).find(({ product }) => product === asked.product);
  if (!program)
    throw new RunnerError('not-supported', `${engineNames[asked.product]} is not installed on this machine.`);
  return { ...common, program: program.path, socket: await socketIn(state) };
}

/** Most systems allow about a hundred bytes for the path of a socket. */
const longestSocket = 100;

/**
 * A new one each time. Those of supervisors that were killed are removed. Where its path would be too long, it is in a
 * temporary folder, which the supervisor removes.
 */
async function socketIn(state: string): Promise<string> {
  const name = `engine-${randomUUID().slice(0, 8)}.sock`;
  if (thisPlatform === 'win32') return `\\\\.\\pipe\\runner-${randomUUID()}`;
  await makePrivateFolder(state);
  for (const old of await readdir(state))
    if (/^engine-\w{8}\.sock$/.test(old)) await rm(join(state, old), { force: true });
  const path = join(state, name);
  if (Buffer.byteLength(path) <= longestSocket) return path;
  if (Buffer.byteLength(join(tmpdir(), 'runner-123456', name)) <= longestSocket)
    return join(await mkdtemp(join(tmpdir(), 'runner-')), name);
  throw new RunnerError(
    'runner-failed',
    `${state} is too long for the path of a socket, and so is ${tmpdir()}. Set XDG_STATE_HOME or TMPDIR to a shorter folder.`,
  );
}
