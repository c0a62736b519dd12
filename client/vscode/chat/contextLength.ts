import * as vscode from 'vscode';
import { plain } from '../notificationText.ts';
import { contextLength, updateSetting } from '../settings.ts';

const setContextLength: vscode.Command = {
  command: 'runner.setContextLength',
  title: 'Set a Larger Window',
};

/** Tokens to choose from; a model that was made for fewer gets its own maximum. */
const lengths = [8_192, 16_384, 32_768, 65_536, 131_072, 262_144];

/** Asks how many tokens the runner should allocate, and stores the answer as a setting. */
export function registerContextLength(): vscode.Disposable {
  return vscode.commands.registerCommand(setContextLength.command, async () => {
    const now = contextLength();
    const items = [
      { label: 'The runner decides', description: 'often 4,096 tokens', tokens: 0 },
      ...lengths.map((tokens) => ({
        label: `${tokens.toLocaleString('en-US')} tokens`,
        description: tokens === now ? 'now' : '',
        tokens,
      })),
    ];
    const title = 'How Large a Context Window? A larger one needs more memory.';
    const chosen = await vscode.window.showQuickPick(items, { title });
    if (!chosen) return;
    await updateSetting('contextLength', chosen.tokens);
  });
}

/** For an error of the editor's own chat, which has no buttons: shows one offer at a time. */
export function createWindowOffer(): (sentence: string) => Promise<void> {
  let isOpen = false;
  return async (sentence) => {
    if (isOpen) return;
    isOpen = true;
    const answer = await vscode.window.showWarningMessage(plain(sentence), setContextLength.title);
    isOpen = false;
    if (answer !== undefined) await vscode.commands.executeCommand(setContextLength.command);
  };
}
