import type { Clock } from '../clock.ts';

/** A pause of completion, which ends by itself. */
export interface Snooze {
  /** In ms since 1970; undefined while completion is awake. */
  readonly until: number | undefined;
  begin(milliseconds: number): void;
  end(): void;
}

/** Calls `onDidTurn` when the pause begins and when it ends. */
export function createSnooze(clock: Clock, onDidTurn: () => void): Snooze {
  let until: number | undefined;
  let stopTimer: (() => void) | undefined;
  const end = () => {
    stopTimer?.();
    if (until === undefined) return;
    until = undefined;
    onDidTurn();
  };
  return {
    get until() {
      // After the machine has slept, the timer is late.
      return until !== undefined && clock.now() < until ? until : undefined;
    },
    begin(milliseconds) {
      stopTimer?.();
      until = clock.now() + milliseconds;
      stopTimer = clock.after(milliseconds, end);
      onDidTurn();
    },
    end,
  };
}

export interface SwitchOptions {
  readonly snooze: Snooze;
  /** The setting; `""` is off. */
  readonly model: { get(): string; set(name: string): Promise<void> };
  /** The model that completed until it was switched off. */
  readonly last: { get(): string | undefined; set(name: string): Thenable<void> };
  /** Asks for a model. */
  readonly choose: () => Thenable<unknown>;
  readonly say: (sentence: string) => void;
  /** Such as `14:05`, for a time in ms since 1970. */
  readonly timeOf: (time: number) => string;
}

/** In ms. */
const hour = 3_600_000;

/** The commands that snooze completion, and switch it on and off. Switching it on or off ends the pause. */
export function createSwitchCommands({ snooze, model, last, choose, say, timeOf }: SwitchOptions) {
  return {
    'runner.completion.snooze': () => {
      snooze.begin(hour);
      if (snooze.until !== undefined) say(`Completion is snoozed until ${timeOf(snooze.until)}.`);
    },
    'runner.completion.wake': () => {
      snooze.end();
      say('Completion is awake.');
    },
    'runner.completion.on': async () => {
      snooze.end();
      const name = last.get();
      if (name === undefined) return choose();
      await model.set(name);
      return say(`Completion is on: ${name}.`);
    },
    'runner.completion.off': async () => {
      snooze.end();
      if (model.get() !== '') await last.set(model.get());
      await model.set('');
      say('Completion is off.');
    },
  };
}
