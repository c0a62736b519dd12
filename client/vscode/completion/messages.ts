import type { NotificationMessage, RequestMessage } from '../../../protocol/messageTypes.ts';

/** The part of LSP 3.18 that completion speaks; lines and characters count from 0, characters in UTF-16 units. */
export interface Position {
  readonly line: number;
  readonly character: number;
}

export interface Range {
  readonly start: Position;
  readonly end: Position;
}

interface OfDocument {
  readonly textDocument: { readonly uri: string };
}

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
  readonly contentChanges: readonly { readonly range: Range; readonly text: string }[];
}

export const didOpen: NotificationMessage<OpenedDocument> = { method: 'textDocument/didOpen' };
export const didChange: NotificationMessage<ChangedDocument> = { method: 'textDocument/didChange' };
export const didClose: NotificationMessage<OfDocument> = { method: 'textDocument/didClose' };

/** LSP counts from 1 what the editor counts from 0. */
export const triggerKinds = { invoked: 1, automatic: 2 } as const;

export interface InlineCompletionParams extends OfDocument {
  readonly position: Position;
  readonly context: {
    readonly triggerKind: 1 | 2;
    /** What the list of suggestions would insert now. */
    readonly selectedCompletionInfo?: { readonly range: Range; readonly text: string };
  };
}

export interface InlineCompletionItem {
  readonly insertText: string;
  readonly range?: Range;
  readonly filterText?: string;
  /** To be run after an acceptance. */
  readonly command?: {
    readonly title: string;
    readonly command: string;
    readonly arguments?: readonly unknown[];
  };
}

export const inlineCompletion: RequestMessage<
  InlineCompletionParams,
  { readonly items: readonly InlineCompletionItem[] } | null
> = { method: 'textDocument/inlineCompletion' };
