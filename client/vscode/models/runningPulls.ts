/** A download that is under way, as a view shows it. */
export interface RunningPull {
  readonly model: string;
  readonly server?: string | undefined;
  /** 0 to 100; undefined while nothing can be counted. */
  readonly percentage: number | undefined;
  /** Such as `Downloading: 1.2 of 4.7 GB`. */
  readonly message: string;
  cancel(): void;
}

/** The end at which a pull is told. */
export interface PullReport {
  report(progress: { readonly percentage?: number | undefined; readonly message: string }): void;
  end(): void;
}

/** The pulls that this window began, in the order in which they began. */
export interface RunningPulls {
  readonly current: readonly RunningPull[];
  begin(pull: Pick<RunningPull, 'model' | 'server' | 'cancel'>): PullReport;
  /** Calls back with the pull whose progress changed, or with nothing when one began or ended. */
  onDidChange(take: (pull?: RunningPull) => void): { dispose(): void };
}

/**
 * Milliseconds between two changes that are told of one pull. The editor gathers the changes of a view until none came
 * for 200 ms, and would draw nothing at all where more come faster.
 */
const tellEvery = 500;

/** `after` calls back once, after so many milliseconds. */
export function createRunningPulls(after: (milliseconds: number, work: () => void) => void): RunningPulls {
  const current = new Set<RunningPull>();
  const takers = new Set<(pull?: RunningPull) => void>();
  const tell = (pull?: RunningPull) => {
    for (const take of takers) take(pull);
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
      const tellSoon = () => {
        if (isWaiting) return;
        isWaiting = true;
        after(tellEvery, () => {
          isWaiting = false;
          if (current.has(pull)) tell(pull);
        });
      };
      current.add(pull);
      tell();
      return {
        report({ percentage = state.percentage, message }) {
          if (!current.has(pull) || (percentage === state.percentage && message === state.message)) return;
          state = { percentage, message };
          tellSoon();
        },
        end() {
          if (current.delete(pull)) tell();
        },
      };
    },
    onDidChange(take) {
      takers.add(take);
      return { dispose: () => takers.delete(take) };
    },
  };
}
