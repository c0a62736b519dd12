/** The keys that tick the steps of the walkthrough. The manifest has each, such as `onContext:runner.isOnline`. */
const stepKeys = ['isOnline', 'hasModel', 'hasAnswered', 'isChatEnabled', 'hasCompleted'] as const;

export type StepKey = (typeof stepKeys)[number];

export function isStepKey(key: unknown): key is StepKey {
  return stepKeys.some((known) => known === key);
}

/** The arguments of `executeCommand` that report a step. */
export function stepDone(key: StepKey): readonly [command: string, key: StepKey] {
  return ['runner.stepDone', key];
}

/**
 * The editor's own extension for messages without a participant. It is disabled until the user enables it or signs in.
 */
export const builtInChat = 'GitHub.copilot-chat';
