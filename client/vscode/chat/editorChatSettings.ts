import type { Model } from '../../../protocol/messages/models.ts';
import { defaultServerName } from '../../../protocol/messages/settings.ts';
import { type NamedModel, vendor } from './whoAnswers.ts';

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

/** In tokens: the first message of an agent takes about 19,000, and its answer needs room. */
export const agentNeeds = 20_480;
const agentWindow = 32_768;

/**
 * The settings to change, for this model of the user. A setting that the user has set stays as it is, apart from a
 * context window that the first message of an agent would not fit into. A setting that this version of the editor does
 * not have is left out.
 */
export function planChanges(
  { inspect }: Pick<UserSettings, 'inspect'>,
  model?: Model,
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
  return window ? [...free, window] : free;
}

const inline = 'inlineChat.defaultModel';
const utilities = ['chat.utilityModel', 'chat.utilitySmallModel'];

/** How a setting of the editor names a model. */
function inSetting(key: string, { name, server }: NamedModel): string {
  if (key === inline) return `${name} (${vendor})`;
  return `${vendor}/${server === defaultServerName ? name : `${server}/${name}`}`;
}

/** The changes that give a model its new name in the user's settings. */
export function renamesOf(
  { inspect }: Pick<UserSettings, 'inspect'>,
  model: NamedModel,
  to: string,
): readonly { readonly key: string; readonly value: string; readonly before: string }[] {
  return [inline, ...utilities].flatMap((key) => {
    const before = inSetting(key, model);
    // The editor knows a model only by its whole name.
    const value = inSetting(key, { ...model, name: /:[^/]*$/.test(to) ? to : `${to}:latest` });
    return inspect(key)?.globalValue === before ? [{ key, value, before }] : [];
  });
}

/** Undefined if the window is large enough, or if the model can have no larger one. */
function windowChange(set: unknown, { context }: Model): SettingChange | undefined {
  const asked = typeof set === 'number' ? set : 0;
  const { allocated = 0, configured = 0, maximum = agentWindow } = context;
  if ((asked || allocated || configured) >= agentNeeds || maximum < agentNeeds) return undefined;
  const value = Math.min(agentWindow, maximum);
  const why = `a context window of ${value.toLocaleString('en-US')} tokens, because the first message of an agent takes about 19,000; it needs more memory`;
  return { key: 'runner.contextLength', value, why, ...(set === undefined ? {} : { before: set }) };
}

/** Takes back what the user has not changed since, and returns the keys. */
export async function takeBack(
  { inspect, update }: UserSettings,
  changes: readonly Pick<SettingChange, 'key' | 'value' | 'before'>[],
): Promise<readonly string[]> {
  const ours = changes.filter(({ key, value }) => inspect(key)?.globalValue === value);
  for (const { key, before } of ours) await update(key, before);
  return ours.map(({ key }) => key);
}
