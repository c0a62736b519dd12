/**
 * Names of models that think: what these write is read as thinking wherever it begins a line, also where the server
 * does not report that they think. Whether a model may be asked to think is what a server reports first.
 * Derived distributions keep these words, so the short ones are looked for between non-letters, the others anywhere.
 */
export const THINKING_MODEL_PATTERN =
  /think|reason|magistral|cogito|kimi|qwq|gpt-oss|(?:^|[^a-z0-9])(?:r1|qwen3(?!-?coder))(?:[^a-z0-9]|$)/i;

/** Whether a name alone says that the model thinks. */
export function isThinkingName(name: string): boolean {
  return THINKING_MODEL_PATTERN.test(name);
}
