import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isRecord, tryJson } from '../../protocol/base/json.ts';
import { makePrivateFolder, replaceFile } from '../../protocol/base/platform/privateFile.ts';
import type { Fetchable } from '../../protocol/messages/engine.ts';
import { RunnerError } from '../base/errors.ts';
import type { WorkState } from '../rpc/workDoneProgress.ts';
import { type ChildOptions, isExecutable, onPath, reasonOf, reportGrowth, runChild } from './programs.ts';
import { findRuntime, libraryPackage } from './runtime.ts';

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

/** The packages of the library that have a native part, by Node's names of systems and processors. */
const packages: Readonly<Record<string, string>> = {
  'linux-x64': '@node-llama-cpp/linux-x64',
  'linux-arm64': '@node-llama-cpp/linux-arm64',
  'darwin-arm64': '@node-llama-cpp/mac-arm64-metal',
  'darwin-x64': '@node-llama-cpp/mac-x64',
  'win32-x64': '@node-llama-cpp/win-x64',
  'win32-arm64': '@node-llama-cpp/win-arm64',
};

/** What the native part for Linux was linked with. */
const neededGlibc = [2, 34] as const;

export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  /** The version of glibc, such as `2.36`. Undefined on Linux: another C library, such as musl. */
  readonly glibc: string | undefined;
}

/** The native package for this machine, or why the library cannot run here. */
export function nativePackage({
  platform,
  arch,
  glibc,
}: Machine): { readonly name: string } | { readonly problem: string } {
  const name = packages[`${platform}-${arch}`];
  const others = 'A model server that you install yourself, such as Ollama, may run here.';
  if (name === undefined)
    return { problem: `Runner's own engine has no build for ${platform} on ${arch}. ${others}` };
  if (platform !== 'linux') return { name };
  const needed = neededGlibc.join('.');
  if (glibc === undefined)
    return {
      problem: `Runner's own engine needs glibc ${needed} or newer; this system has another C library, such as musl. ${others}`,
    };
  const [major = 0, minor = 0] = glibc.split('.').map(Number);
  const isNew = major > neededGlibc[0] || (major === neededGlibc[0] && minor >= neededGlibc[1]);
  return isNew
    ? { name }
    : { problem: `Runner's own engine needs glibc ${needed} or newer; this system has ${glibc}. ${others}` };
}

function thisMachine(): Machine {
  const { platform, arch } = process;
  return { platform, arch, glibc: platform === 'linux' ? glibcVersion() : undefined };
}

function glibcVersion(): string | undefined {
  const { report } = process;
  // Names of the network's addresses would be looked up for the report.
  Object.assign(report, { excludeNetwork: true });
  const { header } = report.getReport() as { readonly header?: { readonly glibcVersionRuntime?: string } };
  return header?.glibcVersionRuntime;
}

interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  readonly optional?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
}

interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

/** What is installed, as npm reads it. */
export interface LockedPackages {
  /** The texts of `package.json` and `package-lock.json`. */
  readonly manifest: string;
  readonly lock: string;
  /** How many packages npm installs. */
  readonly packages: number;
  /** Such as `MIT (98), ISC (13)`. */
  readonly licenses: string;
  /** Of the library. */
  readonly version: string;
}

/**
 * Our lock file names the packages of every platform, as the library's optional dependencies, which are left out when
 * it is installed. The one for this platform becomes a dependency of its own here. All keep their integrity hashes.
 */
export async function lockFor(folder: string, native: string): Promise<LockedPackages> {
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const lock: LockFile = JSON.parse(await readFile(join(folder, 'package-lock.json'), 'utf8'));
  const path = `node_modules/${native}`;
  const { optional: _, ...wanted } = lock.packages[path] ?? {};
  const { version = '' } = wanted;
  const dependencies = { ...manifest.dependencies, [native]: version };
  const root = { ...lock.packages[''], dependencies };
  const packages: LockFile['packages'] = { ...lock.packages, '': root, [path]: wanted };
  const installed = Object.entries(packages).filter(([name, { optional }]) => name !== '' && !optional);
  return {
    manifest: JSON.stringify({ ...manifest, dependencies }, null, 2),
    lock: JSON.stringify({ ...lock, packages }, null, 2),
    packages: installed.length,
    licenses: countLicenses(installed.map(([, { license }]) => license ?? 'unknown')),
    version,
  };
}

function countLicenses(licenses: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const license of licenses) counts.set(license, (counts.get(license) ?? 0) + 1);
  const most = [...counts].toSorted(([, one], [, other]) => other - one);
  return most.map(([license, count]) => `${license} (${count})`).join(', ');
}
