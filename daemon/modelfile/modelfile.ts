import { isAbsolute } from 'node:path';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { messageOf } from '../../protocol/base/errorText.ts';
import type { ModelfileDiagnostic, ParseModelfileResult } from '../../protocol/messages/modelfile.ts';
import { InvalidParamsError, RunnerError } from '../base/errors.ts';
import { readRegularBytes } from '../base/regularFile.ts';
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

/** A Modelfile is written by hand, so a larger file is something else. */
export const maxModelfileBytes = 16 * 1024 * 1024;

/**
 * Reads the text of the Modelfile at an absolute path: UTF-8, or UTF-16 with a byte-order mark. The mark is left out.
 * @throws {InvalidParamsError} for a path that is not absolute.
 * @throws {RunnerError} `invalid-request`, if it cannot be read or is not text.
 */
export async function readModelfileText(path: string): Promise<string> {
  if (!isAbsolute(path)) throw new InvalidParamsError('path', 'it is not an absolute path');
  const bytes = await readBytes(path);
  try {
    return decodeModelfile(bytes);
  } catch (cause) {
    throw new RunnerError(
      'invalid-request',
      `${path} is not a text file, so it is not a Modelfile. To use a GGUF file, name it after FROM in a Modelfile.`,
      {
        cause,
      },
    );
  }
}

/**
 * Decodes by the byte-order mark, otherwise as UTF-8.
 * @throws {TypeError} if the bytes are not text.
 */
export function decodeModelfile(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le', { fatal: true }).decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be', { fatal: true }).decode(bytes);
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  if (text.includes('\0')) throw new TypeError('it has NUL bytes');
  return text;
}

async function readBytes(path: string): Promise<Uint8Array> {
  try {
    return await readRegularBytes(path, maxModelfileBytes);
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const reason = messageOf(error);
    const problem = isMissing ? 'is not there' : `cannot be read: ${reason}`;
    throw new RunnerError('invalid-request', `The Modelfile ${path} ${problem}.`, { cause: error });
  }
}
