import * as vscode from 'vscode';
import { asideOf, type ToOurs } from './answerWriter.ts';

export const toOurs: ToOurs = (markdown, enabledCommands) => {
  const ours = new vscode.MarkdownString(markdown, true);
  if (enabledCommands !== undefined) ours.isTrusted = { enabledCommands };
  return ours;
};

/** A sentence of ours beside the answer. */
export function toAside(sentence: string, icon?: 'error'): vscode.MarkdownString {
  return toOurs(asideOf(sentence, icon));
}

/** Whether this part is ours. It is not sent to the model, which never said it. */
export function isAside({ supportThemeIcons = false }: vscode.MarkdownString): boolean {
  return supportThemeIcons;
}
