import { createEmitter, type Event } from '../event.ts';
import type { Log } from '../log.ts';
import type { SecretStore } from './secrets.ts';
import type { UserAuth } from './userConfig.ts';

/** Where secrets come from, and where they go. */
export interface SecretSources {
  readonly store: SecretStore;
  /** The address of the default server, which an entry without an origin is for. */
  readonly url: string;
  /** Those of the user's own configuration. */
  readonly auth: readonly UserAuth[];
  readonly log: Log;
}

/** The secrets as requests get them: those that are there at the start are waited for. */
export interface SecretReading {
  /** The address of the default server is known, so that reading can begin. */
  start(url: string): void;
  /** The headers for a request to this address. */
  headersFor(url: string): Promise<Readonly<Record<string, string>>>;
  /** A secret came after those of the start. */
  readonly onDidChange: Event<void>;
}

export function createSecretReading(store: SecretStore, read: (url: string) => Promise<void>): SecretReading {
  const changed = createEmitter<void>();
  let atStart = Promise.resolve();
  return {
    onDidChange: changed.event,
    start(url) {
      atStart = read(url).then(() => store.onDidSet(changed.fire));
    },
    async headersFor(url) {
      await atStart;
      return store.headersFor(url);
    },
  };
}
