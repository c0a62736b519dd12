import type * as vscode from 'vscode';
import { readMetadata } from './turnMetadata.ts';

/** Offered only where there is something to go on with. */
export const followUps: vscode.ChatFollowupProvider = {
  provideFollowups(result) {
    const { ended, prompt } = readMetadata(result.metadata) ?? {};
    switch (ended) {
      case 'length':
        return [{ prompt: 'Go on from where you were cut.', label: 'Go on' }];
      case 'rounds':
        return [{ prompt: 'Go on with the tools.', label: 'Go on with the tools' }];
      case 'failed':
        return prompt === undefined ? [] : [{ prompt, label: 'Ask again' }];
      default:
        return [];
    }
  },
};
