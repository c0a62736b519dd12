import { greater, less, openBrace, space } from './characters.ts';
import { endsName, lineStart, type ModeOpening, type OpeningMatch, OpeningTable } from './openingTable.ts';
import { perProfile, type StreamProfile } from './profile.ts';
import type { RequestTools } from './requestTools.ts';

interface OpeningNames {
  readonly profile: StreamProfile;
  readonly contextTags: readonly string[];
  readonly dropContextTags: boolean;
  readonly tools: RequestTools;
}

/** The openings of one stream. Those of its profile are the same for all of its streams. */
export class Openings {
  /** The length of the longest opening, with the character that ends its name. */
  readonly longest: number;
  readonly #ofProfile: OpeningTable;
  /** They count before those of the profile: what a request calls a context is one. */
  readonly #ofRequest: OpeningTable;
  /** The characters that may follow a `<` (1), for codes below 128. */
  readonly #seconds = new Uint8Array(128);
  /** The name of each tool may be the tag around its arguments. */
  readonly #tools: RequestTools;
  readonly #toolInitials: ReadonlySet<number>;
  readonly #longestTool: number;

  /** The same names among the openings of another profile. */
  readonly withProfile: (profile: StreamProfile) => Openings;

  constructor(names: OpeningNames) {
    this.withProfile = (profile) => new Openings({ ...names, profile });
    const toolNames = names.tools.names.filter(isElementName);
    this.#ofProfile = (names.tools.isEmpty ? tableWithoutCalls : tableWithCalls)(names.profile);
    this.#ofRequest = new OpeningTable(contextOpenings(names));
    this.#tools = names.tools;
    this.#toolInitials = new Set(toolNames.map((name) => name.charCodeAt(0)));
    this.#longestTool = Math.max(0, ...toolNames.map(({ length }) => length));
    this.longest = Math.max(this.#ofProfile.longest, this.#ofRequest.longest, this.#longestTool + 3);
    for (const code of this.#seconds.keys()) this.#seconds[code] = this.#isSecond(code) ? 1 : 0;
  }

  /** What may begin at a character, by its code, for codes below 128 except the `<`. */
  get begins(): Uint8Array {
    return this.#ofProfile.begins;
  }

  /** The characters of prose that have a meaning to some part of the parser (1), up to the tick. */
  get stops(): Uint8Array {
    return this.#ofProfile.stops;
  }

  /** Whether any opening has this character after its `<`. */
  mayFollow(code: number, beginsLine: boolean): boolean {
    return (code < 128 ? this.#seconds[code] === 1 : this.#isSecond(code)) && (beginsLine || code !== space);
  }

  /** Reads the opening that may begin at `at`. Words count only at the beginning of a line. */
  match(text: string, at: number, beginsLine: boolean): OpeningMatch {
    if (text.charCodeAt(at) !== less) return this.#ofProfile.match(text, at, beginsLine);
    if (at + 1 < text.length && !this.mayFollow(text.charCodeAt(at + 1), beginsLine)) return 'none';
    const own = this.#ofRequest.match(text, at, beginsLine);
    if (isOpening(own)) return own;
    const match = this.#ofProfile.match(text, at, beginsLine);
    if (isOpening(match)) return match;
    const tool = this.#matchTool(text, at);
    if (tool !== 'none') return tool;
    return own === 'more' ? own : match;
  }

  #isSecond(code: number): boolean {
    const tables = [this.#ofProfile, this.#ofRequest];
    return this.#toolInitials.has(code) || tables.some((table) => table.mayFollow(code));
  }

  /** There may be many tools, so a whole name is looked up. */
  #matchTool(text: string, at: number): OpeningMatch {
    if (!this.#toolInitials.has(text.charCodeAt(at + 1))) return 'none';
    const longest = Math.min(text.length, at + this.#longestTool + 2);
    let end = at + 1;
    while (end < longest && !endsName(text.charCodeAt(end)) && text.charCodeAt(end) !== less) end++;
    if (end === text.length && end < at + this.#longestTool + 2) return 'more';
    const name = text.slice(at + 1, end);
    if (text.charCodeAt(end) !== greater || this.#tools.find(name) === undefined) return 'none';
    return { kind: 'tool', literal: `<${name}>`, tool: name };
  }
}

function isOpening(match: OpeningMatch): match is ModeOpening {
  return typeof match === 'object';
}

const tableWithoutCalls = perProfile((profile) => new OpeningTable(profileOpenings(profile, false)));
const tableWithCalls = perProfile((profile) => {
  const table = new OpeningTable(profileOpenings(profile, true));
  // A call without its open tag begins a line with its brace.
  table.begins[openBrace] = lineStart;
  return table;
});

function profileOpenings(profile: StreamProfile, withCalls: boolean): ModeOpening[] {
  const { resultTags, results, answer, ends } = profile;
  const result = { kind: 'context', dropsTag: false, isResult: true } as const;
  return [
    ...profile.thinkingTags.map((name) => ({ kind: 'thinking' as const, literal: `<${name}`, name })),
    ...profile.thinkingTags.map((name) => ({ kind: 'thinkingClose' as const, literal: `</${name}`, name })),
    ...profile.thinking.map((marks) => ({ kind: 'thinkingMark' as const, literal: marks.open, marks })),
    ...profile.thinking
      .filter(({ close }) => !ends.includes(close))
      .map(({ close }) => ({ kind: 'thinkingMarkClose' as const, literal: close })),
    ...resultTags.map((name) => ({ ...result, literal: `<${name}`, name })),
    ...results.map(({ open, close }) => ({ ...result, literal: open, name: open, close })),
    ...answer.map((marks) => ({ kind: 'answer' as const, literal: marks.open, marks })),
    ...answer.map(({ close }) => ({ kind: 'answerClose' as const, literal: close })),
    ...(profile.isReply ? channelOpenings : []),
    ...(withCalls ? callOpenings(profile) : []),
    ...ends.map((literal) => ({ kind: 'end' as const, literal })),
  ];
}

function contextOpenings({ profile, contextTags, dropContextTags: dropsTag }: OpeningNames): ModeOpening[] {
  const thinking = new Set(profile.thinkingTags);
  const names = [...new Set(contextTags)].filter(
    (name) => isElementName(name) && !thinking.has(name.toLowerCase()),
  );
  return [
    ...names.map((name) => ({ kind: 'context' as const, literal: `<${name}`, name, dropsTag })),
    ...(dropsTag ? names.map((name) => ({ kind: 'contextClose' as const, literal: `</${name}`, name })) : []),
  ];
}

function callOpenings({ calls, elements }: StreamProfile): ModeOpening[] {
  const closes = new Set([...calls.map(({ close }) => close), ...elements.map(({ callClose }) => callClose)]);
  closes.delete('');
  return [
    ...calls.map((tag) => ({ kind: 'call' as const, literal: tag.open, tag })),
    ...elements
      .filter(({ call }) => call !== '')
      .map((form) => ({ kind: 'element' as const, literal: form.call, form })),
    ...['<tool_calls:', '<tool_call:'].map((literal) => ({ kind: 'suffix' as const, literal })),
    ...[...closes].map((literal) => ({ kind: 'callClose' as const, literal })),
  ];
}

/** How a reply in channels begins. */
const channelOpenings: readonly ModeOpening[] = [
  { kind: 'channel', literal: '<|channel|>' },
  { kind: 'channel', literal: '<|start|>' },
  { kind: 'channel', literal: '<|message|>' },
  // The template has written the beginning of the header.
  { kind: 'channel', literal: 'to=' },
];

/** Names come from requests. A name that cannot be an element would match text that is not a tag. */
function isElementName(name: string): boolean {
  return /^[\p{L}_][\p{L}\p{N}_.:-]{0,127}$/u.test(name);
}
