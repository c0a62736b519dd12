import type * as vscode from 'vscode';
import { readMetadata } from './turnMetadata.ts';

/**
 * Offered only if there is something to continue. A question that is asked again has the command of the first one, which
 * is the editor's default; one that goes on must not have that, or the command's prompt would be sent once more.
 */
export const followUps: vscode.ChatFollowupProvider = {
  provideFollowups(result) {
    const { ended, prompt } = readMetadata(result.metadata) ?? {};
    switch (ended) {
      case 'length':
        return [{ command: '', prompt: 'Go on from where you were cut.', label: 'Go on' }];
      case 'rounds':
        return [{ command: '', prompt: 'Go on with the tools.', label: 'Go on with the tools' }];
      case 'failed':
        return prompt === undefined ? [] : [{ prompt: `${withoutMark(prompt)}${mark}`, label: 'Try Again' }];
      default:
        return [];
    }
  },
};

/**
 * Ends a question that "Try Again" asks, and has no width. The editor sends its words alone; by the mark we know that
 * what was attached to the failed question goes along. If the user types the same words again, it does not.
 */
const mark = '\u2060';

export function isTriedAgain(prompt: string): boolean {
  return prompt.endsWith(mark);
}

/** The words of a question. */
export function withoutMark(prompt: string): string {
  return isTriedAgain(prompt) ? prompt.slice(0, -mark.length) : prompt;
}
