import type { Token, Tokens } from 'marked';
import type { CodeToken } from '../../../protocol/base/codeTokens.ts';
import { cleanId } from '../../content/headings.ts';
import { decodeEntities, plainText } from '../../content/inlineText.ts';
import { DocumentPlaces } from '../../content/links.ts';
import type { References } from './assets.ts';
import type { CodeColouring } from './codeColouring.ts';
import { tryAlert, tryCodeCaption } from './gitHubBlocks.ts';
import {
  type HtmlCell,
  type HtmlList,
  type HtmlParts,
  type HtmlTable,
  withHtmlBlocks,
} from './htmlBlocks.ts';
import { BlockScope, InlineScope, nameLink, pictureTag } from './htmlScopes.ts';
import { type Footnote, type MarkdownDocument, printsNothing } from './markdown.ts';
import { HtmlSanitiser, withoutUnreadable } from './rawHtml.ts';
import { escapeXml } from './xmlText.ts';

export interface HtmlOptions {
  readonly references: References;
  readonly colouring: CodeColouring;
  /** Whether `epub:type` marks footnotes, so that readers of books show them in place. */
  readonly epubTypes?: boolean;
}

/**
 * A document as a well-formed fragment of XHTML, which is also HTML. Raw HTML is sanitised to what readers need. No id
 * occurs twice, because only headings and footnotes have one.
 */
export function markdownToHtml(document: MarkdownDocument, options: HtmlOptions): string {
  return new HtmlWriter(document, options).write();
}

export function placesOf({ headings, footnotes, writtenIds }: MarkdownDocument): DocumentPlaces {
  const ids = [
    ...writtenIds,
    ...headings.map(({ id }) => id),
    ...footnotes.map(({ number }) => footnoteId(number)),
  ];
  return new DocumentPlaces(ids, headings);
}

class HtmlWriter {
  readonly #options: HtmlOptions;
  readonly #sanitiser = new HtmlSanitiser();
  /** Ids of the references to footnotes that were printed. */
  readonly #printed = new Set<string>();
  /** The ids of headings, and those that were printed. */
  readonly #places: ReadonlySet<string>;
  #inCell = false;

  constructor(
    private readonly document: MarkdownDocument,
    options: HtmlOptions,
  ) {
    const places = new Set<string>(document.headings.map(({ id }) => id));
    const place = (written: string) => {
      const id = cleanId(written);
      if (id === '' || places.has(id)) return '';
      places.add(id);
      return `<span id="${escapeXml(id)}"></span>`;
    };
    this.#places = places;
    this.#options = { ...options, references: { ...options.references, place } };
  }

  write(): string {
    const { tokens, footnotes } = this.document;
    const text = this.#blocks(tokens);
    // A footnote can refer to another, so all are printed before the links back from them.
    const bodies = footnotes.map((footnote) => this.#blocks(footnote.tokens));
    return this.#withoutMissing(footnotes.length > 0 ? text + this.#footnoteSection(bodies) : text);
  }

  /** A link to an id that stands in nothing that is shown, such as a script, is only its text. */
  #withoutMissing(html: string): string {
    const missing = [...this.document.writtenIds].filter((id) => !this.#places.has(id));
    if (missing.length === 0) return html;
    const links = new Set(missing.map((id) => `<a href="${escapeXml(`#${id}`)}">`));
    return html.replace(/<a href="#[^"]*">/g, (link) => (links.has(link) ? '<a>' : link));
  }

  #blocks(tokens: readonly Token[]): string {
    const out: string[] = [];
    const scope = new BlockScope(out, this.#options.references);
    for (const token of withHtmlBlocks(tokens, (html) => this.#sanitiser.partsOf(html))) {
      if (token.type === 'html') scope.html(this.#sanitiser.partsOf(token.raw));
      else if (!printsNothing.has(token.type)) {
        scope.beforeBlock();
        out.push(this.#block(token));
      }
    }
    scope.end();
    return out.join('');
  }

  #block(token: Token): string {
    switch (token.type) {
      case 'heading':
        return this.#heading(token as Tokens.Heading);
      case 'paragraph':
        return element('p', this.#inlines(token.tokens ?? []));
      case 'blockquote':
        return this.#quote(token as Tokens.Blockquote);
      case 'code':
        return this.#code(token as Tokens.Code);
      case 'list':
        return this.#list(token as HtmlList);
      case 'table':
        return this.#table(token as Tokens.Table);
      case 'htmlTable':
        return this.#htmlTable(token as unknown as HtmlTable);
      case 'definitions':
      case 'figure':
        return this.#parts(token as unknown as HtmlParts);
      case 'hr':
        return '<hr/>\n';
      default:
        // The text of a list item without paragraphs.
        return this.#inlines(isInlineParent(token) ? token.tokens : [token]);
    }
  }

  #heading(token: Tokens.Heading): string {
    const id = this.document.headingOf.get(token)?.id ?? '';
    return element(`h${token.depth}`, this.#inlines(token.tokens), id && ` id="${escapeXml(id)}"`);
  }

  #quote(token: Tokens.Blockquote): string {
    const alert = tryAlert(token);
    if (alert === undefined) return element('blockquote', this.#blocks(token.tokens));
    const language = alert.isTitled ? '' : english;
    const text = escapeXml(alert.label);
    if (alert.fold !== '') {
      const isOpen = alert.fold === '+' || this.#options.epubTypes;
      const summary = `<summary class="label"${language}>${text}</summary>\n`;
      const attributes = ` class="alert ${alert.kind}"${isOpen ? ' open="open"' : ''}`;
      return element('details', summary + this.#blocks(alert.tokens), attributes);
    }
    const label = `<p class="label"${language}>${text}</p>\n`;
    return element('div', label + this.#blocks(alert.tokens), ` class="alert ${alert.kind}" role="note"`);
  }

  #code(token: Tokens.Code): string {
    const [language = ''] = /^[\w+#.-]{1,40}/.exec(token.lang ?? '') ?? [];
    const attribute = language && ` class="language-${escapeXml(language)}"`;
    const spanOf = ({ text, kind }: CodeToken) =>
      kind === undefined ? escapeXml(text) : `<span class="tok-${kind}">${escapeXml(text)}</span>`;
    const coloured = this.#options.colouring(token.text, token.lang);
    const lines = coloured.map((tokens) => tokens.map(spanOf).join(''));
    const code = `<pre><code${attribute}>${lines.join('\n')}\n</code></pre>\n`;
    const caption = tryCodeCaption(token);
    if (caption === undefined) return code;
    return `<figure class="source"><figcaption${english}>${caption}</figcaption>\n${code}</figure>\n`;
  }

  #list({ ordered, start, items, sign, numbers }: HtmlList): string {
    const from = ordered && typeof start === 'number' && start !== 1 ? ` start="${start}"` : '';
    const printed = items.map(({ task, tokens }, at) => {
      const value = ordered && numbers ? ` value="${numbers[at]}"` : '';
      return element('li', this.#blocks(tokens), `${value}${task ? ' class="task"' : ''}`);
    });
    const type = ordered && sign ? ` type="${sign}"` : '';
    return element(ordered ? 'ol' : 'ul', printed.join(''), `${from}${type}`);
  }

  /** One paragraph alone in an element needs none around it. */
  #tight(tokens: readonly Token[]): string {
    const [only, ...others] = tokens.filter(({ type }) => !printsNothing.has(type));
    return only?.type === 'paragraph' && others.length === 0
      ? this.#inlines((only as Tokens.Paragraph).tokens)
      : this.#blocks(tokens);
  }

  #htmlTable({ caption, rows, heads }: HtmlTable): string {
    const print = (list: HtmlTable['rows'], scope: string) =>
      list.map((row) => element('tr', row.map((cell) => this.#htmlCell(cell, scope)).join(''))).join('');
    const parts = [
      caption.length > 0 ? element('caption', this.#tight(caption)) : '',
      heads > 0 ? element('thead', print(rows.slice(0, heads), 'col')) : '',
      rows.length > heads ? element('tbody', print(rows.slice(heads), 'row')) : '',
    ];
    return rows.length === 0
      ? this.#blocks(caption)
      : `<div class="table"><table>\n${parts.join('')}</table></div>\n`;
  }

  #htmlCell({ tokens, isHeader, align, colSpan, rowSpan }: HtmlCell, scope: string): string {
    const attributes = [
      isHeader ? ` scope="${scope}"` : '',
      align ? ` class="align-${align}"` : '',
      colSpan > 1 ? ` colspan="${colSpan}"` : '',
      rowSpan > 1 ? ` rowspan="${rowSpan}"` : '',
    ];
    return element(isHeader ? 'th' : 'td', this.#tight(tokens), attributes.join(''));
  }

  /** A list of definitions begins with a term and ends with its meaning, and a figure has one caption. */
  #parts({ type, parts }: HtmlParts): string {
    const caption = parts.findIndex(({ name }) => name === 'figcaption');
    const printed = parts.map(({ name, tokens }, at) => {
      const isOwn = name === 'figure' || (name === 'figcaption' && at !== caption);
      return isOwn ? this.#blocks(tokens) : element(name, this.#tight(tokens));
    });
    if (type === 'figure') return element(type, printed.join(''));
    const first = parts[0]?.name === 'dd' ? element('dt', '') : '';
    const last = parts.at(-1)?.name === 'dt' ? element('dd', '') : '';
    return parts.length === 0 ? '' : element('dl', first + printed.join('') + last);
  }

  #table({ header, rows }: Tokens.Table): string {
    const print = (cells: readonly Tokens.TableCell[][]) => cells.map((row) => this.#row(row)).join('');
    const body = rows.length > 0 ? element('tbody', print(rows)) : '';
    return `<div class="table"><table>\n${element('thead', print([header]))}${body}</table></div>\n`;
  }

  #row(cells: readonly Tokens.TableCell[]): string {
    this.#inCell = true;
    const printed = cells.map(({ tokens, header, align }) => {
      const attributes = `${header ? ' scope="col"' : ''}${align ? ` class="align-${align}"` : ''}`;
      return element(header ? 'th' : 'td', this.#inlines(tokens), attributes);
    });
    this.#inCell = false;
    return element('tr', printed.join(''));
  }

  #inlines(tokens: readonly Token[], inLink = false): string {
    const out: string[] = [];
    const scope = new InlineScope(out, this.#options.references, inLink);
    for (const token of withoutUnreadable(tokens)) {
      if (token.type === 'html') for (const part of this.#sanitiser.partsOf(token.raw)) scope.write(part);
      else out.push(this.#inline(token, scope.inLink));
    }
    scope.end();
    return out.join('');
  }

  #inline(token: Token, inLink: boolean): string {
    switch (token.type) {
      case 'strong':
      case 'em':
      case 'del':
        return `<${token.type}>${this.#inlines(token.tokens ?? [], inLink)}</${token.type}>`;
      case 'codespan':
        return `<code>${this.#inCell ? breakable(token.text) : escapeXml(token.text)}</code>`;
      case 'br':
        return '<br/>\n';
      case 'link':
        return this.#link(token as Tokens.Link, inLink);
      case 'image':
        return this.#image(token as Tokens.Image, inLink);
      case 'checkbox':
        // Characters, because readers of books show no form.
        return `<span role="img" aria-label="${token.checked ? 'Done' : 'To do'}">${token.checked ? '☑' : '☐'}</span> `;
      case 'footnoteReference':
        return this.#footnoteReference(token, inLink);
    }
    return isInlineParent(token) ? this.#inlines(token.tokens, inLink) : escapeXml(plainText([token]));
  }

  #link({ href, title, tokens }: Tokens.Link, inLink: boolean): string {
    const address = inLink ? undefined : this.#options.references.link(href);
    if (address === undefined) return this.#inlines(tokens, inLink);
    const hint = title ? ` title="${escapeXml(decodeEntities(title))}"` : '';
    // On paper, an address that is the text of its link is not printed a second time.
    const bare = isBareAddress(address, plainText(tokens)) ? ' class="bare"' : '';
    const out = [`<a href="${escapeXml(address)}"${bare}${hint}>`, this.#inlines(tokens, true)];
    nameLink(out, 0, address);
    return `${out.join('')}</a>`;
  }

  #image({ href, title, tokens, text }: Tokens.Image, inLink: boolean): string {
    const alt = tokens ? plainText(tokens) : decodeEntities(text);
    const picture = { href, alt, title: decodeEntities(title ?? ''), inLink };
    return pictureTag(this.#options.references, picture);
  }

  #footnoteReference(token: Token, inLink: boolean): string {
    const mark = this.document.footnoteOf.get(token);
    if (!mark) return '';
    const id = referenceId(mark.number, mark.occurrence);
    if (!inLink) this.#printed.add(id);
    const type = this.#epubType('noteref');
    const link = `<a id="${id}" href="#${footnoteId(mark.number)}" role="doc-noteref"${type}>${mark.number}</a>`;
    return `<sup>${inLink ? mark.number : link}</sup>`;
  }

  #footnoteSection(bodies: readonly string[]): string {
    const { footnotes } = this.document;
    const type = this.#epubType('footnotes');
    const items = footnotes.map((footnote, at) => this.#footnote(footnote, bodies[at] ?? ''));
    return `<section class="footnotes" role="doc-endnotes" aria-label="Footnotes"${type}>\n<ol>\n${items.join('')}</ol>\n</section>\n`;
  }

  #footnote({ number, references }: Footnote, body: string): string {
    const back = Array.from({ length: references }, (_, at) => referenceId(number, at + 1))
      .filter((id) => this.#printed.has(id))
      .map((id) => ` <a href="#${id}" role="doc-backlink" aria-label="Back to the text">↩</a>`)
      .join('');
    const text = body.endsWith('</p>\n')
      ? body.replace(/<\/p>\n$/, `${back}</p>\n`)
      : `${body}<p>${back}</p>\n`;
    const type = this.#epubType('footnote');
    return `<li id="${footnoteId(number)}"${type}>${text}</li>\n`;
  }

  #epubType(type: string): string {
    return this.#options.epubTypes ? ` epub:type="${type}"` : '';
  }
}

function element(name: string, content: string, attributes = ''): string {
  return `<${name}${attributes}>${content}</${name}>\n`;
}

/** Long code that may also break after the signs within it, so that it does not take the room of its neighbours. */
function breakable(code: string): string {
  if (code.length < 16) return escapeXml(code);
  return code
    .split(/(?<=[\w)\]}][_./:,=|&?]+)(?=\w)/)
    .map(escapeXml)
    .join('<wbr/>');
}

/** Words that the service adds are English, whatever the language of the document is. XHTML wants both attributes. */
const english = ' lang="en" xml:lang="en"';

function isInlineParent(token: Token): token is Token & { tokens: Token[] } {
  return 'tokens' in token && token.tokens !== undefined;
}

function footnoteId(number: number): string {
  return `fn:${number}`;
}

function referenceId(number: number, occurrence: number): string {
  return occurrence === 1 ? `fnref:${number}` : `fnref:${number}:${occurrence}`;
}

/** Whether the text of a link is its address, with or without the scheme. */
function isBareAddress(address: string, text: string): boolean {
  const [, rest] = /^https?:\/\/(.*?)\/?$/.exec(address) ?? [];
  return rest !== undefined && text.replace(/^https?:\/\//, '').replace(/\/$/, '') === rest;
}
