import type { LoadedRows, RowSource } from './rowStore.ts';

/** One source for each server, because one server answers each request. */
export function everyServer(
  names: readonly string[],
  load: (server: string) => Promise<LoadedRows>,
): readonly RowSource[] {
  return names.map((name) => ({ name, load: () => load(name) }));
}
