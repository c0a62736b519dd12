import type { ChatParams } from '../../../protocol/messages/chat.ts';

/** How much a thinking model thinks, as people say it; undefined leaves it to the model. */
export const thinkWords: ReadonlyMap<string, ChatParams['think']> = new Map<string, ChatParams['think']>([
  ['on', true],
  ['off', false],
  ['low', 'low'],
  ['medium', 'medium'],
  ['high', 'high'],
  ['max', 'max'],
  ['auto', undefined],
]);

export function thinkWordOf(think: ChatParams['think']): string {
  return [...thinkWords].find(([, value]) => value === think)?.[0] ?? 'auto';
}
