import type { RequestMessage } from './messageTypes.ts';

/** LSP's: both count from 0, characters in UTF-16. */
export interface TextPosition {
  readonly line: number;
  readonly character: number;
}

export interface TextRange {
  readonly start: TextPosition;
  readonly end: TextPosition;
}

/** LSP's: the item that is selected in the editor's own list of completions, and what it would replace. */
export interface SelectedCompletionInfo {
  readonly range: TextRange;
  readonly text: string;
}

/** LSP's `InlineCompletionParams`, as far as the daemon reads them. */
export interface InlineCompletionParams {
  readonly textDocument: { readonly uri: string };
  readonly position: TextPosition;
  readonly context?: {
    /** 1: the user asked for it; 2: the editor did while the user typed, which is also what absent means. */
    readonly triggerKind: number;
    /** What is suggested goes on with this text, and replaces its range. */
    readonly selectedCompletionInfo?: SelectedCompletionInfo;
  };
}

export interface InlineCompletionItem {
  readonly insertText: string;
  /**
   * From the cursor: empty, or over closers that `insertText` repeats. Where an item of the editor's list is selected it
   * begins with that item's range.
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

/** Client to daemon: what could stand at the cursor. Never an error; null is superseded, cancelled or impossible. */
export const inlineCompletionRequest: RequestMessage<InlineCompletionParams, InlineCompletionList | null> = {
  method: 'textDocument/inlineCompletion',
};

export interface CompletionAcceptedParams {
  /** Which of the daemon's suggestions it was. */
  readonly id: string;
}

/** The command of each inline-completion item; the editor runs it after an acceptance, and the daemon executes it. */
export const completionAcceptedCommand = 'runner.completion.accepted';

/** The lifecycle as `workspace/executeCommand`, each with `[{ model, server? }]`, for editors that send nothing else. */
export const lifecycleCommands = {
  pull: 'runner.models.pull',
  run: 'runner.models.run',
  stop: 'runner.models.stop',
  delete: 'runner.models.delete',
} as const;
