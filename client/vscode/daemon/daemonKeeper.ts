import type { Clock } from '../../shared/clock.ts';

export interface DaemonKeeperOptions<D> {
  /** Starts a daemon. It calls back if the daemon ends by itself after a successful start. */
  readonly start: (onDidEnd: () => void) => Promise<D>;
  readonly stop: (daemon: D) => Promise<void>;
  readonly onDidStart: () => void;
  readonly onDidFail: (error: unknown) => void;
  /** No daemon runs, and the next one starts in this many milliseconds. */
  readonly onDidWait: (milliseconds: number) => void;
  readonly clock: Clock;
}

/** Milliseconds before the next start: longer each time, until a daemon has run for a minute. */
const waits = [250, 1_000, 4_000, 15_000, 60_000];
const steadyAfter = 60_000;

interface DaemonStart<D> {
  readonly kind: 'starting';
  readonly daemon: Promise<D>;
}

type State<D> =
  | DaemonStart<D>
  | { readonly kind: 'running'; readonly daemon: D; readonly since: number }
  | { readonly kind: 'waiting'; readonly daemon: Promise<D>; readonly startNow: () => void }
  | { readonly kind: 'disposed' };

/** Keeps a daemon running: starts one, and another when it ends, after a longer wait each time. */
export class DaemonKeeper<D> {
  readonly #options: DaemonKeeperOptions<D>;
  #state: State<D>;
  /** Why the last start failed, until one succeeds. */
  #failure: { readonly reason: unknown } | undefined;
  #tries = 0;
  #cancelStart: (() => void) | undefined;

  constructor(options: DaemonKeeperOptions<D>) {
    this.#options = options;
    this.#state = this.#start();
  }

  /**
   * The daemon that runs or will run. After a failed start, it rejects with the reason until a start succeeds: a daemon
   * that ended is worth waiting for, and one that does not start is not.
   */
  get daemon(): Promise<D> {
    const state = this.#state;
    if (this.#failure || state.kind === 'disposed') return Promise.reject(this.#failure?.reason);
    return Promise.resolve(state.daemon);
  }

  /** The daemon, while it runs. */
  get running(): D | undefined {
    return this.#state.kind === 'running' ? this.#state.daemon : undefined;
  }

  /** Starts now if a start is waiting, because its cause of failure may be fixed. Returns whether one was waiting. */
  startNow(): boolean {
    if (this.#state.kind !== 'running') this.#tries = 0;
    if (this.#state.kind !== 'waiting') return false;
    this.#cancelStart?.();
    this.#state.startNow();
    return true;
  }

  dispose(): void {
    const last = this.#state;
    if (last.kind === 'disposed') return;
    this.#cancelStart?.();
    this.#state = { kind: 'disposed' };
    this.#failure = { reason: new Error('Runner is shut down.') };
    Promise.resolve(last.daemon)
      .then((daemon) => this.#options.stop(daemon))
      .catch(() => undefined);
  }

  #start(): DaemonStart<D> {
    const { start, clock, onDidStart, onDidFail } = this.#options;
    const own = () => this.#state === starting || this.#state === running;
    const ended = () => {
      if (own()) this.#wait();
    };
    const starting: DaemonStart<D> = { kind: 'starting', daemon: Promise.resolve().then(() => start(ended)) };
    let running: State<D> | undefined;
    starting.daemon.then(
      (daemon) => {
        if (this.#state !== starting) return;
        running = { kind: 'running', daemon, since: clock.now() };
        this.#state = running;
        this.#failure = undefined;
        onDidStart();
      },
      (reason) => {
        if (this.#state !== starting) return;
        this.#failure = { reason };
        onDidFail(reason);
        this.#wait();
      },
    );
    return starting;
  }

  #wait(): void {
    const { clock, onDidWait } = this.#options;
    const isSteady = this.#state.kind === 'running' && clock.now() - this.#state.since >= steadyAfter;
    if (isSteady) this.#tries = 0;
    const wait = waits[Math.min(this.#tries++, waits.length - 1)] ?? 0;
    onDidWait(wait);
    const { promise, resolve } = withResolver<D>();
    const startNow = () => {
      const starting = this.#start();
      this.#state = starting;
      resolve(starting.daemon);
    };
    this.#state = { kind: 'waiting', daemon: promise, startNow };
    this.#cancelStart = clock.after(wait, startNow);
  }
}

/** Its failure is handled even if nobody waits for it. */
function withResolver<D>(): {
  readonly promise: Promise<D>;
  readonly resolve: (value: D | Promise<D>) => void;
} {
  let resolve: (value: D | Promise<D>) => void = () => undefined;
  const promise = new Promise<D>((done) => {
    resolve = done;
  });
  promise.catch(() => undefined);
  return { promise, resolve };
}
