import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import t, { type Test } from 'tap';
import type { Document } from '../../docs-service/content/document.ts';
import { sectionsOf } from '../../docs-service/content/headings.ts';
import { findWrittenLinks } from '../../docs-service/content/writtenLinks.ts';
import { createEpub } from '../../docs-service/formats/epub/epub.ts';
import { createHtml } from '../../docs-service/formats/markdown/htmlFormat.ts';
import { createMarkdown, markdownParts } from '../../docs-service/formats/markdown/markdownFormat.ts';
import { createPdf } from '../../docs-service/formats/pdf/pdf.ts';
import { words } from '../../docs-service/search/analyser.ts';
import { parseQuery } from '../../docs-service/search/query.ts';
import { excerptOf } from '../../docs-service/search/snippet.ts';
import { documentOf, epubJob } from '../support/documents.ts';
import { golden } from '../support/golden.ts';
import { needs } from '../support/parts.ts';
import { drawn, pdfJob, poppler } from '../support/pdfFiles.ts';
import { pictures } from '../support/pictures.ts';
import { filesOf } from '../support/zip.ts';

const folder = join('test', 'fixtures', 'samples');

const about: Partial<Document> = {
  title: 'The guide',
  description: 'What it is about.',
  authors: ['Anna Example', 'Bo'],
  updated: '2026-12-01T10:00:00Z',
  tags: [{ slug: 'one', title: 'First tag' }],
  type: 'guide',
};

/** Documents that together have everything that a writer can use. */
const samples = readdirSync(folder).map((file) => {
  const slug = basename(file, '.md');
  return documentOf(slug, readFileSync(join(folder, file), 'utf8'), {
    ...(slug === 'blocks' ? { ...about, cover: 'large.svg' } : {}),
    ...(slug === 'rightToLeft'
      ? { lang: 'ar', title: 'دليل', description: 'وصف', authors: ['علي'], date: null }
      : {}),
  });
});

const parts = (depth: number, count: number, inside = '') =>
  Array.from(
    { length: count },
    (_, at) => `${'#'.repeat(depth)} Part ${at + 1}\n\nWords of it.\n\n${inside}`,
  ).join('');
const filler = `<!-- ${'Too long to be without contents. '.repeat(300)}-->\n\n`;
samples.push(
  documentOf('long', filler + parts(2, 5, parts(3, 3, parts(4, 1)))),
  documentOf('longer', filler + parts(1, 4, parts(2, 15)), { lang: 'ar', title: 'قائمة' }),
  documentOf('longest', filler + parts(2, 3, parts(3, 20))),
);

const content = t.testdir({});
const svg = (width: number, height: number, color: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="${width}" height="${height}" fill="${color}"/><text x="2" y="14" font-size="9">Word <tspan font-family="None, 'code'">&#x3b1;</tspan></text></svg>`;
const files = {
  'icon.svg': svg(24, 16, 'red'),
  'large.svg': svg(420, 120, 'green'),
  'medium.svg': svg(200, 90, 'blue'),
  'huge.svg': svg(3000, 5000, 'gray'),
  'small.png': pictures.png,
  'moving.gif': pictures.gif,
};
for (const [name, bytes] of Object.entries(files)) writeFileSync(join(content, name), bytes);

const targets = { 'other.md': 'https://docs.example.org/read/other' };

function compare(t: Test, name: string, actual: unknown) {
  const { actual: is, accepted } = golden(`samples/${name}.json`, actual);
  t.equal(is, accepted, `test/fixtures/golden/samples/${name}.json (ACCEPT=1 takes what is)`);
}

for (const document of samples) {
  t.test(`${document.slug} is printed as it was accepted`, needs('poppler'), async (t) => {
    const job = { contentFolder: content, targets };
    const { bytes, notes } = await createPdf(pdfJob('', document, job));
    compare(t, `${document.slug}.pdf`, { notes, ...printedOf(bytes) });
  });

  t.test(`${document.slug} is read as it was accepted`, async (t) => {
    const job = {
      kind: 'html',
      contentFolder: content,
      targets,
      document,
      form: 'article',
      root: '/docs',
    } as const;
    const { bytes, notes } = await createHtml(job);
    compare(t, `${document.slug}.html`, { notes, html: linesOf(bytes) });
    const page = await createHtml({ ...job, form: 'page' });
    const around = String(Buffer.from(page.bytes)).replace(
      /<style>[\s\S]*?<\/style>|<article[\s\S]*<\/article>/g,
      '',
    );
    compare(t, `${document.slug}.page`, around.split('\n'));
    const markdown = createMarkdown({ kind: 'markdown', document, targets, pictures: {} });
    compare(t, `${document.slug}.md`, { ...markdownParts(document.body), text: linesOf(markdown.bytes) });
  });
}

t.test('what is found of each, and what is shown of it, is as it was accepted', async (t) => {
  const found = samples.map(({ slug, path, title, body }) => {
    const excerpt = (query: string) => {
      const shown = excerptOf({ title, body }, parseQuery(query).some, { matched: 'text', place: undefined });
      return `${query}: ${shown.section?.id ?? '-'}: ${shown.snippet}`;
    };
    const used = [...new Set(Array.from(words(body), ({ token }) => token))].filter((_, at) => at % 9 === 0);
    const excerpts = used.slice(0, 60).map(excerpt);
    return { slug, ...findWrittenLinks(path, body, (line) => line), sections: sectionsOf(body), excerpts };
  });
  compare(
    t,
    'found',
    found.filter(({ slug }) => !slug.startsWith('long')),
  );
});

t.test('a book has all of them as it was accepted', async (t) => {
  const { bytes, notes } = await createEpub(
    epubJob(content, samples, { description: 'All of it.', author: 'Anna' }),
  );
  const book = Array.from(filesOf(bytes), ([name, text]) => [
    name,
    /\.(?:css|png)$/.test(name) ? '' : text.split('\n'),
  ]);
  compare(t, 'book.epub', { notes, ...Object.fromEntries(book) });
});

t.test('a printed book has two of them as it was accepted', needs('poppler'), async (t) => {
  const { document: _, ...job } = pdfJob('', {}, { contentFolder: content });
  const documents = samples.filter(({ slug }) => slug === 'blocks' || slug === 'rightToLeft');
  const more = { description: 'All of it.', author: 'Anna', cover: 'medium.svg' };
  const { collection } = epubJob(content, documents, more);
  const { bytes, notes } = await createPdf({ ...job, kind: 'pdfBook', collection, documents });
  compare(t, 'book.pdf', { notes, text: printedOf(bytes).text });
});

function linesOf(bytes: Uint8Array): readonly string[] {
  return new TextDecoder().decode(bytes).split('\n');
}

/** What stands where on the pages, and what is drawn around it. */
function printedOf(bytes: Uint8Array) {
  const text = poppler('pdftohtml', bytes, ['-zoom', '3'])
    .split('\n')
    .filter((line) => /^\s*<(?:page|fontspec|text|item)/.test(line))
    .map((line) => line.trim().replace(/(?<=family=")\w+\+/, ''));
  const shapes = drawn(bytes)
    .split('\n')
    .filter((line) => / (?:re|l|m|cm|w|scn|SCN|Do)$/.test(line));
  return { text, shapes };
}
