import type { Handler } from 'htmlparser2';
import type { ListedParts } from './listedModel.ts';

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

export interface CardReader {
  /** Callbacks for the parser. */
  readonly handler: Pick<Handler, 'onopentag' | 'onclosetag' | 'ontext'>;
  /** True when reading has stopped because the page is deeper, or has more links, than any catalog. */
  readonly isFull: boolean;
  /** One entry for each link to a model, in the order of the page. */
  end(): readonly ListedParts[];
}

/**
 * Reads the cards of a page. A card is a link to a model. Its first paragraph is the description, and the attributes
 * `x-test-capability` and `x-test-size` mark the elements with capabilities and sizes. `nameOf` returns the model that
 * an address leads to.
 */
export function createCardReader(nameOf: (href: string) => string | undefined): CardReader {
  const cards: ListedParts[] = [];
  let depth = 0;
  /** The depth of an open element whose text and tags are ignored, or 0. */
  let silent = 0;
  let isFull = false;
  let card: Card | undefined;
  let paragraph: Passage | undefined;
  let mark: Mark | undefined;

  const endMark = () => {
    if (mark && mark.list.length < maxMarks) mark.list.push(mark.text.slice(0, maxText));
    mark = undefined;
  };

  const endCard = () => {
    endMark();
    if (card) cards.push({ ...card, description: card.description?.text.slice(0, maxText) });
    card = undefined;
    paragraph = undefined;
    isFull ||= cards.length >= maxCards;
  };

  const beginLink = (href: string | undefined) => {
    endCard();
    const name = href === undefined ? undefined : nameOf(href);
    if (name !== undefined) card = { depth, name, capabilities: [], sizes: [] };
  };

  const beginInside = (into: Card, tag: string, attributes: Readonly<Record<string, string>>) => {
    if (tag === 'p' && !into.description) into.description = paragraph = { depth, text: '' };
    const list = markListOf(attributes);
    if (list && !mark) mark = { depth, text: '', list: into[list] };
    if (tag === 'br') append(' ');
  };

  const append = (text: string) => {
    for (const passage of [paragraph, mark])
      if (passage && passage.text.length < maxText) passage.text += text;
  };

  const handler: CardReader['handler'] = {
    onopentag(tag, attributes) {
      depth += 1;
      isFull ||= depth > maxDepth;
      if (isFull || silent > 0) return;
      if (silentTags.has(tag)) silent = depth;
      else if (tag === 'a') beginLink(attributes['href']);
      else if (card) beginInside(card, tag, attributes);
    },
    onclosetag() {
      if (silent === depth) silent = 0;
      if (mark?.depth === depth) endMark();
      if (paragraph?.depth === depth) paragraph = undefined;
      if (card?.depth === depth) endCard();
      depth -= 1;
    },
    ontext(text) {
      if (!isFull && silent === 0) append(text);
    },
  };

  return {
    handler,
    get isFull() {
      return isFull;
    },
    end() {
      endCard();
      return cards;
    },
  };
}

function markListOf(attributes: Readonly<Record<string, string>>) {
  if (Object.hasOwn(attributes, 'x-test-capability')) return markLists['x-test-capability'];
  return Object.hasOwn(attributes, 'x-test-size') ? markLists['x-test-size'] : undefined;
}
