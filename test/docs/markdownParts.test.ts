import fc from 'fast-check';
import t from 'tap';
import { markdownParts } from '../../docs-service/formats/markdown/markdownFormat.ts';
import {
  isWithinCharacter,
  type MarkdownPage,
  nearHeadings,
  pageOf,
  tryFindSection,
} from '../../docs-service/mcp/getDocMarkdown.ts';
import { markdownText } from '../support/markdownTexts.ts';

type DocumentParts = Parameters<typeof pageOf>[0];

function partsOf(markdown: string): DocumentParts {
  const { sections, blocks, lines } = markdownParts(markdown);
  return { markdown, sections, blocks: Uint32Array.from(blocks), lines: Uint32Array.from(lines) };
}

/** All pages, as a client reads them. */
function pagesOf(parts: DocumentParts, maxChars: number, range = { start: 0, end: parts.markdown.length }) {
  const pages: MarkdownPage[] = [];
  for (let offset: number | undefined = 0; offset !== undefined; offset = pages.at(-1)?.nextOffset) {
    pages.push(pageOf(parts, { ...range, offset, maxChars }));
    if (pages.length > parts.markdown.length + 1) throw new Error('The pages do not end.');
  }
  return pages;
}

const fence = (mark: string, lines: number) =>
  `${mark}js\n${Array.from({ length: lines }, (_, at) => (at % 3 === 1 ? '' : `line ${at}`)).join('\n')}\n${mark}\n`;

/** Blocks of a document, with how long each is. */
const block = fc.oneof(
  fc.integer({ min: 1, max: 40 }).map((words) => `${'word '.repeat(words)}end.\n`),
  fc.integer({ min: 1, max: 6 }).map((depth) => `${'#'.repeat(depth)} A heading\n`),
  fc.integer({ min: 0, max: 12 }).map((lines) => fence('```', lines)),
  fc.integer({ min: 0, max: 12 }).map((lines) => fence('~~~~', lines)),
  fc.integer({ min: 1, max: 6 }).map((rows) => `| a | b |\n| - | - |\n${'| 1 | 2 |\n'.repeat(rows)}`),
  fc.integer({ min: 1, max: 6 }).map((items) => '- an item\n'.repeat(items)),
  fc.constant('漢字🎉🎉🎉🎉\n'),
);
const document = fc.array(block, { maxLength: 30 }).map((blocks) => blocks.join('\n'));

t.test('joined pages are the whole text, for any text and size', (t) => {
  fc.assert(
    fc.property(fc.oneof(markdownText, document), fc.integer({ min: 1, max: 400 }), (markdown, maxChars) => {
      const pages = pagesOf(partsOf(markdown), maxChars);
      const lengths = pages.map((page) => page.markdown.length);
      const isWhole = pages.map((page) => page.markdown).join('') === markdown;
      const areBounded = lengths.every((length) => length <= Math.max(maxChars, 2));
      const areFull = lengths.slice(0, -1).every((length) => length > 0);
      const arePairsWhole = pages.every(({ offset }) => !isWithinCharacter(markdown, offset));
      return isWhole && areBounded && areFull && arePairsWhole;
    }),
    { numRuns: 200 },
  );
  t.end();
});

t.test('only the place between two halves is within a character', (t) => {
  const text = 'a😀b';
  t.same(
    [0, 1, 2, 3, 4].map((at) => isWithinCharacter(text, at)),
    [false, false, true, false, false],
  );
  t.notOk(isWithinCharacter('\ud83da', 1), 'a first half alone');
  t.notOk(isWithinCharacter('a\ude00', 1), 'a second half alone');
  t.end();
});

t.test('a code fence that fits on a page is never cut, and no block is', (t) => {
  const longest = 130;
  fc.assert(
    fc.property(document, fc.integer({ min: 0, max: 200 }), (markdown, more) => {
      const parts = partsOf(markdown);
      return pagesOf(parts, longest + more).every(({ markdown: page }) => {
        const marks = page.split('\n').filter((line) => /^(```|~~~~)/.test(line));
        const opened = marks.filter((line) => line.endsWith('js')).length;
        return marks.length === 2 * opened;
      });
    }),
    { numRuns: 200 },
  );
  const cases: readonly { name: string; markdown: string; maxChars: number; want: readonly string[] }[] = [
    {
      name: 'between paragraphs',
      markdown: 'one\n\ntwo\n\nthree\n',
      maxChars: 11,
      want: ['one\n\ntwo\n\n', 'three\n'],
    },
    {
      name: 'a fence within a list that is too long',
      markdown: '- one\n- two\n\n  ```\n  a\n\n  b\n  ```\n- three\n',
      maxChars: 24,
      want: ['- one\n- two\n\n', '  ```\n  a\n\n  b\n  ```\n', '- three\n'],
    },
    {
      name: 'a fence that alone is too long is cut between its lines',
      markdown: '```\naaaa\nbbbb\ncccc\n```\nend\n',
      maxChars: 12,
      want: ['```\naaaa\n', 'bbbb\ncccc\n', '```\nend\n'],
    },
    { name: 'one long line', markdown: 'abcdefgh', maxChars: 3, want: ['abc', 'def', 'gh'] },
    { name: 'never within a character', markdown: 'a🎉b', maxChars: 2, want: ['a', '🎉', 'b'] },
    {
      name: 'other ends of lines',
      markdown: 'one\r\n\r\ntwo\r\n',
      maxChars: 8,
      want: ['one\r\n\r\n', 'two\r\n'],
    },
    {
      name: 'control characters count',
      markdown: 'a\u0001\u0001b\n\nc\n',
      maxChars: 6,
      want: ['a\u0001\u0001b\n\n', 'c\n'],
    },
    { name: 'nothing', markdown: '', maxChars: 5, want: [''] },
  ];
  for (const { name, markdown, maxChars, want } of cases)
    t.strictSame(
      pagesOf(partsOf(markdown), maxChars).map((page) => page.markdown),
      want,
      name,
    );
  t.end();
});

t.test('sections', (t) => {
  const markdown =
    'Before.\n\n# One\n\nA.\n\n## Part\n\n```\n# no heading\n```\n\n### Deep *one*\n\nB.\n\n## Part\n\nC.\n\nTwo\n===\n\nD.\n\n> # Quoted\n';
  const parts = partsOf(markdown);
  const section = (wanted: string) => {
    const found = tryFindSection(parts.sections, wanted);
    return found && markdown.slice(found.start, found.end);
  };
  t.strictSame(
    parts.sections.map(({ id }) => id),
    ['one', 'part', 'deep-one', 'part-1', 'two'],
  );
  const cases: readonly { name: string; wanted: string; begins: string; ends: string }[] = [
    { name: 'with its subsections', wanted: 'one', begins: '# One', ends: 'C.\n\n' },
    { name: 'by its text', wanted: 'Deep one', begins: '### Deep *one*', ends: 'B.\n\n' },
    { name: 'as it is written', wanted: '### Deep *one*', begins: '### Deep *one*', ends: 'B.\n\n' },
    { name: 'the first of two', wanted: 'Part', begins: '## Part\n\n```', ends: 'B.\n\n' },
    { name: 'the second by its id', wanted: '#part-1', begins: '## Part\n\nC', ends: 'C.\n\n' },
    { name: 'in capitals', wanted: 'TWO', begins: 'Two\n===', ends: 'Quoted\n' },
  ];
  for (const { name, wanted, begins, ends } of cases) {
    t.ok(section(wanted)?.startsWith(begins), `${name}: its beginning`);
    t.ok(section(wanted)?.endsWith(ends), `${name}: its end`);
  }
  t.equal(section('no heading'), undefined, 'what stands in code is none');
  t.equal(section(''), undefined);
  t.strictSame(nearHeadings(parts.sections, 'prat', 2)[0], 'Part');
  t.strictSame(nearHeadings(parts.sections, 'entirely else', 2), ['One', 'Part'], 'or the first ones');
  t.end();
});

t.test('a long document takes time in proportion', (t) => {
  const texts = ['# a\n', 'a\n\n', '- a\n', '> a\n\n', '```\na\n```\n', 'a', '|a|\n|-|\n\n', '\r\n'];
  for (const piece of texts) {
    const parts = partsOf(piece.repeat(15_000));
    const pages = pagesOf(parts, 20_000).map((page) => page.markdown);
    t.equal(pages.join('').length, piece.length * 15_000, JSON.stringify(piece));
  }
  t.end();
});
