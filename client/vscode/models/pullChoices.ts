import * as vscode from 'vscode';
import { formatBytes } from '../../../protocol/base/bytes.ts';
import type { CatalogEntry } from '../../../protocol/messages/models.ts';

/** What the user wants to pull: an entry of the library, or any other name. */
export type NamedPull = { readonly entry: CatalogEntry } | { readonly name: string };

interface NameItem extends vscode.QuickPickItem {
  readonly pull?: NamedPull;
}

/**
 * Asks in a box. It offers the library's names as the user types, and also the typed name itself,
 * because the library does not have every model. The library may arrive late, or not at all. It is undefined
 * if no server can use it.
 */
export function askForName(
  library: Promise<readonly CatalogEntry[]> | undefined,
): Promise<NamedPull | undefined> {
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

/** One size of a model in the library. */
export interface SizeChoice {
  /** What to pull. */
  readonly model: string;
  readonly description: string;
  readonly isInstalled: boolean;
}

/**
 * The sizes of a model: the catalog's own choice first, then the sizes in the catalog's order; empty if there is no
 * choice. `installed` are names from the runner's list.
 */
export function sizeChoices(
  model: string,
  sizes: readonly string[],
  installed: readonly string[],
): readonly SizeChoice[] {
  const isTagged = model.split('/').at(-1)?.includes(':') ?? false;
  if (sizes.length < 2 || isTagged) return [];
  const known = new Set(installed.map((name) => name.toLowerCase()));
  const isInstalled = (name: string) => known.has(name.toLowerCase());
  return [
    { model, description: 'the default', isInstalled: isInstalled(`${model}:latest`) },
    ...sizes.map((size) => ({
      model: `${model}:${size}`,
      description: '',
      isInstalled: isInstalled(`${model}:${size}`),
    })),
  ];
}

/** The text beside a size. */
export function describeSize(
  { model, description, isInstalled }: SizeChoice,
  memory: number | undefined,
): string {
  const about = description || describeNeed(model.slice(model.lastIndexOf(':') + 1), memory);
  return [about, isInstalled ? 'installed' : ''].filter(Boolean).join(' · ');
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
 * about
 * 0.62 bytes per parameter. Undefined for a size without a number, such as `latest`.
 */
function bytesOf(size: string): number | undefined {
  const [, experts = '1', count, unit = ''] =
    /^e?(?:(\d{1,3})x)?(\d{1,4}(?:\.\d{1,3})?)([bmt])$/i.exec(size) ?? [];
  if (count === undefined) return undefined;
  const units: Readonly<Record<string, number>> = { m: 1e6, b: 1e9, t: 1e12 };
  return Number(experts) * Number(count) * (units[unit.toLowerCase()] ?? 0) * 0.62;
}
