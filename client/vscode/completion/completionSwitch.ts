import * as vscode from 'vscode';
import type { Clock } from '../../shared/clock.ts';
import { completionModel, completionOffIn, updateSetting } from '../settings.ts';
import type { Remedy } from '../ui/remedies.ts';
import { createSnooze, type Snooze } from './snooze.ts';
import { createSwitchCommands } from './switchCommands.ts';

/** Whether completion is wanted now: it may be off in a language, or snoozed for an hour. */
export interface CompletionSwitch extends vscode.Disposable {
  isOn(languageId: string): boolean;
  /** When the pause ends, such as `14:05`; undefined while completion is awake. */
  readonly wakesAt: string | undefined;
  /** Completion was snoozed, woken, or switched on or off. */
  readonly onDidTurn: vscode.Event<void>;
  /** Entries for the menu of the status bar. */
  entries(): readonly Remedy[];
}

/** The model that was in use until completion was switched off. */
const memoryKey = 'runner.lastCompletionModel';

export function createCompletionSwitch(memory: vscode.Memento, clock: Clock): CompletionSwitch {
  const turned = new vscode.EventEmitter<void>();
  const snooze = createSnooze(clock, () => {
    void vscode.commands.executeCommand('setContext', 'runner.completionSnoozed', snooze.until !== undefined);
    turned.fire();
  });
  const commands: Readonly<Record<string, (argument?: unknown) => unknown>> = {
    ...createSwitchCommands({
      snooze,
      model: { get: completionModel, set: (name) => updateSetting('completionModel', name) },
      lastModel: {
        get: () => memory.get<string>(memoryKey),
        set: (name) => memory.update(memoryKey, name),
      },
      choose: () => vscode.commands.executeCommand('runner.chooseCompletionModel'),
      say,
      timeOf,
    }),
    'runner.completion.toggleLanguage': toggleLanguage,
  };
  const following = vscode.workspace.onDidChangeConfiguration(({ affectsConfiguration }) => {
    if (affectsConfiguration('runner.completionModel')) turned.fire();
  });
  const registered = Object.entries(commands).map(([id, work]) => vscode.commands.registerCommand(id, work));
  return {
    isOn: (languageId) => snooze.until === undefined && !completionOffIn().includes(languageId),
    get wakesAt() {
      return completionModel() === '' ? undefined : wakingTime(snooze);
    },
    onDidTurn: turned.event,
    entries() {
      const model = completionModel();
      const choose = {
        title: `$(wand) ${model === '' ? 'Complete as You Type…' : `Completion: ${model}…`}`,
        command: 'runner.chooseCompletionModel',
      };
      const last = memory.get<string>(memoryKey);
      const on = { title: `$(play) Switch Completion On: ${last}`, command: 'runner.completion.on' };
      if (model === '') return last === undefined ? [choose] : [on, choose];
      const time = wakingTime(snooze);
      const sleep =
        time === undefined
          ? { title: '$(clock) Snooze Completion for an Hour', command: 'runner.completion.snooze' }
          : { title: `$(play) Wake Completion, Snoozed until ${time}`, command: 'runner.completion.wake' };
      return [
        choose,
        ...languageEntry(),
        sleep,
        { title: '$(circle-slash) Switch Completion Off', command: 'runner.completion.off' },
      ];
    },
    dispose() {
      snooze.end();
      following.dispose();
      turned.dispose();
      for (const command of registered) command.dispose();
    },
  };
}

async function toggleLanguage(language: unknown): Promise<void> {
  const id = typeof language === 'string' ? language : vscode.window.activeTextEditor?.document.languageId;
  if (id === undefined) return;
  const off = completionOffIn();
  const isOff = off.includes(id);
  await updateSetting('completionOffIn', isOff ? off.filter((one) => one !== id) : [...off, id]);
  say(`Completion is ${isOff ? 'on' : 'off'} in ${id}.`);
}

function languageEntry(): readonly Remedy[] {
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

function wakingTime({ until }: Pick<Snooze, 'until'>): string | undefined {
  return until === undefined ? undefined : timeOf(until);
}

function timeOf(time: number): string {
  return new Date(time).toLocaleTimeString(vscode.env.language, { hour: '2-digit', minute: '2-digit' });
}

function say(sentence: string): void {
  vscode.window.setStatusBarMessage(sentence, 5_000);
}
