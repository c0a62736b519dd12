import { spawn } from 'node:child_process';
import { existsSync, lstatSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What a system of files and programs may lack. */
const systems = {
  /** Files have modes, which say who may read them. */
  modes: process.platform !== 'win32',
  /** Anybody may make symbolic links. */
  links: canLink(),
  /** There are `sh` and its programs, and named pipes that are files. */
  sh: process.platform !== 'win32',
  /** Paths are written with slashes. */
  slashes: process.platform !== 'win32',
  /** A program can handle a signal that would end it. */
  signals: process.platform !== 'win32',
  /** A name may have any character but a slash, and be long. */
  names: process.platform !== 'win32',
  /** Both streams of a program can be one pipe, so that they keep their order. */
  joining: process.platform !== 'win32',
  /** A file below `/proc` tells about a process. */
  proc: existsSync('/proc/self/stat'),
  /** Who writes is held back by a reader that stops. Wine holds nobody back. */
  stalling: !('WINEPREFIX' in process.env),
  /** Programs are told what happens in a folder that took the place of another. Wine tells nobody. */
  watching: !('WINEPREFIX' in process.env),
  /** A file can be deleted while it is open. */
  unlinking: process.platform !== 'win32',
} as const;

type System = keyof typeof systems;

/** Whether this system has it. */
export function has(system: System): boolean {
  return systems[system];
}

/** Options of a test that needs it. Where it is missing, the test is skipped with the reason. */
export function where(...names: readonly System[]): { readonly skip: false | string } {
  const missing = names.filter((name) => !systems[name]);
  return { skip: missing.length > 0 && `this system has no ${missing.join(' and no ')}` };
}

/** What a program that runs until SIGTERM ends with: where it cannot handle the signal, nothing. */
export const endedBySignal = systems.signals ? 0 : null;

/** Compares the mode of a file or folder, where files have modes. */
export function isModeOf(path: string, mode: number): boolean {
  return !systems.modes || (statSync(path).mode & 0o777) === mode;
}

/** A process that only waits. */
export function spawnSleeper() {
  return spawn(process.execPath, ['-e', 'setTimeout(() => {}, 600_000)'], { stdio: 'ignore' });
}

function canLink(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'runner-links-'));
  try {
    symlinkSync('nothing', join(folder, 'link'));
    return lstatSync(join(folder, 'link')).isSymbolicLink();
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
