import * as vscode from 'vscode';
import { statusDidChange } from '../../../protocol/messages/status.ts';
import type { Parts } from '../parts.ts';

/**
 * Opens the walkthrough, which the manifest describes with the pictures in this folder, and ticks its steps: the runner
 * answers, there is a model that can chat, the editor's own chat is enabled. Chat and completion report their first
 * success with the command `runner.stepDone`.
 */
export function registerWalkthrough(
  extensionId: string,
  { daemon, offered }: Pick<Parts, 'daemon' | 'offered'>,
  builtInChat: string,
): vscode.Disposable {
  const done = new Set<StepKey>();
  const follow = (key: StepKey, isDone: boolean) => {
    if (!isDone) return void done.delete(key);
    done.add(key);
    tick(key);
  };
  const lookForChat = () =>
    follow('isChatEnabled', vscode.extensions.getExtension(builtInChat) !== undefined);
  const tickAll = () => {
    for (const key of done) tick(key);
  };
  lookForChat();
  return vscode.Disposable.from(
    vscode.extensions.onDidChange(lookForChat),
    daemon.onNotification(statusDidChange, ({ state }) =>
      follow('isOnline', state === 'online' || state === 'busy'),
    ),
    offered.onDidChange(() => follow('hasModel', offered.preferred !== undefined)),
    vscode.commands.registerCommand('runner.stepDone', (key: unknown) => {
      const step = stepKeys.find((known) => known === key);
      if (step && !done.has(step)) follow(step, true);
    }),
    vscode.window.tabGroups.onDidChangeTabs(({ opened, changed }) => {
      // The walkthrough is in a tab of the editor's own, whose input has no type.
      if ([...opened, ...changed].some(({ input }) => input === undefined)) tickAll();
    }),
    vscode.commands.registerCommand('runner.openWalkthrough', async () => {
      await vscode.commands.executeCommand('workbench.action.openWalkthrough', `${extensionId}#start`, false);
      tickAll();
    }),
  );
}

/**
 * The editor ticks a step when a key turns true, and never if the key was true before the editor knew the step. So a
 * key is true only for a moment.
 */
function tick(key: StepKey): void {
  for (const value of [true, false])
    void vscode.commands.executeCommand('setContext', `runner.${key}`, value);
}

/** The keys that tick the steps of the walkthrough. The manifest has each, such as `onContext:runner.isOnline`. */
const stepKeys = ['isOnline', 'hasModel', 'hasAnswered', 'isChatEnabled', 'hasCompleted'] as const;

type StepKey = (typeof stepKeys)[number];

/** The arguments of `executeCommand` that report a step. */
export function stepDone(key: StepKey): readonly [command: string, key: StepKey] {
  return ['runner.stepDone', key];
}
