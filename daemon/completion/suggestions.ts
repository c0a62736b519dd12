import type { CursorContext } from './cursorContext.ts';

/** The place of a completion: a cursor in a document, and the model. */
export interface CompletionPoint {
  readonly uri: string;
  readonly model: string;
  readonly around: CursorContext;
  /** The cursor stands at the end of a suggestion that was just accepted, so more lines are welcome. */
  readonly isAfterAcceptance?: boolean;
}

/** What was suggested at a place. */
export interface Suggestion {
  readonly place: CompletionPoint;
  /** The text with the line ends of the document; never `""`. */
  readonly text: string;
}

export interface RecalledSuggestion {
  /** The part of the suggestion that has not been typed yet; never `""`. */
  readonly text: string;
  readonly suggestion: Suggestion;
}

/** How many are remembered. Each holds about 15 kB. */
const maxSuggestions = 100;

/** The latest suggestions. A user who types a suggestion sees the rest of it without another request. */
export function createSuggestions() {
  /** The latest comes last. */
  let known: Suggestion[] = [];
  return {
    remember(suggestion: Suggestion): void {
      known.push(suggestion);
      if (known.length > maxSuggestions) known.shift();
    },
    /** Recalls from the latest suggestion that fits the place. */
    recall(place: CompletionPoint): RecalledSuggestion | undefined {
      for (const suggestion of known.toReversed()) {
        const recalled = recallAt(place, suggestion);
        if (recalled) return recalled;
      }
      return undefined;
    },
    /** Forgets the suggestions of a document that was closed. */
    forget(uri: string): void {
      known = known.filter(({ place }) => place.uri !== uri);
    },
  };
}

/** The rest of a suggestion at a place; undefined if the user typed something else, typed all of it, or erased text. */
export function recallAt(place: CompletionPoint, suggestion: Suggestion): RecalledSuggestion | undefined {
  const { text } = suggestion;
  const typed = typedBetween(suggestion.place, place);
  if (typed === undefined || typed.length >= text.length || !text.startsWith(typed)) return undefined;
  return { text: text.slice(typed.length), suggestion };
}

/** What was typed between two places; undefined if anything else changed. */
export function typedBetween(before: CompletionPoint, now: CompletionPoint): string | undefined {
  return before.uri === now.uri && before.model === now.model
    ? typedSince(before.around, now.around)
    : undefined;
}

/**
 * What was typed at the cursor since then: `""` at the same place, undefined if anything else changed. Closers that an
 * editor adds after the cursor do not count as a change, because the user did not type them.
 */
function typedSince(before: CursorContext, now: CursorContext): string | undefined {
  const length = now.offset - before.offset;
  if (length < 0 || length > now.prefix.length || !isSameAfter(before.suffix, now.suffix)) return undefined;
  const cut = now.prefix.length - length;
  return endsAlike(before.prefix, now.prefix.slice(0, cut)) ? now.prefix.slice(cut) : undefined;
}

/**
 * A budget moves with the cursor, so the two texts may begin at different places. The part that both hold must be
 * equal.
 */
function endsAlike(one: string, other: string): boolean {
  return one.endsWith(other) || other.endsWith(one);
}

/** The two texts may end at different places. */
function beginsAlike(one: string, other: string): boolean {
  return one.startsWith(other) || other.startsWith(one);
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

/** How many suggestions may wait for their acceptance. */
const maxOpen = 100;

export type Acceptances = ReturnType<typeof createAcceptances>;

/** Which suggestions were shown, and how many of them the user took. */
export function createAcceptances() {
  const open = new Map<string, CompletionPoint>();
  let offered = 0;
  let accepted = 0;
  let shownLast: CompletionPoint | undefined;
  let acceptedLast: CompletionPoint | undefined;
  return {
    /** The identifier of a new suggestion. Its acceptance leaves the cursor at `end`. */
    offer(end: CompletionPoint): string {
      offered += 1;
      const id = String(offered);
      shownLast = end;
      open.set(id, end);
      open.delete(String(offered - maxOpen));
      return id;
    },
    /** Counts each suggestion once, and ignores unknown identifiers. */
    accept(id: string): void {
      const end = open.get(id);
      if (!end) return;
      open.delete(id);
      acceptedLast = end;
      accepted += 1;
    },
    /**
     * Whether the cursor stands at the end of the suggestion that was accepted last or shown last. Editors ask for the
     * next suggestion before they report the acceptance, and some never report it.
     */
    isEnd: (place: CompletionPoint) =>
      [acceptedLast, shownLast].some((end) => end !== undefined && isSame(end, place)),
    get offered(): number {
      return offered;
    },
    get accepted(): number {
      return accepted;
    },
  };
}

function isSame(end: CompletionPoint, { uri, around }: CompletionPoint): boolean {
  return end.uri === uri && typedSince(end.around, around) === '';
}
