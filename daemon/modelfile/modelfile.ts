import { isAbsolute } from 'node:path';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { nearestNames } from '../../protocol/base/editDistance.ts';
import { messageOf } from '../../protocol/base/text.ts';
import type { ModelfileDiagnostic, ParseModelfileResult } from '../../protocol/messages/modelfile.ts';
import { InvalidParamsError, RunnerError } from '../base/errors.ts';
import { readRegularBytes } from '../base/regularFile.ts';
import {
  type Argument,
  type Instruction,
  type ParsedModelfile,
  type Problem,
  parseModelfile,
  type Span,
} from './parser.ts';
import { commandWords, deprecatedParameters, type ParameterType, parameterWords } from './vocabulary.ts';

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
      { cause },
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

/** Finds what is wrong with the meaning of a Modelfile, by its text alone. At most a thousand problems. */
export function checkModelfile({ commands, isCut }: ParsedModelfile): readonly Problem[] {
  const problems: Problem[] = [...missingFrom(commands, isCut)];
  for (const command of commands) {
    problems.push(...problemsOf(command));
    if (problems.length >= maxProblems) return problems.slice(0, maxProblems);
  }
  return [...problems, ...overruled(commands)].slice(0, maxProblems);
}

const maxProblems = 1_000;

/** The value of a parameter in the type that the runner wants; undefined if it does not have that type. */
export function tryParameterValue(type: ParameterType, text: string): string | number | boolean | undefined {
  switch (type) {
    case 'string':
      return text;
    case 'bool':
      return (
        /^(1|t|T|true|True|TRUE)$/.test(text) ||
        (/^(0|f|F|false|False|FALSE)$/.test(text) ? false : undefined)
      );
    case 'int':
      return /^[+-]?\d{1,19}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined;
    case 'float':
      return text.length <= 64 &&
        /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?$/i.test(text) &&
        Number.isFinite(Number(text))
        ? Number(text)
        : undefined;
  }
}

function missingFrom(commands: readonly Instruction[], isCut: boolean): readonly Problem[] {
  if (isCut || commands.some(({ name }) => name === 'from')) return [];
  const message = 'There is no FROM line: it says which model to start from, such as "FROM qwen3:4b".';
  return [{ start: 0, end: 0, severity: 'error', message }];
}

function problemsOf({ name, word, args }: Instruction): readonly Problem[] {
  const [first, second] = args;
  switch (name) {
    case 'parameter':
      return second ? parameterProblems(first, second) : [];
    case 'requires':
      return isVersion(first.text) ? [] : [error(first, 'REQUIRES needs a version, such as 0.14.0.')];
    case 'from':
    case 'adapter':
    case 'draft':
      if (first.text !== '') return [];
      return [
        error(word, `${name.toUpperCase()} needs ${name === 'from' ? 'a model or a path' : 'a path'}.`),
      ];
    default:
      return [];
  }
}

function parameterProblems(name: Argument, value: Argument): readonly Problem[] {
  if (deprecatedParameters.has(name.text))
    return [{ ...spanOf(name), severity: 'warning', message: `${name.text} no longer has any effect.` }];
  const known = parameterWords.get(name.text);
  if (!known) return [error(name, unknownParameter(name.text))];
  if (tryParameterValue(known.type, value.text) !== undefined) return [];
  const kinds = { int: 'a whole number', float: 'a number', bool: 'true or false', string: 'a text' };
  return [error(value.text === '' ? name : value, `${name.text} needs ${kinds[known.type]}.`)];
}

/** Names are case-sensitive, so a wrong case is the likely mistake. The hint is the end of the sentence. */
function unknownParameter(name: string): string {
  const shown = name.slice(0, 60);
  const plain = (text: string) => text.toLowerCase().replace(/[^a-z]/g, '');
  const names = [...parameterWords.keys()];
  const near = shown.length < 5 ? undefined : nearestNames(shown, names, 1)[0];
  const meant = names.find((known) => plain(known) === plain(shown)) ?? near;
  const hint = meant === undefined ? '' : ` Did you mean ${meant}?`;
  return `unknown parameter "${shown}".${hint}`;
}

/** Where only the last of several commands counts, each earlier one gets a warning. */
function overruled(commands: readonly Instruction[]): readonly Problem[] {
  const last = new Map<string, Instruction>();
  const problems: Problem[] = [];
  for (const command of commands) {
    const key = keyOfSingle(command);
    if (key === undefined) continue;
    const before = last.get(key);
    if (before)
      problems.push({ ...spanOf(before), severity: 'warning', message: `A later ${key} replaces this one.` });
    last.set(key, command);
  }
  return problems;
}

function keyOfSingle({ name, args: [first] }: Instruction): string | undefined {
  if (name === 'parameter') return parameterWords.get(first.text)?.isList ? undefined : first.text;
  return commandWords.get(name)?.repeated === 'last' ? name.toUpperCase() : undefined;
}

/** As Go's `semver` has it, with or without a `v`. */
function isVersion(text: string): boolean {
  const number = '(0|[1-9]\\d*)';
  return new RegExp(`^v?${number}(\\.${number}(\\.${number}(-[\\w.-]+)?(\\+[\\w.-]+)?)?)?$`).test(text);
}

function error(at: Argument | Instruction['word'], message: string): Problem {
  return { ...spanOf(at), severity: 'error', message };
}

function spanOf({ start, end }: { readonly start: number; readonly end: number }) {
  return { start, end };
}
