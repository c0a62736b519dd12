import type { Heading } from '../markdown/markdown.ts';

export interface PlacedHeading extends Heading {
  /** The name of its place in the document. */
  readonly name: string;
}

/** The places in a document that links and bookmarks lead to. */
export class Bookmarks {
  readonly placed: PlacedHeading[] = [];
  readonly #ids: ReadonlySet<string>;
  /** The headings that the next heading may belong to. */
  #open: PlacedHeading[] = [];

  constructor(headings: readonly Heading[]) {
    this.#ids = new Set(headings.map(({ id }) => id));
  }

  /** PDFMake keeps names in an array, which has properties of its own. */
  nameOf(id: string): string {
    return id in [] || /^\d+$/.test(id) ? `heading:${id}` : id;
  }

  /** The place that a fragment of an address means, if it exists. */
  find(fragment: string): string | undefined {
    const id = [fragment, fragment.toLowerCase()].find((candidate) => this.#ids.has(candidate));
    return id === undefined ? undefined : this.nameOf(id);
  }

  /** Registers a heading that is set now. Returns what makes its node a bookmark below its parent. */
  place(heading: Heading): Record<string, unknown> {
    const placed = { ...heading, name: this.nameOf(heading.id) };
    this.placed.push(placed);
    this.#open = [...this.#open.filter(({ depth }) => depth < heading.depth), placed];
    const parent = this.#open.at(-2);
    return {
      id: placed.name,
      outline: true,
      outlineText: heading.text || heading.id,
      outlineExpanded: heading.depth < 2,
      ...(parent ? { outlineParentId: parent.name } : {}),
    };
  }
}
