import { InlineScope } from './inlineScope.ts';
import type { HtmlPart } from './rawHtml.ts';
import type { References } from './references.ts';

/**
 * Raw HTML between the blocks of one level, such as those of a list item. `details` may be opened in one token and
 * closed in another, with Markdown between them; every other block of HTML becomes paragraphs. What is opened in a
 * level is closed in it.
 */
export class BlockScope {
  readonly #out: string[];
  readonly #references: References;
  /** For each open `details`, whether it has its summary, which must come first. */
  readonly #details: { hasSummary: boolean }[] = [];
  /** The paragraph that contains the raw text. */
  #paragraph: { readonly name: 'p' | 'pre' | 'summary'; readonly inline: InlineScope } | undefined;

  constructor(out: string[], references: References) {
    this.#out = out;
    this.#references = references;
  }

  /** Called before each block of Markdown. */
  beforeBlock(): void {
    const details = this.#details.at(-1);
    if (!details || details.hasSummary) return;
    details.hasSummary = true;
    this.#out.push('<summary>Details</summary>\n');
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
    } else if (!blocks.has(part.name)) {
      if (part.kind === 'open' || this.#paragraph) this.#inParagraph().write(part);
    } else {
      this.#endParagraph();
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
      this.#out.push('<hr/>\n');
    } else if (name === 'details' && this.#details.length < maxDepth) {
      this.beforeBlock();
      this.#details.push({ hasSummary: false });
      this.#out.push(isShown ? '<details open="open">\n' : '<details>\n');
    }
  }

  #closeDetails(): void {
    if (this.#details.length === 0) return;
    this.beforeBlock();
    this.#details.pop();
    this.#out.push('</details>\n');
  }

  #inParagraph(): InlineScope {
    return (this.#paragraph ?? this.#beginParagraph('p')).inline;
  }

  #beginParagraph(name: 'p' | 'pre' | 'summary') {
    this.beforeBlock();
    this.#out.push(`<${name}>`);
    const inline = new InlineScope({ out: this.#out, references: this.#references, inLink: false });
    this.#paragraph = { name, inline };
    return this.#paragraph;
  }

  #endParagraph(): void {
    this.#paragraph?.inline.end();
    if (this.#paragraph) this.#out.push(`</${this.#paragraph.name}>\n`);
    this.#paragraph = undefined;
  }
}

const maxDepth = 10;
const blocks = new Set(
  (
    'details summary p div center h1 h2 h3 h4 h5 h6 blockquote pre hr ' +
    'ul ol li dl dt dd table caption thead tbody tfoot tr th td'
  ).split(' '),
);
