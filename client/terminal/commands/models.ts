import { formatBytes } from '../../../protocol/base/bytes.ts';
import { showLine } from '../../../protocol/base/controlCharacters.ts';
import { listModelsRequest, type Model } from '../../../protocol/messages/models.ts';
import type { CommandContext } from '../cli/command.ts';
import { withDaemon } from '../daemon/connection.ts';
import {
  describeCapabilities,
  describeContext,
  describeExpiry,
  describeMemory,
  localTime,
} from '../screen/modelDescription.ts';
import type { Style } from '../screen/output.ts';
import { formatTable } from '../screen/table.ts';

/** Lists the installed models: as a table, or one object a row. */
export async function showModels(context: CommandContext): Promise<number> {
  const { stdout, stderr } = context.terminal;
  return withDaemon(context, {}, async (daemon) => {
    const { models, stale } = await daemon.request(listModelsRequest, { refresh: true });
    if (stale) await stderr.writeLine('The runner does not answer; this is the last known list.');
    if (context.commandLine.json) for (const model of models) await stdout.writeJson(model);
    else if (models.length > 0) await stdout.write(modelsTable(models, stdout.style));
    else await stderr.writeText('No model is installed. Pull one, for example with "runner pull qwen3:4b".');
    return 0;
  });
}

/** Lists the loaded models, and until when each stays loaded. */
export async function showLoaded(context: CommandContext): Promise<number> {
  const { stdout, stderr, today } = context.terminal;
  return withDaemon(context, {}, async (daemon) => {
    const { models } = await daemon.request(listModelsRequest, { refresh: true });
    const loaded = models.filter(({ running }) => running);
    if (context.commandLine.json) for (const model of loaded) await stdout.writeJson(model);
    else if (loaded.length > 0) await stdout.write(loadedTable(loaded, stdout.style, today()));
    else
      await stderr.writeText('No model is loaded. The first question loads one, and so does "runner run M".');
    return 0;
  });
}

function loadedTable(models: readonly Model[], style: Style, today: Date): string {
  const columns = ['MODEL', 'MEMORY', 'CONTEXT', 'STAYS'].map((title) => ({ title }));
  const rows = models.map((model) => {
    const { name, running } = model;
    const facts = running
      ? [describeMemory(running), describeContext(model), describeExpiry(running, today)]
      : [];
    return [name, ...facts].map(showLine);
  });
  return formatTable(columns, rows, { style });
}

export function modelsTable(models: readonly Model[], style: Style): string {
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
  const { name, size, running, remote, modifiedAt } = model;
  return [
    showLine(name),
    remote ? 'remote' : size === undefined ? '' : formatBytes(size),
    describeCapabilities(model),
    describeContext(model),
    dayOf(modifiedAt),
    running ? describeMemory(running) || 'yes' : '',
  ];
}

/** In the user's time zone; empty if the runner does not say. */
function dayOf(date: string | undefined): string {
  const time = new Date(date ?? '');
  return Number.isNaN(time.getTime()) ? '' : localTime(time)[0];
}
