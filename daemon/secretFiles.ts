import { basename } from 'node:path';

/** The names in docs/PROTOCOL.md of files that hold secrets, in any case. */
const secretName =
  /^(\.env.*|.*\.(pem|key|p12|pfx)|id_rsa.*|id_ed25519.*|\.npmrc|\.netrc|\.pgpass|credentials.*|secrets\..*)$/i;

/**
 * Whether a file looks like a secret, and is never sent anywhere: by its own name, or by that of the file to which it
 * leads.
 */
export function looksSecret(...paths: readonly string[]): boolean {
  return paths.some((path) => secretName.test(basename(path)));
}
