import type { Memento } from 'vscode';
import { formatBytes } from '../../../protocol/base/bytes.ts';
import type { WorkProgress } from '../../../protocol/messages/progress.ts';
import { plain } from '../ui/safeText.ts';
import { isSameModel, type ModelRow, paramsOf } from './modelRow.ts';

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

/** Receives the progress of one pull. */
export interface PullReport {
  report(progress: { readonly percentage?: number | undefined; readonly message: string }): void;
  end(): void;
}

/** The pulls in progress that this window began, in order. */
export interface RunningPulls {
  readonly current: readonly RunningPull[];
  begin(pull: Pick<RunningPull, 'model' | 'server' | 'cancel'>): PullReport;
  /** Calls back with the pull whose progress changed, or with nothing when one began or ended. */
  onDidChange(take: (pull?: RunningPull) => void): { dispose(): void };
}

/**
 * In ms between two published changes of one pull. The editor draws a view once it has not changed for 200 ms, so it
 * would draw nothing at all if changes came faster.
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

/** The pulls of this window that neither ended nor were cancelled before it closed. */
export interface InterruptedPulls {
  /** Those of the window's last run. */
  readonly left: readonly ModelRow[];
  begin(row: ModelRow): void;
  end(row: ModelRow): void;
}

const memoryKey = 'runner.pullsUnderWay';

/** `memory` is the workspace's, so that no other window takes a running pull for an interrupted one. */
export function createInterruptedPulls(memory: Memento): InterruptedPulls {
  const left = memory.get<readonly ModelRow[]>(memoryKey) ?? [];
  let underWay: readonly ModelRow[] = [];
  const keep = (rows: readonly ModelRow[]) => {
    underWay = rows;
    void memory.update(memoryKey, rows.map(paramsOf));
  };
  if (left.length > 0) keep([]);
  const without = (row: ModelRow) => underWay.filter((one) => !isSameModel(one, row));
  return {
    left,
    begin: (row) => keep([...without(row), row]),
    end: (row) => keep(without(row)),
  };
}

/** The runner keeps what was downloaded, so a pull continues where it stopped. */
export async function offerInterrupted(
  left: InterruptedPulls['left'],
  show: (sentence: string, button: string) => PromiseLike<string | undefined>,
  pull: (row: ModelRow) => Promise<void>,
): Promise<void> {
  if (left.length === 0) return;
  const names = left.map(({ model }) => model).join(', ');
  const goOn = 'Continue';
  const choice = await show(plain(`The download of ${names} was interrupted.`), goOn);
  if (choice === goOn) await Promise.all(left.map(pull));
}

/** Measures the speed of a download. */
export interface DownloadSpeed {
  /** Takes the bytes so far, and returns text such as `12.3 MB/s, 4 min left`; `""` until that is known. */
  next(completed: number, total: number): string;
}

/** In ms: the speed is measured over this time. */
const span = 10_000;
/** In ms: a speed measured over less would jump. */
const least = 2_000;

/** `now` in ms. */
export function createDownloadSpeed(now: () => number): DownloadSpeed {
  let seen: { readonly at: number; readonly completed: number }[] = [];
  return {
    next(completed, total) {
      const at = now();
      const [first] = seen;
      // The count goes down if a layer starts over.
      if (first && completed < first.completed) seen = [];
      seen = [...seen.filter((one) => at - one.at <= span), { at, completed }];
      const [oldest] = seen;
      if (!oldest || at - oldest.at < least || completed <= oldest.completed) return '';
      const perSecond = ((completed - oldest.completed) / (at - oldest.at)) * 1000;
      return `${formatBytes(perSecond)}/s, ${inWords((total - completed) / perSecond)} left`;
    },
  };
}

function inWords(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  return seconds < 5_400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

/** What a notification shows of one report of progress. */
interface ProgressStep {
  /** With the speed of a download. */
  readonly message: string;
  /** In percent since the last step. */
  readonly increment: number;
}

export function createProgressSteps(
  speed: DownloadSpeed,
): (progress: Extract<WorkProgress, { kind: 'report' }>) => ProgressStep {
  let shown = 0;
  return ({ message, percentage = shown, completed, total }) => {
    const rate = completed !== undefined && total !== undefined ? speed.next(completed, total) : '';
    const increment = percentage - shown;
    shown = percentage;
    return { message: [message, rate].filter(Boolean).join(', '), increment };
  };
}
