/**
 * Which slots of a llama.cpp server the requests for a model ask for. A slot keeps the last prompt that it has read.
 * All completions share the last slot, so each of them finds the one before it there. A chat takes any other: with two
 * slots it asks for the first one as soon as there are completions, with more the server chooses the one that was
 * unused longest.
 */
export class Slots {
  /** By the name of the model. */
  readonly #totals = new Map<string, number>();
  readonly #completing = new Set<string>();

  isKnown(model: string): boolean {
    return this.#totals.has(model);
  }

  note(model: string, total: number): void {
    this.#totals.set(model, total);
  }

  forCompletion(model: string): { readonly id_slot?: number } {
    const total = this.#totals.get(model) ?? 1;
    if (total < 2) return {};
    this.#completing.add(model);
    return { id_slot: total - 1 };
  }

  forChat(model: string): { readonly id_slot?: number } {
    return this.#totals.get(model) === 2 && this.#completing.has(model) ? { id_slot: 0 } : {};
  }
}
