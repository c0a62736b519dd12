import type { RequestMessage, TextRange } from './messageTypes.ts';

export interface ModelfileCommand {
  /** In lower case, such as `parameter`. */
  readonly command: string;
  readonly args: readonly string[];
  readonly range: TextRange;
}

export interface ModelfileDiagnostic {
  readonly range: TextRange;
  readonly message: string;
  /** As in LSP: 1 error, 2 warning, 3 information, 4 hint. */
  readonly severity: 1 | 2 | 3 | 4;
}

export interface ParseModelfileResult {
  readonly commands: readonly ModelfileCommand[];
  readonly diagnostics: readonly ModelfileDiagnostic[];
}

/** Client to daemon: read a Modelfile. */
export const parseModelfileRequest: RequestMessage<{ readonly text: string }, ParseModelfileResult> = {
  method: 'runner/modelfile/parse',
};
