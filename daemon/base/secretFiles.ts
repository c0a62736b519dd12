import { basename } from 'node:path';

/** The file names that docs/PROTOCOL.md lists as secrets, in upper or lower case. */
const secretName =
  /^(\.env.*|.*\.(pem|key|p12|pfx)|id_rsa.*|id_ed25519.*|\.npmrc|\.netrc|\.pgpass|credentials.*|secrets\..*)$/i;

/**
 * Whether a file looks like a secret, which is never sent anywhere. Callers pass its own path and that of the file that
 * it links to.
 */
export function looksSecret(...paths: readonly string[]): boolean {
  return paths.some((path) => secretName.test(basename(path)));
}
