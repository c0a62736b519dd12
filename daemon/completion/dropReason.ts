import { isClosersOrBlank } from './closers.ts';
import type { Surroundings } from './surroundings.ts';

/** Bytes of a document; what is larger is hardly written by hand. */
const maxBytes = 10 * 1024 * 1024;
/** How much code may follow on the line before a suggestion that nobody asked for is in the way, in characters. */
const maxFollowing = 8;

/** Bytes are counted only where the characters leave a doubt. */
export function isTooLarge(text: string): boolean {
  return text.length > maxBytes || (text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes);
}

/** Why nothing is asked for at this place, or undefined where it is worth a request. */
export function dropReason(
  { prefix, suffix, lineSuffix }: Surroundings,
  isInvoked: boolean,
): string | undefined {
  if (isInsideCharacter(prefix, suffix)) return 'the cursor is inside of a character';
  if (isInsideWord(prefix, suffix)) return 'the cursor is inside of a word';
  if (!isInvoked && codeLength(lineSuffix) > maxFollowing) return 'too much follows on the line';
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

function isInsideWord(prefix: string, suffix: string): boolean {
  return /[\p{L}\p{M}\p{N}_$]$/u.test(prefix.slice(-2)) && /^[\p{L}\p{M}\p{N}_$]/u.test(suffix.slice(0, 2));
}

/** Without blanks and closers. */
function codeLength(line: string): number {
  return [...line].filter((character) => !isClosersOrBlank(character)).length;
}
