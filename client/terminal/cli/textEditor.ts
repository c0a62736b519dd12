import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProgram, systemProgram } from '../../../protocol/base/platform/program.ts';
import { TerminalError } from './failure.ts';

/**
 * Lets the user change a text in their own editor: `VISUAL`, else `EDITOR`, else that of the system. Both may have
 * arguments, as in `code --wait`. The text stands in a file of the user alone until the editor ends.
 * @throws {TerminalError} of the kind `usage`, if the editor does not start or fails.
 */
export async function editText(
  text: string,
  platform: NodeJS.Platform,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const editor =
    env['VISUAL'] || env['EDITOR'] || (platform === 'win32' ? systemProgram('notepad.exe', env) : 'vi');
  const folder = await mkdtemp(join(tmpdir(), 'runner-prompt-'));
  try {
    const path = join(folder, 'prompt.md');
    await writeFile(path, text === '' ? '' : `${text}\n`, { mode: 0o600 });
    await run(editor, path, platform);
    return (await readFile(path, 'utf8')).replace(/\r\n?/g, '\n').trimEnd();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function run(editor: string, path: string, platform: NodeJS.Platform): Promise<void> {
  const [command = '', ...args] =
    platform === 'win32' ? wordsOf(editor) : ['sh', '-c', `${editor} "$1"`, 'sh'];
  const child = startProgram(command, [...args, path], { stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  if (code !== 0)
    throw new TerminalError(
      'usage',
      `The editor "${editor}" ended with an error, so nothing was taken. VISUAL and EDITOR name another one.`,
    );
}

/** The program and its arguments, in quotes where they have blanks. The path of a program alone needs none. */
function wordsOf(editor: string): readonly string[] {
  if (existsSync(editor)) return [editor];
  return [...editor.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word);
}
