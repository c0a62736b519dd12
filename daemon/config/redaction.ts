/** What stands in the place of a secret. */
const mask = '***';

/** A text that is shorter is no secret: it would be found everywhere. */
const shortest = 4;
/** The least of the beginning of a secret that is taken for it where a text was cut. */
const shortestCut = 6;

/** Finds secrets in texts, in every form in which a text may hold them; linear in the text. */
export interface Redaction {
  add(secret: string): void;
  /** The text without the known secrets that are at least so long. */
  redactKnown(text: string, atLeast: number): string;
  /** Without all that are known, also the beginning of one where the text was cut, and without what looks like a credential, whoever's it is. */
  redact(text: string): string;
}

interface Form {
  readonly text: string;
  /** Of the secret itself. */
  readonly length: number;
}

export function createRedaction(): Redaction {
  const forms = new Map<string, Form>();
  const mark = (text: string, atLeast: number, cut: boolean) => {
    if (forms.size === 0) return text;
    const wanted = [...forms.values()].filter(({ length }) => length >= atLeast);
    const whole = wanted.flatMap((form) => rangesOf(form.text, text));
    return maskRanges(text, cut ? [...whole, ...cutRanges(wanted, text)] : whole);
  };
  return {
    add(secret) {
      for (const text of formsOf(secret))
        if (text.length >= shortest) forms.set(text, { text, length: secret.length });
    },
    redactKnown: (text, atLeast) => mark(text, atLeast, false),
    redact: (text) => redactCredentials(mark(text, shortest, true)),
  };
}

/** As it is, in JSON, in JSON within JSON, as Go writes JSON, and in an address. */
function formsOf(secret: string): readonly string[] {
  const inJson = escapeJson(secret);
  const inGo = inJson.replace(/[<>&]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`);
  const inAddress = encodeURIComponent(Buffer.from(secret).toString());
  return [secret, secret.trim(), inJson, escapeJson(inJson), inGo, escapeJson(inGo), inAddress];
}

function escapeJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

type Range = readonly [start: number, end: number];

function rangesOf(form: string, text: string): readonly Range[] {
  const ranges: Range[] = [];
  for (let at = text.indexOf(form); at !== -1; at = text.indexOf(form, at + form.length))
    ranges.push([at, at + form.length]);
  return ranges;
}

/** Where a text was cut, at its end or before "…", it may end in the beginning of a secret. */
function cutRanges(forms: readonly Form[], text: string): readonly Range[] {
  const dots = text.lastIndexOf('…');
  const ends = dots === -1 ? [text.length] : [text.length, dots];
  return ends.flatMap((end) =>
    forms.flatMap((form) => {
      const length = cutLength(form.text, text, end);
      return length === 0 ? [] : [[end - length, end] as const];
    }),
  );
}

/** How much of the beginning of the form the text has before this place; linear in the form, which bounds it. */
function cutLength(form: string, text: string, end: number): number {
  for (let length = Math.min(form.length - 1, end); length >= shortestCut; length -= 1)
    if (text.startsWith(form.slice(0, length), end - length)) return length;
  return 0;
}

/** Ranges that touch or overlap are one. */
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

/** What stands before a credential; blanks are counted, so that the engine need not keep a place for each. */
const schemes = /\b(?:bearer|basic)\s{1,64}/gi;
const names =
  /\b(?:authorization|x-api-key|api[-_]?key|token|password)["']?\s{0,64}[:=]\s{0,64}["']?(?!bearer |basic )/gi;

/** What looks like a credential, whoever's it is. */
function redactCredentials(text: string): string {
  const withoutSchemes = maskAfter(text, schemes, /[^A-Za-z0-9._~+/=-]/g);
  return redactUsers(maskAfter(withoutSchemes, names, /[\s"',;&]/g));
}

/** Masks what stands between each beginning and the first character that ends it; nothing is read twice. */
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

/** The place of the first such character, or the end of the text. */
function firstOf(characters: RegExp, text: string, from: number): number {
  characters.lastIndex = from;
  return characters.exec(text)?.index ?? text.length;
}
