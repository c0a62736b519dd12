import { backslash, greater, isBlank, less, newline, openBrace, slash, tick } from './characters.ts';
import type { AnswerMarks, CallTag, ElementForm, ThinkingMarks } from './family.ts';
import type { OfferedTools } from './offeredTools.ts';
import type { StreamProfile } from './profile.ts';

/** The beginning of a tag with a meaning: the whole tag, or its name if attributes may follow. */
export type Opening =
  | { readonly kind: 'thinking' | 'thinkingClose'; readonly literal: string; readonly name: string }
  | ContextOpening
  | { readonly kind: 'contextClose'; readonly literal: string; readonly name: string }
  | { readonly kind: 'thinkingMark'; readonly literal: string; readonly marks: ThinkingMarks }
  | { readonly kind: 'thinkingMarkClose'; readonly literal: string }
  | { readonly kind: 'answer'; readonly literal: string; readonly marks: AnswerMarks }
  | { readonly kind: 'answerClose' | 'callClose' | 'end' | 'channel'; readonly literal: string }
  | CallOpening;

/** The beginning of a block of context or of a tool's result: an element, or a mark that another one closes. */
export interface ContextOpening {
  readonly kind: 'context';
  readonly literal: string;
  readonly name: string;
  readonly close?: string;
  /** Whether the tag is not shown even if the content is. */
  readonly dropsTag: boolean;
}

/** The beginning of calls: a tag around them, the tag of the first one, or the name of a tool as the tag around its arguments. */
export type CallOpening =
  | { readonly kind: 'tool'; readonly literal: string; readonly tool: string }
  | { readonly kind: 'call'; readonly literal: string; readonly tag: CallTag }
  | { readonly kind: 'element'; readonly literal: string; readonly form: ElementForm };

/** What the characters at a place are: an opening, the beginning of one, or neither. */
export type Match = Opening | 'more' | 'none';

interface OpeningNames {
  readonly profile: StreamProfile;
  readonly contextTags: readonly string[];
  readonly dropContextTags: boolean;
  readonly tools: OfferedTools;
}

/** What may begin at a character: nothing (0), an opening anywhere, or an opening at the beginning of a line. */
export const anywhere = 1;
const lineStart = 2;

/** The openings of one stream, found by their first character; those with a `<` by the character after it. */
export class Openings {
  /** The length of the longest opening, with the character that ends its name. */
  readonly longest: number;
  /** What may begin at a character, by its code, for codes below 128 except the `<`. */
  readonly begins = new Uint8Array(128);
  /** The characters of prose that have a meaning to some part of the parser (1), up to the tick. */
  readonly stops = new Uint8Array(128);
  readonly #bySecond = new ByCharacter();
  readonly #byFirst = new ByCharacter();
  /** The pairs of characters that may follow the `<`. */
  readonly #thirds = new Set<number>();
  /** The name of each tool may be the tag around its arguments. */
  readonly #tools: OfferedTools;
  #longestTool = 0;

  constructor(names: OpeningNames) {
    const all = openingsOf(names);
    this.#tools = names.tools;
    for (const opening of all) this.#add(candidateOf(opening));
    for (const name of names.tools.names.filter(isElementName)) this.#addTool(name);
    this.longest = Math.max(this.#longestTool + 2, ...all.map((opening) => opening.literal.length)) + 1;
    // A call without its open tag begins a line with its brace.
    if (names.tools.offered) this.begins[openBrace] = lineStart;
    for (const code of [less, newline, tick, backslash]) this.stops[code] = 1;
    for (const [code, begins] of this.begins.entries()) if (begins === anywhere) this.stops[code] = 1;
  }

  /** Whether any opening has this character after its `<`. */
  mayFollow(code: number): boolean {
    return this.#bySecond.get(code) !== undefined;
  }

  /** Reads the opening that may begin at `at`. Words count only at the beginning of a line. */
  match(text: string, at: number, beginsLine: boolean): Match {
    const first = text.charCodeAt(at);
    if (first === less && at + 1 >= text.length) return 'more';
    const candidates =
      first === less ? this.#bySecond.get(text.charCodeAt(at + 1)) : this.#byFirst.get(first);
    if (candidates === undefined) return 'none';
    if (first === less && at + 2 >= text.length)
      return candidates.some(({ isWord }) => beginsLine || !isWord) ? 'more' : this.#matchTool(text, at);
    if (first === less && !this.#thirds.has(pairOf(text, at + 1))) return 'none';
    let answer: Match = 'none';
    for (const candidate of candidates) {
      if (!beginsLine && candidate.isWord) continue;
      const match = matchOne(text, at, candidate);
      if (match === 'whole') return candidate.opening;
      if (match === 'part') answer = 'more';
    }
    const tool = first === less ? this.#matchTool(text, at) : 'none';
    return tool === 'none' ? answer : tool;
  }

  /** There may be many tools, so a whole name is looked up. */
  #matchTool(text: string, at: number): Match {
    if (this.#longestTool === 0) return 'none';
    const most = Math.min(text.length, at + this.#longestTool + 2);
    let end = at + 1;
    while (end < most && !endsName(text.charCodeAt(end)) && text.charCodeAt(end) !== less) end++;
    if (end === text.length && end < at + this.#longestTool + 2) return 'more';
    const name = text.slice(at + 1, end);
    if (text.charCodeAt(end) !== greater || this.#tools.find(name) === undefined) return 'none';
    return { kind: 'tool', literal: `<${name}>`, tool: name };
  }

  #addTool(name: string): void {
    this.#longestTool = Math.max(this.#longestTool, name.length);
    this.#bySecond.open(name.charCodeAt(0));
    this.#thirds.add(pairOf(`${name}>`, 0));
  }

  #add(candidate: Candidate): void {
    const { literal } = candidate;
    const first = literal.charCodeAt(0);
    const list = first === less ? this.#bySecond : this.#byFirst;
    const code = first === less ? literal.charCodeAt(1) : first;
    list.add(code, candidate);
    if (first === less) this.#addThird(candidate);
    if (first === less && candidate.ignoresCase) list.add(upper(code), candidate);
    if (first === less || first >= 128) return;
    if (candidate.isWord) this.begins[first] ||= lineStart;
    else this.begins[first] = anywhere;
  }

  #addThird({ literal, ignoresCase }: Candidate): void {
    // After a name of one character, the third character is the one that ends the name.
    const ends = literal.length === 2 ? [...'> /\t\n\r'].map((end) => literal + end) : [literal];
    for (const one of ends) {
      this.#thirds.add(pairOf(one, 1));
      if (!ignoresCase) continue;
      for (const [a, b] of [
        [one[1]?.toUpperCase(), one[2]],
        [one[1], one[2]?.toUpperCase()],
        [one[1]?.toUpperCase(), one[2]?.toUpperCase()],
      ])
        this.#thirds.add(pairOf(`<${a}${b}`, 1));
    }
  }
}

/** An opening, with what matching asks of it again and again. */
interface Candidate {
  readonly opening: Opening;
  readonly literal: string;
  /** Whether it counts only at the beginning of a line. */
  readonly isWord: boolean;
  readonly ignoresCase: boolean;
  /** Whether it is the name of an element, after which its attributes may follow. */
  readonly hasAttributes: boolean;
}

function candidateOf(opening: Opening): Candidate {
  const ignoresCase = opening.kind === 'thinking' || opening.kind === 'thinkingClose';
  const isElement =
    opening.kind === 'context' ? opening.close === undefined : opening.kind === 'contextClose';
  return {
    opening,
    literal: opening.literal,
    isWord: isWord(opening),
    ignoresCase,
    hasAttributes: isElement || ignoresCase,
  };
}

/** Candidates by the code of a character. The few codes beyond ASCII would make an array slow. */
class ByCharacter {
  readonly #ascii: (Candidate[] | undefined)[] = Array.from({ length: 128 });
  readonly #others = new Map<number, Candidate[]>();

  get(code: number): readonly Candidate[] | undefined {
    return code < 128 ? this.#ascii[code] : this.#others.get(code);
  }

  add(code: number, candidate: Candidate): void {
    const known = this.open(code);
    if (known.at(-1) !== candidate) known.push(candidate);
  }

  /** The candidates of a character that may begin something, even if there are none yet. */
  open(code: number): Candidate[] {
    const known = code < 128 ? this.#ascii[code] : this.#others.get(code);
    if (known !== undefined) return known;
    const none: Candidate[] = [];
    if (code < 128) this.#ascii[code] = none;
    else this.#others.set(code, none);
    return none;
  }
}

/** Two characters as one number. */
function pairOf(text: string, at: number): number {
  return text.charCodeAt(at) * 65_536 + text.charCodeAt(at + 1);
}

function isWord(opening: Opening): boolean {
  if (opening.kind === 'call') return opening.tag.lineStart === true;
  return (
    (opening.kind === 'thinkingMark' || opening.kind === 'thinkingMarkClose') && /^\w/.test(opening.literal)
  );
}

function openingsOf({ profile, contextTags, dropContextTags, tools }: OpeningNames): Opening[] {
  const thinking = profile.thinkingTags.map((name) => name.toLowerCase());
  return [
    ...thinking.map((name) => ({ kind: 'thinking' as const, literal: `<${name}`, name })),
    ...thinking.map((name) => ({ kind: 'thinkingClose' as const, literal: `</${name}`, name })),
    ...profile.thinkingMarks.map((marks) => ({ kind: 'thinkingMark' as const, literal: marks.open, marks })),
    ...profile.thinkingMarks.map(({ close }) => ({ kind: 'thinkingMarkClose' as const, literal: close })),
    ...contextOpenings(contextTags, dropContextTags),
    ...resultOpenings(profile, contextTags),
    ...profile.answerMarks.map((marks) => ({ kind: 'answer' as const, literal: marks.open, marks })),
    ...profile.answerMarks.map(({ close }) => ({ kind: 'answerClose' as const, literal: close })),
    ...(profile.channels ? channelOpenings : []),
    ...(tools.offered ? callOpenings(profile) : []),
    ...profile.ends.map((literal) => ({ kind: 'end' as const, literal })),
  ];
}

function contextOpenings(contextTags: readonly string[], dropsTag: boolean): Opening[] {
  const names = [...new Set(contextTags)].filter(isElementName);
  return [
    ...names.map((name) => ({ kind: 'context' as const, literal: `<${name}`, name, dropsTag })),
    ...(dropsTag ? names.map((name) => ({ kind: 'contextClose' as const, literal: `</${name}`, name })) : []),
  ];
}

function resultOpenings(
  { resultTags, resultMarks }: StreamProfile,
  contextTags: readonly string[],
): ContextOpening[] {
  const names = resultTags.filter((name) => !contextTags.includes(name));
  const common = { kind: 'context', dropsTag: false } as const;
  return [
    ...names.map((name) => ({ ...common, literal: `<${name}`, name })),
    ...resultMarks.map(({ open, close }) => ({ ...common, literal: open, name: open, close })),
  ];
}

function callOpenings({ callTags, elements }: StreamProfile): Opening[] {
  const closes = new Set([
    ...callTags.map(({ close }) => close),
    ...elements.map(({ callClose }) => callClose),
  ]);
  closes.delete('');
  return [
    ...callTags.map((tag) => ({ kind: 'call' as const, literal: tag.open, tag })),
    ...elements.map((form) => ({ kind: 'element' as const, literal: form.call, form })),
    ...[...closes].map((literal) => ({ kind: 'callClose' as const, literal })),
  ];
}

/** How a reply in channels begins. */
const channelOpenings: readonly Opening[] = [
  { kind: 'channel', literal: '<|channel|>' },
  { kind: 'channel', literal: '<|start|>' },
  { kind: 'channel', literal: '<|message|>' },
];

/** Names come from requests. A name that cannot be an element would match text that is not a tag. */
function isElementName(name: string): boolean {
  return /^[\p{L}_][\p{L}\p{N}_.:-]{0,127}$/u.test(name);
}

function matchOne(
  text: string,
  at: number,
  { literal, ignoresCase, hasAttributes }: Candidate,
): 'whole' | 'part' | 'none' {
  for (let index = 0; index < literal.length; index++) {
    if (at + index >= text.length) return 'part';
    const code = text.charCodeAt(at + index);
    if (code !== literal.charCodeAt(index) && !(ignoresCase && lower(code) === literal.charCodeAt(index)))
      return 'none';
  }
  if (!hasAttributes) return 'whole';
  if (at + literal.length >= text.length) return 'part';
  return endsName(text.charCodeAt(at + literal.length)) ? 'whole' : 'none';
}

/** Whether a character after a tag's name ends the name. */
export function endsName(code: number): boolean {
  return code === greater || code === slash || isBlank(code);
}

function upper(code: number): number {
  return code >= 97 && code <= 122 ? code - 32 : code;
}

function lower(code: number): number {
  return code >= 65 && code <= 90 ? code + 32 : code;
}
