import type { Recording } from './recordings.ts';
import type { Piece, ScriptedCall, ScriptedSpeaker } from './runner/scriptedSpeech.ts';
import type { StandInModel } from './runner/standInModel.ts';

/** The models of the recordings: what each of their tokens says, taken from what was recorded. */
export function recordedModels(recordings: readonly Recording[]): readonly StandInModel[] {
  const said = (name: string) =>
    linesOf(recordings, name).map((line) => line.message?.content ?? line.response ?? '');
  const texts = (name: string) => said(name).slice(0, -1).map(text);
  const thinking = linesOf(recordings, '068-think-unset').flatMap(({ message }): readonly Piece[] => {
    if (message?.thinking) return [{ kind: 'thinking', text: message.thinking }];
    return message?.content ? [text(message.content)] : [];
  });
  const tags: readonly Piece[] = [text(''), text('')];
  const switchAt = thinking.findIndex(({ kind }) => kind === 'text');
  const thought = [...tags, ...thinking.slice(0, switchAt), ...tags, ...thinking.slice(switchAt)];
  const endless = texts('062-chat-window-filled-no-shift');
  const llama = { size: 2_648_640, template: '{{ .Prompt }}<|go|>' };
  const zero = { parameters: { temperature: 0 } };
  return [
    {
      ...llama,
      ...zero,
      name: 'scripted-twotools',
      capabilities: ['completion', 'tools'],
      speak: () => callsOf(recordings, '079-tools-two'),
    },
    {
      ...llama,
      ...zero,
      name: 'scripted-hole',
      capabilities: ['completion', 'insert'],
      speak: () => texts('086-hole-stream'),
    },
    {
      ...{ ...llama, ...zero, name: 'scripted-tools', capabilities: ['completion', 'tools'] },
      speak: toolSpeaker(texts('080-tools-not-given'), callsOf(recordings, '077-tools-one')),
    },
    {
      ...llama,
      ...zero,
      name: 'scripted-badtool',
      capabilities: ['completion', 'tools'],
      speak: () => [{ kind: 'lost', tokens: 34 }],
    },
    {
      ...{ ...llama, ...zero, name: 'scripted-thinking:1b', capabilities: ['completion', 'thinking'] },
      speak: ({ think }) => (think ? thought : texts('070-think-false')),
    },
    { ...llama, ...zero, name: 'scripted-json', speak: () => texts('065-chat-format-json') },
    { ...llama, ...zero, name: 'scripted-leaky', speak: () => texts('064-chat-leaky') },
    { ...llama, ...zero, name: 'scripted-endless', contextLength: 32_768, speak: () => forEver(endless) },
    { ...llama, ...plainParts, name: 'scripted-plain', speak: () => texts('048-chat-stream') },
  ];
}

/** As the recordings made it: from a file, with a licence and two stops. */
const plainParts = {
  license: ['MIT'],
  parameters: { temperature: 0, stop: ['<END>', '</END>'] },
  weights: 'sha256:785b30f66d7cad9501458e2dac391059cae9df0b946f77ae9ac68cb5d784b1c6',
} as const;

interface RecordedLine {
  readonly message?: {
    readonly content?: string;
    readonly thinking?: string;
    readonly tool_calls?: readonly { readonly function: ScriptedCall }[];
  };
  readonly response?: string;
}

function linesOf(recordings: readonly Recording[], name: string): readonly RecordedLine[] {
  const recording = recordings.find((one) => one.file.startsWith(name));
  if (!recording) throw new Error(`There is no recording ${name}.`);
  const body = recording.response.chunks.map((chunk) => chunk.text).join('');
  return body
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

function callsOf(recordings: readonly Recording[], name: string): readonly Piece[] {
  return linesOf(recordings, name).flatMap(({ message }): readonly Piece[] => {
    const calls = message?.tool_calls?.map((call) => call.function) ?? [];
    return calls.length > 0 ? [{ kind: 'calls', calls }] : [];
  });
}

/** Without tools the call comes as text; a call of a tool that was not offered vanishes. */
function toolSpeaker(asText: readonly Piece[], asCalls: readonly Piece[]): ScriptedSpeaker {
  return ({ tools }) => {
    if (tools.length === 0) return asText;
    const offered = tools.some(({ name }) => name === 'get_weather');
    return offered ? asCalls : [{ kind: 'lost', tokens: 31 }];
  };
}

function* forEver(pieces: readonly Piece[]): Generator<Piece> {
  for (;;) yield* pieces;
}

function text(value: string): Piece {
  return { kind: 'text', text: value };
}
