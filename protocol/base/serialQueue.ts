/** Runs work one after another: for each key, the next work starts when the one before it has settled. */
export class SerialQueue {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Settles as the work does. Failed work does not keep the next one from running. */
  run<T>(key: string, work: () => Promise<T> | T): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const result = before.then(work);
    const settled = result
      .catch(() => undefined)
      .finally(() => this.#last.get(key) === settled && this.#last.delete(key));
    this.#last.set(key, settled);
    return result;
  }

  /** Resolves when all work that has been queued so far has settled. */
  async settle(): Promise<void> {
    await Promise.all(this.#last.values());
  }
}
