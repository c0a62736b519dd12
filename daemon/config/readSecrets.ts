import type { Log } from '../log.ts';
import { readSecretsDescriptor, readUserAuth } from './secretSources.ts';
import type { SecretStore } from './secrets.ts';
import type { UserAuth } from './userConfig.ts';

export interface ReadSecretsOptions {
  readonly store: SecretStore;
  /** The address of the default server, which an entry without an origin is for. */
  readonly url: string;
  readonly log: Log;
  /** Those of the user's own configuration. */
  readonly auth: readonly UserAuth[];
  /** The descriptor of `--secrets-fd`; with it, nothing else is read. */
  readonly fd?: number;
}

/** Fills the store from the descriptor, or without one from what the user's own configuration names. */
export async function readSecrets({ store, url, log, auth, fd }: ReadSecretsOptions): Promise<void> {
  if (fd !== undefined) {
    return readSecretsDescriptor(fd, {
      set: (line) => store.set(line),
      onProblem: (problem) => log.warn(problem),
    });
  }
  try {
    for (const source of auth) {
      for (const line of await readUserAuth(source, new URL(url).origin)) store.set(line);
    }
  } catch (error) {
    log.warn(error instanceof Error ? error.message : String(error));
  }
}
