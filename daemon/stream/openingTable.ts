import { backslash, colon, greater, isBlank, less, newline, slash, tick } from './characters.ts';
import type { CallTag, ElementForm, FamilyMarks, ThinkingMarks } from './family.ts';

/** The beginning of a tag with a meaning: the whole tag, or its name if attributes may follow. */
export type ModeOpening =
  | { readonly kind: 'thinking' | 'thinkingClose'; readonly literal: string; readonly name: string }
  | ContextOpening
  | { readonly kind: 'contextClose'; readonly literal: string; readonly name: string }
  | { readonly kind: 'thinkingMark'; readonly literal: string; readonly marks: ThinkingMarks }
  | { readonly kind: 'thinkingMarkClose'; readonly literal: string }
  | { readonly kind: 'answer'; readonly literal: string; readonly marks: FamilyMarks }
  | { readonly kind: 'answerClose' | 'callClose' | 'end' | 'channel' | 'suffix'; readonly literal: string }
  | CallOpening;

/** The beginning of a block of context or of a tool's result: an element, or a mark that another one closes. */
export interface ContextOpening {
  readonly kind: 'context';
  readonly literal: string;
  readonly name: string;
  /** The mark that closes it, if it is not an element. */
  readonly close?: string;
  /** Whether the tag is not shown even if the content is. */
  readonly dropsTag: boolean;
  /** It holds the result of a tool, under any of the names for it. */
  readonly isResult?: true;
}

/**
 * The beginning of calls: a tag around them, the tag of the first one, or the name of a tool as the tag around its
 * arguments.
 */
export type CallOpening =
  | { readonly kind: 'tool'; readonly literal: string; readonly tool: string }
  | { readonly kind: 'call'; readonly literal: string; readonly tag: CallTag }
  | { readonly kind: 'element'; readonly literal: string; readonly form: ElementForm };

/**
 * Calls without an open tag. They count only if nothing else is in the reply (`alone`), or if a close tag follows them
 * (`closed`).
 */
interface UntaggedStart {
  readonly kind: 'untagged';
  readonly literal: '';
  readonly onlyIf: 'alone' | 'closed';
}

/** How text begins that may be calls. */
export interface CallStart {
  /** The blanks that were withheld before it. */
  readonly lead: string;
  /** What shows that calls are meant. */
  readonly opening: CallOpening | UntaggedStart;
  /** True if there is no text before it on its line. */
  readonly beginsLine: boolean;
  /** Calls here may be quoted in a sentence: they stand within a line, or begin with a word. */
  readonly mayBeQuoted?: true;
}

/** The start of a reply that may consist only of calls. */
export function bareCall(lead: string): CallStart {
  return { lead, opening: { kind: 'untagged', literal: '', onlyIf: 'alone' }, beginsLine: true };
}

/** What the characters at a place are: an opening, the beginning of one, or neither. */
export type OpeningMatch = ModeOpening | 'more' | 'none';

/** After the name of thinking a suffix of the checkpoint may follow. */

/** What may begin at a character: nothing (0), an opening anywhere, or an opening at the beginning of a line. */
export const anywhere = 1;
export const lineStart = 2;

/** Openings by their first character; those with a `<` by the two characters after it. The first one given wins. */
export class OpeningTable {
  /** The length of the longest opening, with the character that ends its name. */
  readonly longest: number;
  /** What may begin at a character, by its code, for codes below 128 except the `<`. */
  readonly begins = new Uint8Array(128);
  /** The characters of prose that have a meaning to some part of the parser (1), up to the tick. */
  readonly stops = new Uint8Array(128);
  /** What may begin with a `<` before a character, by its code. */
  readonly #seconds = new Map<number, number>();
  readonly #candidates = new Map<number, Candidate[]>();

  constructor(openings: readonly ModeOpening[]) {
    for (const opening of openings) this.#add(candidateOf(opening));
    this.longest = Math.max(0, ...openings.map(({ literal }) => literal.length)) + 1;
    for (const code of [less, newline, tick, backslash]) this.stops[code] = 1;
    for (const [code, begins] of this.begins.entries()) if (begins === anywhere) this.stops[code] = 1;
  }

  /** Whether an opening may have this character after its `<`. */
  mayFollow(code: number, beginsLine = true): boolean {
    const begins = this.#seconds.get(code);
    return begins === anywhere || (begins === lineStart && beginsLine);
  }

  /** Reads the opening that may begin at `at`. Words count only at the beginning of a line. */
  match(text: string, at: number, beginsLine: boolean): OpeningMatch {
    const first = text.charCodeAt(at);
    if (first === less && at + 2 >= text.length)
      return at + 1 === text.length || this.mayFollow(text.charCodeAt(at + 1), beginsLine) ? 'more' : 'none';
    const candidates = this.#candidates.get(first === less ? pairOf(text, at + 1) : first);
    if (candidates === undefined) return 'none';
    let answer: OpeningMatch = 'none';
    for (const candidate of candidates) {
      if (!beginsLine && candidate.isWord) continue;
      const match = matchOne(text, at, candidate);
      // A longer opening that may still come has precedence.
      if (match === 'whole') return answer === 'more' ? answer : candidate.opening;
      if (match === 'part') answer = 'more';
    }
    return answer;
  }

  #add(candidate: Candidate): void {
    const { literal, isWord, ignoresCase } = candidate;
    const first = literal.charCodeAt(0);
    const cases = (character: string) => (ignoresCase ? [character, character.toUpperCase()] : [character]);
    // After a name of one character, the third character is the one that ends the name.
    const thirds = literal.length === 2 ? [...'> /\t\n\r'] : cases(literal.charAt(2));
    const pairs = cases(literal.charAt(1)).flatMap((second) => thirds.map((third) => second + third));
    for (const key of new Set(first === less ? pairs.map((pair) => pairOf(pair, 0)) : [first]))
      this.#candidates.set(key, [...(this.#candidates.get(key) ?? []), candidate]);
    const begins = isWord ? lineStart : anywhere;
    if (first < 128 && first !== less) this.begins[first] = Math.min(this.begins[first] || begins, begins);
    for (const code of first === less ? pairs.map((pair) => pair.charCodeAt(0)) : [])
      this.#seconds.set(code, Math.min(this.#seconds.get(code) ?? begins, begins));
  }
}

/** An opening, with what matching asks of it again and again. */
function candidateOf(opening: ModeOpening) {
  const ignoresCase = opening.kind === 'thinking' || opening.kind === 'thinkingClose';
  const isElement =
    opening.kind === 'context' ? opening.close === undefined : opening.kind === 'contextClose';
  return {
    opening,
    literal: opening.literal,
    ignoresCase,
    /** Whether it counts only at the beginning of a line. */
    isWord: isWord(opening),
    isGlued: opening.kind === 'thinkingMark' && opening.marks.isGlued === true,
    /** Whether it is the name of an element, after which its attributes may follow. */
    hasAttributes: isElement || ignoresCase,
  };
}

type Candidate = ReturnType<typeof candidateOf>;

/** Two characters as one number. */
function pairOf(text: string, at: number): number {
  return text.charCodeAt(at) * 65_536 + text.charCodeAt(at + 1);
}

function isWord(opening: ModeOpening): boolean {
  // Prose has a blank after a `<` too.
  if (opening.literal.startsWith('< ')) return true;
  if (opening.kind === 'channel') return /^\w/.test(opening.literal);
  if (opening.kind === 'call') return opening.tag.onlyBefore !== undefined;
  return (
    (opening.kind === 'thinkingMark' || opening.kind === 'thinkingMarkClose') && /^\w/.test(opening.literal)
  );
}

function matchOne(
  text: string,
  at: number,
  { literal, ignoresCase, hasAttributes, isGlued }: Candidate,
): 'whole' | 'part' | 'none' {
  for (let index = 0; index < literal.length; index++) {
    if (at + index >= text.length) return 'part';
    const code = text.charCodeAt(at + index);
    if (code !== literal.charCodeAt(index) && !(ignoresCase && lower(code) === literal.charCodeAt(index)))
      return 'none';
  }
  if (!hasAttributes && !isGlued) return 'whole';
  if (at + literal.length >= text.length) return 'part';
  const next = text.charCodeAt(at + literal.length);
  if (isGlued) return isBlank(next) ? 'none' : 'whole';
  return endsName(next) || (ignoresCase && next === colon) ? 'whole' : 'none';
}

/** Whether a character after a tag's name ends the name. */
export function endsName(code: number): boolean {
  return code === greater || code === slash || isBlank(code);
}

function lower(code: number): number {
  return code >= 65 && code <= 90 ? code + 32 : code;
}
