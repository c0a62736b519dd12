import { realpath } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import { looksSecret } from '../secretFiles.ts';
import { createExcludes, type Excludes } from './globs.ts';
import type { Surroundings } from './surroundings.ts';
import { isClosersOrBlank, isInsideWord } from './syntax.ts';

/** The user's own work: files, what is not saved yet, and the cells of notebooks. */
const schemes = ['file', 'untitled', 'vscode-notebook-cell'] as const;

/** These documents are asked about, in editors that take a registration. */
export const documentSelector: readonly { readonly scheme: string }[] = schemes.map((scheme) => ({ scheme }));

/** Why a document must not be sent to a runner, or undefined where it may. */
export type WhyNotSendable = (uri: string) => Promise<string | undefined>;

/** In characters. No system opens files with a longer path, and it bounds the work of the globs. */
const maxPath = 4_096;

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
    if (path === undefined) return 'it is not a file of the user';
    if (path.length > maxPath) return 'its path is too long';
    // A link leads to a file with another name. What is not on the disk has only its own.
    const paths = isAbsolute(path) ? [path, await realpath(path).catch(() => path)] : [path];
    if (looksSecret(...paths)) return 'it looks like a secret';
    if (paths.some(excludes)) return 'the settings exclude it';
    return undefined;
  };
}

/** The path in an address of one of our schemes. A cell of a notebook has the path of the notebook. */
function tryPath(uri: string): string | undefined {
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9+.-]*):([^?#]*)/i.exec(uri) ?? [];
  if (!(schemes as readonly string[]).includes(scheme.toLowerCase())) return undefined;
  try {
    if (rest.startsWith('//')) return fileURLToPath(`file:${rest}`);
  } catch {
    // It is no path of this system, but its names count all the same.
  }
  return decoded(rest.replace(/^\/\/[^/]*/, ''));
}

/** A part of an address without its escapes, or as it is where these are broken. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Bytes of a document. Hardly anybody writes a larger one by hand. */
const maxBytes = 10 * 1024 * 1024;

/** Counts bytes only where the number of characters leaves a doubt. */
export function isTooLarge(text: string): boolean {
  return text.length > maxBytes || (text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes);
}

/** How much code may follow on the line before a suggestion that nobody asked for is in the way, in characters. */
const maxFollowing = 8;

/** Why a place is not worth a request, or undefined where it is. */
export function dropReason(
  { prefix, suffix, lineSuffix }: Surroundings,
  isInvoked: boolean,
): string | undefined {
  if (isInsideCharacter(prefix, suffix)) return 'the cursor is inside a character';
  if (isInsideWord(prefix, suffix)) return 'the cursor is inside a word';
  if (!isInvoked && codeLength(lineSuffix) > maxFollowing) return 'too much code follows on the line';
  if (prefix.trim() === '' && suffix.trim() === '') return 'there is nothing around the cursor';
  return undefined;
}

/** Within a surrogate pair, or before a mark or a joiner that belongs to what stands before it. */
function isInsideCharacter(prefix: string, suffix: string): boolean {
  return (
    (/[\uD800-\uDBFF]$/.test(prefix.slice(-1)) && /^[\uDC00-\uDFFF]/.test(suffix)) ||
    /^[\p{M}\p{Emoji_Modifier}\u200D]/u.test(suffix) ||
    prefix.endsWith('\u200D')
  );
}

/** Without blanks and closers. */
function codeLength(line: string): number {
  return [...line].filter((character) => !isClosersOrBlank(character)).length;
}
