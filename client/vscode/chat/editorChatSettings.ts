import type { Memento } from 'vscode';
import { formatBytes } from '../../../protocol/base/text.ts';
import { canChat, type Model } from '../../../protocol/messages/models.ts';
import { idOf } from '../models/modelRow.ts';
import { labelOf, type NamedModel, vendor } from './picker.ts';

/**
 * The editor's own extension for messages without a participant. It is disabled until the user enables it or signs in.
 */
export const builtInChat = 'GitHub.copilot-chat';

/** A setting that is changed so that the editor's own chat works with the user's models. */
export interface SettingChange {
  readonly key: string;
  readonly value: unknown;
  /** The user's value before; absent if there was none. */
  readonly before?: unknown;
  /** For the question: what the change is for. */
  readonly why: string;
}

/** The user's settings, with their full keys. */
export interface UserSettings {
  inspect(
    key: string,
  ):
    | { readonly defaultValue?: unknown; readonly globalValue?: unknown; readonly workspaceValue?: unknown }
    | undefined;
  update(key: string, value: unknown): Thenable<void>;
}

/**
 * In tokens: the first message of an agent takes about 19,000, and its answer needs room. In less than `taskNeeds`, the
 * editor summarises the conversation before nearly every step of a task.
 */
const agentNeeds = 20_480;
export const taskNeeds = 40_960;
export const agentWindow = 65_536;

/**
 * A model on this machine with tools, whose window can hold an agent's first message: the one that the setting of the
 * chat names, or the usual one.
 */
export function modelForAgents(
  { models, preferred }: { readonly models: readonly Model[]; readonly preferred: Model | undefined },
  chatModel: string,
): Model | undefined {
  const able = models.filter((model) => {
    const { remote, capabilities, context } = model;
    const isLargeEnough = (context.maximum ?? agentNeeds) >= agentNeeds;
    return canChat(model) && !remote && capabilities.tools.value !== false && isLargeEnough;
  });
  const chosen = able.find((model) => idOf(model) === chatModel);
  return chosen ?? able.find((model) => model === preferred) ?? able[0];
}

/** What the user is asked before the settings change. The first button changes them. */
export function questionAbout(isEnabled: boolean, changes: readonly SettingChange[]) {
  const about =
    'It works with your local models, without a sign-in. It is not part of Runner, and Runner does not control what else it sends. You can disable it again in the Extensions view.';
  const settings = [
    'These settings change, so that all of it uses your models:',
    ...changes.map(({ key, why }) => `• ${key}: ${why}`),
    '"Runner: Stop Using Your Models in the Editor\'s Own Chat" takes them back.',
  ];
  const detail = changes.length === 0 ? about : `${about}\n\n${settings.join('\n')}`;
  if (isEnabled)
    return { message: "Set up the editor's own chat for your models?", detail, buttons: ['Set Up'] };
  return {
    message: `Enable the editor's built-in extension ${builtInChat}?`,
    detail,
    buttons: changes.length === 0 ? ['Enable'] : ['Enable', 'Enable Without Settings'],
  };
}

/**
 * The settings to change, for this model of the user. A setting that the user has set stays as it is, apart from a
 * context window that is too small for a task of an agent. A setting that this version of the editor does not have is
 * left out; those of the built-in extension are known only once it is enabled.
 */
export function planChanges(
  { inspect }: Pick<UserSettings, 'inspect'>,
  model?: Model,
  isEnabled = true,
): readonly SettingChange[] {
  const isKnown = (key: string) => inspect(key)?.defaultValue !== undefined;
  const isFree = (key: string) => {
    const { globalValue, workspaceValue } = inspect(key) ?? {};
    return isKnown(key) && globalValue === undefined && workspaceValue === undefined;
  };
  const main = 'chat.byokUtilityModelDefault';
  const forTasks = { why: 'titles, summaries and other small tasks come from the model of the chat' };
  const tasks = isKnown(main)
    ? [{ key: main, value: 'mainAgent', ...forTasks }]
    : utilities.flatMap((key) => (model ? [{ key, value: inSetting(key, model), ...forTasks }] : []));
  const asked = model && {
    key: inline,
    value: inSetting(inline, model),
    why: `the inline chat asks ${model.name}`,
  };
  const free = [...(asked ? [asked] : []), ...tasks].filter(({ key }) => isFree(key));
  const { globalValue, workspaceValue } = inspect('runner.contextLength') ?? {};
  // The user's own value would have no effect beside the workspace's.
  const window = model && workspaceValue === undefined ? windowChange(globalValue, model) : undefined;
  const size = window?.value ?? workspaceValue ?? (model && windowOf(globalValue, model));
  const summaries = isFree(summarizes) || !isEnabled ? summariesChange(size) : undefined;
  return [...free, ...(window ? [window] : []), ...(model && summaries ? [summaries] : [])];
}

/** A setting of the built-in extension. */
export const summarizes = 'github.copilot.chat.summarizeAgentConversationHistory.enabled';

/** Undefined if nothing is known of the window, or if a task fits into it. */
function summariesChange(size: unknown): SettingChange | undefined {
  if (typeof size !== 'number' || size === 0 || size >= taskNeeds) return undefined;
  const why = `off, because in a window of ${size.toLocaleString('en-US')} tokens the editor would summarise the conversation before nearly every step of an agent; a conversation that is full is then refused`;
  return { key: summarizes, value: false, why };
}

const inline = 'inlineChat.defaultModel';
const utilities = ['chat.utilityModel', 'chat.utilitySmallModel'];

/** How a setting of the editor names a model. */
function inSetting(key: string, model: NamedModel): string {
  return key === inline ? `${labelOf(model)} (${vendor})` : `${vendor}/${idOf(model)}`;
}

/** Undefined if the window is large enough, or if the model can have no larger one. */
function windowChange(set: unknown, model: Model): SettingChange | undefined {
  const now = windowOf(set, model);
  const { maximum = agentWindow } = model.context;
  const value = Math.min(agentWindow, maximum);
  if (now >= Math.min(taskNeeds, value) || maximum < agentNeeds) return undefined;
  const why = `a context window of ${value.toLocaleString('en-US')} tokens, because a task of an agent takes about 41,000; it needs ${memoryFor(value, model)}`;
  return { key: 'runner.contextLength', value, why, ...(set === undefined ? {} : { before: set }) };
}

/** In tokens; 0 if nothing is known. */
function windowOf(set: unknown, { context: { allocated = 0, configured = 0 } }: Model): number {
  return (typeof set === 'number' ? set : 0) || allocated || configured;
}

/** What a window of so many tokens costs, by what the loaded model takes for the one that it has. */
function memoryFor(tokens: number, { size = 0, running, context: { allocated = 0 } }: Model): string {
  const beside = (running?.size ?? 0) - size;
  if (size === 0 || allocated === 0 || beside <= 0 || tokens <= allocated) return 'more memory';
  return `about ${formatBytes((beside / allocated) * (tokens - allocated))} more memory`;
}

const memoryKey = 'runner.editorChatSettings';

/** The settings that were changed, until they are taken back. */
export function createKeptChanges(memory: Memento, settings: UserSettings) {
  const kept = () => memory.get<readonly SettingChange[]>(memoryKey) ?? [];
  return {
    isAny: () => kept().length > 0,
    async make(changes: readonly SettingChange[]): Promise<void> {
      const others = kept().filter(({ key }) => !changes.some((change) => change.key === key));
      await memory.update(memoryKey, [...others, ...changes]);
      for (const { key, value } of changes) await settings.update(key, value);
    },
    /** Takes back what the user has not changed since, and returns the keys. */
    async takeBack(): Promise<readonly string[]> {
      const ours = kept().filter(({ key, value }) => settings.inspect(key)?.globalValue === value);
      for (const { key, before } of ours) await settings.update(key, before);
      await memory.update(memoryKey, undefined);
      return ours.map(({ key }) => key);
    },
  };
}
