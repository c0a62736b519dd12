import * as vscode from 'vscode';
import { formatBytes } from '../../../protocol/base/text.ts';
import { canChat, listModelsRequest, type Model } from '../../../protocol/messages/models.ts';
import { defaultServerName } from '../../../protocol/messages/settings.ts';
import type { Clock } from '../../shared/clock.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { sayBriefly } from '../models/work.ts';
import type { Parts } from '../parts.ts';
import { completionModel, completionOffIn, updateSetting } from '../settings.ts';
import type { ErrorReporter } from '../ui/errorReporter.ts';
import type { Remedy } from '../ui/remedies.ts';
import { plain } from '../ui/safeText.ts';

/** The model that was in use until completion was switched off. */
const memoryKey = 'runner.lastCompletionModel';
/** In ms. */
const hour = 3_600_000;

/** Whether completion is wanted now: it may be off in a language, or snoozed for an hour. */
export class CompletionSwitch implements vscode.Disposable {
  readonly #memory: vscode.Memento;
  readonly #clock: Clock;
  readonly #turned = new vscode.EventEmitter<void>();
  /** Completion was snoozed, woken, or switched on or off. */
  readonly onDidTurn = this.#turned.event;
  readonly #subscriptions: vscode.Disposable;
  /** When the pause ends, in ms since 1970; undefined while completion is awake. */
  #until: number | undefined;
  #stopTimer: (() => void) | undefined;

  constructor({ memory, clock }: Pick<Parts, 'clock' | 'memory'>) {
    this.#memory = memory;
    this.#clock = clock;
    const commands: Readonly<Record<string, (argument?: unknown) => unknown>> = {
      'runner.completion.snooze': () => this.#snooze(),
      'runner.completion.wake': () => {
        this.#wake();
        sayBriefly('Completion is awake.');
      },
      'runner.completion.on': () => this.#switchOn(),
      'runner.completion.off': () => this.#switchOff(),
      'runner.completion.toggleLanguage': toggleLanguage,
    };
    this.#subscriptions = vscode.Disposable.from(
      this.#turned,
      vscode.workspace.onDidChangeConfiguration(({ affectsConfiguration }) => {
        if (affectsConfiguration('runner.completionModel')) this.#turned.fire();
      }),
      ...Object.entries(commands).map(([id, work]) => vscode.commands.registerCommand(id, work)),
    );
  }

  isOn(languageId: string): boolean {
    return !this.#isSnoozed && !completionOffIn().includes(languageId);
  }

  /** When the pause ends, such as `14:05`; undefined while completion is awake. */
  get wakesAt(): string | undefined {
    return completionModel() === '' ? undefined : this.#wakingTime;
  }

  /** Entries for the menu of the status bar. */
  entries(): readonly Remedy[] {
    const model = completionModel();
    const choose = {
      title: `$(wand) ${model === '' ? 'Complete as You Type…' : `Completion: ${model}…`}`,
      command: 'runner.chooseCompletionModel',
    };
    const last = this.#lastModel;
    const on = { title: `$(play) Switch Completion On: ${last}`, command: 'runner.completion.on' };
    if (model === '') return last === undefined ? [choose] : [on, choose];
    const time = this.#wakingTime;
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
  }

  dispose(): void {
    this.#wake();
    this.#subscriptions.dispose();
  }

  /** After the machine has slept, the timer is late. */
  get #isSnoozed(): boolean {
    return this.#until !== undefined && this.#clock.now() < this.#until;
  }

  get #wakingTime(): string | undefined {
    if (this.#until === undefined || !this.#isSnoozed) return undefined;
    const style = { hour: '2-digit', minute: '2-digit' } as const;
    return new Date(this.#until).toLocaleTimeString(vscode.env.language, style);
  }

  get #lastModel(): string | undefined {
    return this.#memory.get<string>(memoryKey);
  }

  #snooze(): void {
    this.#stopTimer?.();
    this.#until = this.#clock.now() + hour;
    this.#stopTimer = this.#clock.after(hour, () => this.#wake());
    this.#publish();
    sayBriefly(`Completion is snoozed until ${this.#wakingTime}.`);
  }

  #wake(): void {
    this.#stopTimer?.();
    if (this.#until === undefined) return;
    this.#until = undefined;
    this.#publish();
  }

  #publish(): void {
    void vscode.commands.executeCommand('setContext', 'runner.completionSnoozed', this.#isSnoozed);
    this.#turned.fire();
  }

  /** As switching it off, this ends the pause. */
  async #switchOn(): Promise<unknown> {
    this.#wake();
    const name = this.#lastModel;
    if (name === undefined) return vscode.commands.executeCommand('runner.chooseCompletionModel');
    await updateSetting('completionModel', name);
    return sayBriefly(`Completion is on: ${name}.`);
  }

  async #switchOff(): Promise<void> {
    this.#wake();
    const name = completionModel();
    if (name !== '') await this.#memory.update(memoryKey, name);
    await updateSetting('completionModel', '');
    sayBriefly('Completion is off.');
  }
}

async function toggleLanguage(language: unknown): Promise<void> {
  const id = typeof language === 'string' ? language : vscode.window.activeTextEditor?.document.languageId;
  if (id === undefined) return;
  const off = completionOffIn();
  const isOff = off.includes(id);
  await updateSetting('completionOffIn', isOff ? off.filter((one) => one !== id) : [...off, id]);
  sayBriefly(`Completion is ${isOff ? 'on' : 'off'} in ${id}.`);
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

/** Chooses the model that completes as the user types, or none. */
export function registerChooseCompletionModel(
  daemon: DaemonConnection,
  reporter: ErrorReporter,
): vscode.Disposable {
  const useRow = async (row: unknown) => {
    const { model, server = defaultServerName } = row as { readonly model: string; readonly server?: string };
    if (server !== defaultServerName) {
      const sentence = `${model} is on the server ${server}. Completion uses only the models of the runner at runner.host.`;
      return void vscode.window.showInformationMessage(plain(sentence));
    }
    const { models } = await daemon.request(listModelsRequest, {});
    const known = models.find(({ name }) => name === model);
    if (known && !fills(known) && !(await isSure(model))) return;
    await updateSetting('completionModel', model);
    sayBriefly(`${model} completes as you type`);
  };
  const choose = async () => {
    const { models } = await daemon.request(listModelsRequest, { refresh: true });
    const items = modelChoices(models, completionModel());
    const title = 'Which Model Completes as You Type?';
    const chosen = await vscode.window.showQuickPick(items, { title });
    if (chosen) await updateSetting('completionModel', chosen.model);
  };
  const during = 'Choosing a model';
  return vscode.Disposable.from(
    reporter.registerCommand('runner.completeWithModel', useRow, during),
    reporter.registerCommand('runner.chooseCompletionModel', choose, during),
  );
}

async function isSure(model: string): Promise<boolean> {
  const yes = 'Use It All the Same';
  const question = `${model} is not listed as filling in the middle, so it completes worse.`;
  return (await vscode.window.showWarningMessage(plain(question), yes)) === yes;
}

/**
 * Models that fill in the middle come first, and small before large, because completion asks at each pause. The model
 * `""` is none.
 */
function modelChoices(models: readonly Model[], current: string) {
  const able = models
    .filter((model) => canChat(model) && !model.remote && model.server === defaultServerName)
    .sort((a, b) => Number(fills(b)) - Number(fills(a)) || (a.size ?? 0) - (b.size ?? 0));
  const items = able.map((model) => ({
    label: model.name,
    description: [
      model.size === undefined ? '' : formatBytes(model.size),
      fills(model) ? 'fills in the middle' : '$(warning) cannot fill in the middle',
      model.name === current ? 'now' : '',
    ]
      .filter(Boolean)
      .join(', '),
    model: model.name,
  }));
  return [...items, { label: '$(circle-slash) None', description: 'completion is off', model: '' }];
}

function fills({ capabilities }: Model): boolean {
  return capabilities.insert.value === true;
}
