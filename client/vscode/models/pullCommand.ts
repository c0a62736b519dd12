import { totalmem } from 'node:os';
import * as vscode from 'vscode';
import { isLoopback } from '../../../protocol/base/loopback.ts';
import { formatBytes } from '../../../protocol/base/text.ts';
import {
  type CatalogEntry,
  libraryRequest,
  listModelsRequest,
  pullModelRequest,
} from '../../../protocol/messages/models.ts';
import { defaultServerName } from '../../../protocol/messages/settings.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import type { ServerFactsStore } from '../daemon/serverFacts.ts';
import { catalogServer, originsOf } from '../daemon/servers.ts';
import type { Parts } from '../parts.ts';
import { readSettings } from '../settings.ts';
import { chooseServer } from './modelPicker.ts';
import { type ModelRow, paramsOf, serverOf } from './modelRow.ts';
import { offer, runWork } from './work.ts';

export type PullParts = Pick<Parts, 'daemon' | 'facts' | 'interrupted' | 'pulls' | 'sidebar'>;

/** Pulls the model of a row, in the size that the user chooses, or a model that the user names. */
export async function pull(parts: PullParts, row: ModelRow | undefined): Promise<void> {
  const { daemon, facts } = parts;
  const named = row ?? (await nameOfLibrary(daemon, facts));
  const place = named?.server === undefined ? await chooseServer(facts, 'pull') : {};
  const wanted = named && place && { ...named, ...place };
  const model = wanted && (await chooseSize(daemon, wanted));
  if (model !== undefined) await download(parts, paramsOf({ ...wanted, model }));
}

async function download(
  { daemon, pulls, interrupted, sidebar }: PullParts,
  params: ReturnType<typeof paramsOf>,
): Promise<void> {
  const { model } = params;
  const cancellation = new vscode.CancellationTokenSource();
  const watched = pulls.begin({ ...params, cancel: () => cancellation.cancel() });
  interrupted.begin(params);
  try {
    const watcher = { token: cancellation.token, report: watched.report };
    const done = await runWork(daemon, `Pulling ${model}`, [pullModelRequest, params], watcher);
    if (!done) {
      // The cancel may have been a slip, and a large part may have arrived.
      const sentence = `The download of ${model} was cancelled. The runner keeps what has arrived.`;
      return void offer(sentence, { title: 'Continue', command: 'runner.pullModel', arguments: [params] });
    }
    sidebar.revealInstalled(params);
    const chat = { title: 'Chat with It', command: 'runner.chatWithModel', arguments: [params] };
    void offer(`Pulled ${model}.`, chat);
  } catch (error) {
    throw named(error, model);
  } finally {
    watched.end();
    interrupted.end(params);
    cancellation.dispose();
  }
}

/** The error names the model, because several may be pulled at once. */
function named(error: unknown, model: string): unknown {
  if (error instanceof Error && !error.message.includes(model))
    error.message = `${model} was not pulled. ${error.message}`;
  return error;
}

async function nameOfLibrary(
  daemon: DaemonConnection,
  facts: ServerFactsStore,
): Promise<ModelRow | undefined> {
  const hasCatalog = facts.those('catalog').length > 0;
  const library = hasCatalog
    ? daemon.request(libraryRequest, catalogServer(facts)).then(({ entries }) => entries)
    : undefined;
  const named = await askForName(library);
  if (named === undefined) return undefined;
  return 'name' in named ? { model: named.name } : named.entry;
}

/** The catalog's own choice comes first, then the sizes in the catalog's order. */
async function chooseSize(daemon: DaemonConnection, row: ModelRow): Promise<string | undefined> {
  const { model, sizes = [], server } = row;
  const isTagged = model.split('/').at(-1)?.includes(':') ?? false;
  if (sizes.length < 2 || isTagged) return model;
  const installed = await installedNames(daemon, row);
  const item = (label: string, about: string, name = label): vscode.QuickPickItem => {
    const isInstalled = installed.includes(name.toLowerCase());
    return {
      label,
      description: [about, isInstalled ? 'installed' : ''].filter(Boolean).join(' · '),
      ...(isInstalled ? { iconPath: new vscode.ThemeIcon('check') } : {}),
    };
  };
  const memory = memoryOf(server);
  const items = [
    item(model, 'the default', `${model}:latest`),
    ...sizes.map((size) => item(`${model}:${size}`, describeNeed(size, memory))),
  ];
  return (await vscode.window.showQuickPick(items, { title: `Pull Which Size of ${model}?` }))?.label;
}

/** "Installed" is only a mark: without a runner there is none, and the pull itself reports the problem. */
async function installedNames(daemon: DaemonConnection, row: ModelRow): Promise<readonly string[]> {
  try {
    const { models } = await daemon.request(listModelsRequest, serverOf(row));
    return models.map(({ name }) => name.toLowerCase());
  } catch {
    return [];
  }
}

/** In bytes, where the runner is on this machine. */
function memoryOf(server = defaultServerName): number | undefined {
  const origin = originsOf(readSettings()).get(server);
  return origin !== undefined && isLoopback(origin) ? totalmem() : undefined;
}

/** What the user wants to pull: an entry of the library, or any other name. */
type NamedPull = { readonly entry: CatalogEntry } | { readonly name: string };

interface NameItem extends vscode.QuickPickItem {
  readonly pull?: NamedPull;
}

/**
 * Asks in a box. It offers the library's names as the user types, and also the typed name itself,
 * because the library does not have every model. The library may arrive late, or not at all. It is undefined
 * if no server can use it.
 */
function askForName(library: Promise<readonly CatalogEntry[]> | undefined): Promise<NamedPull | undefined> {
  const box = vscode.window.createQuickPick<NameItem>();
  Object.assign(box, {
    title: 'Pull a Model',
    placeholder: library
      ? 'A name of the library, or any other, such as hf.co/owner/model:tag'
      : 'A name that the server knows, such as owner/model:tag',
    ignoreFocusOut: true,
    matchOnDescription: true,
    busy: library !== undefined,
  });
  let offered: readonly NameItem[] = [];
  const draw = () => {
    const typed = box.value.trim();
    const isListed = offered.some(({ label }) => label === typed);
    box.items = [...(typed === '' || isListed ? [] : [ownItem(typed)]), ...offered];
  };
  const offer = (items: readonly NameItem[]) => {
    offered = items;
    box.busy = false;
    draw();
  };
  library?.then(
    (entries) => offer(entries.length > 0 ? entries.map(entryItem) : recommendations),
    () => {
      box.title = 'Pull a Model: the catalog cannot be reached';
      offer(recommendations);
    },
  );
  return new Promise((resolve) => {
    let chosen: NamedPull | undefined;
    box.onDidChangeValue(draw);
    box.onDidAccept(() => {
      const typed = box.value.trim();
      const pull = box.selectedItems[0]?.pull ?? (isName(typed) ? { name: typed } : undefined);
      // The entry in the box says what is wrong with the name.
      if (pull === undefined) return;
      chosen = pull;
      box.hide();
    });
    box.onDidHide(() => {
      resolve(chosen);
      box.dispose();
    });
    box.show();
  });
}

/** The models of the first steps, for a start without the catalog. */
const recommendations: readonly NameItem[] = [
  { name: 'qwen3:4b', description: 'recommended for the chat · about 3 GB' },
  { name: 'qwen2.5-coder:1.5b', description: 'recommended for completion · about 1 GB' },
].map(({ name, description }) => ({ label: name, description, pull: { name } }));

function ownItem(name: string): NameItem {
  if (isName(name)) return { label: name, description: 'pull this name', alwaysShow: true, pull: { name } };
  return { label: `$(error) ${name}`, description: 'a name has no spaces, and no address', alwaysShow: true };
}

function isName(text: string): boolean {
  return text !== '' && !/\s|:\/\//.test(text);
}

function entryItem(entry: CatalogEntry): NameItem {
  const { model, sizes = [], installed, description = '' } = entry;
  const marks = [sizes.join(' '), installed ? 'installed' : ''].filter(Boolean).join(' · ');
  return { label: model, description: marks, detail: description, pull: { entry } };
}

/** Such as `about 5.0 GB`. `memory` is that of the runner's machine, in bytes; undefined if it is not known. */
function describeNeed(size: string, memory: number | undefined): string {
  const bytes = bytesOf(size);
  if (bytes === undefined) return '';
  // The context window and the system need memory too.
  const isTooLarge = memory !== undefined && bytes * 1.1 > memory;
  return `about ${formatBytes(bytes)}${isTooLarge ? ', more memory than this machine has' : ''}`;
}

/**
 * About how many bytes a model of a size such as `8b`, `270m` or `8x7b` takes: the library's usual quantization has
 * about 0.62 bytes per parameter. Undefined for a size without a number, such as `latest`.
 */
function bytesOf(size: string): number | undefined {
  const [, experts = '1', count, unit = ''] =
    /^e?(?:(\d{1,3})x)?(\d{1,4}(?:\.\d{1,3})?)([bmt])$/i.exec(size) ?? [];
  if (count === undefined) return undefined;
  const units: Readonly<Record<string, number>> = { m: 1e6, b: 1e9, t: 1e12 };
  return Number(experts) * Number(count) * (units[unit.toLowerCase()] ?? 0) * 0.62;
}
