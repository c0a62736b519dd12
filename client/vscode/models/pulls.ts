import type { Memento } from 'vscode';
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

/** The pulls in progress that this window began, in order. */
export type RunningPulls = ReturnType<typeof createRunningPulls>;

/**
 * In ms between two published changes of one pull. The editor draws a view once it has not changed for 200 ms, so it
 * would draw nothing at all if changes came faster.
 */
const reportInterval = 500;

/** `after` calls back once, after that many milliseconds. */
export function createRunningPulls(after: (milliseconds: number, work: () => void) => void) {
  const current = new Set<RunningPull>();
  const listeners = new Set<(pull?: RunningPull) => void>();
  const publish = (pull?: RunningPull) => {
    for (const take of listeners) take(pull);
  };
  return {
    get current(): readonly RunningPull[] {
      return [...current];
    },
    begin(of: Pick<RunningPull, 'model' | 'server' | 'cancel'>) {
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
        report({
          percentage = state.percentage,
          message,
        }: {
          readonly percentage?: number | undefined;
          readonly message: string;
        }): void {
          if (!current.has(pull) || (percentage === state.percentage && message === state.message)) return;
          state = { percentage, message };
          publishSoon();
        },
        end(): void {
          if (current.delete(pull)) publish();
        },
      };
    },
    /** Calls back with the pull whose progress changed, or with nothing when one began or ended. */
    onDidChange(take: (pull?: RunningPull) => void) {
      listeners.add(take);
      return { dispose: () => listeners.delete(take) };
    },
  };
}

/** The pulls of this window that neither ended nor were cancelled before it closed. */
export type InterruptedPulls = ReturnType<typeof createInterruptedPulls>;

const memoryKey = 'runner.pullsUnderWay';

/** `memory` is the workspace's, so that no other window takes a running pull for an interrupted one. */
export function createInterruptedPulls(memory: Memento) {
  const left = memory.get<readonly ModelRow[]>(memoryKey) ?? [];
  let underWay: readonly ModelRow[] = [];
  const keep = (rows: readonly ModelRow[]) => {
    underWay = rows;
    void memory.update(memoryKey, rows.map(paramsOf));
  };
  if (left.length > 0) keep([]);
  const without = (row: ModelRow) => underWay.filter((one) => !isSameModel(one, row));
  return {
    /** Those of the window's last run. */
    left,
    begin: (row: ModelRow) => keep([...without(row), row]),
    end: (row: ModelRow) => keep(without(row)),
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
