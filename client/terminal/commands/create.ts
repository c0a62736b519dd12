import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createModelRequest } from '../../../protocol/messages/models.ts';
import type { CommandLine } from '../cli/commandLine.ts';
import { failureOf, TerminalError } from '../cli/failure.ts';
import { readAll, type Surroundings, write } from '../cli/streams.ts';
import { chooseModel } from '../conversation/chooseModel.ts';
import { withDaemon } from '../daemon/connection.ts';
import { styleFor } from '../screen/style.ts';
import { describeDiagnostics } from './diagnostics.ts';
import { runWork } from './work.ts';

/** A Modelfile from standard input may have this many bytes. */
const maxModelfile = 1024 * 1024;

/** Creates a model from a Modelfile. */
export async function createModel(surroundings: Surroundings, commandLine: CommandLine): Promise<number> {
  const [model = ''] = commandLine.words;
  const source = await readSource(surroundings, commandLine);
  const { shown: _, ...where } = source;
  return withDaemon(surroundings, { commandLine }, async (daemon) => {
    try {
      return await runWork(surroundings, daemon, {
        request: createModelRequest,
        params: { model, ...where },
        json: commandLine.json,
        done: 'Created',
        stopped: 'Stopped.',
      });
    } catch (error) {
      if (!commandLine.json) await tellMistakes(surroundings, source, error);
      throw error;
    }
  });
}

/** Gives a model another name: the runner makes one from it, which takes no room. */
export async function copyModel(surroundings: Surroundings, commandLine: CommandLine): Promise<number> {
  const [from = '', model = ''] = commandLine.words;
  return withDaemon(surroundings, { commandLine }, async (daemon) => {
    // The name as the runner has it: a word of the command line goes into no Modelfile.
    const source = await chooseModel(daemon, from);
    return runWork(surroundings, daemon, {
      request: createModelRequest,
      params: { model, text: `FROM ${source}\n` },
      json: commandLine.json,
      done: 'Created',
      stopped: 'Stopped.',
    });
  });
}

/** As the request takes it: one of `path` and `text` is there. */
interface ModelfileSource {
  /** The name that the user knows it by. */
  readonly shown: string;
  readonly path?: string;
  readonly text?: string;
}

async function readSource(
  { stdin }: Surroundings,
  { files: [file = 'Modelfile', ...others] }: CommandLine,
): Promise<ModelfileSource> {
  if (others.length > 0)
    throw new TerminalError('usage', 'A model is made from one Modelfile: say --file once.');
  if (file === '-') return { shown: '<stdin>', text: await readAll(stdin, maxModelfile) };
  return { shown: file, path: resolve(file) };
}

/** What is wrong with a Modelfile, with its lines where they can be read. */
async function tellMistakes(
  { stderr, env }: Surroundings,
  { shown, path = '', text }: ModelfileSource,
  error: unknown,
): Promise<void> {
  const { diagnostics } = failureOf(error);
  if (!diagnostics) return;
  const source = text ?? (await readFile(path, 'utf8').catch(() => ''));
  const width = stderr.isTTY ? stderr.columns || 80 : Number.POSITIVE_INFINITY;
  const look = {
    file: shown,
    source: source.includes('\0') ? '' : source,
    style: styleFor(stderr, env),
    width,
  };
  await write(stderr, describeDiagnostics(diagnostics, look));
}
