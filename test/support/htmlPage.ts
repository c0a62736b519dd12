import { type DefaultTreeAdapterMap, parse } from 'parse5';

type Node = DefaultTreeAdapterMap['node'];
type Element = DefaultTreeAdapterMap['element'];

export interface HtmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** A page as a browser reads it. */
export interface HtmlPage {
  /** Codes of the errors that the standard's parser finds. */
  readonly errors: readonly string[];
  readonly elements: readonly HtmlElement[];
  readonly ids: readonly string[];
  readonly text: string;
}

export function parseHtml(html: string): HtmlPage {
  const errors: string[] = [];
  const document = parse(html, {
    onParseError: ({ code, startLine }) => errors.push(`${code} in line ${startLine}`),
  });
  const elements: HtmlElement[] = [];
  const texts: string[] = [];
  const walk = (node: Node) => {
    if (isElement(node)) {
      const attributes = Object.fromEntries(node.attrs.map(({ name, value }) => [name, value]));
      elements.push({ name: node.tagName, attributes });
      if (node.tagName === 'style') return;
    }
    if ('value' in node) texts.push(node.value);
    if ('childNodes' in node) for (const child of node.childNodes) walk(child);
  };
  walk(document);
  const ids = elements.flatMap(({ attributes }) => attributes['id'] ?? []);
  return { errors, elements, ids, text: texts.join('') };
}

function isElement(node: Node): node is Element {
  return 'tagName' in node;
}

/** What of a page could run, or load something: none of it belongs into a page of the service. */
export function dangersOf({ elements }: HtmlPage): readonly string[] {
  return elements.flatMap(({ name, attributes }) => [
    ...(active.has(name) && !isRelation(name, attributes) ? [`<${name}>`] : []),
    ...Object.entries(attributes).flatMap(([key, value]) => {
      if (/^on|^style$|^srcdoc$|^formaction$|^background$|^ping$/.test(key)) return [`${name} ${key}`];
      if (key === 'src' && !/^data:image\/(png|jpeg|gif|webp|svg\+xml);base64,/.test(value))
        return [`src ${value}`];
      if (key === 'href' && !/^(https?:|mailto:|\/(?!\/)|#)/.test(value)) return [`href ${value}`];
      if (key === 'action' && !/^\/(?!\/)/.test(value)) return [`action ${value}`];
      return [];
    }),
  ]);
}

/** Links that only programs follow, of which a browser loads none, and the icon of the service itself. */
function isRelation(name: string, { rel = '', href }: HtmlElement['attributes']): boolean {
  if (rel === 'icon') return href === '/favicon.ico';
  return name === 'link' && ['search', 'alternate', 'canonical'].includes(rel);
}

const active = new Set([
  'script',
  'iframe',
  'object',
  'embed',
  'link',
  'base',
  'audio',
  'video',
  'source',
  'template',
]);
