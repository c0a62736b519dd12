import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { withoutUndefined } from '../../../protocol/base/json.ts';
import { formatBytes, showLine } from '../../../protocol/base/text.ts';
import {
  describeFetch,
  type EngineFetch,
  type EngineStartParams,
  engineInstallRequest,
  engineModelsRequest,
  engineOffersRequest,
  engineRemoveRequest,
  engineSampleRequest,
  engineStartRequest,
  engineStatusRequest,
  engineStopRequest,
  type Fetchable,
  sampleWarning,
} from '../../../protocol/messages/engine.ts';
import type { RequestMessage, WorkDoneParams } from '../../../protocol/messages/messageTypes.ts';
import { type CommandContext, tell } from '../cli/command.ts';
import { TerminalError, usageError } from '../cli/failure.ts';
import { askLine, confirmDeletion, isYes, requireQuestion } from '../cli/question.ts';
import { withDaemon } from '../daemon/connection.ts';
import type { DaemonClient } from '../daemon/daemon.ts';
import { requestWork } from '../daemon/work.ts';
import { formatTable, toRight } from '../screen/columns.ts';

type Run = (context: CommandContext, daemon: DaemonClient) => Promise<number>;

const subcommands: ReadonlyMap<string, readonly [summary: string, run: Run]> = new Map([
  ['install', ['fetches the engine', install]],
  ['models', ['the model files on this machine, or in a folder', showFiles]],
  ['sample', ['fetches a small model', fetchSample]],
  ['start', ['starts it with a model, or as it was started last', start]],
  ['stop', ['ends what Runner has started', stop]],
  ['status', ['what runs; the exit code is 1 if nothing does', showStatus]],
  ['remove', ['deletes the engine and the small model', remove]],
]);

/** The words after `runner engine`, and what each is for. */
export const engineWords: ReadonlyMap<string, string> = new Map(
  [...subcommands].map(([word, [summary]]) => [word, summary]),
);

/** Which of them take a second word, and which flags they take. */
const takesWord = new Set(['start', 'models']);
const flagsOfWord: Readonly<Record<string, readonly string[]>> = {
  install: ['yes'],
  remove: ['yes'],
  sample: ['yes'],
  start: ['context', 'threads'],
};

/** Installs, starts and stops a runner of Runner's own. The daemon does the work. */
export async function runEngine(context: CommandContext): Promise<number> {
  const [word = '', ...further] = context.commandLine.words;
  const [, run] = subcommands.get(word) ?? [];
  const words = [...engineWords.keys()].join('|');
  if (!run) throw usageError(`Say what to do: runner engine ${words}`);
  if (further.length > (takesWord.has(word) ? 1 : 0))
    throw usageError(`"runner engine ${word}" takes no further words.`);
  const wrong = (['yes', 'context', 'threads'] as const).find(
    (flag) => context.commandLine.given.has(flag) && !flagsOfWord[word]?.includes(flag),
  );
  if (wrong) throw usageError(`"runner engine ${word}" does not take --${wrong}.`);
  return withDaemon(context, {}, (daemon) => run(context, daemon));
}

async function install(context: CommandContext, daemon: DaemonClient): Promise<number> {
  return fetchIt(context, daemon, {
    thing: 'library',
    request: engineInstallRequest,
    title: 'The engine runs models with llama.cpp.',
    done: 'The engine is installed. "runner engine sample" fetches a small model for it, and "runner engine models" lists those on this machine.',
  });
}

async function fetchSample(context: CommandContext, daemon: DaemonClient): Promise<number> {
  return fetchIt(context, daemon, {
    thing: 'sample',
    request: engineSampleRequest,
    title: sampleWarning,
    done: `The small model is there. Start it with "runner engine start". ${sampleWarning}`,
  });
}

interface EngineDownload {
  readonly thing: EngineFetch['what'];
  readonly request: RequestMessage<WorkDoneParams, object>;
  /** Said before the question. */
  readonly title: string;
  readonly done: string;
}

/** Says what will be fetched, asks, and fetches it. */
async function fetchIt(
  context: CommandContext,
  daemon: DaemonClient,
  { thing, request, title, done }: EngineDownload,
): Promise<number> {
  const { terminal, commandLine } = context;
  const { stderr } = terminal;
  const { json, yes } = commandLine;
  const offer = (await daemon.request(engineOffersRequest, {}))[thing];
  if (offer.problem !== undefined) throw new TerminalError('not-supported', offer.problem);
  const say = (words: string) => tell(context, { event: 'done', folder: offer.folder }, words);
  if (offer.isThere)
    return say(
      thing === 'library' ? 'The engine is installed already.' : 'The small model is there already.',
    );
  if (!json) await stderr.writeText(`${title} ${showLine(describeFetch(offer))}`);
  if (!yes && !(await agrees(context, offer))) {
    await stderr.writeLine('Nothing was fetched.');
    return 1;
  }
  const isFetched = await requestWork(context, daemon, { request, params: {} });
  return isFetched ? say(done) : tell(context, { event: 'cancelled' }, 'Stopped. Nothing is left of it.');
}

async function agrees(context: CommandContext, { bytes }: Fetchable): Promise<boolean> {
  requireQuestion(context, 'This asks before it fetches anything');
  const answer = await askLine(context.terminal, `Fetch these ${formatBytes(bytes)}? [y/N] `);
  return answer !== undefined && isYes(answer);
}

async function showFiles({ terminal, commandLine }: CommandContext, daemon: DaemonClient): Promise<number> {
  const { stdout, stderr, cwd } = terminal;
  const [, path] = commandLine.words;
  const { models, isCut } = await daemon.request(
    engineModelsRequest,
    path === undefined ? {} : { path: resolve(cwd, path) },
  );
  if (isCut) await stderr.writeLine('A folder has more files than were looked at. Name one further down.');
  if (commandLine.json) for (const model of models) await stdout.writeJson(model);
  else if (models.length === 0)
    await stderr.writeText(
      'No model file (GGUF) was found on this machine. "runner engine sample" fetches a small one.',
    );
  else {
    const rows = models.map(({ name, size, fits, source, path: file }) =>
      [name, formatBytes(size), fits ? 'yes' : 'no', source, file].map(showLine),
    );
    const columns = [{ title: 'NAME', isFlexible: true }, toRight('SIZE'), 'FITS', 'FROM', 'FILE'];
    await stdout.write(formatTable(columns, rows, stdout));
  }
  return 0;
}

async function start(context: CommandContext, daemon: DaemonClient): Promise<number> {
  const { words: named, context: window, threads } = context.commandLine;
  const model = named[1] === undefined ? undefined : await pathOrName(named[1], context.terminal.cwd);
  const params = withoutUndefined<EngineStartParams>({ model, context: window, threads, keep: true });
  const started = await requestWork(context, daemon, { request: engineStartRequest, params });
  if (!started) return tell(context, { event: 'cancelled' }, 'Stopped. Nothing was started.');
  const { message, ...status } = started;
  const unused = daemon.isHostNamed
    ? ' It is not used as long as a setting or OLLAMA_HOST names another runner.'
    : '';
  const words = `${showLine(message)} "runner engine stop" ends it.${unused}`;
  return tell(context, { event: 'done', message, ...status }, words);
}

/** The name of a model may have a slash, too. */
async function pathOrName(word: string, cwd: string): Promise<string> {
  const path = resolve(cwd, word);
  const isFile = (await stat(path).catch(() => undefined)) !== undefined;
  return isFile || /\.gguf$/i.test(word) || /^[.~]{0,2}[/\\]/.test(word) ? path : word;
}

async function stop(context: CommandContext, daemon: DaemonClient): Promise<number> {
  const { wasRunning } = await daemon.request(engineStopRequest, {});
  const words = wasRunning ? 'It is stopped.' : 'Nothing that Runner started was running.';
  return tell(context, { event: 'done', wasRunning }, words);
}

/** Returns 0 while it runs, otherwise 1. */
async function showStatus({ terminal, commandLine }: CommandContext, daemon: DaemonClient): Promise<number> {
  const { stdout } = terminal;
  const status = await daemon.request(engineStatusRequest, {});
  if (commandLine.json) await stdout.writeJson(status);
  else {
    await stdout.writeText(showLine(status.message));
    await stdout.writeLine(`The engine is ${status.isInstalled ? '' : 'not '}installed.`);
    if (status.sample !== undefined) await stdout.writeText(showLine(`The small model is ${status.sample}.`));
  }
  return status.state === 'running' ? 0 : 1;
}

async function remove(context: CommandContext, daemon: DaemonClient): Promise<number> {
  const { terminal, commandLine } = context;
  if (!commandLine.yes) {
    requireQuestion(context, 'This asks before it deletes anything');
    const refusal = await confirmDeletion(terminal, 'Delete the engine and its small model? [y/N] ');
    if (refusal !== undefined) return refusal;
  }
  const { wasThere } = await daemon.request(engineRemoveRequest, {});
  const words = wasThere ? 'The engine and its small model are removed.' : 'Nothing was installed.';
  return tell(context, { event: 'done', wasThere }, words);
}
