import { decodeEntities } from '../../search/plainText.ts';
import type { HtmlPart } from './rawHtml.ts';
import type { References } from './references.ts';
import { escapeXml } from './xmlText.ts';

export interface InlineSurroundings {
  readonly out: string[];
  readonly references: References;
  /** It is inside a link, and links are never nested. */
  readonly inLink: boolean;
}

/**
 * Raw HTML within one run of text, such as a paragraph or a bold part of it. What is opened there is closed there, so
 * the result is well-formed whatever the author wrote.
 */
export class InlineScope {
  readonly #surroundings: InlineSurroundings;
  readonly #open: string[] = [];

  constructor(surroundings: InlineSurroundings) {
    this.#surroundings = surroundings;
  }

  get inLink(): boolean {
    return this.#surroundings.inLink || this.#open.includes('a');
  }

  write(part: HtmlPart): void {
    if (part.kind === 'text') this.#surroundings.out.push(escapeXml(decodeEntities(part.text)));
    else if (part.kind === 'close') this.#close(part.name);
    else this.#openTag(part.name, part.attributes);
  }

  end(): void {
    while (this.#open.length > 0) this.#surroundings.out.push(`</${this.#open.pop()}>`);
  }

  #openTag(name: string, attributes: ReadonlyMap<string, string>): void {
    const { out, references } = this.#surroundings;
    const attribute = (key: string) => decodeEntities(attributes.get(key) ?? '');
    if (name === 'br' || name === 'wbr') out.push(`<${name}/>`);
    if (name === 'img') {
      out.push(
        pictureTag(references, { href: attribute('src'), alt: attribute('alt'), title: attribute('title') }),
      );
    }
    if (this.#open.length >= maxDepth) return;
    if (plain.has(name)) this.#push(name, `<${name}>`);
    if (name === 'abbr') this.#push(name, `<abbr title="${escapeXml(attribute('title'))}">`);
    if (name === 'a') this.#openLink(attribute('href'));
  }

  #openLink(href: string): void {
    const address = this.inLink ? undefined : this.#surroundings.references.link(href);
    if (address !== undefined) this.#push('a', `<a href="${escapeXml(address)}">`);
  }

  #push(name: string, tag: string): void {
    this.#open.push(name);
    this.#surroundings.out.push(tag);
  }

  #close(name: string): void {
    const at = this.#open.lastIndexOf(name);
    if (at < 0) return;
    for (const inner of this.#open.splice(at).reverse()) this.#surroundings.out.push(`</${inner}>`);
  }
}

/** A picture, or its description if it cannot be shown. */
export function pictureTag(
  references: References,
  { href, alt, title }: { readonly href: string; readonly alt: string; readonly title: string },
): string {
  const shown = references.picture(href);
  if (!shown) return alt ? `<span class="missing-picture">${escapeXml(alt)}</span>` : '';
  const size =
    shown.width && shown.height
      ? ` width="${Math.ceil(shown.width)}" height="${Math.ceil(shown.height)}"`
      : '';
  const hint = title ? ` title="${escapeXml(title)}"` : '';
  return `<img src="${escapeXml(shown.src)}" alt="${escapeXml(alt)}"${hint}${size}/>`;
}

const maxDepth = 20;
const plain = new Set('b i em strong u s del ins sub sup kbd mark small code samp var q cite'.split(' '));
