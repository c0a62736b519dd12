import { rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { withoutUndefined } from '../../protocol/base/json.ts';
import { createProcessGroups } from '../../protocol/base/platform/processGroups.ts';
import { formatBytes } from '../../protocol/base/text.ts';
import {
  describeFetch,
  type EngineFetch,
  type EngineModel,
  type EngineOffers,
  type EngineStartParams,
  type EngineStatus,
  type EngineWay,
  engineNames,
  sampleWarning,
} from '../../protocol/messages/engine.ts';
import { RunnerError } from '../base/errors.ts';
import { ExclusiveWork } from '../base/processLocks.ts';
import { forgetLast, type RunningEngine, readLast, readRunning } from './engineFile.ts';
import { type Holder, hold } from './holder.ts';
import { describeLibrary, type FetchContext, installedVersion, installLibrary } from './library.ts';
import { findModels } from './models.ts';
import { findPrograms } from './programs.ts';
import { findRuntime } from './runtime.ts';
import { describeSample, fetchSample, hasSample, samplePath, samplesFolder } from './sample.ts';
import { type EnginePrograms, type StartWatcher, startProcess } from './starting.ts';

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

/** What is held of what runs. */
interface HeldEngine {
  readonly running: RunningEngine;
  readonly holder: Holder | undefined;
  isKept: boolean;
}

/** What can be started on this machine, from finding it to its end. */
export class Engine {
  readonly #home: string;
  readonly #locks: string;
  readonly #context: FetchContext;
  readonly #exclusive: ExclusiveWork;
  #held: HeldEngine | undefined;

  constructor(private readonly options: EngineOptions) {
    const { state, data, programs, env, platform, own } = options;
    this.#home = join(data, 'engine');
    this.#locks = join(state, 'engineLocks');
    const folders = { home: this.#home, fetching: join(this.#home, 'fetching'), lock: programs.lock };
    this.#context = { folders, env, platform, groups: createProcessGroups({ platform, env }), own };
    const busy = () => new RunnerError('busy', 'Another program has been at this for long. Try again later.');
    this.#exclusive = new ExclusiveWork(this.#locks, longestWait, busy);
  }

  /** What runs now, and from now on runs as long as this process wants it to. */
  async find(): Promise<RunningEngine | undefined> {
    const running = await readRunning(this.options.state, this.options.platform);
    if (!running) return undefined;
    if (this.#held && isSame(this.#held.running, running)) return running;
    const holder = running.socket === undefined ? undefined : await hold(running.socket).catch(() => null);
    // Where nobody listens, it is about to end.
    if (holder === null) return undefined;
    await this.#holdOnto(running, holder);
    return running;
  }

  async status(): Promise<EngineStatus> {
    const { state, platform } = this.options;
    const running = await readRunning(state, platform);
    const [last, isThere, version] = await Promise.all([
      readLast(state),
      hasSample(this.#home),
      installedVersion(this.#home),
    ]);
    const sample = isThere ? samplePath(this.#home) : undefined;
    const isInstalled = version !== undefined;
    return withoutUndefined<EngineStatus>({ ...stateOf(running, last?.failure), isInstalled, sample });
  }

  models(path?: string) {
    const { env, platform } = this.options;
    return findModels({ env, platform, samples: samplesFolder(this.#home) }, path);
  }

  async offers(): Promise<EngineOffers> {
    const { env, platform } = this.options;
    const [found, library, sample, { models }] = await Promise.all([
      findPrograms(env, platform),
      describeLibrary(this.#context),
      describeSample(this.#context),
      this.models(),
    ]);
    const offers = { programs: found, library, sample };
    return { ...offers, ways: waysTo({ ...offers, models, samplePath: samplePath(this.#home) }) };
  }

  async install({ report, signal }: StartWatcher): Promise<string> {
    await this.#fetchAlone(() => installLibrary(this.#context, report, signal), signal);
    return this.#home;
  }

  async fetchSample({ report, signal }: StartWatcher): Promise<string> {
    await this.#fetchAlone(() => fetchSample(this.#context, report, signal), signal);
    return samplePath(this.#home);
  }

  start(params: EngineStartParams, watcher: StartWatcher): Promise<EngineStatus> {
    return this.#exclusive.run('start', () => this.#start(params, watcher), watcher.signal);
  }

  /** The setting `engine.keepRunning` may have changed. A terminal that knows no such setting takes nothing back. */
  async keepAsSet(): Promise<void> {
    const isWanted = this.options.isKept();
    if (!this.#held || this.#held.isKept === isWanted) return;
    this.#held.isKept = isWanted;
    await this.#held.holder?.keepRunning(isWanted);
  }

  /** Returns whether anything ran. */
  stop(): Promise<boolean> {
    return this.#exclusive.run('start', () => this.#stop());
  }

  /** Returns whether anything was there. */
  async remove(): Promise<boolean> {
    const was = await this.status();
    await this.stop();
    await this.#exclusive.run('download', () => rm(this.#home, { recursive: true, force: true }));
    await forgetLast(this.options.state);
    for (const folder of [this.options.data, this.#locks]) await rmdir(folder).catch(() => undefined);
    return was.isInstalled || was.sample !== undefined;
  }

  async close(): Promise<void> {
    this.#held?.holder?.close();
    await Promise.all([this.#exclusive.close(), this.#context.groups.close()]);
  }

  async #start(params: EngineStartParams, watcher: StartWatcher): Promise<EngineStatus> {
    const { state, programs, env, platform, keepAlive } = this.options;
    const home = this.#home;
    const running = await this.find();
    if (!running) await this.#stop();
    const found = {
      programs: () => findPrograms(env, platform),
      models: (path?: string) => this.models(path),
      running,
    };
    const onWillTry = () => watcher.report({ message: 'Checking the engine' });
    const runtime = () => findRuntime(home, { ...this.#context, ...watcher, onWillTry });
    const what = { state, home, programs, found, runtime, keepAlive, stop: () => this.#stop() };
    const started = await startProcess(params, { ...watcher, ...what });
    if (started) await this.#holdOnto(started.running, started.holder);
    if (params.keep === true) await this.#held?.holder?.keep();
    return this.status();
  }

  /** What is just being started again has a supervisor, too. */
  async #stop(): Promise<boolean> {
    const { socket } = (await this.find()) ?? (await readLast(this.options.state)) ?? {};
    const holder =
      this.#held?.holder ?? (socket === undefined ? undefined : await hold(socket).catch(() => undefined));
    await holder?.stop();
    return holder !== undefined;
  }

  #holdOnto(running: RunningEngine, holder: Holder | undefined): Promise<void> {
    if (this.#held?.holder !== holder) this.#held?.holder?.close();
    this.#held = { running, holder, isKept: false };
    void holder?.closed.then(() => {
      if (this.#held?.holder === holder) this.#held = undefined;
    });
    return this.keepAsSet();
  }

  /** What an interrupted fetch has left goes first, and what this one leaves, too. */
  #fetchAlone(work: () => Promise<void>, signal: AbortSignal): Promise<void> {
    const clean = () => rm(this.#context.folders.fetching, { recursive: true, force: true });
    const alone = async () => {
      await clean();
      await work().finally(clean);
    };
    return this.#exclusive.run('download', alone, signal);
  }
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

/** What there is on this machine, and what could be fetched. */
export interface WhatThereIs extends Omit<EngineOffers, 'ways'> {
  readonly models: readonly EngineModel[];
  /** Where the sample is, or will be. */
  readonly samplePath: string;
}

/** The ways from here to a model that answers, the most capable one first. */
export function waysTo(found: WhatThereIs): readonly EngineWay[] {
  const fitting = found.models.filter(({ fits }) => fits);
  return [...programWays(found, fitting), ...engineWays(found, fitting)];
}

function programWays({ programs }: WhatThereIs, fitting: readonly EngineModel[]): readonly EngineWay[] {
  const model = fitting.find(({ source }) => source !== 'sample');
  return programs.flatMap(({ product, version }): readonly EngineWay[] => {
    const what = `start ${engineNames[product]} ${version}, which is installed`;
    if (product === 'ollama') return [{ label: what, fetches: [], start: { product } }];
    if (!model) return [];
    const label = `${what}, with ${model.name} (${formatBytes(model.size)})`;
    return [{ label, fetches: [], start: { product, model: model.path } }];
  });
}

/** The engine with the small model, or with another where that cannot be fetched. */
function engineWays(found: WhatThereIs, fitting: readonly EngineModel[]): readonly EngineWay[] {
  const { library, sample, samplePath } = found;
  if (library.problem !== undefined) return [];
  const product = 'runner-engine';
  if (sample.problem === undefined) {
    const fetches = [...fetchOf('library', library), ...fetchOf('sample', sample)];
    const label = `a small real model here, now (${sizeOf(fetches)})`;
    return [{ label, fetches, warning: sampleWarning, start: { product, model: samplePath } }];
  }
  const [model] = fitting;
  if (!model) return [];
  const fetches = fetchOf('library', library);
  const label = `start ${model.name} here, with an engine of Runner's own (${sizeOf(fetches)})`;
  return [{ label, fetches, start: { product, model: model.path } }];
}

function fetchOf(what: EngineFetch['what'], fetchable: EngineOffers['library']): readonly EngineFetch[] {
  if (fetchable.isThere) return [];
  return [{ what, bytes: fetchable.bytes, description: describeFetch(fetchable) }];
}

function sizeOf(fetches: readonly EngineFetch[]): string {
  return fetches.length === 0 ? 'installed' : formatBytes(fetches.reduce((sum, { bytes }) => sum + bytes, 0));
}
