import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { formatBytes, showLine } from '../../../protocol/base/text.ts';
import type { RequestMessage, WorkDoneParams } from '../../../protocol/messages/messageTypes.ts';
import type { ModelfileDiagnostic } from '../../../protocol/messages/modelfile.ts';
import {
  createModelRequest,
  deleteModelRequest,
  pullModelRequest,
} from '../../../protocol/messages/models.ts';
import { refusalOf, statusRequest } from '../../../protocol/messages/status.ts';
import { fullModelName } from '../../shared/words.ts';
import { type CommandContext, tell } from '../cli/command.ts';
import { failureOf, TerminalError, usageError } from '../cli/failure.ts';
import { confirmDeletion, requireQuestion } from '../cli/question.ts';
import { interruptible, readAll, type Terminal } from '../cli/terminal.ts';
import { findInstalled, orNearModels, ownName } from '../conversation/chooseModel.ts';
import { withDaemon } from '../daemon/connection.ts';
import type { DaemonClient } from '../daemon/daemon.ts';
import { requestWork } from '../daemon/work.ts';
import { columnsOf, cutTo } from '../screen/columns.ts';
import type { Output, Style } from '../screen/output.ts';

/** A Modelfile from standard input may have this many bytes. */
const maxModelfile = 1024 * 1024;

/** Creates a model from a Modelfile. */
export async function createModel(context: CommandContext): Promise<number> {
  const { terminal, commandLine } = context;
  const [model = ''] = commandLine.words;
  const source = await readSource(context);
  const { shown: _, ...where } = source;
  return withDaemon(context, {}, async (daemon) => {
    try {
      const work = { request: createModelRequest, params: { model, ...where } };
      return await runWork(context, daemon, { ...work, done: 'Created', stopped: 'Stopped.' });
    } catch (error) {
      if (!commandLine.json) await showMistakes(terminal.stderr, source, error);
      throw error;
    }
  });
}

/** Gives a model another name: the runner creates one from it, which takes no space. */
export async function copyModel(context: CommandContext): Promise<number> {
  const [from = '', model = ''] = context.commandLine.words;
  return withDaemon(context, {}, async (daemon) => {
    // The name as the runner has it: a word of the command line does not go into a Modelfile.
    const { name, server } = await findInstalled(daemon, from);
    const [source, copy] = [ownName(name, server), ownName(model, server)];
    if (fullModelName(source) === fullModelName(copy))
      throw usageError(`"${showLine(model)}" is the name of the model itself. Give it another.`);
    const work = {
      request: createModelRequest,
      params: { ...(server && { server }), model: copy, text: `FROM ${source}\n` },
    };
    // It takes a moment, and what the runner says meanwhile is about Modelfiles.
    return runWork(context, daemon, { ...work, isQuiet: true, done: 'Created', stopped: 'Stopped.' });
  });
}

/** As the request takes it: with either `path` or `text`. */
interface ModelfileSource {
  /** The name that the user knows it by. */
  readonly shown: string;
  readonly path?: string;
  readonly text?: string;
}

async function readSource({ terminal, commandLine }: CommandContext): Promise<ModelfileSource> {
  const [file = 'Modelfile', ...others] = commandLine.files;
  if (others.length > 0) throw usageError('A model is made from one Modelfile: say --file once.');
  if (file === '-') return { shown: '<stdin>', text: await readAll(terminal, maxModelfile) };
  return { shown: file, path: resolve(file) };
}

/** Shows what is wrong with a Modelfile, with its lines if they can be read. */
async function showMistakes(
  stderr: Output,
  { shown, path = '', text }: ModelfileSource,
  error: unknown,
): Promise<void> {
  const { diagnostics } = failureOf(error);
  if (!diagnostics) return;
  const content = text ?? (await readFile(path, 'utf8').catch(() => ''));
  const source = content.includes('\0') ? '' : content;
  const { style, width } = stderr;
  await stderr.write(describeDiagnostics(diagnostics, { file: shown, source, style, width }));
}

/** More than this many are only counted. */
const maxShown = 20;
/** How many characters of a long line are shown before the mistake. */
const before = 30;
const maxWidth = 200;

interface DiagnosticsLook {
  /** As the user named it. */
  readonly file: string;
  /** Empty if it cannot be read. */
  readonly source: string;
  readonly style: Style;
  readonly width: number;
}

/** `FILE:LINE:COLUMN: message` for each, with its line and a mark below the mistake. */
function describeDiagnostics(diagnostics: readonly ModelfileDiagnostic[], look: DiagnosticsLook): string {
  const lines = look.source.split(/\r\n|\r|\n/);
  const shown = diagnostics
    .slice(0, maxShown)
    .flatMap((diagnostic) => [
      headOf(diagnostic, look),
      ...markedLine(diagnostic, lines[diagnostic.range.start.line], look),
    ]);
  const more = diagnostics.length - maxShown;
  return [...shown, ...(more > 0 ? [`… and ${more} more`] : [])].map((line) => `${line}\n`).join('');
}

function headOf({ range, message, severity }: ModelfileDiagnostic, { file, style }: DiagnosticsLook): string {
  const place = `${showLine(file)}:${range.start.line + 1}:${range.start.character + 1}:`;
  return `${style.bold(place)} ${severity === 1 ? '' : style.yellow('warning: ')}${showLine(message)}`;
}

/** Nothing if the line is not known. A long line is cut around the mistake. */
function markedLine(
  { range: { start, end } }: ModelfileDiagnostic,
  line: string | undefined,
  { style, width: available }: DiagnosticsLook,
): readonly string[] {
  if (line === undefined || line.trim() === '') return [];
  const width = Math.max(1, Math.min(available - 1, maxWidth));
  const from = columnsOf(showBlanks(line)) <= width ? 0 : Math.max(0, start.character - before);
  const ends = end.line === start.line ? end.character : line.length;
  const indent = columnsOf(showBlanks(line.slice(from, start.character)));
  const marked = columnsOf(showBlanks(line.slice(start.character, ends)));
  const mark = `^${'~'.repeat(Math.max(0, Math.min(marked, width - indent) - 1))}`;
  return [cutTo(showBlanks(line.slice(from)), width), `${' '.repeat(indent)}${style.green(mark)}`];
}

/** Each tab becomes one blank, so that the mark is below the mistake. */
function showBlanks(text: string): string {
  return showLine(text.replaceAll('\t', ' '));
}

/** Downloads a model. */
export async function pullModel(context: CommandContext): Promise<number> {
  const [model = ''] = context.commandLine.words;
  return withDaemon(context, {}, (daemon) =>
    runWork(context, daemon, {
      request: pullModelRequest,
      params: { model },
      done: 'Pulled',
      stopped: 'Stopped. What was downloaded is kept; pulling again goes on from there.',
    }),
  );
}

/** Long work on a model that reports its progress. */
interface Work<P extends WorkDoneParams> {
  readonly request: RequestMessage<P, { readonly model: string }>;
  readonly params: P & { readonly model: string };
  /** What happened to the model, such as `Pulled`. */
  readonly done: string;
  /** Its progress is not shown. */
  readonly isQuiet?: true;
  /** What is shown if Ctrl-C cancelled it. */
  readonly stopped: string;
}

/** Does the work and shows its progress. Ctrl-C cancels it. Returns the exit code. */
async function runWork<P extends WorkDoneParams>(
  context: CommandContext,
  daemon: DaemonClient,
  { request, params, done, stopped, isQuiet }: Work<P>,
): Promise<number> {
  const made = await (isQuiet
    ? interruptible(context.terminal, (signal) => daemon.request(request, params, signal))
    : requestWork(context, daemon, { request, params }));
  if (!made) return tell(context, { event: 'cancelled', model: params.model }, stopped);
  const { model } = made;
  return tell(context, { event: 'done', model }, `${done} ${showLine(model)}.`);
}

/**
 * Deletes a model once the user has agreed.
 * @throws {TerminalError} of the kind `usage`, if nobody can be asked.
 */
export async function removeModel(context: CommandContext): Promise<number> {
  const { terminal, commandLine } = context;
  const [named = ''] = commandLine.words;
  const { yes, json } = commandLine;
  if (!yes) requireQuestion(context, '"runner rm" asks before it deletes');
  return withDaemon(context, {}, async (daemon) => {
    if (yes) {
      // The daemon refuses to delete a running model: nobody has agreed to stop it.
      await orNearModels(daemon, named, daemon.request(deleteModelRequest, { model: named }));
      return reportDone(terminal, named, json);
    }
    const { name, server, size, running } = await findInstalled(daemon, named);
    const { product, can } = await daemon.request(statusRequest, server === undefined ? {} : { server });
    // Nobody is asked about what the server then refuses.
    if (product !== undefined && can?.includes('delete') === false)
      throw new TerminalError('not-supported', refusalOf(product, 'delete'));
    if (running) await terminal.stderr.writeLine('It is loaded and will be stopped.');
    const bytes = size === undefined ? '' : ` (${formatBytes(size)})`;
    const refusal = await confirmDeletion(terminal, `Delete ${showLine(name)}${bytes}? [y/N] `);
    if (refusal !== undefined) return refusal;
    await daemon.request(deleteModelRequest, { model: name, ...(running ? { stop: true } : {}) });
    return reportDone(terminal, name, json);
  });
}

async function reportDone({ stdout }: Terminal, model: string, json: boolean): Promise<number> {
  await (json
    ? stdout.writeJson({ event: 'done', model })
    : stdout.writeLine(`${showLine(model)} is deleted.`));
  return 0;
}
