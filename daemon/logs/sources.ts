import { posix, win32 } from 'node:path';

/** The places where a runner's log may be. They are tried in order; the first one with lines is followed. */
export type LogSource =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'journal' }
  | { readonly kind: 'docker' };

export interface SourcesOptions {
  readonly platform: NodeJS.Platform;
  readonly env: NodeJS.ProcessEnv;
  /** Used if the environment names no home. */
  readonly homedir: string;
}

/** The places of each platform's usual installations. A container may run on any platform. */
export function logSources({ platform, env, homedir }: SourcesOptions): readonly LogSource[] {
  const home = env['HOME'] || homedir;
  const docker: LogSource = { kind: 'docker' };
  if (platform === 'win32') {
    const local = env['LOCALAPPDATA'] || win32.join(homedir, 'AppData', 'Local');
    return [file(win32.join(local, 'Ollama', 'server.log')), docker];
  }
  const own = file(posix.join(home, '.ollama', 'logs', 'server.log'));
  if (platform !== 'darwin') return [own, { kind: 'journal' }, docker];
  const homebrew = ['/opt/homebrew/var/log/ollama.log', '/usr/local/var/log/ollama.log'];
  return [own, ...homebrew.map(file), docker];
}

function file(path: string): LogSource {
  return { kind: 'file', path };
}

/** A sentence that says what to do if no source was found. */
export function adviceFor(platform: NodeJS.Platform): string {
  switch (platform) {
    case 'darwin':
      return 'Start the runner as the app or with "brew services start ollama", or read the terminal where "ollama serve" runs.';
    case 'win32':
      return 'Start the runner as the app, or read the terminal where "ollama serve" runs.';
    default:
      return 'Start the runner as a service, be in the group systemd-journal, or read the terminal where "ollama serve" runs.';
  }
}
