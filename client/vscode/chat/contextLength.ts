import * as vscode from 'vscode';
import { contextLength, updateSetting } from '../settings.ts';
import { setContextLength } from '../ui/remedies.ts';
import { plain } from '../ui/safeText.ts';

/** The choices, in tokens. A model with a smaller maximum gets its maximum. */
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

/**
 * Offers a larger context window in a notification, one at a time: an error in the editor's own chat has no buttons.
 */
export function createContextOffer(): (sentence: string) => Promise<void> {
  let isOpen = false;
  return async (sentence) => {
    if (isOpen) return;
    isOpen = true;
    const answer = await vscode.window.showWarningMessage(plain(sentence), setContextLength.title);
    isOpen = false;
    if (answer !== undefined) await vscode.commands.executeCommand(setContextLength.command);
  };
}
