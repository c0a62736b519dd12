import type { Document } from '../../content/document.ts';
import { type PictureJob, type PictureListJob, type Rendered, UnrenderableError } from '../renderJob.ts';
import { readAsset } from './assets.ts';
import { markdownToHtml, placesOf } from './html.ts';
import { parseTitled } from './markdown.ts';
import { createReferences } from './references.ts';

/** The bytes of a picture as formats show it. */
export function createPicture({ path, ...job }: PictureJob): Rendered {
  const asset = readAsset(job, path);
  if (asset.kind === 'problem') throw new UnrenderableError(asset.message);
  return { bytes: asset.bytes, notes: [] };
}

/** The paths of the pictures that a document shows, as JSON. */
export function createPictureList({ document }: PictureListJob): Rendered {
  return { bytes: new TextEncoder().encode(JSON.stringify([...shownPictures(document)])), notes: [] };
}

/** What is printed as a picture is shown, and nothing else: not what is only linked, or stands in code. */
export function shownPictures(document: Document): ReadonlySet<string> {
  const markdown = parseTitled(document);
  const shown = new Set(document.cover === null ? [] : [document.cover]);
  const references = createReferences({
    path: document.path,
    places: placesOf(markdown),
    documentAddress: () => undefined,
    picture(source) {
      if (!source.startsWith('data:')) shown.add(source);
      return undefined;
    },
    onForeignPicture: () => undefined,
  });
  markdownToHtml(markdown, { references, colouring: () => [] });
  return shown;
}
