/** A program that asks an owner for access. */
export interface OAuthClient {
  /** The `client_id`: the address of its metadata document, or the name that its registration gave it. */
  readonly id: string;
  /** The client's own name, which nobody has checked. */
  readonly name: string | null;
  /** Its home page, according to the client. */
  readonly uri: string | null;
  /** Absolute, as the client wrote them. */
  readonly redirectUris: readonly string[];
  /** How the service learned of it: from its metadata document, by its registration, or by `client add`. */
  readonly source: 'document' | 'registration' | 'operator';
}

/** In characters, as people count them. */
const maxNameLength = 100;

/**
 * The name that a client gives itself, without anything that could change how the page around it reads: control
 * characters, invisible ones, and those that change the writing direction. Null if nothing is left.
 */
export function tryClientName(text: unknown): string | null {
  if (typeof text !== 'string') return null;
  const plain = text
    .slice(0, 10 * maxNameLength)
    .normalize('NFC')
    .replace(/[\t-\r\u0085\u2028\u2029\p{Zs}]+/gu, ' ')
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}]/gu, '')
    .trim();
  // A letter can carry any number of marks, which would be drawn all over the page.
  const letters = [...new Intl.Segmenter('en').segment(plain)].map(({ segment }) =>
    [...segment].slice(0, 8).join(''),
  );
  const name =
    letters.length > maxNameLength ? `${letters.slice(0, maxNameLength - 1).join('')}…` : letters.join('');
  return /[\p{L}\p{N}\p{S}\p{P}]/u.test(name) ? name : null;
}
