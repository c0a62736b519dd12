import type { Message, Tool } from '../../protocol/messages/chat.ts';

/** Characters for each token, until the runner has counted: between English prose (4.3) and code (3.2). */
const usualRatio = 3.8;
/** What an image costs in models that run locally, in tokens. */
const tokensPerImage = 600;

export type TokenEstimate = ReturnType<typeof createTokenEstimate>;

type CountedSize = Pick<PromptSize, 'characters' | 'images'>;

export interface PromptSize {
  readonly characters: number;
  /** How many of the characters describe tools. */
  readonly inTools: number;
  readonly images: number;
}

/** Estimates how many tokens a prompt has, from its characters. Each real count corrects the ratio for its model. */
export function createTokenEstimate() {
  const ratios = new Map<string, number>();
  return {
    estimate: (id: string, { characters, images }: CountedSize) =>
      Math.ceil(characters / (ratios.get(id) ?? usualRatio)) + images * tokensPerImage,
    /** The characters of a text of so many tokens. */
    characters: (id: string, tokens: number) => tokens * (ratios.get(id) ?? usualRatio),
    /** The runner counted `tokens` for this prompt. */
    calibrate(id: string, { characters, images }: CountedSize, tokens: number): void {
      // Short prompts are mostly template, and the share of the text is unknown beside images, so neither is used.
      if (images > 0 || tokens < 50) return;
      const measured = Math.min(Math.max(characters / tokens, 0.5), 12);
      const before = ratios.get(id);
      ratios.set(id, before === undefined ? measured : before * 0.5 + measured * 0.5);
    },
  };
}

/** An estimate for a text or a picture of which no model is known. */
export function usualTokens({ characters, images }: CountedSize): number {
  return Math.ceil(characters / usualRatio) + images * tokensPerImage;
}

/** The size of everything in a request that becomes part of the prompt. */
export function promptSizeOf(messages: readonly Message[], tools: readonly Tool[]): PromptSize {
  const inMessages = messages.reduce((sum, message) => sum + charactersOf(message), 0);
  const inTools = tools.length === 0 ? 0 : JSON.stringify(tools).length;
  const images = messages.reduce((sum, message) => sum + (message.images?.length ?? 0), 0);
  return { characters: inMessages + inTools, inTools, images };
}

function charactersOf({ content, thinking, toolCalls }: Message): number {
  const calls = toolCalls?.length ? JSON.stringify(toolCalls).length : 0;
  return content.length + (thinking?.length ?? 0) + calls + 8;
}
