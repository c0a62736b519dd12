import { setImmediate } from 'node:timers/promises';
import type { Handler } from 'htmlparser2';
import { parseModelName } from '../models/name.ts';
import { type CatalogModel, cleanModels, type RawModel } from './catalogModel.ts';

/** How many characters are read before other work gets its turn: a few milliseconds. */
const pieceLength = 64 * 1024;
/** Closes what a page leaves open in its last tag or entity. Otherwise the parser's output would depend on the cuts. */
const afterPage = '<!---->';

/**
 * The models that the library's page at `url` links to. Any page is read in linear time and without an error: it is a
 * stranger's text, and there is no other list of the library.
 */
export async function readOllamaLibrary(
  page: string,
  url: string,
  signal: AbortSignal,
): Promise<readonly CatalogModel[]> {
  const pieces: string[] = [];
  for (let at = 0; at < page.length; at += pieceLength) pieces.push(page.slice(at, at + pieceLength));
  return readPieces(pieces, url, signal);
}

/** The same for a page in pieces. The places of the cuts make no difference. */
export async function readPieces(
  pieces: Iterable<string>,
  url: string,
  signal: AbortSignal,
): Promise<readonly CatalogModel[]> {
  const { Parser } = await import('htmlparser2');
  const address = new URL(url);
  const cards = new CardReader((href) => modelOfLink(href, address));
  const parser = new Parser(cards);
  for (const piece of pieces) {
    parser.write(piece);
    if (cards.isFull) break;
    await setImmediate();
    signal.throwIfAborted();
  }
  if (!cards.isFull) parser.end(afterPage);
  return cleanModels(cards.end());
}

/** The model that a link on the page at `url` leads to. Its path ends in `/library/NAME`, on the page's own host. */
function modelOfLink(href: string, url: URL): string | undefined {
  if (!URL.canParse(href, url.href)) return undefined;
  const { host, protocol, pathname } = new URL(href, url);
  if (host !== url.host || !/^https?:$/.test(protocol)) return undefined;
  const name = /\/library\/([^/]+)$/.exec(pathname)?.[1];
  return name !== undefined && isBareName(name) ? name : undefined;
}

function isBareName(name: string): boolean {
  try {
    return parseModelName(name).model === name;
  } catch {
    return false;
  }
}

/** The most characters of one passage, such as a description. The rest is dropped. */
const maxText = 16_384;
const maxMarks = 100;
const maxCards = 20_000;
/**
 * A page nests a few dozen levels deep. At a closing tag the parser searches all open elements, so there must not be
 * many.
 */
const maxDepth = 1_000;

/**
 * The text in these elements is not text of the page. `noscript` is not among them, because nothing here runs scripts.
 */
const silentTags: ReadonlySet<string> = new Set(
  'script style title textarea xmp iframe noembed noframes plaintext template'.split(' '),
);

const markLists = { 'x-test-capability': 'capabilities', 'x-test-size': 'sizes' } as const;

/**
 * An open link to a model, and what was read inside of it. `depth` counts the open elements, including the link itself.
 */
interface Card {
  readonly depth: number;
  readonly name: string;
  description?: Passage;
  readonly capabilities: string[];
  readonly sizes: string[];
}

interface Passage {
  readonly depth: number;
  text: string;
}

interface Mark extends Passage {
  readonly list: string[];
}

/**
 * Reads the cards of a page, as the parser calls it. A card is a link to a model. Its first paragraph is the
 * description, and the attributes `x-test-capability` and `x-test-size` mark the elements with capabilities and sizes.
 */
class CardReader implements Pick<Handler, 'onopentag' | 'onclosetag' | 'ontext'> {
  /** True when reading has stopped because the page is deeper, or has more links, than any catalog. */
  isFull = false;
  readonly #cards: RawModel[] = [];
  #depth = 0;
  /** The depth of an open element whose text and tags are ignored, or 0. */
  #silent = 0;
  #card: Card | undefined;
  #paragraph: Passage | undefined;
  #mark: Mark | undefined;

  /** `nameOf` returns the model that an address leads to. */
  constructor(private readonly nameOf: (href: string) => string | undefined) {}

  onopentag(tag: string, attributes: Readonly<Record<string, string>>): void {
    this.#depth += 1;
    this.isFull ||= this.#depth > maxDepth;
    if (this.isFull || this.#silent > 0) return;
    if (silentTags.has(tag)) this.#silent = this.#depth;
    else if (tag === 'a') this.#beginLink(attributes['href']);
    else if (this.#card) this.#beginInside(this.#card, tag, attributes);
  }

  onclosetag(): void {
    if (this.#silent === this.#depth) this.#silent = 0;
    if (this.#mark?.depth === this.#depth) this.#endMark();
    if (this.#paragraph?.depth === this.#depth) this.#paragraph = undefined;
    if (this.#card?.depth === this.#depth) this.#endCard();
    this.#depth -= 1;
  }

  ontext(text: string): void {
    if (!this.isFull && this.#silent === 0) this.#append(text);
  }

  /** One entry for each link to a model, in the order of the page. */
  end(): readonly RawModel[] {
    this.#endCard();
    return this.#cards;
  }

  #beginLink(href: string | undefined): void {
    this.#endCard();
    const name = href === undefined ? undefined : this.nameOf(href);
    if (name !== undefined) this.#card = { depth: this.#depth, name, capabilities: [], sizes: [] };
  }

  #beginInside(into: Card, tag: string, attributes: Readonly<Record<string, string>>): void {
    const depth = this.#depth;
    if (tag === 'p' && !into.description) into.description = this.#paragraph = { depth, text: '' };
    const list = markListOf(attributes);
    if (list && !this.#mark) this.#mark = { depth, text: '', list: into[list] };
    if (tag === 'br') this.#append(' ');
  }

  #append(text: string): void {
    for (const passage of [this.#paragraph, this.#mark])
      if (passage && passage.text.length < maxText) passage.text += text;
  }

  #endMark(): void {
    const mark = this.#mark;
    if (mark && mark.list.length < maxMarks) mark.list.push(mark.text.slice(0, maxText));
    this.#mark = undefined;
  }

  #endCard(): void {
    this.#endMark();
    const card = this.#card;
    if (card) this.#cards.push({ ...card, description: card.description?.text.slice(0, maxText) });
    this.#card = undefined;
    this.#paragraph = undefined;
    this.isFull ||= this.#cards.length >= maxCards;
  }
}

function markListOf(attributes: Readonly<Record<string, string>>) {
  if (Object.hasOwn(attributes, 'x-test-capability')) return markLists['x-test-capability'];
  return Object.hasOwn(attributes, 'x-test-size') ? markLists['x-test-size'] : undefined;
}
