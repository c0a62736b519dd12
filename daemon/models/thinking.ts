/**
 * Names of models that think, for servers that do not report it. What a server reports wins.
 * Derived distributions keep these words, so they are looked for anywhere between non-letters.
 */
export const THINKING_MODEL_PATTERN =
  /think|reason|magistral|cogito|kimi|qwq|gpt-oss|(?:^|[^a-z0-9])(?:r1|qwen3(?!-?coder))(?:[^a-z0-9]|$)/i;

/** Whether a name alone says that the model thinks. */
export function isThinkingName(name: string): boolean {
  return THINKING_MODEL_PATTERN.test(name);
}
