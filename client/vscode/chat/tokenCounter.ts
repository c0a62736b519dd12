import type { Usage } from '../../../protocol/messages/chat.ts';

/** Estimates tokens from the characters of a text, corrected by what the runner counted for the same model. */
export interface TokenCounter {
  count(model: string, text: string): number;
  learn(model: string, characters: number, usage: Usage): void;
}

/** Characters of a token, as long as nothing is known about a model. */
const usual = 4;

export function createTokenCounter(): TokenCounter {
  const perToken = new Map<string, number>();
  return {
    count: (model, text) => Math.ceil(text.length / (perToken.get(model) ?? usual)),
    learn(model, characters, { promptTokens }) {
      // A prompt in the runner's cache is only partly counted, and a short one is mostly template.
      if (characters < 200 || promptTokens < 50) return;
      const now = Math.min(8, Math.max(1.5, characters / promptTokens));
      const before = perToken.get(model) ?? now;
      perToken.set(model, before * 0.7 + now * 0.3);
    },
  };
}
