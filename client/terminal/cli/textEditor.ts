import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
  const editor = env['VISUAL'] || env['EDITOR'] || (platform === 'win32' ? 'notepad' : 'vi');
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
  const [command, args] =
    platform === 'win32' ? [`${editor} "${path}"`, []] : ['sh', ['-c', `${editor} "$1"`, 'sh', path]];
  const child = spawn(command, args, { stdio: 'inherit', shell: platform === 'win32' });
  const [code] = await once(child, 'exit');
  if (code !== 0)
    throw new TerminalError(
      'usage',
      `The editor "${editor}" ended with an error, so nothing was taken. VISUAL and EDITOR name another one.`,
    );
}
