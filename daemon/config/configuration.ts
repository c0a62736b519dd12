import {
  defaultCatalogUrl,
  defaultServerName,
  type LogLevel,
  type RunnerOptions,
  type Timeouts,
} from '../../protocol/initialize.ts';
import { parseAddress } from '../runner/address.ts';
import type { Server } from '../runner/client.ts';

/** What holds now, with every default filled in. */
export interface Configuration {
  /** The one at `host` first. */
  readonly servers: readonly Server[];
  readonly timeouts: Required<Timeouts>;
  readonly logLevel: LogLevel;
  readonly trusted: boolean;
  readonly keepAlive?: string | number;
  readonly contextLength?: number;
  /** Base address of the public catalog. */
  readonly catalogUrl: string;
  /** An absolute folder for what may be kept between runs. */
  readonly cacheDir?: string;
  readonly streamLogs: boolean;
  /** The model of inline completion; absent is none. */
  readonly completionModel?: string;
  /** Globs of files that are never sent. */
  readonly exclude: readonly string[];
}

const defaultTimeouts: Required<Timeouts> = {
  connect: 5_000,
  list: 10_000,
  firstByte: 600_000,
  idle: 300_000,
};

/** Keys that say where prompts go and what is trusted on the way: a workspace that is not trusted cannot set them. */
const guardedKeys = ['host', 'servers', 'caFile', 'catalogUrl', 'modelfilesPath', 'cacheDir'] as const;

/** The configuration over its life: options at the start, then changes, where an absent key keeps its value. */
export interface ConfigurationStore {
  readonly current: Configuration;
  /** From `initializationOptions`, which the editor itself gives. */
  start(options: RunnerOptions): void;
  /** From settings, which a workspace may give. */
  change(options: RunnerOptions): void;
  trust(trusted: boolean): void;
}

/** `host` is the address that holds where no option names one. */
export function createConfiguration(host?: string): ConfigurationStore {
  let given: RunnerOptions = {};
  /** Guarded settings that wait for trust. */
  let held: RunnerOptions = {};
  let current = resolve(given, host);

  const apply = (options: RunnerOptions) => {
    given = { ...given, ...options };
    current = resolve(given, host);
  };

  return {
    get current() {
      return current;
    },
    start: apply,
    change({ trusted: _, ...options }) {
      if (current.trusted) return apply(options);
      held = { ...held, ...pick(options, (key) => isGuarded(key)) };
      apply(pick(options, (key) => !isGuarded(key)));
    },
    trust(trusted) {
      apply(trusted ? { trusted, ...held } : { trusted });
      if (trusted) held = {};
    },
  };
}

function resolve(options: RunnerOptions, environmentHost: string | undefined): Configuration {
  const {
    host = environmentHost ?? '',
    servers = [],
    caFile,
    timeouts,
    logLevel = 'info',
    trusted = true,
    catalogUrl = defaultCatalogUrl,
    cacheDir,
    streamLogs = false,
  } = options;
  return {
    servers: [
      serverOf(defaultServerName, host, caFile),
      ...servers.map(({ name, url, caFile: own }) => serverOf(name, url, own)),
    ],
    timeouts: { ...defaultTimeouts, ...timeouts },
    logLevel,
    trusted,
    ...(options.keepAlive === undefined ? {} : { keepAlive: options.keepAlive }),
    // 0 is the editor's way to say that the runner decides.
    ...(options.contextLength ? { contextLength: options.contextLength } : {}),
    catalogUrl: parseAddress(catalogUrl),
    ...(cacheDir ? { cacheDir } : {}),
    streamLogs,
    ...(options.completionModel ? { completionModel: options.completionModel } : {}),
    exclude: options.exclude ?? [],
  };
}

function serverOf(name: string, address: string, caFile: string | undefined): Server {
  return { name, url: parseAddress(address), ...(caFile === undefined ? {} : { caFile }) };
}

function isGuarded(key: string): boolean {
  return (guardedKeys as readonly string[]).includes(key);
}

function pick(options: RunnerOptions, wanted: (key: string) => boolean): RunnerOptions {
  return Object.fromEntries(Object.entries(options).filter(([key]) => wanted(key)));
}
