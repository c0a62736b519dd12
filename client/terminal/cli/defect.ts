import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stackOf } from '../../../protocol/base/errorText.ts';
import { stateFolder } from '../../../protocol/base/userFolders.ts';
import { type CommandFailure, failureOf } from './failure.ts';
import type { Terminal } from './terminal.ts';

/**
 * What to report about an error. A defect of the terminal itself is reported as one, and its stack is kept in a file:
 * the screen has no room for it, and no daemon logs it.
 */
export function reportOf(error: unknown, terminal: Pick<Terminal, 'env' | 'today'>): CommandFailure {
  const failure = failureOf(error);
  if (failure.kind !== 'internal' || isOfSystem(error)) return failure;
  const path = keepStack(error, terminal);
  const where =
    path === undefined
      ? 'Its stack could not be kept, because the state folder cannot be written.'
      : `Its stack is in ${path}: please report both.`;
  const problem = failure.message.replace(/\.$/, '');
  return { ...failure, message: `This is a defect of Runner: ${problem}. ${where}` };
}

/** What the system refuses, such as a file that cannot be read, is no defect of ours. */
function isOfSystem(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}

/** In bytes. A larger file begins anew. */
const maxFile = 256 * 1024;

/** Returns the path of the file, which only the user can read. */
function keepStack(error: unknown, { env, today }: Pick<Terminal, 'env' | 'today'>): string | undefined {
  const path = join(stateFolder(env), 'defects.log');
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const isFull = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > maxFile;
    const text = `${today().toISOString()} ${stackOf(error)}\n`;
    writeFileSync(path, text, { mode: 0o600, flag: isFull ? 'w' : 'a' });
    return path;
  } catch {
    return undefined;
  }
}
