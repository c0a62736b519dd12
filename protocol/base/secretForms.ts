/** One way to write a secret. */
export interface Form {
  readonly text: string;
  /** Whether the case of ASCII letters is ignored; then `text` is in lower case. */
  readonly ignoresCase: boolean;
  /** The length of the secret itself. */
  readonly secretLength: number;
  /** By the length of a beginning of the form: the length of its longest proper end that is also a beginning. */
  readonly restarts: Int32Array;
}

/** The secret as it is, in JSON, in JSON within JSON, in Go's JSON, in base64, and in an address. */
export function formsOf(secret: string): readonly Form[] {
  const inJson = escapeJson(secret);
  const inGo = inJson.replace(/[<>&]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`);
  const texts = [secret, secret.trim(), inJson, escapeJson(inJson), inGo, escapeJson(inGo)];
  const inAddress = encodeURIComponent(Buffer.from(secret).toString());
  return [
    ...[...new Set([...texts, ...inBase64(secret)])].map((text) => createForm(text, { secret })),
    // The digits after a percent sign are written in both cases.
    ...(inAddress.includes('%') ? [createForm(inAddress.toLowerCase(), { secret, ignoresCase: true })] : []),
  ];
}

function escapeJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/**
 * Base64 in both alphabets, for each of the three offsets at which the secret may begin: three bytes become four
 * characters. A form holds only the characters that depend on nothing but the secret.
 */
function inBase64(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  return [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    const own = encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
    return [own, own.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

function createForm(
  text: string,
  { secret, ignoresCase = false }: { readonly secret: string; readonly ignoresCase?: boolean },
): Form {
  return { text, ignoresCase, secretLength: secret.length, restarts: restartsOf(text) };
}

function restartsOf(text: string): Int32Array {
  const restarts = new Int32Array(text.length + 1);
  for (let at = 1, length = 0; at < text.length; at += 1) {
    while (length > 0 && text[at] !== text[length]) length = restarts[length] ?? 0;
    if (text[at] === text[length]) length += 1;
    restarts[at + 1] = length;
  }
  return restarts;
}

/**
 * Reads a piece of a text. `begun` is how many characters before the piece are the beginning of the form. Returns that
 * number for the end of the piece, and adds to `ends` each offset in the piece at which the form ends. The forms are
 * found however the text is split, in linear time (Knuth, Morris and Pratt).
 */
export function readForm(
  { text, ignoresCase, restarts }: Form,
  piece: string,
  { begun, ends }: { readonly begun: number; readonly ends: number[] },
): number {
  let length = begun;
  for (let at = 0; at < piece.length; at += 1) {
    if (length === 0 && !ignoresCase) {
      at = piece.indexOf(text.charAt(0), at);
      if (at === -1) return 0;
    }
    const code = ignoresCase ? lowerCased(piece.charCodeAt(at)) : piece.charCodeAt(at);
    while (length > 0 && text.charCodeAt(length) !== code) length = restarts[length] ?? 0;
    if (text.charCodeAt(length) === code) length += 1;
    if (length < text.length) continue;
    ends.push(at + 1);
    length = restarts[length] ?? 0;
  }
  return length;
}

function lowerCased(code: number): number {
  return code >= 65 && code <= 90 ? code + 32 : code;
}

/** What replaces a secret. */
export const mask = '***';

export type Range = readonly [start: number, end: number];

/** Replaces each range with the mask. Ranges that touch or overlap are one. */
export function maskRanges(text: string, ranges: readonly Range[]): string {
  if (ranges.length === 0) return text;
  const parts: string[] = [];
  let done = 0;
  let masked = -1;
  for (const [start, end] of ranges.toSorted((a, b) => a[0] - b[0])) {
    if (start > masked) {
      parts.push(text.slice(done, start), mask);
      masked = start;
    }
    done = Math.max(done, end);
    masked = Math.max(masked, end);
  }
  return parts.join('') + text.slice(done);
}
