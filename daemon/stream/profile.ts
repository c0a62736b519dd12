import { families } from './families.ts';
import type { CallTag, Family, ThinkingEnd } from './family.ts';

/**
 * What one model writes into its text: the marks of all the families that it may belong to, and where thinking may
 * open.
 */
export interface StreamProfile extends Required<Omit<Family, 'family' | 'source' | 'models'>> {
  /** Whatever may close thinking that the template has opened. */
  readonly thinkingEnd: ThinkingEnd;
  /**
   * Where thinking may open. `beforeText`: while nothing of the answer has been shown. `lineStart`: also at the
   * beginning of any line outside code.
   */
  readonly thinkingOpens: 'beforeText' | 'lineStart';
  /** The same for thinking after a completed block. */
  readonly thinkingReopens: 'beforeText' | 'lineStart';
  /** Whether it is a whole reply, which may come in the channels of the harmony format, or consist only of calls. */
  readonly isReply: boolean;
  /** Elements that hold a tool's result. If the model echoes one, it is not shown, like a context block. */
  readonly resultTags: readonly string[];
}

/** Keeps what is made of a profile, because it is the same for all of its replies. */
export function perProfile<Value>(
  make: (profile: StreamProfile) => Value,
): (profile: StreamProfile) => Value {
  const known = new WeakMap<StreamProfile, Value>();
  return (profile) => {
    const value = known.get(profile) ?? make(profile);
    known.set(profile, value);
    return value;
  };
}

/** The profile for every model whose name does not show its family. */
export const defaultProfile: StreamProfile = profileOf('');

/** Families that think again between parts of the answer. */
const interleavedFamilies = /(^|\/)(gemma-?4|qwen3-?vl|minimax-m2)/i;
const limited = families.filter(({ models }) => models !== undefined);
const known = new Map<string, StreamProfile>();

/**
 * The profile for a model, by its name. A reply of a model that thinks may open thinking wherever a line begins. Models
 * that write alike share one profile.
 */
export function profileForModel(name: string, thinks: boolean): StreamProfile {
  const own = limited.filter(({ models }) => models?.test(name)).map(({ family }) => family);
  const interleaved = interleavedFamilies.test(name);
  const key = JSON.stringify([own, interleaved, thinks]);
  const profile = known.get(key) ?? {
    ...(own.length > 0 ? profileOf(name) : defaultProfile),
    ...(interleaved ? { thinkingReopens: 'lineStart' as const } : {}),
    ...(thinks ? { thinkingOpens: 'lineStart' as const } : {}),
  };
  known.set(key, profile);
  return profile;
}

function profileOf(model: string): StreamProfile {
  const rows = families.filter(({ models }) => models === undefined || models.test(model));
  const all = <Item>(pick: (family: Family) => readonly Item[] | undefined): Item[] =>
    rows.flatMap((row) => pick(row) ?? []);
  const thinkingTags = all((row) => row.thinkingTags);
  const thinking = all((row) => row.thinking);
  const closes = thinking.map(({ close }) => close).filter((close) => !/^\w/.test(close));
  return {
    thinkingTags,
    thinking,
    thinkingEnd: { names: thinkingTags, marks: [...new Set(closes)] },
    thinkingOpens: 'beforeText',
    thinkingReopens: 'beforeText',
    isReply: true,
    calls: withCapitals(all((row) => row.calls)),
    elements: all((row) => row.elements),
    separators: all((row) => row.separators),
    answer: all((row) => row.answer),
    resultTags: ['tool_response', 'tool_output', 'tool_outputs'],
    results: all((row) => row.results),
    ends: all((row) => row.ends),
  };
}

/** The same marks with the suffix that a checkpoint of hunyuan 3 or 4 puts into each of them. */
export function withSuffix(profile: StreamProfile, suffix: string): StreamProfile {
  const { calls, elements, separators } = profile;
  const marks = JSON.stringify({ calls, elements, separators });
  const own: Partial<StreamProfile> = JSON.parse(
    marks.replace(/(<\/?(?:tool_calls?|tool_sep|arg_\w+))>/g, `$1:${suffix}>`),
  );
  return { ...profile, ...own };
}

/** Some models write a tag in capitals. */
function withCapitals(tags: readonly CallTag[]): CallTag[] {
  const known = new Set(tags.map(({ open }) => open));
  const capitals = tags
    .filter(({ open }) => /^<[a-z_]+>$/.test(open))
    .map((tag) => ({ ...tag, open: tag.open.toUpperCase(), close: tag.close.toUpperCase() }));
  return [...tags, ...capitals.filter(({ open }) => !known.has(open))];
}

/** Marks around calls, such as `<|tool_call_start|>`. Those of results and definitions are not read in answers. */
const callMark =
  /<[/|｜]?[\w:▁.-]{0,40}(?:tool|function)[_▁-]?calls?(?!s?[_▁-]?(?:id|result|response|output))[\w:▁.-]{0,40}[|｜]?>/gi;
/** The most characters of a template that are searched. */
const maxTemplate = 256 * 1024;

/** The marks around calls in a chat template that no family has, so that such a call in the text is not read. */
export function unknownMarks(template: string): readonly string[] {
  const known = JSON.stringify(families).toLowerCase();
  const marks = new Set(template.slice(0, maxTemplate).match(callMark));
  const spellings = (mark: string) => [mark.toLowerCase(), mark.toLowerCase().replace(/:\w{1,16}>$/, '>')];
  return [...marks].filter((mark) => !spellings(mark).some((one) => known.includes(one)));
}
