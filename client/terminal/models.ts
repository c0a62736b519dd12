import { listModelsRequest, type Model } from '../../protocol/models.ts';
import type { CommandLine } from './commandLine.ts';
import { withDaemon } from './connection.ts';
import { showLine } from './controlCharacters.ts';
import { describeCapabilities, describeContext, describeMemory } from './modelDescription.ts';
import { type Surroundings, write, writeLine } from './streams.ts';
import { type Style, styleFor } from './style.ts';
import { formatBytes, formatTable } from './table.ts';

/** What is installed: as a table, or one object a row. */
export async function showModels(surroundings: Surroundings, commandLine: CommandLine): Promise<number> {
  const { stdout, stderr, env } = surroundings;
  return withDaemon(surroundings, { commandLine }, async (daemon) => {
    const { models, stale } = await daemon.request(listModelsRequest, { refresh: true });
    if (stale) await writeLine(stderr, 'The runner does not answer; this is the last known list.');
    if (commandLine.json) for (const model of models) await writeLine(stdout, JSON.stringify(model));
    else if (models.length > 0) await write(stdout, modelsTable(models, styleFor(stdout, env)));
    else await writeLine(stderr, 'No model is installed. Pull one, for example with "runner pull qwen3:4b".');
    return 0;
  });
}

export function modelsTable(models: readonly Model[], style: Style): string {
  const columns = [
    { title: 'MODEL' },
    { title: 'SIZE', align: 'right' as const },
    { title: 'CAN' },
    { title: 'CONTEXT', align: 'right' as const },
    { title: 'LOADED' },
  ];
  return formatTable(columns, models.map(rowOf), { style });
}

function rowOf(model: Model): readonly string[] {
  const { name, size, running, remote } = model;
  return [
    showLine(name),
    remote ? 'remote' : size === undefined ? '' : formatBytes(size),
    describeCapabilities(model),
    describeContext(model),
    running ? describeMemory(running) || 'yes' : '',
  ];
}
