import { formatBytes } from '../../../protocol/base/bytes.ts';
import { listModelsRequest, type Model } from '../../../protocol/messages/models.ts';
import type { CommandLine } from '../cli/commandLine.ts';
import { type Surroundings, write, writeLine, writeText } from '../cli/streams.ts';
import { withDaemon } from '../daemon/connection.ts';
import { showLine } from '../screen/controlCharacters.ts';
import { type Style, styleFor } from '../screen/style.ts';
import { formatTable } from '../screen/table.ts';
import {
  describeCapabilities,
  describeContext,
  describeExpiry,
  describeMemory,
  localTime,
} from './modelDescription.ts';

/** What is installed: as a table, or one object a row. */
export async function showModels(surroundings: Surroundings, commandLine: CommandLine): Promise<number> {
  const { stdout, stderr, env } = surroundings;
  return withDaemon(surroundings, { commandLine }, async (daemon) => {
    const { models, stale } = await daemon.request(listModelsRequest, { refresh: true });
    if (stale) await writeLine(stderr, 'The runner does not answer; this is the last known list.');
    if (commandLine.json) for (const model of models) await writeLine(stdout, JSON.stringify(model));
    else if (models.length > 0) await write(stdout, modelsTable(models, styleFor(stdout, env)));
    else await writeText(stderr, 'No model is installed. Pull one, for example with "runner pull qwen3:4b".');
    return 0;
  });
}

/** What is in memory, with the time until which it stays there. */
export async function showLoaded(surroundings: Surroundings, commandLine: CommandLine): Promise<number> {
  const { stdout, stderr, env, today } = surroundings;
  return withDaemon(surroundings, { commandLine }, async (daemon) => {
    const { models } = await daemon.request(listModelsRequest, { refresh: true });
    const loaded = models.filter(({ running }) => running);
    if (commandLine.json) for (const model of loaded) await writeLine(stdout, JSON.stringify(model));
    else if (loaded.length > 0) await write(stdout, loadedTable(loaded, styleFor(stdout, env), today()));
    else
      await writeText(
        stderr,
        'No model is loaded. The first question loads one, and so does "runner run M".',
      );
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

/** Where the user is; empty where the runner does not say. */
function dayOf(date: string | undefined): string {
  const time = new Date(date ?? '');
  return Number.isNaN(time.getTime()) ? '' : localTime(time)[0];
}
