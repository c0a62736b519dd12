import { withoutUndefined } from '../../../protocol/base/json.ts';
import { cacheFolder } from '../../../protocol/base/platform/folders.ts';
import { formatBytes, showLine } from '../../../protocol/base/text.ts';
import type { InitializationOptions } from '../../../protocol/messages/initialize.ts';
import {
  type CatalogEntry,
  cloudRequest,
  libraryRequest,
  listModelsRequest,
  type Model,
} from '../../../protocol/messages/models.ts';
import { type ServerStatus, serversRequest } from '../../../protocol/messages/status.ts';
import { describeLoading, productName } from '../../shared/words.ts';
import type { CommandContext } from '../cli/command.ts';
import { howToGet } from '../conversation/chooseModel.ts';
import { withDaemon } from '../daemon/connection.ts';
import type { DaemonClient } from '../daemon/daemon.ts';
import { formatTable, toRight } from '../screen/columns.ts';
import {
  describeCapabilities,
  describeExpiry,
  describeMemory,
  localTime,
  markContext,
  timeWords,
} from '../screen/modelDescription.ts';
import type { Output, Style } from '../screen/output.ts';

/** Lists the installed models: as a table, or one object a row. */
export async function showModels(context: CommandContext): Promise<number> {
  const { stdout, stderr } = context.terminal;
  return withDaemon(context, {}, async (daemon) => {
    const { models, servers } = await listAll(context, daemon);
    if (context.commandLine.json) await writeModels(stdout, models, servers);
    else if (models.length > 0) await stdout.write(modelsTable(models, stdout.style));
    else await stderr.writeText(`No model is installed. ${howToGet(servers[0]?.status ?? {})}`);
    await showServers(context, models, servers);
    return 0;
  });
}

/** Lists the loaded models, and until when each stays loaded. */
export async function showLoaded(context: CommandContext): Promise<number> {
  const { stdout, stderr, today } = context.terminal;
  return withDaemon(context, {}, async (daemon) => {
    const { models, servers } = await listAll(context, daemon);
    // A server that has not answered yet may be able to.
    const can = (ability: 'load' | 'unload') => (server: string) =>
      servers.find(({ name }) => name === server)?.status.can?.includes(ability) ?? true;
    const loaded = models.filter(({ running, loading }) => running ?? loading);
    const look = { style: stdout.style, today: today(), canUnload: can('unload') };
    if (context.commandLine.json) await writeModels(stdout, loaded, servers);
    else if (loaded.length > 0) await stdout.write(loadedTable(loaded, look));
    else
      await stderr.writeText(
        `No model is loaded. The first question loads one${servers.some(({ name }) => can('load')(name)) ? ', and so does "runner run M"' : ''}.`,
      );
    await showServers(context, loaded, servers);
    return 0;
  });
}

interface ModelListing {
  readonly models: readonly Model[];
  readonly servers: readonly ServerStatus[];
}

/** The models of all servers. Which of them do not answer is said. */
async function listAll(
  { terminal: { stderr } }: CommandContext,
  daemon: DaemonClient,
): Promise<ModelListing> {
  const [{ models, stale, problems = [] }, { servers }] = await Promise.all([
    daemon.request(listModelsRequest, { refresh: true, everywhere: true }),
    daemon.request(serversRequest, {}),
  ]);
  if (stale) await stderr.writeLine('The runner does not answer; this is the last known list.');
  for (const { message } of problems) await stderr.writeWarning(showLine(message));
  return { models, servers };
}

/** One object a row, with the product that serves the model. */
async function writeModels(
  stdout: Output,
  models: readonly Model[],
  servers: ModelListing['servers'],
): Promise<void> {
  for (const model of models) {
    const product = servers.find(({ name }) => name === model.server)?.status.product;
    await stdout.writeJson({ ...model, ...(product && { product }) });
  }
}

/** For people: what the models are served by. */
async function showServers(
  { terminal, commandLine }: CommandContext,
  models: readonly Model[],
  servers: ModelListing['servers'],
): Promise<void> {
  const { stdout, stderr } = terminal;
  if (!stdout.isScreen || commandLine.json) return;
  const used = servers.filter(({ name }) => models.some(({ server }) => server === name));
  const by = used.flatMap(({ name, status: { product, version = '' } }) => {
    const words = `${productName(product)} ${version}`.trim();
    return productName(product) === '' ? [] : [used.length > 1 ? `${words} (${name})` : words];
  });
  if (by.length > 0) await stderr.writeAside(showLine(`Served by ${by.join(', ')}`));
}

/** `canUnload` says whether a server can unload a model. */
function loadedTable(
  models: readonly Model[],
  { style, today, canUnload }: { style: Style; today: Date; canUnload: (server: string) => boolean },
): string {
  const rows = models.map((model) => {
    const { name, running, loading } = model;
    const facts = running
      ? [describeMemory(running), markContext(model), describeExpiry(running, today, canUnload(model.server))]
      : ['', markContext(model), loading ? describeLoading(loading) : ''];
    return [name, ...facts].map(showLine);
  });
  return formatTable(['MODEL', 'MEMORY', 'CONTEXT', 'STAYS'], rows, { style });
}

function modelsTable(models: readonly Model[], style: Style): string {
  const columns = ['MODEL', toRight('SIZE'), 'CAN', toRight('CONTEXT'), 'CHANGED', 'LOADED'];
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

/** Lists the models that can be pulled, or the cloud models: as a table, or one object a row. */
export async function showCatalog(context: CommandContext): Promise<number> {
  const { stdout, stderr, env } = context.terminal;
  const { words, cloud, refresh, json } = context.commandLine;
  const query = words.join(' ').trim();
  const params = { ...(query === '' ? {} : { query }), ...(refresh ? { refresh } : {}) };
  // The daemon may keep the catalog there, if the system has such a folder.
  const options = withoutUndefined<InitializationOptions>({ cacheDir: cacheFolder(env) });
  return withDaemon(context, options, async (daemon) => {
    const { entries, fetchedAt, stale } = await daemon.request(cloud ? cloudRequest : libraryRequest, params);
    if (stale)
      await stderr.writeLine(`This is the list of ${timeWords(fetchedAt)}; the catalog does not answer.`);
    if (json) for (const entry of entries) await stdout.writeJson(entry);
    else if (entries.length > 0) {
      await stdout.write(catalogTable(entries, stdout));
      if (entries.some(({ installed }) => installed)) await stderr.writeLine('* is installed.');
    } else
      await stderr.writeLine(`The catalog has nothing${query === '' ? '' : ` for "${showLine(query)}"`}.`);
    return 0;
  });
}

function catalogTable(entries: readonly CatalogEntry[], output: Output): string {
  return formatTable(['NAME', 'CAN', 'SIZES', 'DESCRIPTION'], entries.map(entryRow), output);
}

function entryRow({ model, capabilities = [], sizes = [], description = '', installed }: CatalogEntry) {
  const cells = [model, capabilities.join(' '), sizes.join(' '), description].map(showLine);
  const [name = '', ...rest] = cells;
  return [installed ? `${name} *` : name, ...rest];
}
