import { readFile, stat } from 'node:fs/promises';
import { userConfigFile } from '../../../protocol/base/userFolders.ts';
import { canChat } from '../../../protocol/messages/choice.ts';
import type { Model } from '../../../protocol/messages/models.ts';

/** One thing that was looked at, what was found, and how to mend it. */
export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warn' | 'fail';
  /** A sentence, a version or a path. */
  readonly found: string;
  readonly mend?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Runner itself goes past a proxy to a runner on this machine; what else talks to that runner may not. */
export function* examineProxy(env: Environment): Generator<Finding> {
  const names = ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'].filter((name) => env[name]);
  if (names.length === 0) return;
  const exceptions = env['NO_PROXY'] || env['no_proxy'] || '';
  const found = `${names.join(' and ')} set; Runner goes past it`;
  yield /\*|127\.0\.0\.1|localhost/.test(exceptions)
    ? { check: 'proxy', state: 'ok', found: `${found}, and NO_PROXY names this machine` }
    : {
        check: 'proxy',
        state: 'warn',
        found: `${found}, but other clients of a runner on this machine may not`,
        mend: 'Add 127.0.0.1,localhost to NO_PROXY.',
      };
}

/** The user's configuration says where secrets come from: only their owner should read or change it. */
export async function examineConfiguration(env: Environment): Promise<Finding> {
  const check = 'configuration';
  const path = userConfigFile(env);
  const file = await stat(path).catch(() => undefined);
  if (!file) return { check, state: 'ok', found: `none at ${path}; none is needed` };
  const problem = await readFile(path).then(
    () => undefined,
    (error: Error) => error.message,
  );
  if (problem !== undefined)
    return {
      check,
      state: 'fail',
      found: `${path} cannot be read: ${problem}`,
      mend: `Run: chmod u+r ${path}`,
    };
  const mend = `Run: chmod 600 ${path}`;
  if (process.platform === 'win32' || (file.mode & 0o077) === 0) return { check, state: 'ok', found: path };
  const verb = (file.mode & 0o022) === 0 ? 'read' : 'change';
  return { check, state: 'warn', found: `others can ${verb} ${path}`, mend };
}

/** What is installed and loaded, and whether something of it can chat. */
export function* examineModels(models: readonly Model[]): Generator<Finding> {
  const able = models.filter(canChat);
  const loaded = models.filter(({ running }) => running);
  const counts = `${models.length} installed, ${able.length} can chat, ${loaded.length} loaded`;
  const mend = 'Pull one that can chat, for example with "runner pull qwen3:4b".';
  yield able.length === 0
    ? { check: 'models', state: 'fail', found: counts, mend }
    : { check: 'models', state: 'ok', found: counts };
  for (const { name, context } of loaded) {
    const { allocated, maximum } = context;
    if (allocated === undefined || maximum === undefined || allocated >= Math.min(8192, maximum)) continue;
    yield {
      check: 'context window',
      state: 'warn',
      found: `${name} has ${allocated} tokens of ${maximum}; longer prompts are refused`,
      mend: 'Ask for more with "--context 8192", or for good with "contextLength": 8192 in ~/.config/runner/config.json.',
    };
  }
}
