import { startProgram, systemProgram } from '../../../protocol/base/platform/program.ts';

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
