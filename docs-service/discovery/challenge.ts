/** The longest header that is read. */
const longest = 8_192;

/**
 * The parameters of the first `Bearer` challenge of a WWW-Authenticate header (RFC 9110), by their names in lower case;
 * undefined if there is none.
 */
export function tryBearerChallenge(header: string | null): ReadonlyMap<string, string> | undefined {
  if (header === null || header.length > longest) return undefined;
  const words = tokensOf(header);
  const start = words.findIndex(({ kind, text }) => kind === 'scheme' && text.toLowerCase() === 'bearer');
  if (start === -1) return undefined;
  const found = new Map<string, string>();
  for (const word of words.slice(start + 1)) {
    if (word.kind === 'scheme') break;
    if (!found.has(word.name)) found.set(word.name, word.text);
  }
  return found;
}

type Word =
  | { readonly kind: 'scheme'; readonly text: string }
  | { readonly kind: 'parameter'; readonly name: string; readonly text: string };

/** One pass over the characters: a name followed by `=` is a parameter, any other is a scheme. */
function tokensOf(header: string): readonly Word[] {
  const words: Word[] = [];
  const pattern =
    /([!#$%&'*+.^_`|~\w-]+)(?:\s?=\s?(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*)))?|[^!#$%&'*+.^_`|~\w-]/gy;
  for (const [, name, quoted, bare] of header.matchAll(pattern)) {
    if (name === undefined) continue;
    if (quoted === undefined && bare === undefined) words.push({ kind: 'scheme', text: name });
    else {
      const text = quoted?.replace(/\\(.)/g, '$1') ?? bare ?? '';
      words.push({ kind: 'parameter', name: name.toLowerCase(), text });
    }
  }
  return words;
}
