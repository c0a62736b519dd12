import { realpath } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import { looksSecret } from '../secretFiles.ts';
import { createExcludes, type Excludes } from './globs.ts';

/** Whose text is the user's own work: files, what is not saved yet, and the cells of notebooks. */
const schemes = ['file', 'untitled', 'vscode-notebook-cell'] as const;

/** For the documents that are asked about, where the editor takes a registration. */
export const documentSelector: readonly { readonly scheme: string }[] = schemes.map((scheme) => ({ scheme }));

/** Whether a document may be sent to a runner; the reason why not, or undefined. */
export type WhyNotSendable = (uri: string) => Promise<string | undefined>;

/** `exclude` are the globs of the configuration, as they are now. */
export function createSendable(exclude: () => readonly string[]): WhyNotSendable {
  let compiled: { readonly globs: readonly string[]; readonly excludes: Excludes } | undefined;
  const excludes = (path: string) => {
    const globs = exclude();
    if (compiled?.globs !== globs) compiled = { globs, excludes: createExcludes(globs) };
    return compiled.excludes(path);
  };
  return async (uri) => {
    const path = tryPath(uri);
    if (path === undefined) return 'it is no file of the user';
    // A link leads to a file with another name; what is not on the disk has only its own.
    const paths = isAbsolute(path) ? [path, await realpath(path).catch(() => path)] : [path];
    if (looksSecret(...paths)) return 'it looks like a secret';
    if (paths.some(excludes)) return 'it is excluded by the settings';
    return undefined;
  };
}

/** The path in an address of one of our schemes; of a notebook's cell that of the notebook. */
function tryPath(uri: string): string | undefined {
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9+.-]*):([^?#]*)/i.exec(uri) ?? [];
  if (!(schemes as readonly string[]).includes(scheme.toLowerCase())) return undefined;
  try {
    if (rest.startsWith('//')) return fileURLToPath(`file:${rest}`);
  } catch {
    // It is no path of this system; its names are looked at all the same.
  }
  return decoded(rest.replace(/^\/\/[^/]*/, ''));
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
