import {
  type ChildProcess,
  type ChildProcessWithoutNullStreams,
  type ExecFileOptions,
  execFile,
  type SpawnOptions,
  spawn,
} from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { extname, isAbsolute, join, resolve, win32 } from 'node:path';
import { promisify } from 'node:util';
import { argument, command as program } from 'cross-spawn/lib/util/escape.js';
import { thisPlatform } from './folders.ts';

export interface ProgramOptions extends Omit<SpawnOptions, 'shell' | 'windowsVerbatimArguments'> {
  /** This one, unless a test names another. */
  readonly platform?: NodeJS.Platform;
  /**
   * It leads a process group of its own: a Ctrl-C in the terminal does not reach it. On Windows it leads none, because
   * it would get a window.
   */
  readonly leadsGroup?: boolean;
}

/**
 * Starts a program without a shell. Windows finds it as its shells do, with the endings of PATHEXT, but never in the
 * working folder: anybody may have written what is there. As from `spawn`, a failure is the child's `error`.
 */
export function startProgram(
  command: string,
  args: readonly string[],
  options: ProgramOptions & { readonly stdio: 'pipe' },
): ChildProcessWithoutNullStreams;
export function startProgram(command: string, args: readonly string[], options: ProgramOptions): ChildProcess;
export function startProgram(
  command: string,
  args: readonly string[],
  { platform = thisPlatform, leadsGroup = false, ...options }: ProgramOptions,
): ChildProcess {
  const { file, words, ...rest } = invocationOf(command, args, { ...options, platform });
  const detached = options.detached ?? (leadsGroup && platform !== 'win32');
  return spawn(file, words, { ...options, detached, windowsHide: true, ...rest });
}

/** Runs such a program to its end. @throws {Error} as `execFile` does. */
export function runProgram(
  command: string,
  args: readonly string[],
  options: ExecFileOptions,
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const { file, words, ...rest } = invocationOf(command, args, { ...options, platform: thisPlatform });
  return promisify(execFile)(file, words, { ...options, encoding: 'utf8', windowsHide: true, ...rest });
}

/** A program of Windows itself, by its full path. */
export function systemProgram(name: string, env: NodeJS.ProcessEnv): string {
  return join(variableOf(env, 'SYSTEMROOT') ?? 'C:\\Windows', 'System32', name);
}

/** Of a PATH. */
const maxFolders = 200;

/** The folders of PATH. One that is named relatively is another one in each folder, so it does not count. */
export function pathFolders(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): readonly string[] {
  return (variableOf(env, 'PATH') ?? '')
    .split(platform === 'win32' ? ';' : ':')
    .slice(0, maxFolders)
    .map((folder) => folder.replace(/^"(.*)"$/, '$1'))
    .filter((folder) => isAbsolute(folder));
}

interface StartContext extends Pick<SpawnOptions, 'cwd' | 'env'> {
  readonly platform: NodeJS.Platform;
}

/** What the system starts: on Windows the command processor runs scripts, and gets their arguments as it reads them. */
function invocationOf(
  command: string,
  args: readonly string[],
  { env = process.env, cwd, platform }: StartContext,
) {
  if (platform !== 'win32') return { file: command, words: args };
  const file = fileOf(command, env, String(cwd ?? '.'));
  if (!/\.(?:bat|cmd)$/i.test(file)) return { file, words: args };
  const isForwarding = handsOn(file);
  const line = [program(win32.normalize(file)), ...args.map((word) => argument(word, isForwarding))];
  return {
    file: systemProgram('cmd.exe', env),
    words: ['/d', '/s', '/c', `"${line.join(' ')}"`],
    windowsVerbatimArguments: true,
    // What the script names is not looked for in the working folder either.
    env: { ...env, NoDefaultCurrentDirectoryInExePath: '1' },
  };
}

const startable = ['.com', '.exe', '.bat', '.cmd'];

/** Without one, a path that is nobody's: of a mere name, Windows would look for it in the working folder. */
function fileOf(name: string, env: NodeJS.ProcessEnv, cwd: string): string {
  const isPath = /[\\/:]/.test(name);
  const usual = (variableOf(env, 'PATHEXT') ?? startable.join(';')).toLowerCase().split(';');
  const endings = usual.filter((ending) => startable.includes(ending));
  if (startable.includes(extname(name).toLowerCase())) endings.unshift('');
  const places = isPath
    ? [resolve(cwd, name)]
    : pathFolders(env, 'win32').map((folder) => join(folder, name));
  const files = places.flatMap((place) => endings.map((ending) => place + ending));
  return files.find(isFile) ?? (isPath ? resolve(cwd, name) : systemProgram(name, env));
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** Whether the script hands all of its arguments to another program, as those that npm writes do. */
function handsOn(script: string): boolean {
  return readFileSync(script, 'latin1').includes('%*');
}

/** Windows knows its variables in upper and lower case. */
function variableOf(env: NodeJS.ProcessEnv, name: string): string | undefined {
  return env[name] ?? Object.entries(env).find(([key]) => key.toUpperCase() === name)?.[1];
}
