import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/** How many lines are kept between conversations. */
export const historySize = 1000;

export function historyPath(env: Readonly<Record<string, string | undefined>>): string {
  return join(
    env['XDG_STATE_HOME'] || join(env['HOME'] || homedir(), '.local', 'state'),
    'runner',
    'history',
  );
}

/** The lines of earlier conversations, newest first, as readline wants them. */
export async function readHistory(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .reverse()
    .slice(0, historySize);
}

/** Prompts are private: only their owner can read the file. A folder that cannot be written loses the history alone. */
export async function writeHistory(path: string, newestFirst: readonly string[]): Promise<void> {
  const lines = newestFirst.slice(0, historySize).reverse();
  try {
    for (const folder of foldersOf(path)) await mkdir(folder, { mode: 0o700 }).catch(() => undefined);
    // The mode of a file that is there already is not changed by writing it.
    await chmod(path, 0o600).catch(() => undefined);
    await writeFile(path, lines.map((line) => `${line}\n`).join(''), { mode: 0o600 });
  } catch {
    return;
  }
}

/** The outermost first, to be made one after another: on `/proc` and its like, Node's recursive `mkdir` never ends. */
function foldersOf(path: string): readonly string[] {
  const folder = dirname(path);
  return folder === path ? [] : [...foldersOf(folder), folder];
}
