import { createHash } from 'node:crypto';
import { type DocumentPlaces, resolveLink } from '../../content/links.ts';
import { createReferences } from '../markdown/assets.ts';
import type { CodeColouring } from '../markdown/codeColouring.ts';
import { markdownToHtml, placesOf } from '../markdown/html.ts';
import { parseTitled, startsWithTitle } from '../markdown/markdown.ts';
import { escapeXml, languageOf, visibleText } from '../markdown/xmlText.ts';
import { chapterTitles, type EpubJob } from '../renderJob.ts';
import type { BookPictures } from './bookPictures.ts';
import { xhtmlPage } from './xhtmlPage.ts';

export type Chapter = ReturnType<typeof writeChapters>[number];

/**
 * Writes the chapters in order. At the end, it removes links to places that no chapter has.
 * @param language of the book
 */
export function writeChapters(
  { documents, targets }: Pick<EpubJob, 'documents' | 'targets'>,
  language: string,
  { pictures, colouring }: { readonly pictures: BookPictures; readonly colouring: CodeColouring },
) {
  const files = new Map(documents.map(({ path, slug }) => [path, fileOf(slug)]));
  const labels = chapterTitles(documents);
  const placesIn = new Map<string, DocumentPlaces>();
  const written = documents.map((document, at) => {
    const file = fileOf(document.slug);
    const markdown = parseTitled(document);
    const places = placesOf(markdown);
    placesIn.set(file, places);
    /** Those to places in chapters, which may not be written yet. */
    const links: ChapterLink[] = [];
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
    // For the navigation, which has only the headings below the title.
    const headings = markdown.headings.slice(hasTitle ? 1 : 0);
    return { file, label: labels[at] ?? title, headings, xhtml, links };
  });
  return written.map(({ links, xhtml, ...chapter }) => ({
    ...chapter,
    xhtml: withPlacedLinks(xhtml, links, placesIn),
  }));
}

interface ChapterLink {
  readonly file: string;
  readonly fragment: string;
}

function withPlacedLinks(
  xhtml: string,
  links: readonly ChapterLink[],
  placesIn: ReadonlyMap<string, DocumentPlaces>,
): string {
  const addresses = new Map(
    links.map(({ file, fragment }) => {
      const id = placesIn.get(file)?.tryFind(fragment);
      return [escapeXml(`${file}#${fragment}`), escapeXml(id === undefined ? file : `${file}#${id}`)];
    }),
  );
  // No text looks like a link, because its quotes are entities.
  return xhtml.replace(/ href="([^"]*)"/g, (link, href) => {
    const address = addresses.get(href);
    return address === undefined ? link : ` href="${address}"`;
  });
}

/**
 * ASCII, because reading systems and archives disagree on names in other scripts, and with a prefix, because the book
 * has pages of its own.
 */
function fileOf(slug: string): string {
  const isPlain = /^[a-z0-9][a-z0-9._-]*$/.test(slug) && !['toc', 'cover'].includes(slug);
  return `${isPlain ? slug : `chapter-${createHash('sha256').update(slug).digest('hex').slice(0, 16)}`}.xhtml`;
}
