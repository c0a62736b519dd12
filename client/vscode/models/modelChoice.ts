import type { Model } from '../../../protocol/models.ts';
import { formatBytes } from './bytes.ts';

/** Those that are loaded first; otherwise the order stays, which has the newest first. */
export function inOrder(models: readonly Model[]): readonly Model[] {
  return models.toSorted((a, b) => Number(b.running !== undefined) - Number(a.running !== undefined));
}

/** A model beside its name in a list: its server if there are several, its state, its size. */
export function describeChoice({ server, size, running, remote }: Model, isNamed: boolean): string {
  const sized = remote ? `runs at ${remote.host}` : size === undefined ? '' : formatBytes(size);
  return [running ? 'loaded' : '', sized, isNamed ? server : ''].filter(Boolean).join(' · ');
}
