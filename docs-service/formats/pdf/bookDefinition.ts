import type { TDocumentDefinitions } from 'pdfmake/interfaces';
import type { CollectionDefinition } from '../../content/collectionFile.ts';
import { chapterTitles } from '../chapterTitles.ts';
import type { Heading } from '../markdown/markdown.ts';
import { checkLength, type DefinitionParts, framed, setBody } from './definition.ts';
import { Bookmarks, contentsNodes, coverNodes, type TitledText, titleNodes } from './openingPages.ts';

/**
 * The definition of a collection as one file: a title page, the contents with page numbers, and each document on a new
 * page, as a bookmark that has those of its headings below it. Links between its documents stay in the file.
 */
export function bookDefinition(
  collection: CollectionDefinition,
  parts: readonly DefinitionParts[],
): TDocumentDefinitions {
  const [first] = parts;
  if (first === undefined) throw new Error('A book has a document.');
  const { type, pictures } = first;
  const about = descriptionOf(collection, parts);
  const chapters = chaptersOf(parts);
  let height = 0;
  const bodies = chapters.map((chapter) => {
    pictures.turnTo(chapter.parts.document.path);
    const place = chapter.bookmarks.place(chapter.heading);
    const body = setBody(chapter.parts, {
      bookmarks: chapter.bookmarks,
      places: chapter.places,
      documentLink: (path, fragment) => placeIn(chapters, path, fragment),
    });
    height += body.height;
    checkLength(height);
    const nodes = titleNodes(chapter.parts.document, type, place);
    return [{ text: '', pageBreak: 'after' }, ...nodes, ...body.nodes];
  });
  const headings = chapters.flatMap(({ bookmarks }) => bookmarks.placed);
  const content = [
    ...coverNodes(collection, first),
    ...titleNodes(about, type),
    ...contentsNodes(headings, about, type, true),
    ...bodies.flat(),
  ];
  return framed(content, about, first);
}

interface Chapter {
  readonly parts: DefinitionParts;
  readonly places: string;
  readonly heading: Heading;
  readonly bookmarks: ChapterBookmarks;
}

function chaptersOf(all: readonly DefinitionParts[]): readonly Chapter[] {
  const titles = chapterTitles(all.map(({ document }) => document));
  return all.map((parts, at) => {
    const places = `chapter-${at + 1}:`;
    return {
      parts,
      places,
      // No heading of the text has an empty id.
      heading: { depth: 1, text: titles[at] ?? '', id: '' },
      bookmarks: new ChapterBookmarks(parts.markdown, places),
    };
  });
}

/** The headings of a chapter belong to its title, whatever their level is. */
class ChapterBookmarks extends Bookmarks {
  override place(heading: Heading): Record<string, unknown> {
    return super.place(heading.id === '' ? heading : { ...heading, depth: Math.max(2, heading.depth) });
  }
}

/** A place that the chapter does not have is its beginning. */
function placeIn(chapters: readonly Chapter[], path: string, fragment: string | null) {
  const chapter = chapters.find(({ parts }) => parts.document.path === path);
  if (chapter === undefined) return undefined;
  const found = fragment === null ? undefined : chapter.bookmarks.find(fragment);
  return { destination: found ?? chapter.bookmarks.nameOf('') };
}

function descriptionOf(collection: CollectionDefinition, parts: readonly DefinitionParts[]): TitledText {
  const { title, author, description, lang } = collection;
  const documents = parts.map(({ document }) => document);
  const authors = author ? [author] : [...new Set(documents.flatMap((document) => document.authors))];
  const dates = documents.flatMap(({ updated, date }) => [updated, date].filter((one) => one !== null));
  const newest = dates.sort((a, b) => Date.parse(a) - Date.parse(b)).at(-1) ?? null;
  return {
    title,
    description,
    authors: authors.slice(0, maxAuthors),
    date: newest,
    updated: null,
    lang: lang ?? documents[0]?.lang ?? null,
    type: null,
    tags: [],
  };
}

const maxAuthors = 50;
