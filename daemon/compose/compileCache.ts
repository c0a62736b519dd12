import { existsSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { cacheFolder } from '../../protocol/base/platform/folders.ts';

interface ProcessContext {
  readonly platform: NodeJS.Platform;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Makes Node cache the compiled code of the modules that are loaded from now on, if it can (22.1 and newer). This never
 * makes a start fail.
 */
export function useCompileCache(context: ProcessContext): void {
  const folder = compileCacheFolder(context);
  // The installed types are those of the oldest supported Node.
  const { enableCompileCache } = module as { readonly enableCompileCache?: (folder: string) => unknown };
  if (folder !== undefined) enableCompileCache?.(folder);
}

/**
 * Writes what has been compiled. Node does so only when the process ends by itself, and hours later the engine has
 * dropped the code that only a start runs.
 */
export function writeCompileCache(): void {
  const { flushCompileCache } = module as { readonly flushCompileCache?: () => void };
  flushCompileCache?.();
}

/**
 * A folder in the user's own cache, because anyone who can write to it can make us run any code. Undefined if the user
 * has no home folder, or has already told Node where to keep its cache.
 */
export function compileCacheFolder({ platform, env }: ProcessContext): string | undefined {
  const home = env[platform === 'win32' ? 'LOCALAPPDATA' : 'HOME'];
  if (env['NODE_COMPILE_CACHE'] || !home || !existsSync(home)) return undefined;
  const folder = cacheFolder(env, platform);
  return folder && join(folder, 'compiled');
}
