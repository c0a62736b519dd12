import { orAborted } from '../abort.ts';
import { Superseded } from './newest.ts';
import type { Place } from './suggestions.ts';
import { typedSince } from './typed.ts';

/** An answer that is under way. It outlives the request that began it, as long as what is typed is what it says. */
export interface Flight {
  /** What was typed since is what has come so far; where nothing has, a newer request is one of its own. */
  fits(place: Place): boolean;
  /** It is the answer for this very place. */
  startsAt(place: Place): boolean;
  /**
   * Waits for its end: then its suggestion is remembered, or it rejects with why there is none. A flight that nobody
   * follows any longer is aborted.
   */
  follow(signal: AbortSignal): Promise<void>;
  /** Closes the runner's socket. */
  abort(): void;
}

/** Asks, and tells `receive` of what comes while it comes. */
export type Fly = (signal: AbortSignal, receive: (text: string) => void) => Promise<void>;

/**
 * How long an answer is kept that nobody waits for, in ms: an editor cancels the older request before it sends the
 * newer one.
 */
const grace = 20;

/** `onEnd` is called when it is over, however it ended. */
export function createFlight(start: Place, fly: Fly, onEnd: () => void): Flight {
  const controller = new AbortController();
  let received = '';
  let followers = 0;
  const abort = () => controller.abort(new Superseded());
  const land = async () => {
    try {
      await fly(controller.signal, (text) => {
        received += text;
      });
    } finally {
      onEnd();
    }
  };
  const landed = land();
  // Nobody may be following when it fails.
  landed.catch(() => undefined);
  /** What was typed since; undefined where anything else changed. */
  const typedAt = ({ uri, model, around }: Place) =>
    uri === start.uri && model === start.model ? typedSince(start.around, around) : undefined;
  return {
    fits(place) {
      const said = /\s$/.test(start.around.linePrefix) ? received.trimStart() : received;
      return isSaid(typedAt(place), said);
    },
    startsAt: (place) => typedAt(place) === '',
    async follow(signal) {
      followers += 1;
      try {
        await orAborted(landed, signal);
      } finally {
        followers -= 1;
        if (followers === 0) setTimeout(() => followers === 0 && abort(), grace).unref();
      }
    },
    abort,
  };
}

/** As far as both go. */
function isSaid(typed: string | undefined, said: string): boolean {
  if (typed === undefined) return false;
  const wanted = typed.replaceAll('\r\n', '\n');
  return said !== '' && (said.startsWith(wanted) || wanted.startsWith(said));
}
