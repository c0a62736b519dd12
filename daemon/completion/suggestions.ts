import type { Surroundings } from './surroundings.ts';
import { typedSince } from './typed.ts';

/** Where completion is asked for: a cursor in a document, and the model. */
export interface Place {
  readonly uri: string;
  readonly model: string;
  readonly around: Surroundings;
  /** The cursor stands where a suggestion was just accepted: more lines are welcome. */
  readonly isAfterAcceptance?: boolean;
}

/** What was suggested at a place. */
export interface Suggestion {
  readonly place: Place;
  /** With the line ends of the document; never `""`. */
  readonly text: string;
}

export interface Recalled {
  /** What of it has not been typed yet; never `""`. */
  readonly text: string;
  readonly suggestion: Suggestion;
}

/** The newest suggestions: who types what was suggested is shown the rest of it, without a request. */
export interface Suggestions {
  remember(suggestion: Suggestion): void;
  /** Of the newest suggestion whose beginning is all that was typed since. A shorter text than its own never fits. */
  recall(place: Place): Recalled | undefined;
  /** Nothing of the document is remembered any longer. */
  forget(uri: string): void;
}

/** How many are remembered; each holds about 15 kB. */
const most = 100;

export function createSuggestions(): Suggestions {
  /** The newest last. */
  let known: Suggestion[] = [];
  return {
    remember(suggestion) {
      known.push(suggestion);
      if (known.length > most) known.shift();
    },
    recall(place) {
      for (const suggestion of known.toReversed()) {
        const text = restOf(suggestion, place);
        if (text !== undefined) return { text, suggestion };
      }
      return undefined;
    },
    forget(uri) {
      known = known.filter(({ place }) => place.uri !== uri);
    },
  };
}

function restOf({ place, text }: Suggestion, { uri, model, around }: Place): string | undefined {
  if (place.uri !== uri || place.model !== model) return undefined;
  const typed = typedSince(place.around, around);
  if (typed === undefined || typed.length >= text.length || !text.startsWith(typed)) return undefined;
  return text.slice(typed.length);
}
