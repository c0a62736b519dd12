import type * as vscode from 'vscode';
import type { Remedy } from '../ui/remedies.ts';
import { plain } from '../ui/safeText.ts';

interface Editor {
  readonly window: Pick<typeof vscode.window, 'showWarningMessage'>;
  readonly commands: Pick<typeof vscode.commands, 'executeCommand'>;
}

/**
 * Offers the remedies for a prompt that does not fit in a notification, one at a time: an error in the editor's own
 * chat has no buttons.
 */
export function createContextOffer({
  window,
  commands,
}: Editor): (sentence: string, remedies: readonly Remedy[]) => Promise<void> {
  let isOpen = false;
  return async (sentence, remedies) => {
    if (isOpen || remedies.length === 0) return;
    isOpen = true;
    const titles = remedies.map(({ title }) => title);
    const answer = await window.showWarningMessage(plain(sentence), ...titles);
    isOpen = false;
    const chosen = remedies.find(({ title }) => title === answer);
    if (chosen) await commands.executeCommand(chosen.command, ...(chosen.arguments ?? []));
  };
}
