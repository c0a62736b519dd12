/** Which suggestions were shown, and how many of them the user took. */
export interface Acceptances {
  /** The identifier of a new suggestion. */
  offer(): string;
  /** Counts each suggestion once, and nothing that never was one. */
  accept(id: string): void;
  readonly offered: number;
  readonly accepted: number;
}

/** Of how many suggestions it is known that they were not accepted yet. */
const mostOpen = 100;

export function createAcceptances(): Acceptances {
  const open = new Set<string>();
  let offered = 0;
  let accepted = 0;
  return {
    offer() {
      offered += 1;
      const id = String(offered);
      open.add(id);
      open.delete(String(offered - mostOpen));
      return id;
    },
    // What follows an acceptance, such as more lines at a time, will begin here.
    accept(id) {
      if (open.delete(id)) accepted += 1;
    },
    get offered() {
      return offered;
    },
    get accepted() {
      return accepted;
    },
  };
}
