/** A search in the history that goes on with each key, from newer to older entries. */
export class HistorySearch {
  readonly #entries: readonly string[];
  #query = '';
  #at = 0;
  #isFailing = false;

  /** `entries` are newest first. */
  constructor(entries: readonly string[]) {
    this.#entries = entries;
  }

  get query(): string {
    return this.#query;
  }

  /** Nothing older has the words. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  /** What is found; undefined before anything is typed. */
  get found(): string | undefined {
    return this.#query === '' ? undefined : this.#entries[this.#at];
  }

  type(text: string): void {
    this.#query += text;
    this.#find(this.#at);
  }

  erase(): void {
    this.#query = [...this.#query].slice(0, -1).join('');
    this.#find(0);
  }

  older(): void {
    if (this.#query !== '') this.#find(this.#at + 1);
  }

  /** Small letters find large ones, too. */
  #find(from: number): void {
    const isExact = this.#query !== this.#query.toLowerCase();
    const index = this.#entries.findIndex(
      (entry, position) => position >= from && (isExact ? entry : entry.toLowerCase()).includes(this.#query),
    );
    this.#isFailing = index === -1;
    if (index !== -1) this.#at = index;
  }
}
