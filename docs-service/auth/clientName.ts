/** In characters, as people count them. */
const longest = 100;

/**
 * The name that a client gives itself, without anything that could change how the page around it reads: control
 * characters, invisible ones, and those that change the writing direction. Null if nothing is left.
 */
export function tryClientName(text: unknown): string | null {
  if (typeof text !== 'string') return null;
  const plain = text
    .slice(0, 10 * longest)
    .normalize('NFC')
    .replace(/[\t-\r\u0085\u2028\u2029\p{Zs}]+/gu, ' ')
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}]/gu, '')
    .trim();
  // A letter can carry any number of marks, which would be drawn all over the page.
  const letters = [...new Intl.Segmenter('en').segment(plain)].map(({ segment }) =>
    [...segment].slice(0, 8).join(''),
  );
  const name = letters.length > longest ? `${letters.slice(0, longest - 1).join('')}…` : letters.join('');
  return /[\p{L}\p{N}\p{S}\p{P}]/u.test(name) ? name : null;
}
