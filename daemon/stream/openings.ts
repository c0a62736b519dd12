import { greater, isBlank, slash } from './characters.ts';
import type { CallTag, StreamProfile } from './profile.ts';

/** The beginning of a tag that means something: all of it, or its name where attributes may follow. */
export type Opening =
  | {
      readonly kind: 'thinking' | 'thinkingClose' | 'context';
      readonly literal: string;
      readonly name: string;
    }
  | { readonly kind: 'channel'; readonly literal: string }
  | { readonly kind: 'call'; readonly literal: string; readonly tag: CallTag };

/** What the characters at one place are: an opening, the beginning of one, or neither. */
export type Match = Opening | 'more' | 'none';

export interface OpeningNames {
  readonly profile: StreamProfile;
  readonly contextTags: readonly string[];
  readonly withCalls: boolean;
}

/** The openings of one stream, found by the character after the `<`. */
export class Openings {
  /** No opening, with the character that ends its name, is longer. */
  readonly longest: number;
  /** By character code; the names of elements may go beyond ASCII, so the list may have holes. */
  readonly #bySecond: (Opening[] | undefined)[] = [];

  constructor(names: OpeningNames) {
    const all = openingsOf(names);
    this.longest = Math.max(0, ...all.map((opening) => opening.literal.length)) + 1;
    for (const opening of all) {
      for (const code of secondCodes(opening)) {
        this.#bySecond[code] = [...(this.#bySecond[code] ?? []), opening];
      }
    }
  }

  /** Whether any opening goes on with this character after its `<`. */
  mayFollow(code: number): boolean {
    return this.#bySecond[code] !== undefined;
  }

  /** Reads the tag that may begin at `at`, where a `<` is. Context blocks count only where a line begins. */
  match(text: string, at: number, beginsLine: boolean): Match {
    if (at + 1 >= text.length) return 'more';
    const candidates = this.#bySecond[text.charCodeAt(at + 1)];
    if (candidates === undefined) return 'none';
    let answer: Match = 'none';
    for (const opening of candidates) {
      if (opening.kind === 'context' && !beginsLine) continue;
      const match = matchOne(text, at, opening);
      if (match === 'whole') return opening;
      if (match === 'part') answer = 'more';
    }
    return answer;
  }
}

function openingsOf({ profile, contextTags, withCalls }: OpeningNames): Opening[] {
  const thinking = profile.thinkingTags.map((name) => name.toLowerCase());
  const blocks = new Set([...contextTags, ...profile.resultTags].filter(isElementName));
  return [
    ...thinking.map((name) => ({ kind: 'thinking' as const, literal: `<${name}`, name })),
    ...thinking.map((name) => ({ kind: 'thinkingClose' as const, literal: `</${name}`, name })),
    ...[...blocks].map((name) => ({ kind: 'context' as const, literal: `<${name}`, name })),
    ...(profile.channels ? channelOpenings : []),
    ...(withCalls ? profile.callTags : []).map((tag) => ({ kind: 'call' as const, literal: tag.open, tag })),
  ];
}

/** How a reply in channels begins. */
const channelOpenings: readonly Opening[] = [
  { kind: 'channel', literal: '<|channel|>' },
  { kind: 'channel', literal: '<|start|>' },
];

/** Names come from requests: one that could not be an element would match what is not a tag. */
function isElementName(name: string): boolean {
  return /^[\p{L}_][\p{L}\p{N}_.:-]{0,127}$/u.test(name);
}

function secondCodes(opening: Opening): Set<number> {
  const second = opening.literal.charAt(1);
  return new Set(
    (ignoresCase(opening) ? [second, second.toUpperCase()] : [second]).map((c) => c.charCodeAt(0)),
  );
}

function matchOne(text: string, at: number, opening: Opening): 'whole' | 'part' | 'none' {
  const { literal } = opening;
  const fold = ignoresCase(opening);
  for (let index = 1; index < literal.length; index++) {
    if (at + index >= text.length) return 'part';
    const code = text.charCodeAt(at + index);
    if (code !== literal.charCodeAt(index) && !(fold && lower(code) === literal.charCodeAt(index)))
      return 'none';
  }
  if (opening.kind === 'call' || opening.kind === 'channel') return 'whole';
  if (at + literal.length >= text.length) return 'part';
  return endsName(text.charCodeAt(at + literal.length)) ? 'whole' : 'none';
}

/** Whether a character after a tag's name ends the name. */
export function endsName(code: number): boolean {
  return code === greater || code === slash || isBlank(code);
}

function ignoresCase(opening: Opening): boolean {
  return opening.kind === 'thinking' || opening.kind === 'thinkingClose';
}

function lower(code: number): number {
  return code >= 65 && code <= 90 ? code + 32 : code;
}
