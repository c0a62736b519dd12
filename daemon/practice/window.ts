import { badRequest } from './failure.ts';
import type { InferenceRequest } from './inferenceRequest.ts';
import type { PromptMessage } from './speech.ts';

/**
 * Silently cuts a prompt to the window, as a real runner does. The oldest messages are dropped; system messages and the
 * last message stay. If the last message alone is too long, it is cut inside.
 * @throws {ApiFailure} 400 if the request asks for an error instead.
 */
export function fitMessages(
  messages: readonly PromptMessage[],
  count: (messages: readonly PromptMessage[]) => number,
  { window, truncate }: Pick<InferenceRequest, 'truncate'> & { readonly window: number },
): { readonly messages: readonly PromptMessage[]; readonly tokens: number } {
  let kept = messages;
  while (count(kept) > window) {
    if (!truncate) throw badRequest('the input length exceeds the context length');
    const oldest = kept.findIndex(({ role }, index) => role !== 'system' && index < kept.length - 1);
    if (oldest === -1) return { messages: kept, tokens: window };
    kept = kept.toSpliced(oldest, 1);
  }
  return { messages: kept, tokens: count(kept) };
}
