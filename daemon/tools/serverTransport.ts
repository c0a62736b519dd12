import type { Transport } from '@modelcontextprotocol/client';
import { cutText } from '../../protocol/base/text.ts';
import type { Log } from '../base/log.ts';
import { LineLimit, plainText } from '../base/programOutput.ts';
import { createHttpTransport, type HttpTransportOptions } from './httpTransport.ts';
import { type ServerEntry, type StartPlace, startFolder } from './serverEntry.ts';
import { StdioTransport, type StdioTransportOptions } from './stdioTransport.ts';

export type StartableEntry = Extract<ServerEntry, { readonly kind: 'stdio' | 'http' }>;

/** The server starts at the place if its entry names no folder. */
export interface ServerTransportOptions
  extends Omit<HttpTransportOptions, 'entry'>,
    Pick<StdioTransportOptions, 'groups' | 'platform'>,
    StartPlace {
  readonly entry: StartableEntry;
  /** Removes secrets, those of the entry among them. */
  readonly redact: (text: string) => string;
  readonly log: Log;
}

/** A transport to the server's process or address, which was not started yet. */
export function createServerTransport(options: ServerTransportOptions): Transport {
  const { entry, env, platform, groups, log } = options;
  if (entry.kind === 'http') return createHttpTransport({ ...options, entry });
  const { command, args } = entry;
  let isNoisy = false;
  return new StdioTransport({
    command,
    args,
    platform,
    groups,
    cwd: startFolder(entry, options),
    env: { ...inheritedEnv(env, platform), ...entry.env },
    ...createErrorLog(options),
    onNoise: () => {
      if (!isNoisy)
        log.warn(
          `The tool server ${entry.name} writes something other than messages to its standard output.`,
        );
      isNoisy = true;
    },
  });
}

/** How the process of a server has ended, as a clause; undefined while it runs, and for a server at an address. */
export function howItEnded(transport: Transport | undefined): string | undefined {
  return transport instanceof StdioTransport ? transport.how : undefined;
}

/** Logs standard error. Of a flood, the lines are only counted. */
function createErrorLog({ entry, log, redact, now }: ServerTransportOptions) {
  const limit = new LineLimit(now);
  let last: string | undefined;
  return {
    onErrorLine(line: string): void {
      const leftOut = limit.reopen();
      if (leftOut > 0) log.debug(`${entry.name}: ${leftOut} lines were left out.`);
      if (!limit.take()) return;
      const text = plainText(redact(line));
      log.debug(`${entry.name}: ${text}`);
      last = text.trim() || last;
    },
    lastWords: () => (last === undefined ? undefined : cutText(last, maxLastWords)),
  };
}

/** How much of a server's last line an error quotes, in characters. */
const maxLastWords = 200;

const inherited = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TERM', 'LANG', 'TMPDIR'];
/** Programs on Windows do not start without these. */
const inheritedOnWindows = [
  'APPDATA',
  'COMSPEC',
  'HOMEDRIVE',
  'HOMEPATH',
  'LOCALAPPDATA',
  'PATH',
  'PATHEXT',
  'PROCESSOR_ARCHITECTURE',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'PROGRAMFILES(X86)',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'TEMP',
  'TMP',
  'USERNAME',
  'USERPROFILE',
  'WINDIR',
];

/**
 * What a tool server, or a check, inherits of the daemon's environment: where things are and who the user is, but no
 * secrets.
 */
export function inheritedEnv(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): NodeJS.ProcessEnv {
  const names = new Set(platform === 'win32' ? [...inherited, ...inheritedOnWindows] : inherited);
  const isInherited = (name: string) =>
    names.has(platform === 'win32' ? name.toUpperCase() : name) || name.startsWith('LC_');
  return Object.fromEntries(Object.entries(env).filter(([name]) => isInherited(name)));
}
