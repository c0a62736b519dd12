import { rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createProcessGroups } from '../../protocol/base/platform/processGroups.ts';
import { withoutUndefined } from '../../protocol/base/withoutUndefined.ts';
import {
  type EngineOffers,
  type EngineStartParams,
  type EngineStatus,
  engineNames,
} from '../../protocol/messages/engine.ts';
import { RunnerError } from '../base/errors.ts';
import { createExclusiveWork } from '../base/exclusiveWork.ts';
import { forgetLast, type RunningEngine, readLast, readRunning } from './engineFile.ts';
import { type Holder, hold } from './holder.ts';
import { describeLibrary, type FetchContext, installedVersion, installLibrary } from './library.ts';
import { findModels } from './models.ts';
import { findPrograms } from './programs.ts';
import { findRuntime } from './runtime.ts';
import { describeSample, fetchSample, hasSample, samplePath, samplesFolder } from './sample.ts';
import { type EnginePrograms, type StartWatcher, startProcess } from './starting.ts';
import { waysTo } from './ways.ts';

export interface EngineOptions {
  /** The user's folder for the state of programs. */
  readonly state: string;
  /** The user's folder for what programs have fetched. */
  readonly data: string;
  /** The built programs: the engine, its supervisor, and our lock file. */
  readonly programs: EnginePrograms & { readonly lock: string };
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  /** Seconds after which an idle model leaves the memory. If undefined or negative, it stays. */
  readonly keepAlive: () => number | undefined;
  /** The program that runs this daemon. */
  readonly own: string;
  /** The setting `engine.keepRunning`, as it is now. */
  readonly isKept: () => boolean;
}

/** How long to wait for another process that fetches or starts something, in ms. */
const longestWait = 15 * 60_000;

export type Engine = ReturnType<typeof createEngine>;

/** What can be started on this machine, from finding it to its end. */
export function createEngine(options: EngineOptions) {
  const { state, data, programs, env, platform, own, keepAlive } = options;
  const home = join(data, 'engine');
  const groups = createProcessGroups({ platform, env });
  const fetching = join(home, 'fetching');
  const folders = { home, fetching, lock: programs.lock };
  const context: FetchContext = { folders, env, platform, groups, own };
  const locks = join(state, 'engineLocks');
  const busy = () => new RunnerError('busy', 'Another program has been at this for long. Try again later.');
  const exclusive = createExclusiveWork({ folder: locks, longest: longestWait, busy });
  let held:
    | { readonly running: RunningEngine; readonly holder: Holder | undefined; isKept: boolean }
    | undefined;

  /** A terminal that knows no such setting does not take back what an editor wants. */
  const keepAsSet = async () => {
    const isWanted = options.isKept();
    if (!held || held.isKept === isWanted) return;
    held.isKept = isWanted;
    await held.holder?.keepRunning(isWanted);
  };
  const holdOnto = (running: RunningEngine, holder: Holder | undefined) => {
    if (held?.holder !== holder) held?.holder?.close();
    held = { running, holder, isKept: false };
    void holder?.closed.then(() => {
      if (held?.holder === holder) held = undefined;
    });
    return keepAsSet();
  };
  const find = async (): Promise<RunningEngine | undefined> => {
    const running = await readRunning(state, platform);
    if (!running) return undefined;
    if (held && isSame(held.running, running)) return running;
    const holder = running.socket === undefined ? undefined : await hold(running.socket).catch(() => null);
    // Where nobody listens, it is about to end.
    if (holder === null) return undefined;
    await holdOnto(running, holder);
    return running;
  };
  /** What is just being started again has a supervisor, too. */
  const stop = async () => {
    const { socket } = (await find()) ?? (await readLast(state)) ?? {};
    const holder =
      held?.holder ?? (socket === undefined ? undefined : await hold(socket).catch(() => undefined));
    await holder?.stop();
    return holder !== undefined;
  };
  const status = async (): Promise<EngineStatus> => {
    const running = await readRunning(state, platform);
    const [last, isThere, version] = await Promise.all([
      readLast(state),
      hasSample(home),
      installedVersion(home),
    ]);
    const sample = isThere ? samplePath(home) : undefined;
    const isInstalled = version !== undefined;
    return withoutUndefined<EngineStatus>({ ...stateOf(running, last?.failure), isInstalled, sample });
  };
  /** What an interrupted fetch has left goes first, and what this one leaves, too. */
  const fetchAlone = (work: () => Promise<void>, signal: AbortSignal) =>
    exclusive.run(
      'download',
      async () => {
        await rm(fetching, { recursive: true, force: true });
        try {
          await work();
        } finally {
          await rm(fetching, { recursive: true, force: true });
        }
      },
      signal,
    );
  const findAll = (path?: string) => findModels({ env, platform, samples: samplesFolder(home) }, path);

  return {
    /** What runs now, and from now on runs as long as this process wants it to. */
    find,
    status,
    models: findAll,
    /** The setting `engine.keepRunning` may have changed. */
    keepAsSet,
    /** Returns whether anything ran. */
    stop: () => exclusive.run('start', stop),
    async offers(): Promise<EngineOffers> {
      const [found, library, sample, { models }] = await Promise.all([
        findPrograms(env, platform),
        describeLibrary(context),
        describeSample(context),
        findAll(),
      ]);
      const offers = { programs: found, library, sample };
      return { ...offers, ways: waysTo({ ...offers, models, samplePath: samplePath(home) }) };
    },
    async install({ report, signal }: StartWatcher): Promise<string> {
      await fetchAlone(() => installLibrary(context, report, signal), signal);
      return home;
    },
    async fetchSample({ report, signal }: StartWatcher): Promise<string> {
      await fetchAlone(() => fetchSample(context, report, signal), signal);
      return samplePath(home);
    },
    start: (params: EngineStartParams, watcher: StartWatcher) =>
      exclusive.run(
        'start',
        async () => {
          const running = await find();
          if (!running) await stop();
          const found = { programs: () => findPrograms(env, platform), models: findAll, running };
          const onWillTry = () => watcher.report({ message: 'Checking the engine' });
          const runtime = () => findRuntime(home, { ...context, ...watcher, onWillTry });
          const what = { state, home, programs, found, runtime, keepAlive, stop };
          const started = await startProcess(params, { ...watcher, ...what });
          if (started) await holdOnto(started.running, started.holder);
          if (params.keep === true) await held?.holder?.keep();
          return status();
        },
        watcher.signal,
      ),
    /** Returns whether anything was there. */
    remove: async () => {
      const was = await status();
      await exclusive.run('start', stop);
      await exclusive.run('download', () => rm(home, { recursive: true, force: true }));
      await forgetLast(state);
      for (const folder of [data, locks]) await rmdir(folder).catch(() => undefined);
      return was.isInstalled || was.sample !== undefined;
    },
    async close(): Promise<void> {
      held?.holder?.close();
      await Promise.all([exclusive.close(), groups.close()]);
    },
  };
}

function isSame(one: RunningEngine, other: RunningEngine): boolean {
  return one.pid === other.pid && one.socket === other.socket;
}

function stateOf(
  running: RunningEngine | undefined,
  failure: string | undefined,
): Omit<EngineStatus, 'isInstalled'> {
  if (running) {
    const { product, url, model, context } = running;
    const what = model === undefined ? '' : ` with ${model}`;
    const message = `${engineNames[product]} runs at ${url}${what}.`;
    return withoutUndefined<Omit<EngineStatus, 'isInstalled'>>({
      state: 'running',
      message,
      product,
      url,
      model,
      context,
    });
  }
  return failure === undefined
    ? { state: 'stopped', message: 'Nothing that Runner started is running.' }
    : { state: 'down', message: `What Runner started last is down. ${failure}` };
}
