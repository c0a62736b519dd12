import { formatBytes } from '../../../protocol/base/bytes.ts';
import { showLine } from '../../../protocol/base/controlCharacters.ts';
import { listModelsRequest, type Model } from '../../../protocol/messages/models.ts';
import { type Ability, productNames, type Status, statusRequest } from '../../../protocol/messages/status.ts';
import { describeLoading } from '../../shared/modelWords.ts';
import type { CommandContext } from '../cli/command.ts';
import { howToGet } from '../conversation/chooseModel.ts';
import { withDaemon } from '../daemon/connection.ts';
import {
  describeCapabilities,
  describeExpiry,
  describeMemory,
  localTime,
  markContext,
} from '../screen/modelDescription.ts';
import type { Output, Style } from '../screen/output.ts';
import { formatTable } from '../screen/table.ts';

/** Lists the installed models: as a table, or one object a row. */
export async function showModels(context: CommandContext): Promise<number> {
  const { stdout, stderr } = context.terminal;
  return withDaemon(context, {}, async (daemon) => {
    const [{ models, stale }, status] = await Promise.all([
      daemon.request(listModelsRequest, { refresh: true }),
      daemon.request(statusRequest, {}),
    ]);
    if (stale) await stderr.writeLine('The runner does not answer; this is the last known list.');
    if (context.commandLine.json) await writeModels(stdout, models, status);
    else if (models.length > 0) await stdout.write(modelsTable(models, stdout.style));
    else await stderr.writeText(`No model is installed. ${howToGet(status)}`);
    if (models.length > 0) await showServer(context, status);
    return 0;
  });
}

/** Lists the loaded models, and until when each stays loaded. */
export async function showLoaded(context: CommandContext): Promise<number> {
  const { stdout, stderr, today } = context.terminal;
  return withDaemon(context, {}, async (daemon) => {
    const [{ models }, status] = await Promise.all([
      daemon.request(listModelsRequest, { refresh: true }),
      daemon.request(statusRequest, {}),
    ]);
    const loaded = models.filter(({ running, loading }) => running ?? loading);
    if (context.commandLine.json) await writeModels(stdout, loaded, status);
    else if (loaded.length > 0)
      await stdout.write(
        loadedTable(loaded, { style: stdout.style, today: today(), canUnload: can(status, 'unload') }),
      );
    else
      await stderr.writeText(
        `No model is loaded. The first question loads one${can(status, 'load') ? ', and so does "runner run M"' : ''}.`,
      );
    if (loaded.length > 0) await showServer(context, status);
    return 0;
  });
}

/** One object a row, with the product that serves the model. */
async function writeModels(stdout: Output, models: readonly Model[], { product }: Status): Promise<void> {
  for (const model of models) await stdout.writeJson({ ...model, ...(product && { product }) });
}

/** For people: what the models are served by. */
async function showServer({ terminal, commandLine }: CommandContext, status: Status): Promise<void> {
  const { stdout, stderr } = terminal;
  const { product, version = '' } = status;
  if (!stdout.isScreen || commandLine.json || product === undefined || product === 'other') return;
  await stderr.writeText(stderr.style.dim(showLine(`Served by ${productNames[product]} ${version}`)));
}

/** Whether the server has the ability. One that has not answered yet may have it. */
function can(status: Status, ability: Ability): boolean {
  return status.can?.includes(ability) ?? true;
}

interface LoadedLook {
  readonly style: Style;
  readonly today: Date;
  readonly canUnload: boolean;
}

function loadedTable(models: readonly Model[], { style, today, canUnload }: LoadedLook): string {
  const columns = ['MODEL', 'MEMORY', 'CONTEXT', 'STAYS'].map((title) => ({ title }));
  const rows = models.map((model) => {
    const { name, running, loading } = model;
    const facts = running
      ? [describeMemory(running), markContext(model), describeExpiry(running, today, canUnload)]
      : ['', markContext(model), loading ? describeLoading(loading) : ''];
    return [name, ...facts].map(showLine);
  });
  return formatTable(columns, rows, { style });
}

function modelsTable(models: readonly Model[], style: Style): string {
  const columns = [
    { title: 'MODEL' },
    { title: 'SIZE', align: 'right' as const },
    { title: 'CAN' },
    { title: 'CONTEXT', align: 'right' as const },
    { title: 'CHANGED' },
    { title: 'LOADED' },
  ];
  return formatTable(columns, models.map(rowOf), { style });
}

function rowOf(model: Model): readonly string[] {
  const { name, size, running, remote, modifiedAt, loading } = model;
  return [
    showLine(name),
    remote ? 'remote' : size === undefined ? '' : formatBytes(size),
    describeCapabilities(model),
    markContext(model),
    dayOf(modifiedAt),
    loading ? describeLoading(loading) : running ? describeMemory(running) || 'yes' : '',
  ];
}

/** In the user's time zone; empty if the runner does not say. */
function dayOf(date: string | undefined): string {
  const time = new Date(date ?? '');
  return Number.isNaN(time.getTime()) ? '' : localTime(time)[0];
}
