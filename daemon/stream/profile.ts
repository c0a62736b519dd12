/**
 * What the family of a model writes into its text: which tags mean thinking, where thinking may open, and
 * which forms a tool call takes. One table per family; the default serves every model that nobody knows.
 */
export interface StreamProfile {
  readonly name: string;
  /** Element names that mean thinking; letters of either case match. */
  readonly thinkingTags: readonly string[];
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
  /** Tags around tool calls. */
  readonly callTags: readonly CallTag[];
  /** Elements that hold a tool's result: never shown when the model echoes one, like a context block. */
  readonly resultTags: readonly string[];
}

/** How a tool call is opened and closed. `close` is empty where the call lasts until the end of the reply. */
export interface CallTag {
  readonly open: string;
  readonly close: string;
  /** `any`: objects, XML parameters or a name with argument pairs; `xml`: the open tag goes on with a name. */
  readonly body: 'any' | 'xml' | 'rest';
}

const callTags: readonly CallTag[] = [
  { open: '<tool_call>', close: '</tool_call>', body: 'any' },
  { open: '<function_call>', close: '</function_call>', body: 'any' },
  { open: '<tool_calls>', close: '</tool_calls>', body: 'any' },
  { open: '<function_calls>', close: '</function_calls>', body: 'any' },
  { open: '<|tool_call|>', close: '<|/tool_call|>', body: 'any' },
  { open: '<|tool_call_start|>', close: '<|tool_call_end|>', body: 'any' },
  { open: '<function=', close: '</function>', body: 'xml' },
  { open: '<invoke name=', close: '</invoke>', body: 'xml' },
  { open: '<|python_tag|>', close: '', body: 'rest' },
];

/** Serves every model: four thinking tags, thinking only before the answer, all forms of calls. */
export const defaultProfile: StreamProfile = {
  name: 'default',
  thinkingTags: ['think', 'thinking', 'thought', 'reasoning'],
  thinkingOpens: 'beforeText',
  thinkingReopens: 'beforeText',
  prefilled: false,
  channels: true,
  callTags,
  resultTags: ['tool_response', 'tool_output', 'tool_outputs'],
};

/** For templates that end with an open thinking tag, so that the reply begins inside it. */
export const prefilledProfile: StreamProfile = { ...defaultProfile, name: 'prefilled', prefilled: true };

/** For families that think again between parts of the answer. */
export const interleavedProfile: StreamProfile = {
  ...defaultProfile,
  name: 'interleaved',
  thinkingReopens: 'lineStart',
};

const interleavedFamilies = /(^|\/)(gemma-?4|qwen3-?vl|minimax-m2)/i;

/**
 * The profile for a model's name, and whether the model is known to think: what begins a line of its answer with a
 * thinking tag is then thinking, wherever it stands. A prefilled start shows in a template, not in a name: the caller
 * picks that.
 */
export function profileForModel(name: string, thinks: boolean): StreamProfile {
  const profile = interleavedFamilies.test(name) ? interleavedProfile : defaultProfile;
  return thinks ? { ...profile, name: `${profile.name}, thinks`, thinkingOpens: 'lineStart' } : profile;
}
