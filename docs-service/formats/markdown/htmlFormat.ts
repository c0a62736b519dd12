import type { ContentPlaces } from '../../content/contentPlaces.ts';
import type { Document } from '../../content/document.ts';
import { languageOf } from '../language.ts';
import { type HtmlJob, type Rendered, tryTarget } from '../renderJob.ts';
import { articleHtml } from './article.ts';
import { articleStyle } from './articleStyle.ts';
import { pictureName, readAsset } from './assets.ts';
import { codeColouringOf } from './codeColouring.ts';
import { markdownToHtml, placesOf } from './html.ts';
import { parseTitled } from './markdown.ts';
import { createReferences, type ShownPicture } from './references.ts';
import { escapeXml, visibleText } from './xmlText.ts';

/**
 * A document as HTML. Its pictures are `data:` addresses inside it, so a page needs no further request, and no picture
 * has an address that would need authorization.
 */
export async function createHtml(job: HtmlJob): Promise<Rendered> {
  const { targets, document, form, root } = job;
  const markdown = parseTitled(document);
  const pictures = createDataPictures(job);
  const references = createReferences({
    path: document.path,
    places: placesOf(markdown),
    documentAddress: (path, fragment) => tryTarget(targets, path, fragment),
    picture: pictures.show,
    onForeignPicture: (href) =>
      pictures.note(`A picture from another site is left out: ${href.slice(0, 200)}`),
  });
  const colouring = await codeColouringOf([document.body]);
  const article = { document, markdown, html: markdownToHtml(markdown, { references, colouring }) };
  const html =
    form === 'page'
      ? htmlPage(document, articleHtml(article))
      : articleHtml(article, { root, hasFormats: form === 'article' });
  return { bytes: new TextEncoder().encode(html), notes: [...pictures.notes] };
}

/** A page that is complete without the service: it loads nothing, and runs nothing. */
function htmlPage({ title, slug, lang, authors, description }: Document, body: string): string {
  const meta = (name: string, content: string) =>
    `<meta name="${name}" content="${escapeXml(visibleText(content))}">\n`;
  return `<!doctype html>
<html lang="${languageOf(lang)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeXml(visibleText(title) || slug)}</title>
${authors.map((author) => meta('author', author)).join('')}${description === null ? '' : meta('description', description)}<style>${articleStyle}
body { padding: clamp(1.5rem, 5vw, 4rem) 1.25rem; }
article { margin: 0 auto; }
</style>
</head>
<body>
${body}</body>
</html>
`;
}

function createDataPictures(places: ContentPlaces) {
  const notes = new Set<string>();
  let space = maxBytes;
  const note = (message: string) => {
    if (notes.size < maxNotes) notes.add(message);
    return undefined;
  };
  /** A picture that is shown twice counts twice, because the page contains it twice. */
  const show = (source: string): ShownPicture | undefined => {
    const asset = readAsset(places, source);
    if (asset.kind === 'problem') return note(asset.message);
    const { bytes, type, width, height } = asset;
    if (bytes.length > space)
      return note(
        `The picture ${pictureName(source)} is left out, because all pictures of the page together have more than 20 MB.`,
      );
    space -= bytes.length;
    const data = Buffer.from(bytes).toString('base64');
    return { src: `data:image/${type === 'svg' ? 'svg+xml' : type};base64,${data}`, width, height };
  };
  return { notes, note, show };
}

const maxBytes = 20_000_000;
const maxNotes = 100;
