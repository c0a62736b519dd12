import { maskRanges, type Range } from './maskRanges.ts';
import { type Form, formsOf, readForm } from './secretForms.ts';
import { createStreamRedaction, type StreamRedaction, shortestBeginning } from './streamRedaction.ts';

/** A text that is shorter is no secret: it would be found everywhere. */
const shortest = 4;

/** Finds secrets in texts, in every form in which a text may hold them; linear in the text. */
export interface Redaction {
  add(secret: string): void;
  /** The text without the known secrets that are at least so long. */
  redactKnown(text: string, atLeast: number): string;
  /** The same for a text that comes in pieces. */
  stream(atLeast: number): StreamRedaction;
  /** Without all that are known, also the beginning of one where the text was cut, and without what looks like a credential, whoever's it is. */
  redact(text: string): string;
}

export function createRedaction(): Redaction {
  const forms = new Map<string, Form>();
  const wanted = new Map<number, readonly Form[]>();
  const formsAtLeast = (length: number) => {
    const known =
      wanted.get(length) ?? [...forms.values()].filter(({ secretLength }) => secretLength >= length);
    wanted.set(length, known);
    return known;
  };
  return {
    add(secret) {
      for (const form of formsOf(secret)) if (form.text.length >= shortest) forms.set(keyOf(form), form);
      wanted.clear();
    },
    redactKnown: (text, atLeast) => maskRanges(text, rangesIn(text, formsAtLeast(atLeast))),
    stream: (atLeast) => createStreamRedaction(() => formsAtLeast(atLeast)),
    redact(text) {
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
    // Most texts hold no secret, and the engine finds that out fastest.
    if (!text.includes(form.ignoresCase ? '%' : form.text)) continue;
    const ends: number[] = [];
    readForm(form, text, { begun: 0, ends });
    for (const end of ends) ranges.push([end - form.text.length, end]);
  }
  return ranges;
}

/** Where a text was cut, at its end or before "…", it may end in the beginning of a secret. */
function cutRanges(text: string, forms: readonly Form[]): readonly Range[] {
  const dots = text.lastIndexOf('…');
  const ends = dots === -1 ? [text.length] : [text.length, dots];
  return ends.flatMap((end) => {
    const lengths = forms.map((form) => {
      const last = text.slice(Math.max(0, end - form.text.length + 1), end);
      return readForm(form, last, { begun: 0, ends: [] });
    });
    const begun = Math.max(0, ...lengths);
    return begun < shortestBeginning ? [] : [[end - begun, end] as const];
  });
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
