/** The content of a new Modelfile. */
export interface ModelfileContent {
  /** A model's name, or the absolute path of a GGUF file. */
  readonly base: string;
  /** If blank, the base model keeps its own. */
  readonly system: string;
  readonly parameters: Readonly<Record<string, number>>;
}

/**
 * The text of a Modelfile. It preserves the whole system prompt, even quotes and triple quotes: a value between `"""`
 * ends only at a line end right after `"""`. If a line of the prompt itself ends like that, the next line is joined to
 * it with a blank.
 */
export function toModelfile({ base, system, parameters }: ModelfileContent): string {
  const prompt = system.replace(/\r\n?/g, '\n').trim();
  const lines = Object.entries(parameters).map(([name, value]) => `PARAMETER ${name} ${value}`);
  const parts = [
    `FROM ${fromValue(base)}`,
    ...(prompt === '' ? [] : [`SYSTEM ${quoted(prompt)}`]),
    ...(lines.length === 0 ? [] : [lines.join('\n')]),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** Without quotes, as people write it; with quotes if it would be misread without them. */
function fromValue(base: string): string {
  const isPlain = !base.startsWith('"') && base === base.trim() && !/[^\S ]|\p{C}/u.test(base);
  return isPlain ? base : quoted(base);
}

function quoted(text: string): string {
  return `"""${text.replace(/"""[\s\u0085]*\n[\s\u0085]*/g, '""" ')}"""`;
}

/** A named choice of parameters. */
export interface Preset {
  readonly label: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, number>>;
}

const asItIs: Preset = { label: 'Leave as it is', description: "the base model's own", parameters: {} };

export const styles: readonly Preset[] = [
  asItIs,
  temperature('Precise', 'for code, figures and tools', 0.2),
  temperature('Balanced', 'for conversation', 0.7),
  temperature('Creative', 'for ideas and stories', 1.1),
];

/** Created on demand: formatting the first number loads the tables of a language. */
export function createContextPresets(): readonly Preset[] {
  return [
    asItIs,
    contextPreset(8_192, 'a conversation with a file'),
    contextPreset(16_384, 'several files'),
    contextPreset(32_768, 'an agent with tools'),
    contextPreset(131_072, 'very long documents'),
  ];
}

function temperature(label: string, purpose: string, value: number): Preset {
  return { label, description: `${purpose} (temperature ${value})`, parameters: { temperature: value } };
}

function contextPreset(tokens: number, purpose: string): Preset {
  return {
    label: `${tokens.toLocaleString('en-US')} tokens`,
    description: purpose,
    parameters: { num_ctx: tokens },
  };
}
