/** A download in progress, as a view shows it. */
export interface RunningPull {
  readonly model: string;
  readonly server?: string | undefined;
  /** 0 to 100; undefined while nothing can be counted. */
  readonly percentage: number | undefined;
  /** Such as `Downloading: 1.2 of 4.7 GB`. */
  readonly message: string;
  cancel(): void;
}

/** Takes the progress of one pull. */
export interface PullReport {
  report(progress: { readonly percentage?: number | undefined; readonly message: string }): void;
  end(): void;
}

/** The pulls that this window began, in order. */
export interface RunningPulls {
  readonly current: readonly RunningPull[];
  begin(pull: Pick<RunningPull, 'model' | 'server' | 'cancel'>): PullReport;
  /** Calls back with the pull whose progress changed, or with nothing when one began or ended. */
  onDidChange(take: (pull?: RunningPull) => void): { dispose(): void };
}

/**
 * Milliseconds between two reported changes of one pull. The editor collects the changes of a view until none came for
 * 200 ms, and would draw nothing at all if they came faster.
 */
const reportInterval = 500;

/** `after` calls back once, after that many milliseconds. */
export function createRunningPulls(after: (milliseconds: number, work: () => void) => void): RunningPulls {
  const current = new Set<RunningPull>();
  const listeners = new Set<(pull?: RunningPull) => void>();
  const publish = (pull?: RunningPull) => {
    for (const take of listeners) take(pull);
  };
  return {
    get current() {
      return [...current];
    },
    begin(of) {
      let state: { percentage: number | undefined; message: string } = { percentage: undefined, message: '' };
      const pull: RunningPull = {
        ...of,
        get percentage() {
          return state.percentage;
        },
        get message() {
          return state.message;
        },
      };
      let isWaiting = false;
      const publishSoon = () => {
        if (isWaiting) return;
        isWaiting = true;
        after(reportInterval, () => {
          isWaiting = false;
          if (current.has(pull)) publish(pull);
        });
      };
      current.add(pull);
      publish();
      return {
        report({ percentage = state.percentage, message }) {
          if (!current.has(pull) || (percentage === state.percentage && message === state.message)) return;
          state = { percentage, message };
          publishSoon();
        },
        end() {
          if (current.delete(pull)) publish();
        },
      };
    },
    onDidChange(take) {
      listeners.add(take);
      return { dispose: () => listeners.delete(take) };
    },
  };
}
