/** The keys that tick the first steps. The manifest has each, as `onContext:runner.isOnline`. */
export const stepKeys = ['isOnline', 'hasModel', 'hasAnswered', 'isChatEnabled', 'hasCompleted'] as const;

export type StepKey = (typeof stepKeys)[number];

export function isStepKey(key: unknown): key is StepKey {
  return stepKeys.some((known) => known === key);
}

/** What a command that reports a step is called with: its name and the key. */
export function stepDone(key: StepKey): readonly [command: string, key: StepKey] {
  return ['runner.stepDone', key];
}
