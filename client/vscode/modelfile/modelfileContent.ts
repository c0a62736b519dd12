/** What a new Modelfile says. */
export interface ModelfileContent {
  /** A model's name, or the absolute path of a GGUF file. */
  readonly base: string;
  /** Blank: the base model's own stays. */
  readonly system: string;
  readonly parameters: Readonly<Record<string, number>>;
}

/**
 * The text of a Modelfile. All of a system prompt survives, quotes and triple quotes too: a value between `"""` ends
 * at the first line end before which `"""` stands, so only there, where a line of the prompt itself ends so, the next
 * line goes on behind a blank.
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

/** Bare as people write it; quoted where bare would be read as something else. */
function fromValue(base: string): string {
  const isPlain = !base.startsWith('"') && base === base.trim() && !/[^\S ]|\p{C}/u.test(base);
  return isPlain ? base : quoted(base);
}

function quoted(text: string): string {
  return `"""${text.replace(/"""[\s\u0085]*\n[\s\u0085]*/g, '""" ')}"""`;
}
