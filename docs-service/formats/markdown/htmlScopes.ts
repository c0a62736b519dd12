import { decodeEntities } from '../../content/inlineText.ts';
import { endOf } from '../../content/links.ts';
import type { References, ShownPicture } from './assets.ts';
import { blockTags, type HtmlPart, plainTags } from './rawHtml.ts';
import { escapeXml } from './xmlText.ts';

/**
 * Raw HTML between the blocks of one level, such as those of a list item. `details` may be opened in one token and
 * closed in another, with Markdown between them; every other block of HTML becomes paragraphs. What is opened in a
 * level is closed in it.
 */
export class BlockScope {
  /** For each open `details`, whether it has its summary, which must come first. */
  readonly #details: { hasSummary: boolean }[] = [];
  /** The paragraph that contains the raw text. */
  #paragraph: { readonly name: 'p' | 'pre' | 'summary'; readonly inline: InlineScope } | undefined;

  constructor(
    private readonly out: string[],
    private readonly references: References,
  ) {}

  /** Called before each block of Markdown. */
  beforeBlock(): void {
    const details = this.#details.at(-1);
    if (!details || details.hasSummary) return;
    details.hasSummary = true;
    this.out.push('<summary>Details</summary>\n');
  }

  html(parts: readonly HtmlPart[]): void {
    for (const part of parts) this.#write(part);
    this.#endParagraph();
  }

  end(): void {
    while (this.#details.length > 0) this.#closeDetails();
  }

  #write(part: HtmlPart): void {
    if (part.kind === 'text') {
      if (!this.#paragraph && part.text.trim() === '') return;
      this.#inParagraph().write(part);
    } else if (!blockTags.has(part.name)) {
      if (part.kind === 'open' || this.#paragraph) this.#inParagraph().write(part);
    } else {
      this.#endParagraph();
      const id = part.kind === 'open' ? part.attributes.get('id') : undefined;
      if (id) this.out.push(this.references.place?.(id) ?? '');
      if (part.kind === 'open') this.#open(part.name, part.attributes.has('open'));
      else if (part.name === 'details') this.#closeDetails();
    }
  }

  #open(name: string, isShown: boolean): void {
    const details = this.#details.at(-1);
    if (name === 'pre') this.#beginParagraph('pre');
    else if (name === 'summary' && details && !details.hasSummary) {
      details.hasSummary = true;
      this.#beginParagraph('summary');
    } else if (name === 'hr') {
      this.beforeBlock();
      this.out.push('<hr/>\n');
    } else if (name === 'details' && this.#details.length < maxDetails) {
      this.beforeBlock();
      this.#details.push({ hasSummary: false });
      this.out.push(isShown ? '<details open="open">\n' : '<details>\n');
    }
  }

  #closeDetails(): void {
    if (this.#details.length === 0) return;
    this.beforeBlock();
    this.#details.pop();
    this.out.push('</details>\n');
  }

  #inParagraph(): InlineScope {
    return (this.#paragraph ?? this.#beginParagraph('p')).inline;
  }

  #beginParagraph(name: 'p' | 'pre' | 'summary') {
    this.beforeBlock();
    this.out.push(`<${name}>`);
    const inline = new InlineScope(this.out, this.references);
    this.#paragraph = { name, inline };
    return this.#paragraph;
  }

  #endParagraph(): void {
    this.#paragraph?.inline.end();
    if (this.#paragraph) this.out.push(`</${this.#paragraph.name}>\n`);
    this.#paragraph = undefined;
  }
}

const maxDetails = 10;
/**
 * Raw HTML within one run of text, such as a paragraph or a bold part of it. What is opened there is closed there, so
 * the result is well-formed whatever the author wrote.
 */
export class InlineScope {
  readonly #open: string[] = [];
  #link = { at: 0, address: '' };

  /** @param isInLink whether it is inside a link, because links are never nested */
  constructor(
    private readonly out: string[],
    private readonly references: References,
    private readonly isInLink = false,
  ) {}

  get inLink(): boolean {
    return this.isInLink || this.#open.includes('a');
  }

  write(part: HtmlPart): void {
    if (part.kind === 'text') this.out.push(escapeXml(decodeEntities(part.text)));
    else if (part.kind === 'close') this.#close(part.name);
    else this.#openTag(part.name, part.attributes);
  }

  end(): void {
    this.#closeFrom(0);
  }

  #openTag(name: string, attributes: ReadonlyMap<string, string>): void {
    const out = this.out;
    const attribute = (key: string) => decodeEntities(attributes.get(key) ?? '');
    const id = attributes.get('id') ?? attributes.get('name');
    if (id && !this.inLink) out.push(this.references.place?.(id) ?? '');
    if (name === 'br' || name === 'wbr') out.push(`<${name}/>`);
    if (name === 'img') {
      const [href, alt, title] = [attribute('src'), attribute('alt'), attribute('title')];
      const asked = { width: tryPixels(attribute('width')), height: tryPixels(attribute('height')) };
      out.push(pictureTag(this.references, { href, alt, title, asked, inLink: this.inLink }));
    }
    if (this.#open.length >= maxDepth) return;
    if (plainTags.has(name)) this.#push(name, `<${name}>`);
    if (name === 'abbr') this.#push(name, `<abbr title="${escapeXml(attribute('title'))}">`);
    if (name === 'a') this.#openLink(attribute('href'));
  }

  #openLink(href: string): void {
    const address = this.inLink || href === '' ? undefined : this.references.link(href);
    if (address === undefined) return;
    this.#link = { at: this.out.length, address };
    this.#push('a', `<a href="${escapeXml(address)}">`);
  }

  #push(name: string, tag: string): void {
    this.#open.push(name);
    this.out.push(tag);
  }

  #close(name: string): void {
    const at = this.#open.lastIndexOf(name);
    if (at >= 0) this.#closeFrom(at);
  }

  #closeFrom(at: number): void {
    const out = this.out;
    for (const inner of this.#open.splice(at).reverse()) {
      if (inner === 'a') nameLink(out, this.#link.at, this.#link.address);
      out.push(`</${inner}>`);
    }
  }
}

/**
 * Before a link ends: if it has nothing that can be read, such as a picture that was left out, it gets the end of its
 * address as its text (WCAG 2.2, 2.4.4), or as its label if it has a picture without a description.
 * @param at the place of its opening tag in the output
 */
export function nameLink(out: string[], at: number, address: string): void {
  const inside = out.slice(at + 1).join('');
  if (/ alt="[^"]/.test(inside) || inside.replace(/<[^>]*>/g, '').trim() !== '') return;
  const name = escapeXml(endOf(address));
  if (inside.includes('<img')) out[at] = out[at]?.replace(/>$/, ` aria-label="${name}">`) ?? '';
  else out.push(name);
}

type Size = Pick<ShownPicture, 'width' | 'height'>;

interface PictureText {
  readonly href: string;
  readonly alt: string;
  readonly title: string;
  /** The size that raw HTML asks for. */
  readonly asked?: Size;
  readonly inLink: boolean;
}

/** A picture, or its description if it cannot be shown, as a link to a picture of another site. */
export function pictureTag(references: References, picture: PictureText): string {
  const { href, alt, title, asked, inLink } = picture;
  const shown = references.picture(href);
  if (!shown) {
    const address = inLink ? undefined : references.link(href);
    const name = escapeXml(alt.trim() || title.trim() || (address === undefined ? '' : endOf(address)));
    if (address === undefined) return name && `<span class="missing-picture">${name}</span>`;
    return `<a class="missing-picture" href="${escapeXml(address)}">${name}</a>`;
  }
  const { width, height } = sizeOf(shown, asked);
  const attributes = [
    title ? ` title="${escapeXml(title)}"` : '',
    width ? ` width="${Math.ceil(width)}"` : '',
    height ? ` height="${Math.ceil(height)}"` : '',
  ];
  return `<img src="${escapeXml(shown.src)}" alt="${escapeXml(alt)}"${attributes.join('')}/>`;
}

/** If only one length is asked for, the other follows from the picture's proportions. */
function sizeOf({ width, height }: Size, asked: Size = unknownSize): Size {
  const ratio = width && height ? width / height : null;
  if (asked.width === null && asked.height === null) return ratio === null ? unknownSize : { width, height };
  return {
    width: asked.width ?? (ratio && asked.height && asked.height * ratio),
    height: asked.height ?? (ratio && asked.width && asked.width / ratio),
  };
}

const unknownSize: Size = { width: null, height: null };

/** A share of the window, such as `50%`, is no number of pixels. */
function tryPixels(value: string): number | null {
  const [, pixels] = /^\s*(\d{1,4})(?:px)?\s*$/.exec(value) ?? [];
  return Number(pixels) || null;
}

const maxDepth = 20;
