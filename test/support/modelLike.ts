import type { Capability, Model } from '../../protocol/messages/models.ts';

export const yes: Capability = { value: true, from: 'server' };
export const no: Capability = { value: false, from: 'server' };
export const unknown: Capability = { value: 'unknown', from: 'server' };

/** A model as the daemon lists it; it can complete and nothing else, unless the case says otherwise. */
export function modelLike(
  name: string,
  more: Partial<Model> = {},
  can: Partial<Model['capabilities']> = {},
): Model {
  const capabilities = {
    completion: yes,
    tools: no,
    vision: no,
    thinking: no,
    insert: no,
    embedding: no,
    ...can,
  };
  return { name, server: 'default', family: 'x', capabilities, context: {}, ...more };
}
