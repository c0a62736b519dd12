import { type AdvisedMessage, withAdvice } from '../base/errors.ts';
import { createEmitter, type Event } from '../base/event.ts';
import type { Log } from '../base/log.ts';
import type { SecretStore } from './secrets.ts';
import type { UserFile } from './userFile.ts';

/** The secrets for requests, which wait until those of the start are read. */
export interface RequestSecrets {
  /** The address of the default server is known, so that reading can begin. */
  start(url: string): void;
  /** The headers for a request to this address, whose server may just have asked for a user name and a password. */
  headersFor(url: string, wantsPassword?: boolean): Promise<Readonly<Record<string, string>>>;
  /** The same for a runner at this address. If they are withheld, the log says so once. */
  runnerHeadersFor(url: string, wantsPassword?: boolean): Promise<Readonly<Record<string, string>>>;
  /** Why a runner at this address does not get its token, and what to do about it; undefined if none is withheld. */
  whyWithheld(url: string): AdvisedMessage | undefined;
  /** A secret was set after the start. */
  readonly onDidChange: Event<void>;
}

export interface RequestSecretsOptions {
  readonly store: SecretStore;
  readonly read: (url: string) => Promise<void>;
  readonly userFile: Pick<UserFile, 'path' | 'clientHasSettings'>;
  readonly log: Log;
}

export function createRequestSecrets({ store, read, userFile, log }: RequestSecretsOptions): RequestSecrets {
  const logged = new Set<string>();
  const whyWithheld = (url: string) =>
    store.isWithheld(url) ? sayWithheld(new URL(url).origin, userFile) : undefined;
  const changed = createEmitter<void>();
  let atStart = Promise.resolve();
  return {
    onDidChange: changed.event,
    start(url) {
      atStart = read(url).then(() => store.onDidSet(changed.fire));
    },
    async headersFor(url, wantsPassword) {
      await atStart;
      return store.headersFor(url, wantsPassword);
    },
    async runnerHeadersFor(url, wantsPassword) {
      await atStart;
      const reason = whyWithheld(url)?.message;
      if (reason !== undefined && !logged.has(reason)) log.warn(reason, { code: 'token' });
      if (reason !== undefined) logged.add(reason);
      return store.runnerHeadersFor(url, wantsPassword);
    },
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
