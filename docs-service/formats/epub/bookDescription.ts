/** What the parts of a book have in common. */
export interface BookDescription {
  /** Stable: the same for each book of the same collection. */
  readonly identifier: string;
  readonly title: string;
  readonly language: string;
  readonly authors: readonly string[];
  readonly description: string | null;
  /** `2026-11-21T00:00:00Z`: when the newest of the documents was changed. */
  readonly modified: string;
}
