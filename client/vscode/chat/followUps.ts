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
        return prompt === undefined ? [] : [{ prompt, label: 'Try Again' }];
      default:
        return [];
    }
  },
};
