import { existsSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';

export interface CacheSurroundings {
  readonly platform: NodeJS.Platform;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Has Node keep what it compiles of the modules that are loaded from now on, where it can (22.1 and newer). A start
 * never fails for it.
 */
export function useCompileCache(surroundings: CacheSurroundings): void {
  const folder = compileCacheFolder(surroundings);
  // The types are those of the oldest Node that is supported.
  const { enableCompileCache } = module as { readonly enableCompileCache?: (folder: string) => unknown };
  if (folder !== undefined) enableCompileCache?.(folder);
}

/**
 * In the user's own cache: who could write there could have any code run. Undefined where the user has no home folder,
 * or has said where Node shall keep it.
 */
export function compileCacheFolder({ platform, env }: CacheSurroundings): string | undefined {
  if (env['NODE_COMPILE_CACHE']) return undefined;
  const home = env['HOME'];
  const caches: readonly (string | undefined)[] =
    platform === 'win32'
      ? [env['LOCALAPPDATA']]
      : platform === 'darwin'
        ? [home && join(home, 'Library', 'Caches')]
        : [env['XDG_CACHE_HOME'], home && join(home, '.cache')];
  const folder = caches.find((path) => path && existsSync(path));
  return folder && join(folder, 'runner', 'compiled');
}
