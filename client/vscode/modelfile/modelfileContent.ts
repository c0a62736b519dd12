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
