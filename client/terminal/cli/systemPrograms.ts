import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { thisPlatform } from '../../../protocol/base/platform/folders.ts';
import { startProgram, systemProgram } from '../../../protocol/base/platform/program.ts';
import { messageOf, showLine } from '../../../protocol/base/text.ts';
import { usageError } from './failure.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Hands a text to the clipboard of the system. False if no program there takes it. */
export async function copyText(text: string, platform: NodeJS.Platform, env: Environment): Promise<boolean> {
  for (const program of clipboardPrograms(platform, env)) if (await feed(program, text)) return true;
  return false;
}

/** The programs that may be there, with their arguments. Over SSH, the clipboard is that of another machine. */
export function clipboardPrograms(
  platform: NodeJS.Platform,
  env: Environment,
): readonly (readonly [string, ...string[]])[] {
  if (env['SSH_CONNECTION']) return [];
  // Without a language, as in an editor that the Dock has started, `pbcopy` would not read UTF-8.
  if (platform === 'darwin') return [['env', 'LC_CTYPE=UTF-8', 'pbcopy']];
  if (platform === 'win32') {
    const powershell = systemProgram('WindowsPowerShell\\v1.0\\powershell.exe', env);
    return [[powershell, '-NoProfile', '-NonInteractive', '-Command', takeUnicode]];
  }
  return [
    ...(env['WAYLAND_DISPLAY'] ? [['wl-copy'] as const] : []),
    ...(env['DISPLAY']
      ? [['xclip', '-selection', 'clipboard'] as const, ['xsel', '--input', '--clipboard'] as const]
      : []),
  ];
}

/** `clip.exe` would read the text in the code page of the console. */
const takeUnicode =
  '[Console]::InputEncoding = New-Object Text.UTF8Encoding; Set-Clipboard -Value ([Console]::In.ReadToEnd())';

/** Resolves with whether the program has taken all of it. Some stay alive to serve the clipboard, in the background. */
function feed([command, ...args]: readonly [string, ...string[]], text: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = startProgram(command, args, { stdio: ['pipe', 'ignore', 'ignore'] });
    child.on('error', () => resolve(false));
    child.on('exit', (code) => resolve(code === 0));
    child.stdin?.on('error', () => resolve(false));
    child.stdin?.end(text);
  });
}

/** In characters of base64; xterm takes no more. */
const maxSequence = 74_994;

/** The control sequence (OSC 52) that puts a text into the clipboard of the terminal, also over SSH. */
export function clipboardSequence(text: string): string {
  const encoded = Buffer.from(text).toString('base64');
  return encoded.length > maxSequence ? '' : `\u001b]52;c;${encoded}\u0007`;
}

/** Opens an address in the user's browser, if there is one on this machine. The outcome is not known. */
export function openAddress(url: string, platform: NodeJS.Platform, env: Environment): void {
  const opener = openerOf(url, platform, env);
  if (!opener) return;
  const [command, ...args] = opener;
  const child = startProgram(command, args, { detached: true, stdio: 'ignore' });
  child.on('error', () => undefined);
  child.unref();
}

/**
 * The program and its arguments; no shell reads the address. Undefined without a screen, where `xdg-open` might start a
 * browser in the terminal itself.
 */
export function openerOf(
  url: string,
  platform: NodeJS.Platform,
  env: Environment,
): readonly [string, ...string[]] | undefined {
  if (!/^https?:\/\//.test(url) || env['SSH_CONNECTION']) return undefined;
  if (platform === 'darwin') return ['open', url];
  // What `start` does, without the shell that `start` is a word of.
  if (platform === 'win32') return [systemProgram('rundll32.exe', env), 'url.dll,FileProtocolHandler', url];
  return env['DISPLAY'] || env['WAYLAND_DISPLAY'] ? ['xdg-open', url] : undefined;
}

/**
 * Lets the user change a text in their own editor: `VISUAL`, else `EDITOR`, else that of the system. Both may have
 * arguments, as in `code --wait`. The text stands in a file of the user alone until the editor ends.
 * @throws {TerminalError} of the kind `usage`, if the editor does not start or fails.
 */
export async function editText(text: string, platform: NodeJS.Platform, env: Environment): Promise<string> {
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
    throw usageError(
      `The editor "${editor}" ended with an error, so nothing was taken. VISUAL and EDITOR name another one.`,
    );
}

/** The program and its arguments, in quotes where they have blanks. The path of a program alone needs none. */
function wordsOf(editor: string): readonly string[] {
  if (existsSync(editor)) return [editor];
  return [...editor.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word);
}

export interface ShellResult {
  readonly ended: string;
  readonly text: string;
}

/** More of an output is shown, but not kept. In characters. */
const maxKept = 512 * 1024;

/**
 * Runs a command of the user's own, which no model has chosen, in their shell (`SHELL`), which has the keyboard
 * meanwhile. `show` gets its output as it comes. Returns how it ended, such as `exit code 1`, and all that it has
 * written, without escape sequences.
 * @throws {TerminalError} of the kind `usage`, if the shell does not start.
 */
export async function runInShell(
  command: string,
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
  show: (piece: string) => void,
): Promise<ShellResult> {
  const [shell, ...words] =
    thisPlatform === 'win32'
      ? [systemProgram('cmd.exe', env), '/d', '/s', '/c', command]
      : [env['SHELL'] || '/bin/sh', '-c', command];
  const child = startProgram(shell ?? '', words, { cwd, env, stdio: ['inherit', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (piece: string) => {
      output = (output + piece).slice(-maxKept);
      show(piece);
    });
  try {
    const [code, signal] = await once(child, 'close');
    const text = stripVTControlCharacters(output).replace(/\r\n?/g, '\n').trimEnd();
    return { ended: signal === null ? `exit code ${code}` : `ended by ${signal}`, text };
  } catch (error) {
    const message = `The shell ${shell} cannot be started in ${cwd}: ${messageOf(error)}.`;
    throw usageError(showLine(message), { cause: error });
  }
}
