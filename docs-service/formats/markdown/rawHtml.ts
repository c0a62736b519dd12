import { Tokenizer } from 'htmlparser2';
import type { Token } from 'marked';
import sanitizeHtml from 'sanitize-html';
import { decodeEntities } from '../../content/inlineText.ts';

/** A part of sanitised raw HTML. Comments, scripts and everything that is not allowed have no part. */
export type HtmlPart = HtmlPlace &
  (
    | { readonly kind: 'text' }
    | {
        readonly kind: 'open';
        readonly name: string;
        /** The values as they are in the tag, with entities. */
        readonly attributes: ReadonlyMap<string, string>;
      }
    | { readonly kind: 'close'; readonly name: string }
  );

interface HtmlPlace {
  /** Where it was in the raw HTML. */
  readonly start: number;
  readonly end: number;
  /** A text is as it was written, with entities, and may contain a lone `<`; a tag is as sanitize-html writes it. */
  readonly text: string;
}

/** One for each document: it caches the tags that it has seen. */
export class HtmlSanitiser {
  readonly #tags = new Map<string, string>();

  /** Tags need not be in pairs: raw HTML in Markdown begins in one token and ends in another. */
  partsOf(html: string): HtmlPart[] {
    const parts: HtmlPart[] = [];
    let start = 0;
    let name = '';
    /** The element whose text is left out until it ends. */
    let hidden: string | undefined;
    const endTag = (last: number) => {
      if (hidden) return;
      if (unreadable.has(name)) hidden = name;
      const end = last + 1;
      const text = this.#sanitiseTag(html.slice(start, end));
      if (text) parts.push({ kind: 'open', name, start, end, text, attributes: attributesOf(text) });
    };
    // It gives positions in the text. Attributes are read from the sanitised tag, and the rest is ignored.
    const tokenizer = new Tokenizer(
      { decodeEntities: false },
      {
        ...silent,
        onopentagname(from, to) {
          start = from - 1;
          name = html.slice(from, to).toLowerCase();
        },
        onopentagend: endTag,
        onselfclosingtag: endTag,
        onclosetag: (from, to) => {
          const closed = html.slice(from, to).toLowerCase();
          const end = html.indexOf('>', to) + 1;
          if (hidden === closed) hidden = undefined;
          else if (!hidden && end && this.#sanitiseTag(`<${closed}>`))
            parts.push({ kind: 'close', name: closed, start: from - 2, end, text: `</${closed}>` });
        },
        ontext(from, to) {
          if (!hidden) parts.push({ kind: 'text', start: from, end: to, text: html.slice(from, to) });
        },
      },
    );
    tokenizer.write(html);
    tokenizer.end();
    return parts;
  }

  /** Only the opening tag, with the allowed attributes; empty if the element is not allowed. */
  #sanitiseTag(tag: string): string {
    const known = this.#tags.get(tag);
    if (known !== undefined) return known;
    const clean = sanitizeHtml(tag, allowed).replace(/<\/\w+>$/, '');
    this.#tags.set(tag, clean);
    return clean;
  }
}

/** Elements within a line that need no attributes. */
export const plainTags = setOf('b i em strong u s del ins sub sup kbd mark small code samp var q cite');

export const blockTags = setOf(
  'details summary p div center h1 h2 h3 h4 h5 h6 blockquote pre hr ' +
    'ul ol li dl dt dd figure figcaption table caption thead tbody tfoot tr th td',
);

const allowedTags = [...plainTags, 'abbr', 'br', 'wbr', 'a', 'img', ...blockTags];

function setOf(words: string): ReadonlySet<string> {
  return new Set(words.split(' '));
}

const allowedAttributes: Readonly<Record<string, string[]>> = {
  '*': ['id'],
  a: ['href', 'title', 'name'],
  abbr: ['title'],
  details: ['open'],
  img: ['src', 'alt', 'title', 'width', 'height'],
  li: ['value'],
  ol: ['start', 'type'],
  td: ['align', 'colspan', 'rowspan'],
  th: ['align', 'colspan', 'rowspan'],
};

const allowed: sanitizeHtml.IOptions = {
  allowedTags,
  allowedAttributes,
  allowedSchemes: ['https', 'http', 'mailto'],
  allowedSchemesByTag: { img: ['https', 'http', 'data'] },
  // Of `data:` addresses, only those of pictures stay.
  transformTags: {
    img: (tagName, { src = '', ...others }) => ({
      tagName,
      attribs: isHarmlessAddress(src) ? { src, ...others } : others,
    }),
  },
  allowProtocolRelative: false,
  enforceHtmlBoundary: false,
};

const ignore = () => undefined;
const silent = {
  onattribname: ignore,
  onattribdata: ignore,
  onattribentity: ignore,
  onattribend: ignore,
  ontextentity: ignore,
  oncdata: ignore,
  oncomment: ignore,
  ondeclaration: ignore,
  onprocessinginstruction: ignore,
  onend: ignore,
};

/** Elements whose text is not for readers. */
const unreadable = setOf('script style textarea title xmp iframe noembed noframes noscript');

/**
 * In a line of Markdown, the text of such an element is a token between those of its tags. It takes one pass: an
 * element without an end is searched for once.
 */
export function withoutUnreadable(tokens: readonly Token[]): readonly Token[] {
  const readable: Token[] = [];
  const endless = new Set<string>();
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token === undefined) break;
    const name = token.type === 'html' ? /^<([a-z]+)\b/i.exec(token.raw)?.[1]?.toLowerCase() : undefined;
    const isHidden = name !== undefined && unreadable.has(name) && !endless.has(name);
    const end = isHidden ? closingAt(tokens, at, name) : -1;
    if (isHidden && end < 0) endless.add(name);
    if (end < 0) readable.push(token);
    else at = end;
  }
  return readable;
}

function closingAt(tokens: readonly Token[], from: number, name: string): number {
  for (let at = from + 1; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token?.type === 'html' && token.raw.toLowerCase().startsWith(`</${name}`)) return at;
  }
  return -1;
}

/** sanitize-html writes each attribute as `name="value"`, with `"` in the value as an entity. */
function attributesOf(tag: string): Map<string, string> {
  return new Map(
    [...tag.matchAll(/ ([\w-]+)(?:="([^"]*)")?/g)].map(([, name = '', value = '']) => [name, value]),
  );
}

/**
 * Whether HTML that a reader made of Markdown has only elements, attributes and schemes that are allowed. The HTML is
 * compared with the one form that a harmless tag has, and never parsed, so no other parser can find more in it.
 */
export function isHarmlessHtml(html: string): boolean {
  for (const [, name, attributes] of html.matchAll(tag)) if (!isHarmlessTag(name, attributes)) return false;
  return true;
}

/** The text with every tag escaped that is not harmless. Marks that only look like one in Markdown are escaped too. */
export function escapeActiveTags(text: string): string {
  return text.replace(tag, (whole: string, name?: string, attributes?: string) =>
    isHarmlessTag(name, attributes) ? whole : `&lt;${whole.slice(1)}`,
  );
}

/** Whether no browser, editor or mail program runs something when a reader follows the address. */
export function isHarmlessAddress(href: string): boolean {
  const address = decodeEntities(href).replace(/[\u0000-\u0020\u007f-\u00a0]/g, '');
  const [, scheme] = /^([a-z][a-z0-9+.-]*):/i.exec(address) ?? [];
  return (
    scheme === undefined ||
    schemes.has(scheme.toLowerCase()) ||
    /^data:image\/(?:png|jpe?g|gif|webp)[;,]/i.test(address)
  );
}

/** Everything that a browser may take for a tag; the name is missing if it has another form. */
const tag = /<(?=[a-z/!?])(?:\/?([a-z][a-z0-9]*)((?: [a-z]+(?:="[^"<>]*")?)*) ?\/?>)?/gi;
const attribute = / ([a-z]+)(?:="([^"]*)")?/gi;

/** Readers print a box for a task, and their own elements for what is crossed out. */
const elements: ReadonlySet<string> = new Set([...allowedTags, 'input']);

const schemes = setOf(
  'http https mailto ftp tel sms xmpp irc ircs docs vscode vscode-insiders cursor zed jetbrains',
);

function isHarmlessTag(name = '', attributes = ''): boolean {
  return (
    elements.has(name.toLowerCase()) &&
    [...attributes.matchAll(attribute)].every(([, key = '', value = '']) =>
      isHarmlessAttribute(name, key, value),
    )
  );
}

function isHarmlessAttribute(name: string, key: string, value: string): boolean {
  if (key === 'href' || key === 'src') return isHarmlessAddress(value) && isAllowed(name, key);
  return isAllowed(name, key) || (printed[`${name} ${key}`]?.test(value) ?? false);
}

function isAllowed(name: string, key: string): boolean {
  return key === 'id' || (allowedAttributes[name]?.includes(key) ?? false);
}

/** Attributes that readers print by themselves and that no author may write. */
const printed: Readonly<Record<string, RegExp>> = {
  'code class': /^language-/,
  'input type': /^checkbox$/,
  'input checked': /^$/,
  'input disabled': /^$/,
  'td style': /^text-align:(?:left|center|right)$/,
  'th style': /^text-align:(?:left|center|right)$/,
};
