import { TextDocument } from 'vscode-languageserver-textdocument';
import type { ModelfileDiagnostic, ParseModelfileResult } from '../../protocol/messages/modelfile.ts';
import { checkModelfile } from './checks.ts';
import { type ParsedModelfile, type Problem, parseModelfile, type Span } from './parser.ts';

/** A Modelfile that was read: its commands, and the problems that its text alone shows. */
export interface Modelfile extends ParsedModelfile {
  readonly document: TextDocument;
}

export function readModelfile(text: string): Modelfile {
  return readDocument(TextDocument.create('', 'modelfile', 0, text));
}

export function readDocument(document: TextDocument): Modelfile {
  const parsed = parseModelfile(document.getText());
  return { ...parsed, problems: [...parsed.problems, ...checkModelfile(parsed)], document };
}

/** The protocol's form: one entry for each command, with ranges in LSP's positions. */
export function toParseResult(modelfile: Modelfile): ParseModelfileResult {
  const { commands, problems, document } = modelfile;
  return {
    commands: commands.map((command) => ({
      command: command.name,
      args: command.args.map(({ text }) => text),
      range: rangeOf(document, command),
    })),
    diagnostics: toDiagnostics(document, problems),
  };
}

/** In the order of the text. A problem without a position is shown on the first line. */
export function toDiagnostics(
  document: TextDocument,
  problems: readonly Problem[],
): readonly ModelfileDiagnostic[] {
  return [...problems]
    .sort((a, b) => a.start - b.start)
    .map((problem) => ({
      range: rangeOf(document, problem.end > problem.start ? problem : firstLineOf(document)),
      message: problem.message,
      severity: problem.severity === 'error' ? 1 : 2,
    }));
}

export function hasErrors(problems: readonly Problem[]): boolean {
  return problems.some(({ severity }) => severity === 'error');
}

function rangeOf(document: TextDocument, { start, end }: Span) {
  return { start: document.positionAt(start), end: document.positionAt(end) };
}

function firstLineOf(document: TextDocument): Span {
  const [line = ''] = document
    .getText({ start: { line: 0, character: 0 }, end: { line: 1, character: 0 } })
    .split(/[\r\n]/);
  return { start: 0, end: line.length };
}
