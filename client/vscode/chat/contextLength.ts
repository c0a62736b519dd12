import * as vscode from 'vscode';
import { contextLength, updateSetting } from '../settings.ts';
import { type Remedy, setContextLength } from '../ui/remedies.ts';
import { plain } from '../ui/safeText.ts';
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

/**
 * Offers the remedies for a prompt that does not fit in a notification, one at a time: an error in the editor's own
 * chat has no buttons.
 */
export function createContextOffer(): (sentence: string, remedies: readonly Remedy[]) => Promise<void> {
  let isOpen = false;
  return async (sentence, remedies) => {
    if (isOpen || remedies.length === 0) return;
    isOpen = true;
    const titles = remedies.map(({ title }) => title);
    const answer = await vscode.window.showWarningMessage(plain(sentence), ...titles);
    isOpen = false;
    const chosen = remedies.find(({ title }) => title === answer);
    if (chosen) await vscode.commands.executeCommand(chosen.command, ...(chosen.arguments ?? []));
  };
}
