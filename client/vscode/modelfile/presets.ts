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

/** Made when they are shown: the first number that is written for readers loads the tables of a language. */
export function createWindows(): readonly Preset[] {
  return [
    asItIs,
    contextWindow(8_192, 'a conversation with a file'),
    contextWindow(16_384, 'several files'),
    contextWindow(32_768, 'an agent with tools'),
    contextWindow(131_072, 'very long documents'),
  ];
}

function temperature(label: string, purpose: string, value: number): Preset {
  return { label, description: `${purpose} (temperature ${value})`, parameters: { temperature: value } };
}

function contextWindow(tokens: number, purpose: string): Preset {
  return {
    label: `${tokens.toLocaleString('en-US')} tokens`,
    description: purpose,
    parameters: { num_ctx: tokens },
  };
}
