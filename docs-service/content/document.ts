import type { FileLinks } from './writtenLinks.ts';

/** A term of the taxonomy. Its slug names it in addresses and filters. */
export interface Tag {
  readonly slug: string;
  readonly title: string;
}

/** The front matter of a document, checked; missing values are null or empty. */
export interface DocumentMetadata {
  /** Names the document in addresses: `isSlug` holds for it, and it is unique in the library. */
  readonly slug: string;
  readonly title: string;
  readonly type: string | null;
  readonly tags: readonly Tag[];
  /** ISO 8601, as the author wrote it: a date stays a date. A date without a time counts as midnight UTC. */
  readonly date: string | null;
  readonly updated: string | null;
  /** A BCP 47 tag, such as `en` or `zh-Hans`. */
  readonly lang: string | null;
  readonly authors: readonly string[];
  readonly description: string | null;
  /** A picture, as a path from the content folder with `/` between its parts. */
  readonly cover: string | null;
  readonly draft: boolean;
  /** SHA-256 of the whole file, in hexadecimal. It changes with every change of the document. */
  readonly contentHash: string;
}

export interface Document extends DocumentMetadata {
  /** Relative to the content folder, with `/` between its parts. */
  readonly path: string;
  /** The Markdown without the front matter. */
  readonly body: string;
}

/** Why a file is not served as it is, in a sentence for its author. */
export interface ContentProblem {
  readonly path: string;
  readonly message: string;
}

/** What its author should look at in a file that is served as it is, in a sentence. */
export interface ContentWarning extends ContentProblem {
  /** Counted from 1, the first line of the file. */
  readonly line: number;
  /** How many warnings it stands for, if more than one. */
  readonly count?: number;
}

export function countWarnings(warnings: readonly ContentWarning[]): number {
  return warnings.reduce((sum, { count = 1 }) => sum + count, 0);
}

/** As it is printed and logged. */
export function toSentence(found: ContentProblem | ContentWarning): string {
  const line = 'line' in found ? `:${found.line}` : '';
  return `${found.path}${line}: ${found.message}`;
}

/** Identifies a problem or a warning, whatever its line is now. */
export function keyOf({ path, message }: ContentProblem): string {
  return JSON.stringify([path, message]);
}

/** A warning whose file is known. */
export type FileWarning = Omit<ContentWarning, 'path'>;

/** What is known of a file besides its document. */
export interface FileDetails {
  /** Absent if the file is no document. */
  readonly links?: FileLinks;
  /** The slug that its front matter names, and the line; absent if it names none. Several files may name one slug. */
  readonly named?: { readonly slug: string; readonly line: number };
  /**
   * When the file must be read again although it has not changed, because a date in it has come; in milliseconds since
   * 1970.
   */
  readonly due?: number;
  /** It makes drafts of all documents in its folder and below. */
  readonly cascades?: boolean;
}
