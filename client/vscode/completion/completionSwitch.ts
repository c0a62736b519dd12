import * as vscode from 'vscode';
import { systemClock } from '../clock.ts';
import { completionModel, completionOffIn, updateSetting } from '../settings.ts';
import type { WayOut } from '../waysOut.ts';

/** Whether completion is wanted now: it may be off in a language, or sleep for an hour. */
export interface CompletionSwitch extends vscode.Disposable {
  isOn(languageId: string): boolean;
  /** What the menu of the status bar offers about it. */
  entries(): readonly WayOut[];
}

/** Milliseconds. */
const hour = 3_600_000;

export function createCompletionSwitch(): CompletionSwitch {
  /** In ms since 1970. */
  let sleepsUntil = 0;
  const isAsleep = () => systemClock.now() < sleepsUntil;
  const commands: Readonly<Record<string, (argument?: unknown) => unknown>> = {
    'runner.completion.snooze': () => {
      sleepsUntil = systemClock.now() + hour;
    },
    'runner.completion.wake': () => {
      sleepsUntil = 0;
    },
    'runner.completion.off': () => updateSetting('completionModel', ''),
    'runner.completion.toggleLanguage': async (language) => {
      const id =
        typeof language === 'string' ? language : vscode.window.activeTextEditor?.document.languageId;
      if (id === undefined) return;
      const off = completionOffIn();
      await updateSetting(
        'completionOffIn',
        off.includes(id) ? off.filter((one) => one !== id) : [...off, id],
      );
    },
  };
  const registered = Object.entries(commands).map(([id, work]) => vscode.commands.registerCommand(id, work));
  return {
    isOn: (languageId) => !isAsleep() && !completionOffIn().includes(languageId),
    entries() {
      const model = completionModel();
      const choose = {
        title: `$(wand) ${model === '' ? 'Complete as You Type…' : `Completion: ${model}…`}`,
        command: 'runner.chooseCompletionModel',
      };
      if (model === '') return [choose];
      const sleep = isAsleep()
        ? { title: '$(play) Wake Completion', command: 'runner.completion.wake' }
        : { title: '$(clock) Snooze Completion for an Hour', command: 'runner.completion.snooze' };
      return [
        choose,
        ...languageEntry(),
        sleep,
        { title: '$(circle-slash) Switch Completion Off', command: 'runner.completion.off' },
      ];
    },
    dispose() {
      for (const command of registered) command.dispose();
    },
  };
}

function languageEntry(): readonly WayOut[] {
  const id = vscode.window.activeTextEditor?.document.languageId;
  if (id === undefined) return [];
  const verb = completionOffIn().includes(id) ? 'On' : 'Off';
  return [
    {
      title: `$(code) Switch Completion ${verb} in ${id}`,
      command: 'runner.completion.toggleLanguage',
      arguments: [id],
    },
  ];
}
