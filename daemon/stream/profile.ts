import { families } from './families.ts';
import type { AnswerMarks, CallTag, ElementForm, Family, ThinkingEnd, ThinkingMarks } from './family.ts';

/**
 * What one model writes into its text: which marks mean thinking, where thinking may open, and the marks around its
 * answer and its tool calls. All of it comes from the table of families.
 */
export interface StreamProfile {
  /** Names of elements that mean thinking, in lower case. A model may write them in upper case too. */
  readonly thinkingTags: readonly string[];
  /** Other marks around thinking. */
  readonly thinkingMarks: readonly ThinkingMarks[];
  /** Whatever may close thinking that the template has opened. */
  readonly thinkingEnd: ThinkingEnd;
  /**
   * Where thinking may open. `beforeText`: while nothing of the answer has been shown. `lineStart`: also at the
   * beginning of any line outside code.
   */
  readonly thinkingOpens: 'beforeText' | 'lineStart';
  /**
   * Where thinking may open again after a completed block. `never`. `beforeText`: while nothing of the answer has been
   * shown. `lineStart`: at the beginning of any line outside code.
   */
  readonly thinkingReopens: 'never' | 'beforeText' | 'lineStart';
  /** Whether a reply may come in the channels of the harmony format. */
  readonly channels: boolean;
  readonly callTags: readonly CallTag[];
  readonly elements: readonly ElementForm[];
  readonly separators: readonly string[];
  /** Whether a reply may consist only of calls without a tag around them. */
  readonly bareCalls: boolean;
  readonly answerMarks: readonly AnswerMarks[];
  /** Elements that hold a tool's result. If the model echoes one, it is not shown, like a context block. */
  readonly resultTags: readonly string[];
  readonly resultMarks: readonly AnswerMarks[];
  /** Special tokens that end a turn. They are not shown after a call or at the end of the answer. */
  readonly ends: readonly string[];
}

/** The profile for every model whose name does not show its family. */
export const defaultProfile: StreamProfile = profileOf('');

/** The profile for families that think again between parts of the answer. */
export const interleavedProfile: StreamProfile = {
  ...defaultProfile,
  thinkingReopens: 'lineStart',
};

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
  const thinkingMarks = all((row) => row.thinking);
  const closes = thinkingMarks.map(({ close }) => close).filter((close) => !/^\w/.test(close));
  return {
    thinkingTags,
    thinkingMarks,
    thinkingEnd: { names: thinkingTags, marks: [...new Set(closes)] },
    thinkingOpens: 'beforeText',
    thinkingReopens: 'beforeText',
    channels: true,
    callTags: withCapitals(all((row) => row.calls)),
    elements: all((row) => row.elements),
    separators: all((row) => row.separators),
    bareCalls: true,
    answerMarks: all((row) => row.answer),
    resultTags: ['tool_response', 'tool_output', 'tool_outputs'],
    resultMarks: all((row) => row.results),
    ends: all((row) => row.ends),
  };
}

/** The same marks with the suffix that a checkpoint of hunyuan 3 or 4 puts into each of them. */
export function withSuffix(profile: StreamProfile, suffix: string): StreamProfile {
  const { callTags, elements, separators } = profile;
  const marks = JSON.stringify({ callTags, elements, separators });
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
