import { count } from '../../protocol/base/text.ts';
import { someOf } from '../base/text.ts';
import { type ContentProblem, type ContentWarning, keyOf } from '../content/document.ts';
import type { IndexedFile } from '../search/documentIndex.ts';

export interface ReportListeners {
  /** A file is not served as it is. Called once for each new or changed problem. */
  readonly onProblem?: (problem: ContentProblem) => void;
  /** Called with the new warnings of one sync. */
  readonly onWarnings?: (warnings: readonly ContentWarning[]) => void;
  /** Called with a sentence about documents that the index should have. */
  readonly onLoss?: (sentence: string) => void;
}

const maxNamed = 20;

/** What the index should have of these files, and has not. */
export function lossSentence(paths: readonly string[]): string {
  return `The index has lost ${count(paths.length, 'document')}, or has an older text: ${someOf(paths, maxNamed)}.`;
}

/** What is wrong with the files of a library. Each problem and each warning is reported once. */
export class Reports {
  /** The reported problems of files, by their paths. */
  readonly #fileProblems = new Map<string, string>();
  /** The keys of the reported problems of collections and folders. */
  #collectionProblems: ReadonlySet<string> = new Set();
  /** The keys of the reported warnings that depend on other files. */
  #linkWarnings: ReadonlySet<string> = new Set();
  /** The warnings of this sync that were not there before. */
  #newWarnings: ContentWarning[] = [];

  constructor(private readonly listeners: ReportListeners) {}

  /** Starts again, with the warnings that the index has. */
  recall(warnings: readonly ContentWarning[]): void {
    this.#linkWarnings = new Set(warnings.map(keyOf));
  }

  setFileProblem(path: string, message: string | null): void {
    if (message === (this.#fileProblems.get(path) ?? null)) return;
    if (message === null) this.#fileProblems.delete(path);
    else {
      this.#fileProblems.set(path, message);
      this.listeners.onProblem?.({ path, message });
    }
  }

  setCollectionProblems(problems: readonly ContentProblem[]): void {
    const before = this.#collectionProblems;
    this.#collectionProblems = new Set(problems.map(keyOf));
    for (const problem of problems) if (!before.has(keyOf(problem))) this.listeners.onProblem?.(problem);
  }

  /** The warnings about a file. One that only moved to another line is not new. */
  addFileWarnings({ path, warnings }: IndexedFile, before: IndexedFile | undefined): void {
    const known = new Set(before?.warnings.map(({ message }) => message));
    const added = warnings.filter(({ message }) => !known.has(message));
    this.#newWarnings.push(...added.map((warning) => ({ path, ...warning })));
  }

  setLinkWarnings(warnings: readonly ContentWarning[]): void {
    const before = this.#linkWarnings;
    this.recall(warnings);
    this.#newWarnings.push(...warnings.filter((warning) => !before.has(keyOf(warning))));
  }

  /**
   * Reports the warnings at the end of a sync.
   * @param fileAt as it is now: it may have been read twice, and be fine after all
   */
  flushWarnings(fileAt: (path: string) => IndexedFile | undefined): void {
    const isOver = ({ path, kind, message }: ContentWarning) =>
      (kind === 'include' || kind === 'wikilink') &&
      !fileAt(path)?.warnings.some((one) => one.message === message);
    const warnings = this.#newWarnings.filter((warning) => !isOver(warning));
    this.#newWarnings = [];
    if (warnings.length > 0) this.listeners.onWarnings?.(warnings);
  }
}
