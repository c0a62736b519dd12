import type { Prompt } from '../../protocol/messages/prompts.ts';

/** How a prompt is typed: `/review FILE [FOCUS]`. */
export function usageOf({ name, arguments: given }: Pick<Prompt, 'name' | 'arguments'>): string {
  const words = given.map(({ name: word, required }) => (required ? word : `[${word}]`));
  return [`/${name}`, ...words.map((word) => word.toUpperCase())].join(' ');
}
