import { isBlank, slash } from './characters.ts';

/** What a request sent that an answer may echo: whole elements of context, and the results of tools. */
export interface SentContext {
  readonly blocks: readonly string[];
  readonly results: readonly string[];
}

/** How often all that was sent may be searched for one answer. Ordinary answers have few such elements. */
const maxSearches = 64;

/** A place in what was sent at which content begins, and what follows the content. */
interface EchoStart {
  readonly text: string;
  at: number;
  readonly close: string;
}

/** Finds echoes: elements of an answer that repeat a whole one of the same name, or the whole result of a tool. */
export class Echoes {
  readonly #elements = new Map<string, readonly EchoStart[]>();
  readonly #results: readonly EchoStart[];
  /** How many characters of what was sent may still be visited. Without a limit, the time would be quadratic. */
  #left: number;
  /** The number of characters visited, for the tests that the work is linear. */
  steps = 0;

  constructor(private readonly sent: SentContext = { blocks: [], results: [] }) {
    this.#results = sent.results.map((text) => ({ text, at: 0, close: '' }));
    this.#left = maxSearches * [...sent.blocks, ...sent.results].reduce((sum, { length }) => sum + length, 0);
  }

  /** Begins to compare the content of an element; without a name, that of a tool's result. */
  search(name?: string): EchoSearch {
    return new EchoSearch(this, name === undefined ? this.#results : this.#placesOf(name));
  }

  /** Counts visited characters. False if they are too many. */
  spend(characters: number): boolean {
    this.steps += characters;
    this.#left -= characters;
    return this.#left >= 0;
  }

  #placesOf(name: string): readonly EchoStart[] {
    const places = this.#elements.get(name) ?? this.sent.blocks.flatMap((text) => placesIn(text, name));
    this.#elements.set(name, places);
    return places;
  }
}

function placesIn(text: string, name: string): EchoStart[] {
  const places: EchoStart[] = [];
  for (let from = text.indexOf(`<${name}`); from >= 0; from = text.indexOf(`<${name}`, from + 1)) {
    const end = text.indexOf('>', from);
    const after = text.charCodeAt(from + name.length + 1);
    const isTag = end === from + name.length + 1 || isBlank(after);
    if (end < 0) return places;
    if (isTag && text.charCodeAt(end - 1) !== slash) places.push({ text, at: end + 1, close: `</${name}` });
  }
  return places;
}

/** Compares a passage that grows with what was sent. White space does not count. */
export class EchoSearch {
  /** Where the passage so far ends in what was sent. */
  readonly #places: EchoStart[];
  #isEmpty = true;

  constructor(
    private readonly echoes: Echoes,
    places: readonly EchoStart[],
  ) {
    this.#places = echoes.spend(places.length) ? places.map((place) => ({ ...place })) : [];
  }

  /** Adds text to the passage. False if nothing that was sent begins like that. */
  add(text: string): boolean {
    for (let at = 0; at < text.length && this.#places.length > 0; at++) {
      const code = text.charCodeAt(at);
      if (!isBlank(code)) this.#take(code);
    }
    return this.#places.length > 0;
  }

  /** Whether the passage is all of the content of what was sent. */
  get isWhole(): boolean {
    return !this.#isEmpty && this.#places.some((place) => this.#isOver(place));
  }

  #take(code: number): void {
    this.#isEmpty = false;
    let kept = 0;
    for (const place of this.#places) {
      this.#skipBlanks(place);
      if (place.text.charCodeAt(place.at) !== code) continue;
      place.at++;
      this.#places[kept++] = place;
    }
    this.#places.length = kept;
  }

  #isOver(place: EchoStart): boolean {
    this.#skipBlanks(place);
    const { text, at, close } = place;
    return close === '' ? at === text.length : text.startsWith(close, at);
  }

  #skipBlanks(place: EchoStart): void {
    const from = place.at;
    while (isBlank(place.text.charCodeAt(place.at))) place.at++;
    if (!this.echoes.spend(place.at - from + 1)) place.at = place.text.length + 1;
  }
}
