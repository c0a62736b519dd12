import { type Place, typedSince } from './suggestions.ts';

/** Which suggestions were shown, and how many of them the user took. */
export interface Acceptances {
  /** The identifier of a new suggestion. Its acceptance leaves the cursor at `end`. */
  offer(end: Place): string;
  /** Counts each suggestion once, and ignores unknown identifiers. */
  accept(id: string): void;
  /**
   * Whether the cursor stands at the end of the suggestion that was accepted last or shown last. Editors ask for the
   * next suggestion before they report the acceptance, and some never report it.
   */
  isEnd(place: Place): boolean;
  readonly offered: number;
  readonly accepted: number;
}

/** How many suggestions may wait for their acceptance. */
const maxOpen = 100;

export function createAcceptances(): Acceptances {
  const open = new Map<string, Place>();
  let offered = 0;
  let accepted = 0;
  let shownLast: Place | undefined;
  let acceptedLast: Place | undefined;
  return {
    offer(end) {
      offered += 1;
      const id = String(offered);
      shownLast = end;
      open.set(id, end);
      open.delete(String(offered - maxOpen));
      return id;
    },
    accept(id) {
      const end = open.get(id);
      if (!end) return;
      open.delete(id);
      acceptedLast = end;
      accepted += 1;
    },
    isEnd: (place) => [acceptedLast, shownLast].some((end) => end !== undefined && isSame(end, place)),
    get offered() {
      return offered;
    },
    get accepted() {
      return accepted;
    },
  };
}

function isSame(end: Place, { uri, around }: Place): boolean {
  return end.uri === uri && typedSince(end.around, around) === '';
}
