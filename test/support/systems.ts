import { spawn } from 'node:child_process';
import { lstatSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What a system of files and programs may lack. */
const systems = {
  /** Files have modes, which say who may read them. */
  modes: process.platform !== 'win32',
  /** Anybody may make symbolic links. */
  links: canLink(),
  /** There are `sh` and its programs. */
  sh: process.platform !== 'win32',
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
