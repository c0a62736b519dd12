import type { CapabilityName, FactSource, LoadingState, Model } from '../../protocol/messages/models.ts';
import type { Prompt } from '../../protocol/messages/prompts.ts';
import { type Product, productNames } from '../../protocol/messages/status.ts';

/** The name of what serves models; empty if it is not known. */
export function productName(product: Product | undefined): string {
  return product === undefined || product === 'other' ? '' : productNames[product];
}

/** A short word for each capability. */
export const shortWords = {
  completion: 'chat',
  tools: 'tools',
  vision: 'vision',
  thinking: 'thinking',
  insert: 'insert',
  embedding: 'embed',
} as const satisfies Record<CapabilityName, string>;

/** The same for any name: a catalog may have capabilities that have no word of ours. */
export function shortWordOf(name: string): string {
  return Object.hasOwn(shortWords, name) ? shortWords[name as CapabilityName] : name;
}

/** Words for what a model can do, in their order; `doubt` changes the word for what only its name suggests. */
export function capabilityWords(
  { capabilities }: Pick<Model, 'capabilities'>,
  words: Partial<Record<CapabilityName, string>>,
  doubt: (word: string) => string = (word) => `${word}?`,
): readonly string[] {
  return Object.entries(words).flatMap(([name, word]) => {
    const { value, from } = capabilities[name as CapabilityName];
    return value === true ? [from === 'name' ? doubt(word) : word] : [];
  });
}

/** A model that expires later than this was loaded for good. In ms. */
const forGood = 365 * 24 * 3600 * 1000;

/** Whether a model that stays loaded until then stays until it is stopped. Both times in ms since 1970. */
export function staysForGood(expiresAt: number, now: number): boolean {
  return expiresAt - now > forGood;
}

/** Where a fact about a model was learnt. */
export const sourceWords: Readonly<Record<FactSource, string>> = {
  server: 'as the server says',
  observed: 'as observed',
  name: 'by its name',
  configured: 'as configured',
  assumed: 'assumed',
};

/** What a model can do, and where each of that was learnt. What it cannot do is left out, unless the user says so. */
export function capabilitySources({
  capabilities,
}: Pick<Model, 'capabilities'>): readonly (readonly [word: string, from: FactSource])[] {
  return Object.entries(capabilities).flatMap(([name, { value, from }]) => {
    const isDenied = value === false && from === 'configured';
    return value === true || isDenied
      ? [[`${isDenied ? 'no ' : ''}${shortWordOf(name)}`, from] as const]
      : [];
  });
}

/** The same, each group with its source, such as `chat, tools (as the server says)`. */
export function withSources(model: Pick<Model, 'capabilities'>): string {
  const groups = new Map<FactSource, string[]>();
  for (const [word, from] of capabilitySources(model)) groups.set(from, [...(groups.get(from) ?? []), word]);
  return [...groups].map(([from, words]) => `${words.join(', ')} (${sourceWords[from]})`).join('; ');
}

/** Such as `loading, 40 %`. */
export function describeLoading({ percent }: LoadingState): string {
  return percent === undefined ? 'loading' : `loading, ${Math.round(percent)} %`;
}

/** The same text for every spelling of a model's name: with its tag, and without the parts that are implied. */
export function fullModelName(name: string): string {
  const short = name
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/^registry\.ollama\.ai\//, '')
    .replace(/^library\//, '')
    .replace(/:local$/, '');
  return /:[^/]*$/.test(short) ? short : `${short}:latest`;
}

/** How a prompt is typed: `/review FILE [FOCUS]`. */
export function usageOf({ name, arguments: given }: Pick<Prompt, 'name' | 'arguments'>): string {
  const words = given.map(({ name: word, required }) => (required ? word : `[${word}]`));
  return [`/${name}`, ...words.map((word) => word.toUpperCase())].join(' ');
}

/** A prompt that was typed as a command. */
export interface PromptCall {
  readonly name: string;
  /** What was typed behind the name. */
  readonly text: string;
}

/** Undefined if an entry cannot be a call: its first word is no name behind a slash. */
export function promptCallIn(entry: string): PromptCall | undefined {
  const [, name, text = ''] = /^\/([^\s/]+)(?:\s+(.*))?$/s.exec(entry) ?? [];
  return name === undefined ? undefined : { name, text };
}
