import { createHash } from 'node:crypto';
import type { Document } from '../../content/document.ts';
import { resolveLink } from '../../content/links.ts';
import { chapterTitles } from '../chapterTitles.ts';
import { languageOf } from '../language.ts';
import type { CodeColouring } from '../markdown/codeColouring.ts';
import { idsOf, markdownToHtml } from '../markdown/html.ts';
import { type Heading, parseTitled, startsWithTitle } from '../markdown/markdown.ts';
import { createReferences } from '../markdown/references.ts';
import { escapeXml, visibleText } from '../markdown/xmlText.ts';
import type { BookPictures } from './bookPictures.ts';
import { type XhtmlPage, xhtmlPage } from './xhtmlPage.ts';

export interface Chapter {
  readonly file: string;
  /** In the navigation. */
  readonly label: string;
  /** The headings below the title, for the navigation. */
  readonly headings: readonly Heading[];
  readonly xhtml: string;
}

export interface ChapterOptions {
  readonly documents: readonly Document[];
  /** Addresses of documents that are not in the book, by path. */
  readonly targets: Readonly<Record<string, string>>;
  readonly pictures: BookPictures;
  readonly colouring: CodeColouring;
  /** The language of the book. */
  readonly language: string;
}

/** Writes the chapters in order. At the end, it removes links to places that no chapter has. */
export class ChapterWriter {
  readonly #options: ChapterOptions;
  readonly #files: ReadonlyMap<string, string>;
  /** By slug. */
  readonly #labels: ReadonlyMap<string, string>;
  readonly #idsOf = new Map<string, ReadonlySet<string>>();
  readonly #chapters: { readonly chapter: Chapter; readonly links: readonly PlaceLink[] }[] = [];

  constructor(options: ChapterOptions) {
    this.#options = options;
    this.#files = new Map(options.documents.map(({ path, slug }) => [path, fileOf(slug)]));
    const labels = chapterTitles(options.documents);
    this.#labels = new Map(options.documents.map(({ slug }, at) => [slug, labels[at] ?? slug]));
  }

  write(document: Document): void {
    const file = fileOf(document.slug);
    const markdown = parseTitled(document);
    const links: PlaceLink[] = [];
    this.#idsOf.set(file, idsOf(markdown));
    const body = markdownToHtml(markdown, {
      references: this.#referencesOf(document, links),
      colouring: this.#options.colouring,
      epubTypes: true,
    });
    const title = visibleText(document.title) || document.slug;
    const hasTitle = startsWithTitle(markdown);
    const language = languageOf(document.lang, this.#options.language);
    const xhtml = page({ title, language, body: hasTitle ? body : `<h1>${escapeXml(title)}</h1>\n${body}` });
    this.#chapters.push({
      chapter: {
        file,
        label: this.#labels.get(document.slug) ?? title,
        headings: markdown.headings.slice(hasTitle ? 1 : 0),
        xhtml,
      },
      links,
    });
  }

  end(): Chapter[] {
    return this.#chapters.map(({ chapter, links }) => ({
      ...chapter,
      xhtml: withoutMissing(
        chapter.xhtml,
        links.filter(({ file, fragment }) => !this.#idsOf.get(file)?.has(fragment)),
      ),
    }));
  }

  #referencesOf(document: Document, links: PlaceLink[]) {
    const { pictures } = this.#options;
    return createReferences({
      path: document.path,
      ids: this.#idsOf.get(fileOf(document.slug)) ?? new Set(),
      documentAddress: (path, fragment) => this.#addressOf(path, fragment, links),
      picture: (path) => pictures.show(path),
      onForeignPicture: (href) =>
        pictures.note(
          `${document.path} shows a picture from another site, ${href.slice(0, 200)}. It is left out.`,
        ),
    });
  }

  #addressOf(path: string, fragment: string | null, links: PlaceLink[]): string | undefined {
    const file = this.#files.get(path);
    if (file && !fragment) return file;
    if (file && fragment) {
      links.push({ file, fragment });
      return `${file}#${fragment}`;
    }
    // A book is read anywhere, so only an absolute address leads out of it.
    const target = Object.hasOwn(this.#options.targets, path) ? this.#options.targets[path] : undefined;
    const resolved = target === undefined ? undefined : resolveLink(target, path);
    return resolved?.kind === 'external' ? resolved.href : undefined;
  }
}

/**
 * Such a link leads to the beginning of the chapter instead. No text looks like one, because its quotes are entities.
 */
function withoutMissing(xhtml: string, missing: readonly PlaceLink[]): string {
  if (missing.length === 0) return xhtml;
  const files = new Map(missing.map(({ file, fragment }) => [escapeXml(`${file}#${fragment}`), file]));
  return xhtml.replace(/ href="([^"]*)"/g, (link, href) => {
    const file = files.get(href);
    return file === undefined ? link : ` href="${file}"`;
  });
}

/** A link to a place in another chapter, which may not be written yet. */
interface PlaceLink {
  readonly file: string;
  readonly fragment: string;
}

/**
 * ASCII, because reading systems and archives disagree on names in other scripts, and with a prefix, because the book
 * has pages of its own.
 */
function fileOf(slug: string): string {
  const isPlain = /^[a-z0-9][a-z0-9._-]*$/.test(slug) && !['toc', 'cover'].includes(slug);
  return `${isPlain ? slug : `chapter-${createHash('sha256').update(slug).digest('hex').slice(0, 16)}`}.xhtml`;
}

function page({ title, language, body }: XhtmlPage): string {
  return xhtmlPage({
    title,
    language,
    body: `<section epub:type="chapter" role="doc-chapter">
${body}</section>
`,
  });
}
