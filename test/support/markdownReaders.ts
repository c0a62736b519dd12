import { HtmlRenderer, Parser } from 'commonmark';
import MarkdownIt from 'markdown-it';
import { Marked } from 'marked';
import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5';

/** What programs of other people print of Markdown, raw HTML included. */
export const markdownReaders: readonly { name: string; print: (text: string) => string }[] = [
  { name: 'Marked', print: (text) => new Marked().parse(text, { async: false }) },
  { name: 'Marked with breaks', print: (text) => new Marked({ breaks: true }).parse(text, { async: false }) },
  { name: 'Marked without GFM', print: (text) => new Marked({ gfm: false }).parse(text, { async: false }) },
  { name: 'markdown-it', print: (text) => new MarkdownIt({ html: true }).render(text) },
  { name: 'CommonMark', print: (text) => new HtmlRenderer().render(new Parser().parse(text)) },
];

/** The elements, attributes and schemes, as a browser reads HTML, that no document may bring to a reader. */
export function unlistedIn(html: string): readonly string[] {
  return [...unlisted(parseFragment(html))];
}

function* unlisted(node: DefaultTreeAdapterTypes.Node): Generator<string> {
  if (node.nodeName === '#comment') yield 'a comment';
  if ('attrs' in node) {
    if (!elements.has(node.tagName)) yield node.tagName;
    for (const { name, value } of node.attrs)
      if (!isListed(name, value)) yield `${node.tagName} ${name}=${value}`;
  }
  if ('childNodes' in node) for (const child of node.childNodes) yield* unlisted(child);
}

function isListed(name: string, value: string): boolean {
  if (name === 'class') return value.startsWith('language-');
  if (name === 'style') return /^text-align:(left|center|right)$/.test(value);
  if (name !== 'href' && name !== 'src') return attributes.has(name);
  // Browsers leave these characters out of a scheme.
  const [, scheme = 'https'] = /^([a-z][a-z0-9+.-]*):/i.exec(value.replace(/[\u0000-\u0020]/g, '')) ?? [];
  return schemes.has(scheme.toLowerCase());
}

const elements: ReadonlySet<string> = new Set(
  (
    'a abbr b blockquote br caption center cite code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i img input ' +
    'ins kbd li mark ol p pre q s samp small strong sub summary sup table tbody td tfoot th thead tr u ul var wbr'
  ).split(' '),
);
const attributes: ReadonlySet<string> = new Set(
  'align alt checked colspan disabled height id name open rowspan start title type width'.split(' '),
);
const schemes: ReadonlySet<string> = new Set(['https', 'http', 'mailto', 'ftp']);
