import type { IndexedFile } from '../search/documentIndex.ts';
import type { KnownFiles } from './knownFiles.ts';

/**
 * Which documents a document may include: those that all its readers may read. Otherwise whoever may write one that is
 * public could publish any other.
 */
export class IncludeRights {
  readonly #known: KnownFiles;
  /** The paths of what is public; undefined while files are read that may change that. */
  #public: ReadonlySet<string> | undefined;

  constructor(known: KnownFiles) {
    this.#known = known;
  }

  /**
   * Until `settle`, no document includes another one.
   * @param from the document that is included in the other one
   */
  may(from: string, path: string): boolean {
    return this.#public !== undefined && (this.#public.has(from) || !this.#public.has(path));
  }

  begin(): void {
    this.#public = undefined;
  }

  /** Whether any document includes another one, or was refused that. */
  get isNeeded(): boolean {
    return [...this.#known.files()].some(
      ({ includes = {}, refused }) =>
        refused !== undefined || Object.keys(includes).some((from) => this.#isDocument(from)),
    );
  }

  /** Returns the files that must be read again, because they may include other documents than they did. */
  settle(paths: ReadonlySet<string>): readonly IndexedFile[] {
    this.#public = paths;
    return [...this.#known.files()].filter(({ path, includes = {}, refused = [] }) =>
      Object.keys(includes).some((from) => {
        const isRefused = this.#isDocument(from) && !this.may(from, path);
        return isRefused !== refused.includes(from);
      }),
    );
  }

  #isDocument(path: string): boolean {
    return typeof this.#known.get(path)?.slug === 'string';
  }
}
