import type { Heading } from '../markdown/markdown.ts';
import { escapeXml } from '../markdown/xmlText.ts';
import type { Chapter } from './chapter.ts';
import { type BookDescription, xhtmlPage } from './xhtmlPage.ts';

/** An entry of the contents: a chapter, or one of its headings of the first three levels. */
interface Entry {
  readonly label: string;
  readonly href: string;
  readonly children: Entry[];
}

/** The contents for EPUB 3 readers, which is also the contents page. */
export function navigationDocument(
  { title, language }: BookDescription,
  chapters: readonly Chapter[],
): string {
  return xhtmlPage(
    title,
    language,
    `<nav id="toc" epub:type="toc" role="doc-toc" aria-label="Contents">
<h1>${escapeXml(title)}</h1>
${orderedList(entriesOf(chapters, title))}</nav>
<nav epub:type="landmarks" hidden="hidden" aria-label="Landmarks">
<ol>
<li><a epub:type="cover" href="cover.xhtml">Cover</a></li>
<li><a epub:type="toc" href="toc.xhtml#toc">Contents</a></li>
${chapters[0] ? `<li><a epub:type="bodymatter" href="${chapters[0].file}">Text</a></li>\n` : ''}</ol>
</nav>
`,
  );
}

/** The contents for EPUB 2 readers. */
export function ncxDocument({ title, identifier }: BookDescription, chapters: readonly Chapter[]): string {
  let order = 0;
  const point = ({ label, href, children }: Entry): string => {
    order += 1;
    return `<navPoint id="point-${order}" playOrder="${order}"><navLabel><text>${escapeXml(label)}</text></navLabel><content src="${escapeXml(href)}"/>${children.map(point).join('')}</navPoint>\n`;
  };
  const map = entriesOf(chapters, title).map(point).join('');
  return `<?xml version="1.0" encoding="UTF-8"?>
<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1">
<head>
<meta name="dtb:uid" content="${identifier}"/>
</head>
<docTitle><text>${escapeXml(title)}</text></docTitle>
<navMap>
${map}</navMap>
</ncx>
`;
}

/** A book without chapters lists its cover, because contents must not be empty. */
function entriesOf(chapters: readonly Chapter[], title: string): Entry[] {
  if (chapters.length === 0) return [{ label: title, href: 'cover.xhtml', children: [] }];
  return chapters.map((chapter) => ({
    label: chapter.label,
    href: chapter.file,
    children: nested(chapter.file, chapter.headings),
  }));
}

/** A heading belongs to the last heading of a higher level before it, whatever levels are skipped. */
function nested(file: string, headings: readonly Heading[]): Entry[] {
  const top: Entry[] = [];
  const open: { readonly depth: number; readonly children: Entry[] }[] = [];
  for (const { depth, text, id } of headings) {
    if (depth > 3 || text === '') continue;
    while ((open.at(-1)?.depth ?? 0) >= depth) open.pop();
    const entry = { label: text, href: `${file}#${id}`, children: [] };
    (open.at(-1)?.children ?? top).push(entry);
    open.push({ depth, children: entry.children });
  }
  return top;
}

function orderedList(entries: readonly Entry[]): string {
  const items = entries.map(
    ({ label, href, children }) =>
      `<li><a href="${escapeXml(href)}">${escapeXml(label)}</a>${children.length > 0 ? `\n${orderedList(children)}` : ''}</li>\n`,
  );
  return `<ol>\n${items.join('')}</ol>\n`;
}
