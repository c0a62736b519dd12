import { existsSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import type { ServerEntry } from './serverEntry.ts';

type ProgramEntry = Extract<ServerEntry, { readonly kind: 'stdio' }>;

export interface StartPlace {
  /** The workspace's root. */
  readonly root: string | undefined;
  readonly env: NodeJS.ProcessEnv;
}

/** Where a program starts. */
export function startFolder({ cwd }: ProgramEntry, { root, env }: StartPlace): string {
  return resolve(
    cwd ?? [root, env['HOME']].find((folder) => folder !== undefined && existsSync(folder)) ?? '/',
  );
}

/**
 * The folder in which an entry starts, if the same entry may be another program in another folder: its command or an
 * argument is a relative path, or the name of something in the folder. Otherwise undefined.
 */
export function decisiveFolder(entry: ServerEntry, place: StartPlace): string | undefined {
  if (entry.kind !== 'stdio') return undefined;
  const folder = startFolder(entry, place);
  return [entry.command, ...entry.args].some((word) => isInFolder(word, folder)) ? folder : undefined;
}

function isInFolder(word: string, folder: string): boolean {
  if (word === '' || isAbsolute(word)) return false;
  return /[/\\]/.test(word) || existsSync(join(folder, word));
}
