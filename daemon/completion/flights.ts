import { type LinkedSignal, linkedSignal, orAborted } from '../../protocol/base/abort.ts';
import { type Place, type Suggestion, typedBetween } from './suggestions.ts';

/** Of several requests for one key, only the newest goes on. */
export interface Newest {
  /**
   * Ends older work for the key and starts this work. The promise rejects at once when newer work starts or the caller
   * gives up.
   */
  run<T>(key: string, caller: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

export function createNewest(): Newest {
  const running = new Map<string, LinkedSignal>();
  return {
    async run(key, caller, work) {
      running.get(key)?.abort(new Superseded());
      const linked = linkedSignal(caller);
      const { signal } = linked;
      running.set(key, linked);
      try {
        signal.throwIfAborted();
        return await orAborted(work(signal), signal);
      } finally {
        // Whatever the work still waits for is no longer wanted.
        linked.abort(new Superseded());
        if (running.get(key) === linked) running.delete(key);
      }
    },
  };
}

/** The reason why work was ended early. It is not a failure. */
export class Superseded extends Error {
  override readonly name = 'Superseded';
  constructor(why = 'A newer request for the same document replaced it.') {
    super(why);
  }
}

/** A running answer. It outlives its request as long as the user types what it says. */
export interface Flight {
  /** Whether it is the answer for exactly this place. */
  startsAt(place: Place): boolean;
  /**
   * Waits for its suggestion, which is undefined if nothing of the answer is worth showing. A flight that nobody
   * follows any longer is aborted.
   */
  follow(signal: AbortSignal): Promise<Suggestion | undefined>;
}

/** Asks for a suggestion at a place. `receive` gets the answer as it arrives. */
export type Fly = (
  place: Place,
  signal: AbortSignal,
  receive: (text: string) => void,
) => Promise<Suggestion | undefined>;

/**
 * The running answers: at most one for each document, and at most one ahead. The one ahead is for the place where the
 * cursor would be if the user accepted the shown suggestion.
 */
export interface Flights {
  /**
   * The user is at this place and sees this suggestion, if any. Returns the running answer that the place can wait for.
   * Answers that fit neither the place nor the suggestion close their sockets.
   */
  arrive(place: Place, shown: Suggestion | undefined): Flight | undefined;
  begin(place: Place): Flight;
  beginAhead(shown: Suggestion, next: Place): void;
  /** Ends the answer ahead, unless the suggestion was accepted and somebody waits for what follows it. */
  giveWay(): void;
  /** Ends the running answers, for one document or for all. */
  abort(why: string, uri?: string): void;
}

export function createFlights(fly: Fly): Flights {
  const byUri = new Map<string, ControlledFlight>();
  let ahead: { readonly flight: ControlledFlight; readonly shown: Suggestion } | undefined;

  const start = (place: Place): ControlledFlight => {
    const flight = createFlight(place, fly, () => {
      if (byUri.get(place.uri) === flight) byUri.delete(place.uri);
      if (ahead?.flight === flight) ahead = undefined;
    });
    return flight;
  };
  const fitting = (place: Place): Flight | undefined => {
    const flight = byUri.get(place.uri);
    if (flight?.fits(place)) return flight;
    flight?.abort(new Superseded());
    return undefined;
  };

  return {
    arrive(place, shown) {
      const own = fitting(place);
      if (!ahead) return own;
      const { flight } = ahead;
      if (flight.startsAt(place) || flight.fits(place)) return flight;
      if (ahead.shown !== shown) flight.abort(new Superseded());
      return own;
    },
    begin(place) {
      const flight = start(place);
      byUri.set(place.uri, flight);
      return flight;
    },
    beginAhead(shown, next) {
      if (ahead?.shown === shown) return;
      ahead?.flight.abort(new Superseded());
      ahead = { flight: start(next), shown };
    },
    giveWay() {
      if (!ahead?.flight.isFollowed()) ahead?.flight.abort(new Superseded());
    },
    abort(why, uri) {
      for (const flight of [...byUri.values(), ahead?.flight])
        if (uri === undefined || flight?.uri === uri) flight?.abort(new Superseded(why));
    },
  };
}

interface ControlledFlight extends Flight {
  readonly uri: string;
  /**
   * Whether the text typed since then is what the answer says so far. While the answer is empty, nothing fits, so a
   * newer request starts its own.
   */
  fits(place: Place): boolean;
  isFollowed(): boolean;
  /** Closes the runner's socket. */
  abort(reason: Superseded): void;
}

/**
 * How long a flight goes on without a follower, in ms. An editor cancels the older request before it sends the newer
 * one, and a runner that uses all cores may hold this process up between the two.
 */
const grace = 40;

/** `onEnd` is called when the flight is over, however it ended. */
function createFlight(start: Place, fly: Fly, onEnd: () => void): ControlledFlight {
  const controller = new AbortController();
  let received = '';
  let followers = 0;
  const land = async () => {
    try {
      return await fly(start, controller.signal, (text) => {
        received += text;
      });
    } finally {
      onEnd();
    }
  };
  const landed = land();
  // When it fails, it may have no follower.
  landed.catch(() => undefined);
  const abort = (reason: Superseded) => controller.abort(reason);
  return {
    uri: start.uri,
    fits(place) {
      const said = /\s$/.test(start.around.linePrefix) ? received.trimStart() : received;
      return isSaid(typedBetween(start, place), said);
    },
    startsAt: (place) => typedBetween(start, place) === '',
    async follow(signal) {
      followers += 1;
      try {
        return await orAborted(landed, signal);
      } finally {
        followers -= 1;
        if (followers === 0) setTimeout(() => followers === 0 && abort(new Superseded()), grace).unref();
      }
    },
    isFollowed: () => followers > 0,
    abort,
  };
}

/** Compares only the length that both have. */
function isSaid(typed: string | undefined, said: string): boolean {
  if (typed === undefined) return false;
  const wanted = typed.replaceAll('\r\n', '\n');
  return said !== '' && (said.startsWith(wanted) || wanted.startsWith(said));
}
