import * as vscode from 'vscode';
import { contextLength, updateSetting } from '../settings.ts';
import { setContextLength } from '../ui/remedies.ts';
import type { OfferedModels } from './offeredModels.ts';
import { largestOf, type WindowNeeds, windowChoices } from './windowChoices.ts';

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
