import type { QuickPick, QuickPickItem } from 'vscode';
import type { CatalogEntry } from '../../../protocol/messages/models.ts';

/** What the user wants to pull: an entry of the library, or a name of their own. */
export type NamedPull = { readonly entry: CatalogEntry } | { readonly name: string };

interface NameItem extends QuickPickItem {
  readonly pull?: NamedPull;
}

/**
 * Shows a new box, and disposes of it. It offers the library's names as the user types, and what was typed as it is:
 * the library does not have every model. The library may come late, or not at all.
 */
export function askForName(
  box: QuickPick<NameItem>,
  library: Promise<readonly CatalogEntry[]>,
): Promise<NamedPull | undefined> {
  Object.assign(box, {
    title: 'Pull a Model',
    placeholder: 'A name of the library, or any other, such as hf.co/owner/model:tag',
    ignoreFocusOut: true,
    matchOnDescription: true,
    busy: true,
  });
  let entries: readonly CatalogEntry[] = [];
  const draw = () => {
    const typed = box.value.trim();
    const isListed = entries.some(({ model }) => model === typed);
    box.items = [...(typed === '' || isListed ? [] : [ownItem(typed)]), ...entries.map(entryItem)];
  };
  library.then(
    (found) => {
      entries = found;
      box.busy = false;
      draw();
    },
    () => {
      box.busy = false;
    },
  );
  return new Promise((resolve) => {
    let chosen: NamedPull | undefined;
    box.onDidChangeValue(draw);
    box.onDidAccept(() => {
      const typed = box.value.trim();
      const pull = box.selectedItems[0]?.pull ?? (isName(typed) ? { name: typed } : undefined);
      // The entry says what is wrong with the name.
      if (pull === undefined) return;
      chosen = pull;
      box.hide();
    });
    box.onDidHide(() => {
      resolve(chosen);
      box.dispose();
    });
    draw();
    box.show();
  });
}

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
