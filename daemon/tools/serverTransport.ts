import type { Transport } from '@modelcontextprotocol/client';
import type { Log } from '../base/log.ts';
import { LineLimit, plainText } from '../base/programOutput.ts';
import { cutText } from './cutText.ts';
import { createHttpTransport } from './httpTransport.ts';
import { inheritedEnv } from './inheritedEnv.ts';
import type { AccessTokens } from './oauth/accessTokens.ts';
import type { ProcessGroups } from './processGroups.ts';
import type { ServerEntry } from './serverEntry.ts';
import { startFolder } from './startFolder.ts';
import { StdioTransport } from './stdioTransport.ts';

export type StartableEntry = Exclude<ServerEntry, { readonly kind: 'disabled' | 'wrong' }>;

export interface ServerTransportOptions {
  readonly entry: StartableEntry;
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  /** Where it starts if its entry names no folder. */
  readonly root: string | undefined;
  readonly groups: ProcessGroups;
  readonly headersFor: (url: string) => Promise<Readonly<Record<string, string>>>;
  readonly tokens: AccessTokens;
  /** Without secrets, those of its entry among them. */
  readonly redact: (text: string) => string;
  readonly log: Log;
  readonly now: () => number;
}

/** A way to a server that was not started yet: a process, or an address. */
export function createServerTransport(options: ServerTransportOptions): Transport {
  const { entry, env, platform, groups, headersFor, now, log, tokens } = options;
  if (entry.kind === 'http') {
    const { url, headers } = entry;
    const login = {
      token: (signal: AbortSignal) => tokens.tokenFor(entry, signal),
      renew: (refused: string, signal: AbortSignal) => tokens.renew(entry, refused, signal),
    };
    return createHttpTransport({ url, headers, headersFor, login, now });
  }
  const { command, args } = entry;
  let isNoisy = false;
  const errors = createErrorLog(options);
  return new StdioTransport({
    ...{ command, args, platform, groups },
    cwd: startFolder(entry, options),
    env: { ...inheritedEnv(env, platform), ...entry.env },
    onErrorLine: errors.write,
    lastWords: errors.lastWords,
    onNoise: () => {
      if (!isNoisy)
        log.warn(
          `The tool server ${entry.name} writes something other than messages to its standard output.`,
        );
      isNoisy = true;
    },
  });
}

/** How a server has ended, as a clause, where it is a process that has. */
export function howItEnded(transport: Transport | undefined): string | undefined {
  return transport instanceof StdioTransport ? transport.how : undefined;
}

/** Standard error is log, and a flood of it is counted. */
function createErrorLog({ entry, log, redact, now }: ServerTransportOptions) {
  const limit = new LineLimit(now);
  let last: string | undefined;
  return {
    write(line: string): void {
      const leftOut = limit.reopen();
      if (leftOut > 0) log.debug(`${entry.name}: ${leftOut} lines were left out.`);
      if (!limit.take()) return;
      const text = plainText(redact(line));
      log.debug(`${entry.name}: ${text}`);
      if (text.trim() !== '') last = text;
    },
    lastWords: () => (last === undefined ? undefined : cutText(last.trim(), maxLastWords)),
  };
}

/** So much of a line that a server wrote stands in an error, in characters. */
const maxLastWords = 200;
