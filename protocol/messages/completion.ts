import type { RequestMessage, TextPosition, TextRange } from './messageTypes.ts';

/** As in LSP: the item that is selected in the editor's own list of completions, and what it would replace. */
export interface SelectedCompletionInfo {
  readonly range: TextRange;
  readonly text: string;
}

/** LSP's `TextDocumentPositionParams`: a place in a document. */
export interface DocumentPosition {
  readonly textDocument: { readonly uri: string };
  readonly position: TextPosition;
}

/** The part of LSP's `InlineCompletionParams` that the daemon reads. */
export interface InlineCompletionParams extends DocumentPosition {
  readonly context?: {
    /**
     * 1: the user asked for it. 2: the editor asked while the user typed.
     * @default 2
     */
    readonly triggerKind: number;
    /** The suggestion continues this text and replaces its range. */
    readonly selectedCompletionInfo?: SelectedCompletionInfo;
  };
}

export interface InlineCompletionItem {
  readonly insertText: string;
  /**
   * Starts at the cursor. It is empty, or covers closers that `insertText` repeats. If an item of the editor's list is
   * selected, it starts where that item's range starts.
   */
  readonly range: TextRange;
  /** {@link completionAcceptedCommand}. */
  readonly command: {
    readonly title: string;
    readonly command: string;
    readonly arguments: readonly [CompletionAcceptedParams];
  };
}

export interface InlineCompletionList {
  readonly items: readonly InlineCompletionItem[];
}

/**
 * Client to daemon: asks for a suggestion at the cursor. Never an error; null means superseded, cancelled or
 * impossible.
 */
export const inlineCompletionRequest: RequestMessage<InlineCompletionParams, InlineCompletionList | null> = {
  method: 'textDocument/inlineCompletion',
};

export interface CompletionAcceptedParams {
  /** Identifies one of the daemon's suggestions. */
  readonly id: string;
}

/**
 * The command of each inline-completion item. The editor sends it when the user accepts the item, and the daemon
 * executes it.
 */
export const completionAcceptedCommand = 'runner.completion.accepted';

/**
 * Lifecycle commands for `workspace/executeCommand`, each with `[{ model, server? }]`, for editors that cannot send
 * other requests.
 */
export const lifecycleCommands = {
  pull: 'runner.models.pull',
  run: 'runner.models.run',
  stop: 'runner.models.stop',
  delete: 'runner.models.delete',
} as const;
