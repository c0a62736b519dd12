import { listModelsRequest, type Model } from '../../protocol/models.ts';
import type { CommandLine } from './commandLine.ts';
import { connect } from './connection.ts';
import { showLine } from './controlCharacters.ts';
import { type Surroundings, write, writeLine } from './streams.ts';
import { type Style, styleFor } from './style.ts';
import { formatBytes, formatTable } from './table.ts';

/** What is installed: as a table, or one object a row. */
export async function showModels(surroundings: Surroundings, commandLine: CommandLine): Promise<number> {
  const { stdout, stderr, env } = surroundings;
  const daemon = await connect(surroundings, commandLine);
  try {
    const { models, stale } = await daemon.request(listModelsRequest, { refresh: true });
    if (stale) await writeLine(stderr, 'The runner does not answer; this is the last known list.');
    if (commandLine.json) for (const model of models) await writeLine(stdout, JSON.stringify(model));
    else if (models.length > 0) await write(stdout, modelsTable(models, styleFor(stdout, env)));
    else await writeLine(stderr, 'No model is installed. Pull one, for example with "ollama pull qwen3:4b".');
    return 0;
  } finally {
    await daemon.close();
  }
}

export function modelsTable(models: readonly Model[], style: Style): string {
  const columns = [
    { title: 'MODEL' },
    { title: 'SIZE', align: 'right' as const },
    { title: 'CAN' },
    { title: 'CONTEXT', align: 'right' as const },
    { title: 'LOADED' },
  ];
  return formatTable(columns, models.map(rowOf), style);
}

function rowOf(model: Model): readonly string[] {
  const { name, size, running, remote } = model;
  return [
    showLine(name),
    remote ? 'remote' : size === undefined ? '' : formatBytes(size),
    capabilitiesOf(model),
    contextOf(model),
    running ? loadedOf(running) : '',
  ];
}

const words = {
  completion: 'chat',
  tools: 'tools',
  vision: 'vision',
  thinking: 'thinking',
  insert: 'insert',
  embedding: 'embed',
} as const;

/** What it can do; what only a name suggests has a question mark. */
function capabilitiesOf({ capabilities }: Model): string {
  const able = Object.entries(words).flatMap(([name, word]) => {
    const { value, from } = capabilities[name as keyof typeof words];
    return value === true ? [from === 'name' ? `${word}?` : word] : [];
  });
  return able.join(' ');
}

/** Tokens allocated, or that will be, of those that the model was made for. */
function contextOf({ context: { allocated, configured, maximum } }: Model): string {
  const now = allocated ?? configured;
  if (now === undefined) return maximum === undefined ? '' : String(maximum);
  return maximum === undefined || maximum === now ? String(now) : `${now} of ${maximum}`;
}

function loadedOf({ size, sizeVram }: NonNullable<Model['running']>): string {
  if (size === 0) return 'yes';
  const share = Math.round((sizeVram / size) * 100);
  return `${formatBytes(size)}, ${share === 0 ? 'on the CPU' : share === 100 ? 'on the GPU' : `${share} % on the GPU`}`;
}
