import { createFlight, type Flight, type Fly } from './flight.ts';
import type { Place, Suggestion } from './suggestions.ts';

/**
 * What would follow the acceptance of the suggestion that is shown, asked for while nothing else is: at most one. Any
 * key that is neither the suggestion nor its acceptance aborts it.
 */
export interface Prefetch {
  /**
   * The user is here, and this suggestion, if any, is what is shown. Returns the answer ahead if it is the one for this
   * place: the suggestion was accepted.
   */
  arrive(place: Place, shown: Suggestion | undefined): Flight | undefined;
  /** `next` is where the cursor would stand. */
  begin(suggestion: Suggestion, next: Place, fly: Fly): void;
  /** The document is gone; without one, all of them are. */
  abort(uri?: string): void;
}

export function createPrefetch(): Prefetch {
  let ahead: { readonly flight: Flight; readonly suggestion: Suggestion } | undefined;
  return {
    arrive(place, shown) {
      if (!ahead) return undefined;
      const { flight, suggestion } = ahead;
      if (flight.startsAt(place) || flight.fits(place)) return flight;
      if (shown !== suggestion) flight.abort();
      return undefined;
    },
    begin(suggestion, next, fly) {
      if (ahead?.suggestion === suggestion) return;
      ahead?.flight.abort();
      const flight = createFlight(next, fly, () => {
        if (ahead?.flight === flight) ahead = undefined;
      });
      ahead = { flight, suggestion };
    },
    abort(uri) {
      if (uri === undefined || ahead?.suggestion.place.uri === uri) ahead?.flight.abort();
    },
  };
}
