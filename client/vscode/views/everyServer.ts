import { defaultServerName, type RunnerOptions } from '../../../protocol/initialize.ts';
import type { RowSource } from './rowStore.ts';

/** The names of the servers that the settings have, the one at `runner.host` first. Settings may say anything. */
export function serverNames({ servers }: Pick<RunnerOptions, 'servers'>): readonly string[] {
  const given: readonly unknown[] = Array.isArray(servers) ? servers : [];
  const names = given.flatMap((server) => {
    const isNamed = typeof server === 'object' && server !== null && 'name' in server;
    return isNamed && typeof server.name === 'string' ? [server.name] : [];
  });
  return [...new Set([defaultServerName, ...names])];
}

/** One source for each server: a request is answered by one. */
export function everyServer(
  names: readonly string[],
  load: (server: string, isNamed: boolean) => ReturnType<RowSource['load']>,
): readonly RowSource[] {
  return names.map((name) => ({ name, load: () => load(name, names.length > 1) }));
}
