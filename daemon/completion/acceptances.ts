/** Which suggestions were shown, and how many of them the user took. */
export interface Acceptances {
  /** The identifier of a new suggestion. */
  offer(): string;
  accept(id: string): void;
  readonly offered: number;
  readonly accepted: number;
}

export function createAcceptances(): Acceptances {
  let offered = 0;
  let accepted = 0;
  return {
    offer: () => String(++offered),
    // What follows an acceptance, such as more lines at a time, will begin here.
    accept() {
      accepted += 1;
    },
    get offered() {
      return offered;
    },
    get accepted() {
      return accepted;
    },
  };
}
