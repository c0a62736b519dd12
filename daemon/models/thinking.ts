/**
 * Names of models that think. Thinking tags at the start of a line are recognised in their answers even if the server
 * does not report thinking. But a request asks for thinking only if the server reports it. Derived models keep these
 * words in their names, so short words match only between characters that are not letters or digits; the others match
 * anywhere.
 */
export const THINKING_MODEL_PATTERN =
  /think|reason|magistral|cogito|kimi|qwq|gpt-oss|(?:^|[^a-z0-9])(?:r1|qwen3(?!-?coder))(?:[^a-z0-9]|$)/i;

/** Whether a name alone says that the model thinks. */
export function isThinkingName(name: string): boolean {
  return THINKING_MODEL_PATTERN.test(name);
}
