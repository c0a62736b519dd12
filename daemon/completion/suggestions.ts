import type { Surroundings } from './surroundings.ts';

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
  /** What of the suggestion has not been typed yet; never `""`. */
  readonly text: string;
  readonly suggestion: Suggestion;
}

/** The newest suggestions. Who types what was suggested sees the rest of it without a request. */
export interface Suggestions {
  remember(suggestion: Suggestion): void;
  /** From the newest suggestion that fits the place. */
  recall(place: Place): Recalled | undefined;
  /** Of a document that was closed. */
  forget(uri: string): void;
}

/** How many are remembered. Each holds about 15 kB. */
const maxSuggestions = 100;

export function createSuggestions(): Suggestions {
  /** The newest last. */
  let known: Suggestion[] = [];
  return {
    remember(suggestion) {
      known.push(suggestion);
      if (known.length > maxSuggestions) known.shift();
    },
    recall(place) {
      for (const suggestion of known.toReversed()) {
        const recalled = recallAt(place, suggestion);
        if (recalled) return recalled;
      }
      return undefined;
    },
    forget(uri) {
      known = known.filter(({ place }) => place.uri !== uri);
    },
  };
}

/** What is left of a suggestion at a place; undefined where something else was typed, all of it, or text was erased. */
export function recallAt(place: Place, suggestion: Suggestion): Recalled | undefined {
  const { text } = suggestion;
  const typed = typedBetween(suggestion.place, place);
  if (typed === undefined || typed.length >= text.length || !text.startsWith(typed)) return undefined;
  return { text: text.slice(typed.length), suggestion };
}

/** What was typed between two places; undefined where anything else changed. */
export function typedBetween(before: Place, now: Place): string | undefined {
  return before.uri === now.uri && before.model === now.model
    ? typedSince(before.around, now.around)
    : undefined;
}

/**
 * What was typed at the cursor since: `""` at the same place, undefined where anything else changed. Closers that an
 * editor adds after the cursor do not count, because the user did not type them.
 */
export function typedSince(before: Surroundings, now: Surroundings): string | undefined {
  const length = now.offset - before.offset;
  if (length < 0 || length > now.prefix.length || !isSameAfter(before.suffix, now.suffix)) return undefined;
  const cut = now.prefix.length - length;
  return endsAlike(before.prefix, now.prefix.slice(0, cut)) ? now.prefix.slice(cut) : undefined;
}

/** A budget moves on with the cursor, so both may begin elsewhere. What both hold must be the same. */
function endsAlike(one: string, other: string): boolean {
  return one.length < other.length ? other.endsWith(one) : one.endsWith(other);
}

/** Both may end elsewhere. */
function beginsAlike(one: string, other: string): boolean {
  return one.length < other.length ? other.startsWith(one) : one.startsWith(other);
}

function isSameAfter(before: string, now: string): boolean {
  if (beginsAlike(before, now)) return before !== '' || now === '' || isOnlyClosers(now);
  const [added = ''] = /^[)\]}"'`>]{1,3}/.exec(now) ?? [];
  for (let count = 1; count <= added.length; count += 1)
    if (beginsAlike(before, now.slice(count))) return true;
  return false;
}

function isOnlyClosers(text: string): boolean {
  return /^[)\]}"'`>]{1,3}$/.test(text);
}
