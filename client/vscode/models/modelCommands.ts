import * as vscode from 'vscode';
import { isRecord } from '../../../protocol/base/json.ts';
import {
  createModelRequest,
  listModelsRequest,
  type Model,
  showModelRequest,
} from '../../../protocol/messages/models.ts';
import { defaultServerName } from '../../../protocol/messages/settings.ts';
import { errorDataOf } from '../convert/failure.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import type { ServerFactsStore } from '../daemon/serverFacts.ts';
import { lackedBy, refusalFor } from '../daemon/servers.ts';
import type { Parts } from '../parts.ts';
import { pullModel } from '../ui/remedies.ts';
import { WebPage } from '../ui/webPage.ts';
import { load, openPage, remove, unload, unloadOthers } from './modelActions.ts';
import { detailsOf } from './modelDescriptions.ts';
import { pickModel } from './modelPicker.ts';
import { isSameModel, type ModelRow, paramsOf, type ShownModels, serverOf, worksOn } from './modelRow.ts';
import { type PullParts, pull } from './pullCommand.ts';
import { offerInterrupted, type RunningPull } from './pulls.ts';
import { runWork, sayBriefly } from './work.ts';

type ModelCommandsParts = PullParts & Pick<Parts, 'changes' | 'reporter' | 'sidebar'>;

/** What a command does with one model. */
interface RowCommand {
  /** On a row, and by a key. */
  readonly onRow: string;
  /** In the palette, where it asks for a model. */
  readonly inPalette?: string;
  /** The question there. */
  readonly title?: string;
  readonly fits?: (model: Model) => boolean;
  readonly run: (row: ModelRow) => Promise<unknown>;
}

/**
 * The commands of models: on the rows of the views, by keys, and in the palette. `setThinking` asks how much a model
 * thinks.
 */
export function registerModelCommands(
  parts: ModelCommandsParts,
  setThinking: RowCommand['run'],
): vscode.Disposable {
  const { daemon, reporter, sidebar, facts } = parts;
  const details = new WebPage('runner.model', parts.changes.onDidChange);
  const showDetails = (row: ModelRow) =>
    details.show(async () => detailsOf(await daemon.request(showModelRequest, paramsOf(row)), facts));
  const commands = tableOf(parts, { showDetails, setThinking });
  const attempt = async (work: () => Promise<unknown>): Promise<unknown> => {
    try {
      return await work();
    } catch (error) {
      reporter.report(error, { showToUser: true, again: () => attempt(work) });
      return false;
    }
  };
  const onRow = ({ onRow: id, run }: RowCommand) =>
    vscode.commands.registerCommand(id, async (argument: unknown) => {
      const row = isRow(argument) ? argument : await sidebar.selected(viewOf(argument));
      return row && worksOn(id, row) && attempt(async () => run(checked(facts, id, row)));
    });
  const inPalette = ({ onRow: ofRow, inPalette: id, title = '', fits = () => true, run }: RowCommand) => {
    if (id === undefined) return [];
    const isPossible = (model: Model) => fits(model) && lackedBy(facts, ofRow, model.server) === undefined;
    const ask = async () => {
      const model = await pickModel(daemon, { title, fits: isPossible });
      return model && attempt(() => run({ model: model.name, server: model.server }));
    };
    return [vscode.commands.registerCommand(id, () => attempt(ask))];
  };
  void offerInterrupted(
    parts.interrupted.left,
    (sentence, button) => vscode.window.showInformationMessage(sentence, button),
    (row) => startPull(parts, row),
  );
  return vscode.Disposable.from(
    details,
    ...commands.flatMap((command) => [onRow(command), ...inPalette(command)]),
    vscode.commands.registerCommand('runner.pullModel', (argument: unknown) =>
      startPull(parts, isRow(argument) ? argument : undefined),
    ),
    vscode.commands.registerCommand('runner.stopOtherModels', (row: Partial<ModelRow> = {}) =>
      attempt(() => unloadOthers(daemon, row)),
    ),
    vscode.commands.registerCommand('runner.cancelPull', (row?: RunningPull) => row?.cancel()),
  );
}

/** If the registry does not know the name, the notification offers to pull another. */
async function startPull(parts: ModelCommandsParts, row: ModelRow | undefined): Promise<void> {
  try {
    await pull(parts, row);
  } catch (error) {
    const isUnknown = errorDataOf(error)?.kind === 'model-not-found';
    parts.reporter.report(error, {
      showToUser: true,
      ...(isUnknown ? { remedies: [{ ...pullModel, title: 'Pull Another' }] } : {}),
      again: () => startPull(parts, row),
    });
  }
}

function tableOf(
  parts: ModelCommandsParts,
  { showDetails, setThinking }: Readonly<Record<'showDetails' | 'setThinking', RowCommand['run']>>,
): readonly RowCommand[] {
  const { daemon, sidebar } = parts;
  return [
    {
      ...asking('runner.runModel', 'runner.loadAModel', 'Load Which Model?'),
      fits: ({ running, remote }) => running === undefined && !remote,
      run: (row) => load(daemon, sidebar, row),
    },
    {
      ...asking('runner.stopModel', 'runner.unloadAModel', 'Unload Which Model?'),
      fits: ({ running }) => running !== undefined,
      run: (row) => unload(daemon, [row]),
    },
    {
      ...asking('runner.deleteModel', 'runner.deleteAModel', 'Delete Which Model?'),
      run: async (row) => ('cancel' in row ? (row as RunningPull).cancel() : remove(daemon, row)),
    },
    {
      ...asking('runner.updateModel', 'runner.updateAModel', 'Update Which Model?'),
      fits: ({ remote }) => !remote,
      run: ({ model, server = defaultServerName }) => startPull(parts, { model, server }),
    },
    {
      ...asking('runner.duplicateModel', 'runner.duplicateAModel', 'Duplicate Which Model?'),
      run: (row) => duplicate(daemon, sidebar, row),
    },
    {
      ...asking('runner.showModel', 'runner.showAModel', 'Show the Details of Which Model?'),
      run: showDetails,
    },
    {
      ...asking('runner.openModelPage', 'runner.openPageOfAModel', 'Open the Page of Which Model?'),
      run: (row) => openPage(daemon, row),
    },
    {
      ...asking('runner.setThinking', 'runner.setThinkingOfAModel', 'Set the Thinking of Which Model?'),
      fits: ({ capabilities }) => capabilities.thinking.value !== false,
      run: setThinking,
    },
    { onRow: 'runner.copyModelName', run: async ({ model }) => vscode.env.clipboard.writeText(model) },
  ];
}

/** A command on rows, the one in the palette, and its question there. */
function asking(onRow: string, inPalette: string, title: string) {
  return { onRow, inPalette, title };
}

/**
 * The row, if its server can do it. A key or a link may reach what no menu offers.
 * @throws {Error} with a sentence about the product.
 */
function checked(facts: ServerFactsStore, command: string, row: ModelRow): ModelRow {
  const refusal = 'cancel' in row ? undefined : refusalFor(facts, command, row.server);
  if (refusal !== undefined) throw new Error(refusal);
  return row;
}

function isRow(argument: unknown): argument is ModelRow {
  return typeof argument === 'object' && argument !== null && 'model' in argument;
}

/** The view in which a key was pressed; each key binding passes it as its argument. */
function viewOf(argument: unknown): string {
  return isRecord(argument) && typeof argument['view'] === 'string' ? argument['view'] : '';
}

/** Creates a copy of a model under another name. Both share their weights on the disk. */
async function duplicate(
  daemon: DaemonConnection,
  sidebar: Pick<ShownModels, 'revealInstalled'>,
  row: ModelRow,
): Promise<void> {
  const { models } = await daemon.request(listModelsRequest, serverOf(row));
  const taken = models.map(({ name }) => name);
  const typed = await vscode.window.showInputBox({
    title: `Duplicate ${row.model}`,
    prompt: 'The name of the copy. Both share their weights, so it takes no space.',
    value: copyNameOf(row.model),
    ignoreFocusOut: true,
    validateInput: (text) => problemOfName(text.trim(), row.model, taken),
  });
  const to = typed?.trim() || undefined;
  if (to === undefined) return;
  const params = { ...paramsOf({ ...row, model: to }), text: `FROM ${row.model}\n` };
  if (!(await runWork(daemon, `Duplicating ${row.model}`, [createModelRequest, params]))) return;
  sidebar.revealInstalled({ ...row, model: to });
  // A filter may hide its row.
  sayBriefly(`${to} is a copy of ${row.model}.`);
}

/**
 * What is wrong with the name of a copy of `from`, for the box in which it is typed. An empty name cancels. `taken` are
 * the names of the models of the same server.
 */
function problemOfName(name: string, from: string, taken: readonly string[]): string | undefined {
  if (name === '') return undefined;
  if (/\s|:\/\//.test(name)) return 'A name has no spaces, and no address.';
  if (isSameModel({ model: name }, { model: from })) return `This is the name that it has. Type another one.`;
  // Nothing asks before a model is replaced.
  if (taken.some((model) => isSameModel({ model }, { model: name })))
    return `There is a model ${name} already. Type another name, or delete that model first.`;
  return undefined;
}

/** `qwen3:8b` is copied to `qwen3-copy:8b`. */
function copyNameOf(model: string): string {
  const [, base = model, tag = ''] = /^(.*?)(:[^:/]*)?$/.exec(model) ?? [];
  return `${base}-copy${tag}`;
}
