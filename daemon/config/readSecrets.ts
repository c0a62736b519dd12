import type { SecretSources } from './secretReading.ts';
import { readSecretsDescriptor, readUserAuth } from './secretSources.ts';

export interface ReadSecretsOptions extends SecretSources {
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
