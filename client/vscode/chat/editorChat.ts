import * as vscode from 'vscode';
import { canChat, type Model } from '../../../protocol/messages/models.ts';
import { offer } from '../models/work.ts';
import type { Parts } from '../parts.ts';
import { chatModel, contextLength, updateSetting } from '../settings.ts';
import { setContextLength } from '../ui/remedies.ts';
import {
  agentWindow,
  builtInChat,
  createKeptChanges,
  modelForAgents,
  planChanges,
  questionAbout,
  summarizes,
  taskNeeds,
  type UserSettings,
} from './editorChatSettings.ts';
import type { OfferedModels } from './offeredModels.ts';

/** Lets the editor's own chat work with the user's models, and takes that back. */
export function registerEditorChat({
  offered,
  memory,
  reporter,
}: Pick<Parts, 'memory' | 'offered' | 'reporter'>): vscode.Disposable {
  const kept = createKeptChanges(memory, userSettings);
  const use = async () => {
    const isEnabled = vscode.extensions.getExtension(builtInChat) !== undefined;
    const changes = planChanges(userSettings, modelForAgents(offered, chatModel()), isEnabled);
    if (isEnabled && changes.length === 0) return sayItIsSetUp(kept.isAny());
    const question = questionAbout(isEnabled, changes);
    const { message, detail, buttons } = question;
    const answer = await vscode.window.showInformationMessage(message, { modal: true, detail }, ...buttons);
    if (answer === undefined) return;
    if (!isEnabled) await enable();
    if (answer !== question.buttons[0]) return;
    if (changes.some(({ key }) => key === summarizes)) await untilKnown(summarizes);
    await kept.make(changes.filter(({ key }) => key !== summarizes || isKnown(key)));
  };
  const stop = async () => {
    const keys = await kept.takeBack();
    const what = keys.length === 0 ? 'No setting is left to take back.' : `Taken back: ${keys.join(', ')}.`;
    const show = { title: 'Show the Extension', command: 'extension.open', arguments: [builtInChat] };
    await offer(`${what} To disable the chat itself, disable its extension.`, show);
  };
  return vscode.Disposable.from(
    reporter.registerCommand('runner.enableChat', use, 'Enabling the chat'),
    reporter.registerCommand('runner.resetChat', stop, 'Taking back the settings of the chat'),
  );
}

const userSettings: UserSettings = {
  inspect: (key) => vscode.workspace.getConfiguration().inspect(key),
  update: (key, value) =>
    vscode.workspace.getConfiguration().update(key, value, vscode.ConfigurationTarget.Global),
};

async function enable(): Promise<void> {
  const install = 'workbench.extensions.installExtension';
  await vscode.commands.executeCommand(install, builtInChat, { enable: true });
}

function isKnown(key: string): boolean {
  return userSettings.inspect(key)?.defaultValue !== undefined;
}

/** The settings of an extension are known shortly after it was enabled; an older one may not have this one. */
async function untilKnown(key: string): Promise<void> {
  for (let tries = 0; tries < 50 && !isKnown(key); tries++)
    await new Promise((resolve) => setTimeout(resolve, 100));
}

async function sayItIsSetUp(canReset: boolean): Promise<void> {
  const reset = 'Take the Settings Back';
  const sentence = "The editor's own chat is set up for your models. Choose one in its model picker.";
  const answer = await vscode.window.showInformationMessage(sentence, ...(canReset ? [reset] : []));
  if (answer === reset) await vscode.commands.executeCommand('runner.resetChat');
}

/**
 * Asks how many tokens the runner should allocate, and stores the answer as a setting. After a refusal, the command
 * gets what the prompt needs and what its model holds.
 */
export function registerContextLength(offered: Pick<OfferedModels, 'models'>): vscode.Disposable {
  return vscode.commands.registerCommand(setContextLength.command, async (needs?: WindowNeeds) => {
    const items = windowChoices(needs ?? largestOf(offered.models), contextLength());
    const title = 'How Large a Context Window? A larger one needs more memory.';
    const chosen = await vscode.window.showQuickPick(items, { title });
    if (!chosen) return;
    await updateSetting('contextLength', chosen.tokens);
  });
}

/** What is known about the window that is needed, all in tokens. */
interface WindowNeeds {
  /** The smallest window that holds the prompt; absent if nothing was refused. */
  readonly fitting?: number;
  /** The most that the model can have; if nothing was refused, the most that any model can have. */
  readonly maximum?: number;
}

/** The usual sizes, in tokens. A model with a smaller maximum gets its maximum. */
const usual = [8_192, 16_384, 32_768, 65_536, 131_072, 262_144];

/**
 * The windows to choose from, the one of now among them: they begin at what is needed, and end at what a model holds. 0
 * tokens leave it to the runner.
 */
function windowChoices({ fitting = 0, maximum = Number.POSITIVE_INFINITY }: WindowNeeds, now: number) {
  const ends = [fitting, maximum].filter((tokens) => tokens > 0 && Number.isFinite(tokens));
  const inRange = [...usual, ...ends].filter((tokens) => tokens >= fitting && tokens <= maximum);
  const sizes = [...new Set(now > 0 && fitting === 0 ? [...inRange, now] : inRange)];
  const holder = fitting > 0 ? 'the model holds' : 'any of your models holds';
  const proposal = Math.min(agentWindow, maximum);
  const choices = sizes
    .sort((a, b) => a - b)
    .map((tokens) => ({
      label: `${tokens.toLocaleString('en-US')} tokens`,
      description: [
        tokens === now ? 'now' : '',
        tokens === fitting ? 'the smallest that fits' : '',
        tokens === maximum ? `the most that ${holder}` : '',
        forAgents(tokens, proposal),
      ]
        .filter(Boolean)
        .join(' · '),
      tokens,
    }));
  // What the runner decided was too small.
  if (fitting > 0) return choices;
  const description = ['often 4,096 tokens', now === 0 ? 'now' : ''].filter(Boolean).join(' · ');
  return [{ label: 'The runner decides', description, tokens: 0 }, ...choices];
}

/** What a window means for the editor's own agent. */
function forAgents(tokens: number, proposal: number): string {
  if (tokens < taskNeeds) return "the editor's agent summarises at each step";
  return tokens === proposal ? "for the editor's agent" : '';
}

/** The setting is for all models, and each gets at most what it holds. */
function largestOf(models: readonly Model[]): WindowNeeds {
  const able = models.filter((model) => canChat(model) && !model.remote);
  const known = able.flatMap(({ context: { maximum } }) => maximum ?? []);
  return known.length > 0 && known.length === able.length ? { maximum: Math.max(...known) } : {};
}
