import { startProgram, systemProgram } from '../../../protocol/base/platform/program.ts';
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

type Environment = Readonly<Record<string, string | undefined>>;
