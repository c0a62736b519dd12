import { createHash } from 'node:crypto';
import type { Document } from '../../content/document.ts';
import { type DocumentPlaces, resolveLink } from '../../content/links.ts';
import { chapterTitles } from '../chapterTitles.ts';
import { languageOf } from '../language.ts';
import type { CodeColouring } from '../markdown/codeColouring.ts';
import { markdownToHtml, placesOf } from '../markdown/html.ts';
import { type Heading, parseTitled, startsWithTitle } from '../markdown/markdown.ts';
import { createReferences } from '../markdown/references.ts';
import { escapeXml, visibleText } from '../markdown/xmlText.ts';
import type { BookPictures } from './bookPictures.ts';
import { xhtmlPage } from './xhtmlPage.ts';

export interface Chapter {
  readonly file: string;
  /** In the navigation. */
  readonly label: string;
  /** The headings below the title, for the navigation. */
  readonly headings: readonly Heading[];
  readonly xhtml: string;
}

interface ChapterOptions {
  readonly documents: readonly Document[];
  /** Addresses of documents that are not in the book, by path. */
  readonly targets: Readonly<Record<string, string>>;
  readonly pictures: BookPictures;
  readonly colouring: CodeColouring;
  /** The language of the book. */
  readonly language: string;
}

/** Writes the chapters in order. At the end, it removes links to places that no chapter has. */
export function writeChapters(options: ChapterOptions): Chapter[] {
  const { documents, targets, pictures, colouring, language } = options;
  const files = new Map(documents.map(({ path, slug }) => [path, fileOf(slug)]));
  const labels = chapterTitles(documents);
  const placesIn = new Map<string, DocumentPlaces>();
  const written = documents.map((document, at) => {
    const file = fileOf(document.slug);
    const markdown = parseTitled(document);
    const places = placesOf(markdown);
    placesIn.set(file, places);
    const links: PlaceLink[] = [];
    const references = createReferences({
      path: document.path,
      places,
      documentAddress(path, fragment) {
        const file = files.get(path);
        if (file && !fragment) return file;
        if (file && fragment) {
          links.push({ file, fragment });
          return `${file}#${fragment}`;
        }
        // A book is read anywhere, so only an absolute address leads out of it.
        const target = Object.hasOwn(targets, path) ? targets[path] : undefined;
        const resolved = target === undefined ? undefined : resolveLink(target, path);
        return resolved?.kind === 'external' ? resolved.href : undefined;
      },
      picture: (path) => pictures.show(path),
      onForeignPicture: (href) =>
        pictures.note(
          `${document.path} shows a picture from another site, ${href.slice(0, 200)}. It is left out.`,
        ),
    });
    const body = markdownToHtml(markdown, { references, colouring, epubTypes: true });
    const title = visibleText(document.title) || document.slug;
    const hasTitle = startsWithTitle(markdown);
    const heading = hasTitle ? '' : `<h1>${escapeXml(title)}</h1>\n`;
    const section = `<section epub:type="chapter" role="doc-chapter">\n${heading}${body}</section>\n`;
    const xhtml = xhtmlPage(title, languageOf(document.lang, language), section);
    const headings = markdown.headings.slice(hasTitle ? 1 : 0);
    return { file, label: labels[at] ?? title, headings, xhtml, links };
  });
  return written.map(({ links, ...chapter }) => {
    const addresses = links.map(({ file, fragment }) => {
      const id = placesIn.get(file)?.tryFind(fragment);
      return [`${file}#${fragment}`, id === undefined ? file : `${file}#${id}`] as const;
    });
    return { ...chapter, xhtml: withPlaces(chapter.xhtml, new Map(addresses)) };
  });
}

/**
 * Links to places in other chapters, which are known now; one that is nowhere is that of the chapter. No text looks
 * like one, because its quotes are entities.
 */
function withPlaces(xhtml: string, addresses: ReadonlyMap<string, string>): string {
  const escaped = new Map([...addresses].map(([from, to]) => [escapeXml(from), escapeXml(to)]));
  return xhtml.replace(/ href="([^"]*)"/g, (link, href) => {
    const address = escaped.get(href);
    return address === undefined ? link : ` href="${address}"`;
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
