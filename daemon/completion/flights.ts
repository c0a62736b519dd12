import { createFlight, type Flight, type Fly } from './flight.ts';
import type { Place } from './suggestions.ts';

/** The answers under way, at most one for each document. */
export interface Flights {
  /** The one that this place can wait for; any other one of the document is aborted. */
  fitting(place: Place): Flight | undefined;
  begin(place: Place, fly: Fly): Flight;
  /** The document is gone. */
  abort(uri: string): void;
  abortAll(): void;
}

export function createFlights(): Flights {
  const byUri = new Map<string, Flight>();
  return {
    fitting(place) {
      const flight = byUri.get(place.uri);
      if (flight?.fits(place)) return flight;
      flight?.abort();
      return undefined;
    },
    begin(place, fly) {
      byUri.get(place.uri)?.abort();
      const flight = createFlight(place, fly, () => {
        if (byUri.get(place.uri) === flight) byUri.delete(place.uri);
      });
      byUri.set(place.uri, flight);
      return flight;
    },
    abort: (uri) => byUri.get(uri)?.abort(),
    abortAll() {
      for (const flight of byUri.values()) flight.abort();
    },
  };
}
