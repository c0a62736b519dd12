import type { Token, Tokens } from 'marked';
import type { HtmlPart } from './rawHtml.ts';

export interface HtmlTable {
  readonly type: 'htmlTable';
  readonly raw: string;
  readonly caption: readonly Token[];
  readonly rows: readonly (readonly HtmlCell[])[];
  /** How many of the rows are its head. */
  readonly heads: number;
}

export interface HtmlCell {
  readonly tokens: readonly Token[];
  readonly isHeader: boolean;
  readonly align: 'center' | 'right' | undefined;
  /** 1 to 99. */
  readonly colSpan: number;
  readonly rowSpan: number;
}

/** A figure or a list of definitions of raw HTML, as its parts in their order. */
export interface HtmlParts {
  readonly type: 'figure' | 'definitions';
  readonly raw: string;
  readonly parts: readonly { readonly name: string; readonly tokens: readonly Token[] }[];
}

/** A list of raw HTML is one of Markdown, with signs of its own. */
export interface HtmlList extends Tokens.List {
  /** Letters or Roman numbers in place of digits. */
  readonly sign?: 'a' | 'A' | 'i' | 'I';
  /** The number of each item. */
  readonly numbers?: readonly number[];
}

/** Elements that are in each other deeper than this are only their text. */
const maxDepth = 20;
/** Of the tables of a level, those that cover others included. Further ones cover only themselves. */
const maxCells = 1_000_000;

const structures = /<(?:table|ul|ol|dl|figure|blockquote|pre)\b/i;
const tableParts = new Set(['table', 'caption', 'thead', 'tbody', 'tfoot', 'tr', 'td', 'th']);
const blocks = /<(?:p|div|center|h[1-6]|hr|details|summary)\b/i;

/** The elements in which another one may be; the first of them is made where none is open. */
const homes: Readonly<Record<string, readonly string[]>> = {
  li: ['ul', 'ol'],
  dt: ['dl'],
  dd: ['dl'],
  figcaption: ['figure'],
  caption: ['table'],
  thead: ['table'],
  tbody: ['table'],
  tfoot: ['table'],
  tr: ['thead', 'tbody', 'tfoot', 'table'],
  td: ['tr'],
  th: ['tr'],
};
/** What stands in them without an element of its own gets this one. */
const implied: Readonly<Record<string, string>> = {
  ...{ ul: 'li', ol: 'li', dl: 'dd', tr: 'td', table: 'tr', thead: 'tr', tbody: 'tr', tfoot: 'tr' },
};
const standalone = new Set(['table', 'ul', 'ol', 'dl', 'figure', 'blockquote']);

/**
 * The blocks of one level with tables, lists, quotes and figures of raw HTML as such, even if they begin in one token
 * and end in another, with Markdown between them. What is opened in the level is closed in it.
 */
export function withHtmlBlocks(
  tokens: readonly Token[],
  partsOf: (html: string) => readonly HtmlPart[],
): readonly Token[] {
  if (!tokens.some((token) => token.type === 'html' && structures.test(token.raw))) return tokens;
  const builder = new BlockBuilder();
  for (const token of tokens)
    if (token.type === 'html') for (const part of partsOf(token.raw)) builder.add(part);
    else builder.put(token);
  return builder.end();
}

interface OpenElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly tokens: Token[];
  readonly children: ClosedElement[];
  /** Raw HTML that is no element of this kind. */
  html: string;
  /** How many tokens of its parent are before it. */
  at: number;
}

type ClosedElement = Omit<OpenElement, 'html'>;

class BlockBuilder {
  readonly #stack: OpenElement[] = [newElement('', new Map())];
  #isInPre = false;
  /** Of elements that have no text of their own, such as rows. */
  readonly #ids: string[] = [];
  #cells = maxCells;

  add(part: HtmlPart): void {
    if (part.kind !== 'text' && part.name === 'pre') return this.#pre(part);
    const isOwn =
      part.kind !== 'text' && !this.#isInPre && (homes[part.name] !== undefined || standalone.has(part.name));
    if (!isOwn) this.#append(part.text);
    else if (part.kind === 'close') this.#close(part.name);
    else this.#open(part.name, part.attributes);
  }

  /** A block of Markdown. */
  put(token: Token): void {
    if (token.type !== 'space') this.#imply();
    this.#flush();
    this.#top().tokens.push(token);
  }

  end(): readonly Token[] {
    while (this.#stack.length > 1) this.#pop();
    this.#flush();
    return this.#top().tokens;
  }

  #top(): OpenElement {
    return this.#stack.at(-1) ?? newElement('', new Map());
  }

  #append(text: string): void {
    if (text.trim() !== '') this.#imply();
    if (implied[this.#top().name] === undefined) this.#top().html += text;
  }

  /** Code stands alone. */
  #pre({ kind, text }: HtmlPart): void {
    if (kind === 'open') {
      this.#imply();
      this.#flush();
    }
    this.#isInPre = kind === 'open';
    this.#append(text);
    if (kind === 'close') this.#flush();
  }

  #imply(): void {
    for (let name = implied[this.#top().name]; name !== undefined; name = implied[this.#top().name])
      this.#push(name, new Map());
  }

  #open(name: string, attributes: ReadonlyMap<string, string>): void {
    if (this.#stack.length > maxDepth) return this.#append('<p>');
    const home = homes[name];
    if (home === undefined) this.#imply();
    else {
      const at = this.#stack.findLastIndex((one) => home.includes(one.name));
      const barrier = this.#stack.findLastIndex((one) => isBarrier(one.name, name));
      if (at < 0 || at < barrier) {
        if (name !== 'td' && name !== 'th') return this.#append('<p>');
        const table = this.#stack.findLastIndex((one) => tableParts.has(one.name) && one.name !== 'td');
        if (table < 0) return this.#append('<p>');
        while (this.#stack.length > table + 1) this.#pop();
        this.#push('tr', new Map());
      } else while (this.#stack.length > at + 1) this.#pop();
    }
    this.#push(name, attributes);
  }

  #close(name: string): void {
    const at = this.#stack.findLastIndex((one) => one.name === name);
    const barrier = this.#stack.findLastIndex((one) => isBarrier(one.name, name));
    if (at < 1 || at < barrier) return;
    while (this.#stack.length > at) this.#pop();
  }

  /** An id of an element stands before it, or at the beginning of the cell, the item or the like. */
  #push(name: string, attributes: ReadonlyMap<string, string>): void {
    const id = attributes.get('id');
    if (id) this.#ids.push(id);
    if (standalone.has(name))
      for (const one of this.#ids.splice(0)) this.#top().html += `<div id="${one}"></div>`;
    this.#flush();
    this.#stack.push(newElement(name, attributes));
    if (implied[name] !== undefined) return;
    for (const one of this.#ids.splice(0)) this.#top().html += `<a id="${one}"></a>`;
  }

  /** In a cell, an item and the like, text without blocks of its own is no paragraph. */
  #flush(): void {
    const top = this.#top();
    const { html: raw, name } = top;
    top.html = '';
    if (raw.trim() === '') return;
    const isTight = name !== '' && name !== 'blockquote' && name !== 'figure' && !blocks.test(raw);
    const inner = { type: 'html', raw, text: raw, block: true, pre: false };
    const isPre = /^\s*<pre\b/i.test(raw);
    top.tokens.push((isTight && !isPre ? { type: 'text', raw, text: raw, tokens: [inner] } : inner) as Token);
  }

  #pop(): void {
    this.#flush();
    const closed = this.#stack.pop();
    const parent = this.#stack.at(-1);
    if (closed === undefined || parent === undefined) return;
    if (standalone.has(closed.name)) parent.tokens.push(this.#tokenOf(closed));
    else {
      closed.at = parent.tokens.length;
      parent.children.push(closed);
    }
  }

  #tokenOf(element: ClosedElement): Token {
    const { name, tokens, children } = element;
    const raw = [...tokens, ...children.flatMap((child) => child.tokens)].map(textOf).join('\n');
    if (name === 'blockquote') return { type: name, raw, text: raw, tokens } as Token;
    if (name === 'table') return this.#table(element) as unknown as Token;
    if (name === 'ul' || name === 'ol') return listOf(element, raw) as Token;
    const parts = [...children.keys(), children.length].flatMap((index) => {
      const own = { name, tokens: tokens.slice(children[index - 1]?.at ?? 0, children[index]?.at) };
      return [...(own.tokens.length > 0 ? [own] : []), ...children.slice(index, index + 1)];
    });
    return { type: name === 'dl' ? 'definitions' : 'figure', raw, parts } as unknown as Token;
  }

  #table({ children }: ClosedElement): HtmlTable {
    const rowsIn = (list: readonly ClosedElement[]) => list.filter(({ name }) => name === 'tr');
    const bodies = children.flatMap((child) => (child.name === 'tr' ? [child] : rowsIn(child.children)));
    const heads = children.filter(({ name }) => name === 'thead').flatMap((child) => rowsIn(child.children));
    const feet = children.filter(({ name }) => name === 'tfoot').flatMap((child) => rowsIn(child.children));
    const middle = bodies.filter((row) => !heads.includes(row) && !feet.includes(row));
    const rows = [...heads, ...middle, ...feet].map((row) => row.children.map((cell) => this.#cell(cell)));
    const isHead = heads.length === 0 && rows.length > 1 && rows[0]?.every(({ isHeader }) => isHeader);
    const caption = children.flatMap(({ name, tokens }) => (name === 'caption' ? tokens : []));
    const raw = rows.flatMap((row) => row.flatMap(({ tokens }) => tokens.map(textOf))).join('\n');
    return { type: 'htmlTable', raw, caption, rows, heads: isHead ? 1 : heads.length };
  }

  #cell({ name, attributes, tokens }: ClosedElement): HtmlCell {
    const span = (key: string) => Number(/^[1-9]\d?$/.exec(attributes.get(key) ?? '')?.[0] ?? 1);
    const [colSpan, rowSpan] = [span('colspan'), span('rowspan')];
    this.#cells -= colSpan * rowSpan;
    const [align] = /^(?:center|right)$/i.exec(attributes.get('align') ?? '') ?? [];
    return {
      ...{ tokens, isHeader: name === 'th', align: align?.toLowerCase() as HtmlCell['align'] },
      ...(this.#cells < 0 ? { colSpan: 1, rowSpan: 1 } : { colSpan, rowSpan }),
    };
  }
}

function newElement(name: string, attributes: ReadonlyMap<string, string>): OpenElement {
  return { name, attributes, tokens: [], children: [], html: '', at: 0 };
}

/** An element in a cell, or in a list within it, is none of what is around. */
function isBarrier(open: string, name: string): boolean {
  if (tableParts.has(name)) return open === 'table' && name !== 'table';
  if (name === 'li' && (open === 'ul' || open === 'ol')) return true;
  return open === 'td' || open === 'th' || open === 'caption';
}

function listOf({ name, attributes, children }: ClosedElement, raw: string): HtmlList {
  const start = tryNumber(attributes.get('start')) ?? 1;
  const [sign] = /^[aAiI]$/.exec(attributes.get('type') ?? '') ?? [];
  let next = start;
  const numbers = children.map((item) => {
    const number = tryNumber(item.attributes.get('value')) ?? next;
    next = number + 1;
    return number;
  });
  const items = children.map(({ tokens }) => {
    const text = tokens.map(textOf).join(' ');
    return { type: 'list_item', raw: text, text, task: false, loose: false, tokens } as Tokens.ListItem;
  });
  const isCounted = numbers.every((number, at) => number === start + at);
  return {
    ...{ type: 'list', raw, ordered: name === 'ol', start, loose: false, items },
    ...(sign === undefined ? {} : { sign: sign as NonNullable<HtmlList['sign']> }),
    ...(isCounted ? {} : { numbers }),
  };
}

/** For the direction of its letters. */
function textOf({ raw }: Token): string {
  return raw.replace(/<[^<>]*>/g, ' ');
}

function tryNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^-?\d{1,6}$/.test(text) ? Number(text) : undefined;
}
