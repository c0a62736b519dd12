import { type AdvisedMessage, withAdvice } from '../base/errors.ts';
import { createEmitter } from '../base/event.ts';
import type { Log } from '../base/log.ts';
import type { SecretStore } from './secrets.ts';
import type { UserFile } from './userFile.ts';

export interface RequestSecretsOptions {
  readonly store: SecretStore;
  readonly read: (url: string) => Promise<void>;
  readonly userFile: Pick<UserFile, 'path' | 'clientHasSettings'>;
  readonly log: Log;
}

export type RequestSecrets = ReturnType<typeof createRequestSecrets>;

/** The secrets for requests, which wait until those of the start are read. */
export function createRequestSecrets({ store, read, userFile, log }: RequestSecretsOptions) {
  const logged = new Set<string>();
  const whyWithheld = (url: string) =>
    store.isWithheld(url) ? sayWithheld(new URL(url).origin, userFile) : undefined;
  const changed = createEmitter<void>();
  let atStart = Promise.resolve();
  return {
    /** A secret was set after the start. */
    onDidChange: changed.event,
    /** The address of the default server is known, so that reading can begin. */
    start(url: string): void {
      atStart = read(url).then(() => store.onDidSet(changed.fire));
    },
    /** The headers for a request to this address, whose server may just have asked for a user name and a password. */
    async headersFor(url: string, wantsPassword?: boolean): Promise<Readonly<Record<string, string>>> {
      await atStart;
      return store.headersFor(url, wantsPassword);
    },
    /** The same for a runner at this address. If they are withheld, the log says so once. */
    async runnerHeadersFor(url: string, wantsPassword?: boolean): Promise<Readonly<Record<string, string>>> {
      await atStart;
      const reason = whyWithheld(url)?.message;
      if (reason !== undefined && !logged.has(reason)) log.warn(reason, { code: 'token' });
      if (reason !== undefined) logged.add(reason);
      return store.runnerHeadersFor(url, wantsPassword);
    },
    /** Why a runner at this address does not get its token, and what to do about it; undefined if none is withheld. */
    whyWithheld,
  };
}

function sayWithheld(
  origin: string,
  { path, clientHasSettings }: RequestSecretsOptions['userFile'],
): AdvisedMessage {
  const way = clientHasSettings
    ? 'set the token again and allow it'
    : `add "origin": "${origin}" and "allowPlainHttp": true to its entry in "auth" of ${path}`;
  return withAdvice({
    code: 'use-https',
    problem: `The token for ${origin} is not sent over plain http to another machine.`,
    text: `Use https, or ${way}.`,
  });
}
