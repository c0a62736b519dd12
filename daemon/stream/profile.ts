import {
  type AnswerMarks,
  type CallTag,
  type ElementForm,
  type Family,
  families,
  type ThinkingMarks,
} from './families.ts';

/**
 * What one model writes into its text: which marks mean thinking, where thinking may open, and what stands around
 * its answer and its tool calls. All of it comes from the table of families.
 */
export interface StreamProfile {
  readonly name: string;
  /** Element names that mean thinking; letters of either case match. */
  readonly thinkingTags: readonly string[];
  /** Other marks around thinking. */
  readonly thinkingMarks: readonly ThinkingMarks[];
  /**
   * Where thinking may open: `beforeText`, while nothing of the answer has been shown; `lineStart`, at the beginning of
   * any line outside code as well.
   */
  readonly thinkingOpens: 'beforeText' | 'lineStart';
  /**
   * Where thinking may open after a block was completed: `never`; `beforeText`, while nothing of the answer has
   * been shown; `lineStart`, at the beginning of any line outside code.
   */
  readonly thinkingReopens: 'never' | 'beforeText' | 'lineStart';
  /** The template has opened thinking already: the stream starts in it and only the close tag comes. */
  readonly prefilled: boolean;
  /** A reply may come in the channels of the harmony format. */
  readonly channels: boolean;
  readonly callTags: readonly CallTag[];
  readonly elements: readonly ElementForm[];
  /** A reply may be nothing but calls, with no tag around them. */
  readonly bareCalls: boolean;
  readonly answerMarks: readonly AnswerMarks[];
  /** Elements that hold a tool's result: never shown when the model echoes one, like a context block. */
  readonly resultTags: readonly string[];
  readonly resultMarks: readonly AnswerMarks[];
  /** Special tokens that end a turn: not shown after a call or at the end of the answer. */
  readonly ends: readonly string[];
}

/** Serves every model whose name says nothing of its family. */
export const defaultProfile: StreamProfile = profileOf('default', '');

/** For templates that end with an open thinking tag, so that the reply begins inside it. */
export const prefilledProfile: StreamProfile = { ...defaultProfile, name: 'prefilled', prefilled: true };

/** For families that think again between parts of the answer. */
export const interleavedProfile: StreamProfile = {
  ...defaultProfile,
  name: 'interleaved',
  thinkingReopens: 'lineStart',
};

const interleavedFamilies = /(^|\/)(gemma-?4|qwen3-?vl|minimax-m2)/i;
const limited = families.filter(({ models }) => models !== undefined);

/**
 * The profile for a model's name, and whether the model is known to think: what begins a line of its answer with a
 * thinking tag is then thinking, wherever it stands. A prefilled start shows in a template, not in a name: the caller
 * picks that.
 */
export function profileForModel(name: string, thinks: boolean): StreamProfile {
  const own = limited.some(({ models }) => models?.test(name)) ? profileOf('family', name) : defaultProfile;
  const profile = interleavedFamilies.test(name)
    ? { ...own, name: 'interleaved', thinkingReopens: 'lineStart' as const }
    : own;
  return thinks ? { ...profile, name: `${profile.name}, thinks`, thinkingOpens: 'lineStart' } : profile;
}

function profileOf(name: string, model: string): StreamProfile {
  const rows = families.filter(({ models }) => models === undefined || models.test(model));
  const all = <Item>(pick: (family: Family) => readonly Item[] | undefined): Item[] =>
    rows.flatMap((row) => pick(row) ?? []);
  return {
    name,
    thinkingTags: all((row) => row.thinkingTags),
    thinkingMarks: all((row) => row.thinking),
    thinkingOpens: 'beforeText',
    thinkingReopens: 'beforeText',
    prefilled: false,
    channels: true,
    callTags: all((row) => row.calls),
    elements: all((row) => row.elements),
    bareCalls: true,
    answerMarks: all((row) => row.answer),
    resultTags: ['tool_response', 'tool_output', 'tool_outputs'],
    resultMarks: all((row) => row.results),
    ends: all((row) => row.ends),
  };
}
