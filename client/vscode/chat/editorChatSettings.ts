import type { Model } from '../../../protocol/messages/models.ts';
import { vendor } from './whoAnswers.ts';

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
  const [main, utility, small] = [
    'chat.byokUtilityModelDefault',
    'chat.utilityModel',
    'chat.utilitySmallModel',
  ];
  const forTasks = { why: 'titles, summaries and other small tasks come from the model of the chat' };
  const tasks = isKnown(main)
    ? [{ key: main, value: 'mainAgent', ...forTasks }]
    : [utility, small].flatMap((key) =>
        model ? [{ key, value: `${vendor}/${idOf(model)}`, ...forTasks }] : [],
      );
  const inline = model && {
    key: 'inlineChat.defaultModel',
    value: `${model.name} (${vendor})`,
    why: `the inline chat asks ${model.name}`,
  };
  const free = [...(inline ? [inline] : []), ...tasks].filter(({ key }) => isFree(key));
  const { globalValue, workspaceValue } = inspect('runner.contextLength') ?? {};
  // The user's own value would have no effect beside the workspace's.
  const window = model && workspaceValue === undefined ? windowChange(globalValue, model) : undefined;
  return window ? [...free, window] : free;
}

function idOf({ name, server }: Model): string {
  return server === 'default' ? name : `${server}/${name}`;
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

/** Whether a cancel in the editor's own chat reaches a model of an extension: not always before VS Code 1.127. */
export function cancelsReliably(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 1 || (major === 1 && minor >= 127);
}
