/** Shorter texts are not treated as secrets, because they would be found everywhere. In UTF-16 units. */
const shortest = 4;

export type Redaction = ReturnType<typeof createRedaction>;

/** Finds secrets in texts, in every form in which they may be written, in linear time. */
export function createRedaction() {
  const forms = new Map<string, Form>();
  const wanted = new Map<number, readonly Form[]>();
  const formsAtLeast = (length: number) => {
    const known =
      wanted.get(length) ?? [...forms.values()].filter(({ secretLength }) => secretLength >= length);
    wanted.set(length, known);
    return known;
  };
  return {
    add(secret: string): void {
      for (const form of formsOf(secret)) if (form.text.length >= shortest) forms.set(keyOf(form), form);
      wanted.clear();
    },
    /** Removes the known secrets that are at least this long. */
    redactKnown: (text: string, atLeast: number) => maskRanges(text, rangesIn(text, formsAtLeast(atLeast))),
    /** The same for a text that comes in pieces. */
    stream: (atLeast: number) => createStreamRedaction(() => formsAtLeast(atLeast)),
    /** Removes known secrets (also one cut off at the end of the text) and anything that looks like a credential. */
    redact(text: string): string {
      const known = formsAtLeast(shortest);
      return redactCredentials(maskRanges(text, [...rangesIn(text, known), ...cutRanges(text, known)]));
    },
  };
}

function keyOf({ text, ignoresCase }: Form): string {
  return `${ignoresCase} ${text}`;
}

function rangesIn(text: string, forms: readonly Form[]): readonly Range[] {
  const ranges: Range[] = [];
  for (const form of forms) {
    // Most texts hold no secret, and `includes` is the fastest way to find that out.
    if (!text.includes(form.ignoresCase ? '%' : form.text)) continue;
    const ends: number[] = [];
    readForm(form, text, { begun: 0, ends });
    for (const end of ends) ranges.push([end - form.text.length, end]);
  }
  return ranges;
}

/** A text that was cut, at its end or before "…", may end with the beginning of a secret. */
function cutRanges(text: string, forms: readonly Form[]): readonly Range[] {
  const dots = text.lastIndexOf('…');
  const ends = dots === -1 ? [text.length] : [text.length, dots];
  return ends.flatMap((end) => {
    const lengths = forms.map((form) => {
      const last = text.slice(0, end).slice(-form.text.length);
      return readForm(form, last, { begun: 0, ends: [] });
    });
    const begun = Math.max(0, ...lengths);
    return begun < shortestBeginning ? [] : [[end - begun, end] as const];
  });
}

/** The words before a credential. The number of blanks is bounded, which keeps the search linear. */
const schemes = /\b(?:bearer|basic)\s{1,64}/gi;
const names =
  /\b(?:authorization|x-api-key|api[-_]?key|token|password)["']?\s{0,64}[:=]\s{0,64}["']?(?!bearer |basic )/gi;

/** Removes anything that looks like a credential. */
function redactCredentials(text: string): string {
  const withoutSchemes = maskAfter(text, schemes, /[^A-Za-z0-9._~+/=-]/g);
  return redactUsers(maskAfter(withoutSchemes, names, /[\s"',;&]/g));
}

/** Masks the text between each beginning and the first character that ends it. Nothing is read twice. */
function maskAfter(text: string, beginnings: RegExp, ends: RegExp): string {
  const ranges: Range[] = [];
  let masked = 0;
  for (const { 0: beginning, index } of text.matchAll(beginnings)) {
    const start = index + beginning.length;
    if (start < masked) continue;
    const end = firstOf(ends, text, start);
    if (end - start < shortest) continue;
    ranges.push([start, end]);
    masked = end;
  }
  return maskRanges(text, ranges);
}

/** The user and the password of an address: `https://user:word@host`. */
function redactUsers(text: string): string {
  const ranges: Range[] = [];
  for (let at = text.indexOf('://'); at !== -1; at = text.indexOf('://', at + 3)) {
    const end = firstOf(/[\s/@]/g, text, at + 3);
    if (text[end] === '@' && end > at + 3 && text[at + 3] !== ':') ranges.push([at + 3, end]);
  }
  return maskRanges(text, ranges);
}

/** The index of the first such character, or the end of the text. */
function firstOf(characters: RegExp, text: string, from: number): number {
  characters.lastIndex = from;
  return characters.exec(text)?.index ?? text.length;
}

/** A shorter beginning of a secret at a cut is not treated as one. In UTF-16 units. */
const shortestBeginning = 6;

/**
 * Removes secrets from a text that comes in pieces. The result does not depend on how the text is split. Text that may
 * be the beginning of a secret is withheld until that is decided.
 */
export interface StreamRedaction {
  /** Returns the text that can be shown now. */
  add(piece: string): string;
  /**
   * Called before something else is shown: only what is probably the beginning of a secret stays withheld. If the text
   * then continues with the rest of a secret, that rest is masked.
   */
  pause(): string;
  /** Called when no text follows. */
  end(): string;
}

/** `forms` may grow over time. */
function createStreamRedaction(forms: () => readonly Form[]): StreamRedaction {
  /** How many characters at the end of the text are the beginning of a form. */
  const begun = new Map<Form, number>();
  let longestBegun = 0;
  let withheld = '';
  /** Offsets in the withheld text. */
  let ranges: Range[] = [];
  /** Whether the text that was released last ends with a mask. */
  let endsMasked = false;

  const read = (piece: string) => {
    longestBegun = 0;
    for (const form of forms()) {
      const ends: number[] = [];
      const after = readForm(form, piece, { begun: begun.get(form) ?? 0, ends });
      for (const end of ends.map((at) => withheld.length + at))
        ranges.push([Math.max(0, end - form.text.length), end]);
      begun.set(form, after);
      longestBegun = Math.max(longestBegun, after);
    }
    withheld += piece;
  };

  const release = (length: number): string => {
    if (length <= 0) return '';
    const text = withheld.slice(0, length);
    withheld = withheld.slice(length);
    if (ranges.length === 0 && !endsMasked) return text;
    const here = ranges.filter(([start]) => start < length);
    const masked = maskRanges(text, here);
    const goesOn = endsMasked && here.some(([start]) => start === 0);
    endsMasked = here.some(([, end]) => end >= length);
    ranges = ranges
      .filter(([, end]) => end > length)
      .map(([start, end]) => [Math.max(0, start - length), end - length]);
    return goesOn ? masked.slice(mask.length) : masked;
  };

  return {
    add(piece) {
      read(piece);
      return release(withheld.length - longestBegun);
    },
    pause: () => (longestBegun < shortestBeginning ? release(withheld.length) : ''),
    end: () => release(withheld.length),
  };
}

/** One way to write a secret. */
interface Form {
  readonly text: string;
  /** Whether the case of ASCII letters is ignored; then `text` is in lower case. */
  readonly ignoresCase: boolean;
  /** The length of the secret itself. */
  readonly secretLength: number;
  /** By the length of a beginning of the form: the length of its longest proper end that is also a beginning. */
  readonly restarts: Int32Array;
}

/** The secret as it is, in JSON, in JSON within JSON, in Go's JSON, in base64, and in an address. */
function formsOf(secret: string): readonly Form[] {
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
function readForm(
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
const mask = '***';

export type Range = readonly [start: number, end: number];

/** Replaces each range with the mask. Ranges that touch or overlap are one. */
function maskRanges(text: string, ranges: readonly Range[]): string {
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
