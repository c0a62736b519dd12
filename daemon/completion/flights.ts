import { type LinkedSignal, linkedSignal, orAborted } from '../abort.ts';
import { type Place, type Suggestion, typedBetween } from './suggestions.ts';

/** Of several requests for one key only the newest goes on. */
export interface Newest {
  /**
   * Ends the older work for the key, and begins this one. The promise rejects at once when newer work begins or the
   * caller gives up.
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
        linked.unlink();
        if (running.get(key) === linked) running.delete(key);
      }
    },
  };
}

/** Why work was ended before it was over. It is no failure. */
export class Superseded extends Error {
  override readonly name = 'Superseded';
  constructor(why = 'A newer request for the same document took its place.') {
    super(why);
  }
}

/** An answer that is under way. It outlives its request while the user types what it says. */
export interface Flight {
  /** It is the answer for this very place. */
  startsAt(place: Place): boolean;
  /**
   * Waits for its suggestion, which is undefined where nothing of the answer is worth showing. A flight that nobody
   * follows any longer is aborted.
   */
  follow(signal: AbortSignal): Promise<Suggestion | undefined>;
}

/** Asks for what could stand at a place. `receive` gets the answer while it comes. */
export type Fly = (
  place: Place,
  signal: AbortSignal,
  receive: (text: string) => void,
) => Promise<Suggestion | undefined>;

/**
 * The answers under way: at most one for each document, and at most one ahead. That one is for the place where the
 * acceptance of the suggestion that is shown would leave the cursor.
 */
export interface Flights {
  /**
   * The user is at this place, and sees this suggestion, if any. Returns the answer that the place can wait for. Those
   * that fit neither close their sockets.
   */
  arrive(place: Place, shown: Suggestion | undefined): Flight | undefined;
  begin(place: Place): Flight;
  beginAhead(shown: Suggestion, next: Place): void;
  /** Ends the answer ahead, unless the suggestion was accepted and somebody waits for what follows. */
  giveWay(): void;
  /** Ends what is under way, for one document or for all. */
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
  /** What was typed since is what it says so far. As long as it says nothing, a newer request begins its own. */
  fits(place: Place): boolean;
  isFollowed(): boolean;
  /** Closes the runner's socket. */
  abort(reason: Superseded): void;
}

/**
 * How long a flight goes on that nobody follows, in ms: an editor cancels the older request before it sends the newer
 * one.
 */
const grace = 20;

/** `onEnd` is called when it is over, however it ended. */
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
  // Nobody may be following when it fails.
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

/** As far as both go. */
function isSaid(typed: string | undefined, said: string): boolean {
  if (typed === undefined) return false;
  const wanted = typed.replaceAll('\r\n', '\n');
  return said !== '' && (said.startsWith(wanted) || wanted.startsWith(said));
}
