import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isRecord, tryJson } from '../../protocol/base/json.ts';
import { makePrivateFolder, replaceFile } from '../../protocol/base/platform/privateFile.ts';
import type { Fetchable } from '../../protocol/messages/engine.ts';
import { RunnerError } from '../base/errors.ts';
import type { WorkState } from '../rpc/workDoneProgress.ts';
import { type ChildOptions, reasonOf, runChild } from './childProgram.ts';
import { reportGrowth } from './growth.ts';
import { libraryPackage, lockFor } from './lockFile.ts';
import { nativePackage, thisMachine } from './platform.ts';
import { isExecutable, onPath } from './programs.ts';
import { findRuntime } from './runtime.ts';

/** Where things go, and what is run for that. */
export interface EngineFolders {
  /** The user's folder for the engine. */
  readonly home: string;
  /** What is not complete yet. */
  readonly fetching: string;
  /** Our lock file. */
  readonly lock: string;
}

export interface FetchContext extends Omit<ChildOptions, 'cwd' | 'signal'> {
  readonly folders: EngineFolders;
  /** The program that runs this daemon: Node, or an editor in its place. */
  readonly own: string;
}

/** Bytes on the disk, about the same on every platform. */
const libraryBytes = 85_000_000;
/** How long npm may take to say its registry, in ms. */
const sayWithin = 10_000;

/** What would be fetched, and from where. */
export async function describeLibrary(context: FetchContext): Promise<Fetchable> {
  const { folders } = context;
  const native = nativePackage(thisMachine());
  // Another platform's figures differ by nothing.
  const name = 'name' in native ? native.name : '@node-llama-cpp/linux-x64';
  const { packages, licenses, version } = await lockFor(folders.lock, name);
  const npm = await findNpm(context);
  const isThere = (await installedVersion(folders.home)) === version;
  const problem = 'problem' in native ? native.problem : npm || isThere ? undefined : noNpm;
  const registry = problem === undefined && npm && !isThere ? await registryOf(npm, context) : undefined;
  const from = `the npm registry${registry === undefined ? '' : ` ${registry}`}`;
  const figures = { bytes: libraryBytes, packages, licenses, from, folder: folders.home };
  return { isThere, ...figures, ...(problem === undefined ? {} : { problem }) };
}

const noNpm =
  "Runner's own engine is installed with npm, which is not on the PATH here. Install Node with npm, or Ollama from https://ollama.com/download.";

/** @throws {RunnerError} with a sentence, if this machine cannot run it or it cannot be fetched. */
export async function installLibrary(
  context: FetchContext,
  report: (state: WorkState) => void,
  signal: AbortSignal,
): Promise<void> {
  const { folders } = context;
  const native = nativePackage(thisMachine());
  if ('problem' in native) throw new RunnerError('not-supported', native.problem);
  const npm = await findNpm(context);
  if (!npm) throw new RunnerError('not-supported', noNpm);
  const { manifest, lock, version } = await lockFor(folders.lock, native.name);
  if ((await installedVersion(folders.home)) === version) return;
  const stage = join(folders.fetching, 'library');
  await makePrivateFolder(stage);
  await writeFile(join(stage, 'package.json'), manifest);
  await writeFile(join(stage, 'package-lock.json'), lock);
  const cache = join(folders.fetching, 'cache');
  const args = ['ci', '--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund', '--cache', cache];
  const stop = reportGrowth(join(stage, 'node_modules'), libraryBytes, 'Downloading the engine', report);
  try {
    await runChild(npm.file, [...npm.args, ...args], { ...context, cwd: stage, signal });
  } catch (error) {
    signal.throwIfAborted();
    throw new RunnerError('runner-failed', `npm could not download the engine: ${reasonOf(error)}`, {
      cause: error,
    });
  } finally {
    stop();
  }
  const onWillTry = () => report({ message: 'Checking the engine' });
  await findRuntime(stage, { ...context, signal, onWillTry });
  await rm(join(folders.home, 'node_modules'), { recursive: true, force: true });
  // What is complete has its name from here on.
  await replaceFile(join(stage, 'node_modules'), join(folders.home, 'node_modules'));
  await replaceFile(join(stage, 'runtimes.json'), join(folders.home, 'runtimes.json'));
}

/** Undefined if it is not installed, or not completely. */
export async function installedVersion(home: string): Promise<string | undefined> {
  const path = join(home, 'node_modules', libraryPackage, 'package.json');
  const manifest = tryJson(await readFile(path, 'utf8').catch(() => ''));
  const version = isRecord(manifest) ? manifest['version'] : undefined;
  return typeof version === 'string' ? version : undefined;
}

interface Npm {
  readonly file: string;
  readonly args: readonly string[];
}

/**
 * npm as a program without a shell. On Windows its commands are scripts of the shell, so npm's own script is run, which
 * is beside the runtime, or beside its command on PATH.
 */
async function findNpm({ env, platform, own }: FetchContext): Promise<Npm | undefined> {
  if (platform !== 'win32') {
    for (const file of [...onPath('npm', env, platform), join(dirname(own), 'npm')])
      if (await isExecutable(file)) return { file, args: [] };
    return undefined;
  }
  const folders = [own, ...onPath('node', env, platform), ...onPath('npm', env, platform)].map(dirname);
  for (const folder of folders) {
    const script = join(folder, 'node_modules', 'npm', 'bin', 'npm-cli.js');
    if (await stat(script).catch(() => undefined)) return { file: own, args: [script] };
  }
  return undefined;
}

/** What the user's npm is set to, without a password; undefined if npm does not say it. */
async function registryOf({ file, args }: Npm, context: FetchContext): Promise<string | undefined> {
  const signal = AbortSignal.timeout(sayWithin);
  // npm would keep a log of this in its cache.
  const env = { ...context.env, npm_config_logs_max: '0' };
  const options = { ...context, env, cwd: dirname(context.folders.lock), signal };
  const said = await runChild(file, [...args, 'config', 'get', 'registry'], options).catch(() => '');
  const address = said.trim().split('\n').at(-1) ?? '';
  if (!URL.canParse(address)) return undefined;
  const { origin, pathname } = new URL(address);
  return origin + pathname;
}
