import type * as vscode from 'vscode';
import { readMetadata } from './turnMetadata.ts';

/** Offered only if there is something to continue. */
export const followUps: vscode.ChatFollowupProvider = {
  provideFollowups(result) {
    const { ended, prompt } = readMetadata(result.metadata) ?? {};
    switch (ended) {
      case 'length':
        return [{ prompt: 'Go on from where you were cut.', label: 'Go on' }];
      case 'rounds':
        return [{ prompt: 'Go on with the tools.', label: 'Go on with the tools' }];
      case 'failed':
        return prompt === undefined ? [] : [{ prompt, label: 'Try Again' }];
      default:
        return [];
    }
  },
};
