import type { Snooze } from './snooze.ts';

export interface SwitchOptions {
  readonly snooze: Snooze;
  /** The setting; `""` is off. */
  readonly model: { get(): string; set(name: string): Promise<void> };
  /** The model that completed until it was switched off. */
  readonly lastModel: { get(): string | undefined; set(name: string): Thenable<void> };
  /** Asks for a model. */
  readonly choose: () => Thenable<unknown>;
  readonly say: (sentence: string) => void;
  /** Such as `14:05`, for a time in ms since 1970. */
  readonly timeOf: (time: number) => string;
}

/** In ms. */
const hour = 3_600_000;

/** The commands that snooze completion, and switch it on and off. Switching it on or off ends the pause. */
export function createSwitchCommands({ snooze, model, lastModel, choose, say, timeOf }: SwitchOptions) {
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
      const name = lastModel.get();
      if (name === undefined) return choose();
      await model.set(name);
      return say(`Completion is on: ${name}.`);
    },
    'runner.completion.off': async () => {
      snooze.end();
      if (model.get() !== '') await lastModel.set(model.get());
      await model.set('');
      say('Completion is off.');
    },
  };
}
