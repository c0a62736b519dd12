import { realpath } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import { looksSecret } from '../secretFiles.ts';
import { createExcludes, type Excludes } from './globs.ts';
import type { Surroundings } from './surroundings.ts';
import { isClosersOrBlank, isInsideWord } from './syntax.ts';

/** The user's own work: files, unsaved documents, and the cells of notebooks. */
const schemes = ['file', 'untitled', 'vscode-notebook-cell'] as const;

/** The documents for which editors with dynamic registration ask for completion. */
export const documentSelector: readonly { readonly scheme: string }[] = schemes.map((scheme) => ({ scheme }));

/** The reason why a document must not be sent to a runner; undefined if it may be sent. */
export type WhyNotSendable = (uri: string) => Promise<string | undefined>;

/** In characters. No system opens files with a longer path. The limit also bounds the work of the globs. */
const maxPath = 4_096;

/** `exclude` returns the globs in the current configuration. */
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
    // A link leads to a file with another name. A document that is not on the disk has only its own name.
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

/** The most bytes of a document. Hardly anybody writes a larger one by hand. */
const maxBytes = 10 * 1024 * 1024;

/** Counts bytes only if the number of characters leaves a doubt. */
export function isTooLarge(text: string): boolean {
  return text.length > maxBytes || (text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes);
}

/**
 * If more code than this follows on the line, a suggestion that nobody asked for would be in the way, in characters.
 */
const maxFollowing = 8;

/** The reason why a place is not worth a request; undefined if it is. */
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

/** Within a surrogate pair, or before a mark or a joiner that belongs to the character before it. */
function isInsideCharacter(prefix: string, suffix: string): boolean {
  return (
    (/[\uD800-\uDBFF]$/.test(prefix.slice(-1)) && /^[\uDC00-\uDFFF]/.test(suffix)) ||
    /^[\p{M}\p{Emoji_Modifier}\u200D]/u.test(suffix) ||
    prefix.endsWith('\u200D')
  );
}

/** The number of characters that are neither blanks nor closers. */
function codeLength(line: string): number {
  return [...line].filter((character) => !isClosersOrBlank(character)).length;
}
