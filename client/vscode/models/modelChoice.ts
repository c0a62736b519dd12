import { formatBytes } from '../../../protocol/base/bytes.ts';
import type { Model } from '../../../protocol/messages/models.ts';

/**
 * The models of each server, in the order in which the servers come: those that are loaded first; otherwise the order
 * stays, which has the newest first.
 */
export function inOrder(
  models: readonly Model[],
): readonly (readonly [server: string, of: readonly Model[]])[] {
  const servers = new Map<string, Model[]>();
  for (const model of models) servers.set(model.server, [...(servers.get(model.server) ?? []), model]);
  return [...servers].map(([server, of]) => [server, of.toSorted((a, b) => rankOf(b) - rankOf(a))]);
}

function rankOf({ running }: Model): number {
  return running === undefined ? 0 : 1;
}

/** A model beside its name in a list: its size, and its state. */
export function describeChoice({ size, running, remote }: Model): string {
  const sized = remote ? `runs at ${remote.host}` : size === undefined ? '' : formatBytes(size);
  return [sized, running ? 'loaded' : ''].filter(Boolean).join(' · ');
}
