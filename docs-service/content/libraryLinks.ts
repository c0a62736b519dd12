import type { ContentProblem, ContentWarning } from './document.ts';
import type { FolderScan } from './folderScan.ts';
import type { KnownFiles } from './knownFiles.ts';
import { checkLinks } from './linkCheck.ts';
import { OtherFiles } from './otherFiles.ts';

export interface LinkReport {
  readonly warnings: readonly ContentWarning[];
  /** Those that the last report did not have. A warning that only moved to another line is not new. */
  readonly added: readonly ContentWarning[];
}

/** Checks the links of the library whenever something has changed to which they may lead. */
export class LibraryLinks {
  readonly #others = new OtherFiles();
  #said: ReadonlySet<string> = new Set();
  #mayHaveChanged = true;

  /** Starts again, with the warnings that the index has. */
  recall(warnings: readonly ContentWarning[]): void {
    this.#said = new Set(warnings.map(keyOf));
    this.#mayHaveChanged = true;
  }

  /** @param hasChanged whether a document is new, changed or gone */
  note(scan: FolderScan, hasChanged: boolean): void {
    if (this.#others.note(scan) || hasChanged) this.#mayHaveChanged = true;
  }

  /** Undefined if nothing has changed since the last report. */
  async tryReport(known: KnownFiles, signal?: AbortSignal): Promise<LinkReport | undefined> {
    if (!this.#mayHaveChanged) return undefined;
    const library = {
      files: () => known.files(),
      tryFile: (path: string) => known.get(path),
      hasFolder: (path: string) => known.hasFolder(path),
      mayExist: (path: string) => this.#others.mayHave(path),
    };
    const warnings = await checkLinks(library, signal);
    const before = this.#said;
    this.#said = new Set(warnings.map(keyOf));
    this.#mayHaveChanged = false;
    return { warnings, added: warnings.filter((warning) => !before.has(keyOf(warning))) };
  }
}

function keyOf({ path, message }: ContentProblem): string {
  return JSON.stringify([path, message]);
}
