import type { RowSource } from './rowStore.ts';

/** One source for each server, because one server answers each request. */
export function everyServer(
  names: readonly string[],
  load: (server: string, isNamed: boolean) => ReturnType<RowSource['load']>,
): readonly RowSource[] {
  return names.map((name) => ({ name, load: () => load(name, names.length > 1) }));
}
