import { type FindPrivacy, maxPath, type Privacy, tryPathOf } from '../base/filePrivacy.ts';
import type { CursorContext } from './cursorContext.ts';
import { isClosersOrBlank, isInsideWord } from './syntax.ts';

/** The user's own work: files, unsaved documents, and the cells of notebooks. */
const schemes = ['file', 'untitled', 'vscode-notebook-cell'] as const;

/** The documents for which editors with dynamic registration ask for completion. */
export const documentSelector: readonly { readonly scheme: string }[] = schemes.map((scheme) => ({ scheme }));

/** The reason why a document must not be sent to a runner; undefined if it may be sent. */
export type WhyNotSendable = (uri: string) => Promise<string | undefined>;

const reasons: Readonly<Record<Privacy, string>> = {
  secret: 'it looks like a secret',
  excluded: 'it is excluded',
};

export function createSendable(findPrivacy: FindPrivacy): WhyNotSendable {
  return async (uri) => {
    const path = isOfUser(uri) ? tryPathOf(uri) : undefined;
    if (path === undefined) return 'it is not a file of the user';
    if (path.length > maxPath) return 'its path is too long';
    const privacy = await findPrivacy(path);
    return privacy && reasons[privacy];
  };
}

function isOfUser(uri: string): boolean {
  return schemes.some((scheme) => uri.toLowerCase().startsWith(`${scheme}:`));
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
  { prefix, suffix, lineSuffix }: CursorContext,
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
