import type { Token } from 'marked';
import type { Document } from '../../content/document.ts';
import { DocumentPlaces, resolveLink } from '../../content/links.ts';
import type { Heading, MarkdownDocument } from '../markdown/markdown.ts';
import { type Mark, type TextPiece, textPiece } from './pieces.ts';

export interface PlacedHeading extends Heading {
  /** The name of its place in the file. */
  readonly name: string;
}

/** Where something leads: to an address, or to a place in the file; to nothing if it may not be followed. */
type Lead = Pick<Mark, 'link' | 'destination'>;

/** The places in a document that links and bookmarks lead to, and where its own links lead. */
export class Bookmarks {
  readonly placed: PlacedHeading[] = [];
  /** The names of places that begin with the next text of the document. */
  readonly waiting: string[] = [];
  readonly #path: string;
  readonly #footnoteOf: MarkdownDocument['footnoteOf'];
  readonly #ids: DocumentPlaces;
  /** Of places that are no headings, while they are not set. */
  readonly #written: Set<string>;
  /** The headings that the next heading may belong to. */
  #open: PlacedHeading[] = [];

  /**
   * @param documentLead of a link to another document; undefined if it leads nowhere
   * @param chapter begins all names of places in a book, so that no two of its documents have one in common
   */
  constructor(
    { path }: Document,
    { headings, writtenIds, footnoteOf }: MarkdownDocument,
    private readonly documentLead: (path: string, fragment: string | null) => Lead | undefined,
    private readonly chapter = '',
  ) {
    const ids = headings.map(({ id }) => id);
    this.#path = path;
    this.#footnoteOf = footnoteOf;
    this.#ids = new DocumentPlaces([...ids, ...writtenIds], headings);
    this.#written = new Set([...writtenIds].filter((id) => !ids.includes(id)));
  }

  /** PDFMake keeps names in an array, which has properties of its own. */
  nameOf(id: string): string {
    if (this.chapter !== '') return `${this.chapter}${id}`;
    return id in [] || /^\d+$/.test(id) ? `heading:${id}` : id;
  }

  /** The place that a fragment of an address means, if it exists. */
  find(fragment: string): string | undefined {
    const id = this.#ids.tryFind(fragment);
    return id === undefined ? undefined : this.nameOf(id);
  }

  /** Begins a place that is no heading with the next text, unless it is set already. */
  begin(id: string): void {
    if (this.#written.delete(id)) this.waiting.push(this.nameOf(id));
  }

  /**
   * Registers a heading that is set now. Returns what makes its node a bookmark below its parent. The headings of a
   * chapter belong to its title, whatever their level is; no heading of the text has an empty id.
   */
  place(heading: Heading): Record<string, unknown> {
    const isWithin = this.chapter !== '' && heading.id !== '';
    const depth = isWithin ? Math.max(2, heading.depth) : heading.depth;
    const placed = { ...heading, depth, name: this.nameOf(heading.id) };
    this.placed.push(placed);
    this.#open = [...this.#open.filter((one) => one.depth < depth), placed];
    const parent = this.#open.at(-2);
    return {
      id: placed.name,
      outline: true,
      outlineText: heading.text || heading.id,
      outlineExpanded: depth < 2,
      ...(parent ? { outlineParentId: parent.name } : {}),
    };
  }

  leadOf(href: string): Lead {
    const target = resolveLink(href, this.#path);
    switch (target.kind) {
      case 'external':
        return { link: target.href };
      case 'fragment': {
        const destination = this.find(target.fragment);
        return destination ? { destination } : {};
      }
      case 'inside': {
        const leads = target.documents.map((path) => this.documentLead(path, target.fragment));
        return leads.find((one) => one !== undefined) ?? {};
      }
      case 'none':
        return {};
    }
  }

  /** The piece for a reference to a footnote. */
  tryNoteMark(reference: Token): TextPiece | undefined {
    const mark = this.#footnoteOf.get(reference);
    if (!mark) return undefined;
    const { note, reference: name } = this.noteNames(mark.number);
    const piece = textPiece(String(mark.number), { small: 'sup', destination: note });
    return mark.occurrence === 1 ? { ...piece, id: name } : piece;
  }

  /** The names of the places of a footnote and of its first reference. */
  noteNames(number: number): { readonly note: string; readonly reference: string } {
    return { note: `${this.chapter}note:${number}`, reference: `${this.chapter}note-mark:${number}` };
  }
}
