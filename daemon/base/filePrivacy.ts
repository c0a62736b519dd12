import { realpath } from 'node:fs/promises';
import { basename, isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createExcludes, type Excludes } from './globs.ts';

/** Why the text of a file goes nowhere unless the user names the file. */
export type Privacy = 'secret' | 'excluded';

/** Whether the file at a path, or the one that it links to, is private. The path need not be absolute. */
export type FindPrivacy = (path: string) => Promise<Privacy | undefined>;

/** In characters. No system opens files with a longer path. The limit also bounds the work of the globs. */
export const maxPath = 4_096;

/** `exclude` returns the globs in the current configuration. */
export function createFindPrivacy(exclude: () => readonly string[]): FindPrivacy {
  let compiled: { readonly globs: readonly string[]; readonly excludes: Excludes } | undefined;
  const excludes = (path: string) => {
    const globs = exclude();
    if (compiled?.globs !== globs) compiled = { globs, excludes: createExcludes(globs) };
    return compiled.excludes(path);
  };
  return async (path) => {
    if (path.length > maxPath) return 'secret';
    // A link leads to a file with another name. A document that is not on the disk has only its own name.
    const paths = isAbsolute(path) ? [path, await realpath(path).catch(() => path)] : [path];
    if (looksSecret(...paths)) return 'secret';
    return paths.some(excludes) ? 'excluded' : undefined;
  };
}

/**
 * The path in an address of any scheme; undefined if it is no address. A cell of a notebook has the notebook's path.
 */
export function tryPathOf(uri: string): string | undefined {
  const rest = /^[a-z][a-z0-9+.-]*:([^?#]*)/i.exec(uri)?.[1];
  if (rest === undefined) return undefined;
  try {
    if (rest.startsWith('//')) return fileURLToPath(`file:${rest}`);
  } catch {
    // It is not a path of this system, but its names count all the same.
  }
  return decoded(rest.replace(/^\/\/[^/]*/, ''));
}

/** A part of an address without its escapes, or unchanged if the escapes are broken. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

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
