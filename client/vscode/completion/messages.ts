import type { TextRange } from '../../../protocol/messages/completion.ts';
import type { NotificationMessage } from '../../../protocol/messages/messageTypes.ts';

/** The part of LSP's text synchronization that is used here: each change has a range. */
interface OpenedDocument {
  readonly textDocument: {
    readonly uri: string;
    readonly languageId: string;
    readonly version: number;
    readonly text: string;
  };
}

interface ChangedDocument {
  readonly textDocument: { readonly uri: string; readonly version: number };
  readonly contentChanges: readonly { readonly range: TextRange; readonly text: string }[];
}

interface ClosedDocument {
  readonly textDocument: { readonly uri: string };
}

export const didOpen: NotificationMessage<OpenedDocument> = { method: 'textDocument/didOpen' };
export const didChange: NotificationMessage<ChangedDocument> = { method: 'textDocument/didChange' };
export const didClose: NotificationMessage<ClosedDocument> = { method: 'textDocument/didClose' };
