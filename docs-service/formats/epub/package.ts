import { escapeXml } from '../markdown/xmlText.ts';
import { accessibilityOf } from './accessibility.ts';
import type { BookContents } from './bookContents.ts';

/** The package document: what the book is, and its parts in reading order. */
export function packageDocument(contents: BookContents): string {
  const { description, chapters, cover } = contents;
  const { identifier, title, language, authors, modified } = description;
  const ids = chapters.map((_, at) => `chapter-${at + 1}`);
  return `<?xml version="1.0" encoding="UTF-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="book-id" xml:lang="${language}">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="book-id">${identifier}</dc:identifier>
<dc:title>${escapeXml(title)}</dc:title>
<dc:language>${language}</dc:language>
${authors.map((author) => `<dc:creator>${escapeXml(author)}</dc:creator>\n`).join('')}${
  description.description ? `<dc:description>${escapeXml(description.description)}</dc:description>\n` : ''
}<meta property="dcterms:modified">${modified}</meta>
${accessibilityOf(contents)
  .map(([property, value]) => `<meta property="schema:${property}">${escapeXml(value)}</meta>\n`)
  .join('')}<meta name="cover" content="${coverId(contents)}"/>
</metadata>
<manifest>
<item id="toc" href="toc.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>
<item id="style" href="style.css" media-type="text/css"/>
<item id="cover" href="cover.xhtml" media-type="application/xhtml+xml"/>
${cover.svg === null ? '' : `<item id="cover-drawing" href="${cover.file}" media-type="image/svg+xml" properties="cover-image"/>\n`}${pictureItems(contents)}${chapters
  .map(({ file }, at) => `<item id="${ids[at]}" href="${file}" media-type="application/xhtml+xml"/>\n`)
  .join('')}</manifest>
<spine toc="ncx">
<itemref idref="cover"/>
<itemref idref="toc"/>
${ids.map((id) => `<itemref idref="${id}"/>\n`).join('')}</spine>
</package>
`;
}

function pictureItems({ pictures, cover }: BookContents): string {
  return pictures
    .map(({ file, mediaType }, at) => {
      const properties = file === cover.file ? ' properties="cover-image"' : '';
      return `<item id="picture-${at + 1}" href="${file}" media-type="${mediaType}"${properties}/>\n`;
    })
    .join('');
}

/** For EPUB 2 readers. */
function coverId({ pictures, cover }: BookContents): string {
  return cover.svg === null
    ? `picture-${pictures.findIndex(({ file }) => file === cover.file) + 1}`
    : 'cover-drawing';
}
