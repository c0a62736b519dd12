import { readdirSync, readFileSync } from 'node:fs';
import { open, realpath, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import type { Token } from 'marked';
import t from 'tap';
import { parseCollectionFile } from '../../docs-service/content/collectionFile.ts';
import { isOpenedAt } from '../../docs-service/content/contentPlaces.ts';
import { parseDocumentFile } from '../../docs-service/content/documentFile.ts';
import { readFrontMatter } from '../../docs-service/content/frontMatter.ts';
import { resolveLink } from '../../docs-service/content/links.ts';
import { isSlug, trySlug } from '../../docs-service/content/slug.ts';
import { findWrittenLinks } from '../../docs-service/content/writtenLinks.ts';
import {
  childrenOf,
  type MarkdownDocument,
  parseMarkdown,
} from '../../docs-service/formats/markdown/markdown.ts';
import { ContentError } from '../../protocol/base/contentError.ts';
import { parseFrontMatter } from '../../protocol/base/frontMatter.ts';
import { anyText } from '../support/anyText.ts';
import { where } from '../support/systems.ts';
import { temporaryFolder, writeFiles } from '../support/temporaryFolder.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const now = Date.parse('2026-11-28T12:00:00Z');
const parse = (text: string, path = 'notes/First note.md', future = false) =>
  parseDocumentFile(path, bytes(text), { now, future });

t.test('a document is what its front matter says', async (t) => {
  const cases: readonly { name: string; text: string; want: object }[] = [
    {
      name: 'every field',
      text: [
        '---',
        'title: How to begin',
        'slug: begin',
        'type: guide',
        'tags: [First steps, { slug: mac-os, title: macOS }]',
        'date: 2026-11-21',
        'updated: 2026-11-22T09:30:00+01:00',
        'draft: true',
        'lang: ZH-hans',
        'authors: [Ada, Grace]',
        'description: |',
        '  Two',
        '  lines.',
        'cover: pictures/cover.png',
        'color: blue',
        '---',
        '# Another heading',
      ].join('\n'),
      want: {
        title: 'How to begin',
        slug: 'begin',
        type: 'guide',
        tags: [
          { slug: 'first-steps', title: 'First steps' },
          { slug: 'mac-os', title: 'macOS' },
        ],
        date: '2026-11-21',
        updated: '2026-11-22T09:30:00+01:00',
        draft: true,
        lang: 'zh-Hans',
        authors: ['Ada', 'Grace'],
        description: 'Two lines.',
        cover: 'pictures/cover.png',
        body: '# Another heading',
      },
    },
    {
      name: 'no front matter: the slug is from the name of the file, the title from the first heading of the first level',
      text: 'Words.\n\n## Not this\n\n# The *first* heading\n\n# Another',
      want: {
        slug: 'first-note',
        title: 'The first heading',
        type: null,
        tags: [],
        date: null,
        draft: false,
      },
    },
    { name: 'no heading: the title is the name of the file', text: 'Words.', want: { title: 'First note' } },
    {
      name: 'a heading in raw HTML that begins the text',
      text: '<h1 align="center">\n  <a href="x"><img alt="Logo" src="x.png"></a>\n  Fast &amp;<br>low\n</h1>\n\n## Server',
      want: { title: 'Fast & low' },
    },
    {
      name: 'a heading of a picture alone',
      text: '<div>\n<h1><img src="x.png" alt="The name"></h1>\n</div>\n\n# Other',
      want: { title: 'The name' },
    },
    {
      name: 'a heading in raw HTML later',
      text: 'Words.\n\n<h1>Later</h1>\n\n# Server',
      want: { title: 'Later' },
    },
    { name: 'a heading in a fence is none', text: '```\n# code\n```\n', want: { title: 'First note' } },
    { name: 'a byte order mark is no part of the text', text: '\ufeffB', want: { body: 'B' } },
    {
      name: 'a title with markup, and one with names that only look like it',
      text: '---\ntitle: "The **`run`** command <Badge new /> {#run}"\ndescription: ""\nauthors: [Ada]\n---\n',
      want: { title: 'The run command', description: null },
    },
    {
      name: 'a title of names',
      text: '---\ntitle: __init__ of Map<T>\n---\n',
      want: { title: '__init__ of Map<T>' },
    },
    {
      name: 'a title of several lines',
      text: '---\ntitle: "A\\n  B"\n---\n',
      want: { title: 'A B' },
    },
    { name: 'line ends of Windows', text: '---\r\ntitle: A\r\n---\r\nB', want: { title: 'A', body: 'B' } },
    {
      name: 'numbers are the texts that were written',
      text: '---\ntitle: 1.10\nslug: 007\ntype: 0x1F\ntags: [1_000, 2.0]\nauthors: 1e3\n---\n',
      want: {
        title: '1.10',
        slug: '007',
        type: '0x1F',
        tags: [
          { slug: '1-000', title: '1_000' },
          { slug: '2-0', title: '2.0' },
        ],
        authors: ['1e3'],
      },
    },
    {
      name: 'a heading far behind the beginning',
      text: `${'word '.repeat(20_000)}\n\n# Far`,
      want: { title: 'First note' },
    },
    { name: 'a title that YAML reads as a number', text: '---\ntitle: 2026\n---\n', want: { title: '2026' } },
    {
      name: 'one tag and one author without a list',
      text: '---\ntags: News\nauthors: Ada\n---\n',
      want: { tags: [{ slug: 'news', title: 'News' }], authors: ['Ada'] },
    },
    {
      name: 'a tag that comes twice',
      text: '---\ntags: [News, news]\n---\n',
      want: { tags: [{ slug: 'news', title: 'News' }] },
    },
    {
      name: 'a time without a zone is UTC',
      text: '---\ndate: 2026-11-21 09:30\n---\n',
      want: { date: '2026-11-21T09:30Z' },
    },
    {
      name: 'keys without a value',
      text: '---\ntitle:\ntags:\ndate:\n---\n# A',
      want: { title: 'A', tags: [], date: null },
    },
    { name: 'an empty front matter', text: '---\n---\n# A', want: { title: 'A', body: '# A' } },
    { name: 'a rule later in the text', text: 'A\n\n---\n\nB', want: { body: 'A\n\n---\n\nB' } },
  ];
  for (const { name, text, want } of cases)
    t.test(name, async (t) => {
      const { document, warnings } = parse(text);
      t.match(document, want);
      t.strictSame(warnings, []);
      t.match(document.contentHash, /^[0-9a-f]{64}$/);
    });
});

t.test('dates in other usual forms are read, with a warning', async (t) => {
  const cases: Readonly<Record<string, string>> = {
    '2026/01/05': '2026-01-05',
    '2026.1.5': '2026-01-05',
    '2026-1-5': '2026-01-05',
    20260105: '2026-01-05',
    '20260105T0930': '2026-01-05T09:30:00Z',
    '20260105T093015Z': '2026-01-05T09:30:15Z',
    '5 January 2026': '2026-01-05',
    '5. January 2026': '2026-01-05',
    '5th of January, 2026': '2026-01-05',
    'Jan 5, 2026': '2026-01-05',
    'january 5 2026': '2026-01-05',
    '05-Sept-2026': '2026-09-05',
    '2026 Dec 31': '2026-12-31',
    'Mon, 05 Jan 2026 09:30:15 +0100': '2026-01-05T09:30:15+01:00',
    'Monday, January 5, 2026 at 9:30 p.m. UTC': '2026-01-05T21:30Z',
    '2026/01/05 12:05 AM': '2026-01-05T00:05Z',
    '25/12/2026': '2026-12-25',
    '12/25/2026': '2026-12-25',
    '25.12.2026': '2026-12-25',
    '05/05/2026': '2026-05-05',
  };
  for (const [written, want] of Object.entries(cases)) {
    const { document, warnings } = parse(`---\ntitle: A\ndate: ${written}\n---\n`, 'a.md', true);
    t.match(document, { date: want, draft: false }, written);
    t.strictSame(warnings, [
      {
        kind: 'value',
        line: 3,
        message: `"date" was read as ${want}. Write it in this form.`,
        about: 'date',
      },
    ]);
  }
});

t.test('other spellings of draft are read, with a warning', async (t) => {
  const cases = { yes: true, On: true, '"true"': true, 1: true, no: false, off: false, 0: false };
  for (const [written, want] of Object.entries(cases)) {
    const { document, warnings } = parse(`---\n# A comment\ndraft: ${written}\n---\n`);
    t.equal(document.draft, want, written);
    t.strictSame(warnings, [
      { kind: 'draft', line: 3, message: `"draft" was read as ${want}. Write "draft: ${want}".` },
    ]);
  }
  const { warnings } = parse('---\nupdated: 2026/01/02\ndraft: no\ndate: 2026/01/01\n---\n');
  t.strictSame(
    warnings.map(({ line, message }) => `${line} ${message.split(' ')[0]}`),
    ['2 "updated"', '3 "draft"', '4 "date"'],
  );
});

t.test('a document is a draft if any program would hold it back', async (t) => {
  const cases: readonly (readonly [written: string, draft: boolean, warning?: RegExp])[] = [
    ['date: 2026-02-30', false, /"date" was left out: it must be a date that exists, such as 2026-11-21/],
    ['date: 2026-02-03T25:00Z', false, /"date" .* must be a date that exists/],
    ['date: never', false, /"date"/],
    ['date: 2026', false, /"date"/],
    ['date: 1/2/26', false, /"date"/],
    ['date: [2026-01-01]', false, /"date"/],
    ['date: 05/06/2026', false, /must be 2026-05-06 or 2026-06-05: "05\/06\/2026" may mean either/],
    ['date: 05/12/2026', true, /must be 2026-05-12 or 2026-12-05/],
    ['date: Spring 2027', true, /"date" is in the future/],
    ['updated: 05.06.2027', false, /"updated" was left out: it must be 2027-05-06 or 2027-06-05/],
    ['draft: maybe', true, /"draft" must be true or false\. Until then the document is a draft\./],
    ['draft: []', true, /"draft" must be true or false/],
    ['draft: ""', true, /"draft" must be true or false/],
    ['draft:', false],
    ['Draft: true', true],
    ['params: { draft: true }', true],
    ['draft: false\nDRAFT: true', true],
    ['published: false', true],
    ['publish: no', true, /"publish" was read as false/],
    ['published: true', false],
    ['published: 2026-01-01', false],
    ['published: 2027-01-01\ndraft: false', true, /"published" is in the future/],
    ['published: soon', true, /"published" must be true or false/],
    ['build: { render: never }', true],
    ['_build: { render: false }', true],
    ['build: { list: never }', false],
    ['headless: true', true],
    ['date: 2020-01-01\npublishDate: 2027-02-01', true, /"publishDate" is in the future/],
    ['date: 2026-11-29', false],
    ['date: 2026-11-30', true, /"date" is in the future/],
    ['date: 2026-11-28T12:00:01Z', true, /"date" is in the future/],
    ['date: 2026-11-28 17:30 +0530', false],
    ['expiryDate: 2026-11-28', true, /"expiryDate" is over/],
    ['expiryDate: 2026-11-30', false],
    ['unpublishdate: soon', true, /"unpublishDate" is over, or is not clear/],
    ['title: [\ndraft: true', true, /not valid YAML/],
    ['title: [\nparams:\n  draft: true', true, /not valid YAML/],
    ['title: [\n"publish_date": 2027-01-01', true, /not valid YAML/],
    ['title: [\n  publish_date: 2026-01-01 # past', false, /not valid YAML/],
    ['title: [\n  draft: false', false, /not valid YAML/],
    ['draft: true\ndraft: false', true, /the key "draft" occurs twice\. Each key was read by itself\./],
  ];
  for (const [written, draft, warning] of cases) {
    const { document, warnings } = parse(`---\n${written}\n---\n# Text`);
    t.match(document, { draft, title: 'Text' }, written);
    t.match(warnings.map(({ message }) => message).join('\n'), warning ?? /^$/, written);
  }
  const held = '---\ndate: 2027-01-01\nexpiryDate: 2028-01-01\n---\n';
  t.match(parse(held), { document: { draft: true }, due: Date.parse('2026-12-31T10:00:00Z') });
  t.match(
    parse(held, 'a.md', true),
    { document: { draft: false }, warnings: [] },
    'dates in the future are served',
  );
  t.equal(parse('Text', 'a/_drafts/b.md').document.draft, true);
  t.match(parse('Text', '2027-01-01-a.md').document, { draft: true, date: '2027-01-01' });
  t.match(parse('---\ndate: 2020-01-01\n---\n', '2027-01-01-a.md').document, {
    draft: false,
    date: '2020-01-01',
  });
  // Were it read again from each of its places, the test would not end.
  t.match(parse(`---\ndate: "${' 1'.repeat(8_000)}"\n---\n`).warnings, [{ message: /"date" was left out/ }]);
});

t.test('front matter of other programs is read', async (t) => {
  const cases: readonly {
    name: string;
    text: string;
    path?: string;
    want: object;
    warned?: readonly RegExp[];
  }[] = [
    {
      name: 'TOML, as Hugo has it',
      text: '+++\ntitle = "Quiet pumps"\ndate = 2024-03-05T08:00:00+01:00\nlastmod = 2024-03-06\ndraft = false\ntags = ["Water", "Noise"]\n[params]\nauthor = "Ina Holt"\n+++\n\nBody text.',
      want: {
        ...{ title: 'Quiet pumps', date: '2024-03-05T08:00:00+01:00', updated: '2024-03-06', draft: false },
        ...{ tags: [{ title: 'Water' }, { title: 'Noise' }], authors: ['Ina Holt'], body: '\nBody text.' },
      },
    },
    {
      name: 'a draft in TOML',
      text: "+++\ntitle = 'Not yet'\ndraft = true\n+++\nSecret.",
      want: { draft: true },
    },
    {
      name: 'TOML that does not parse',
      text: '+++\ntitle = \n+++\nText.',
      want: { title: 'First note', body: '+++\ntitle = \n+++\nText.', draft: false },
      warned: [/^Invalid TOML document: .*\. It is read as text\.$/],
    },
    {
      name: 'TOML that does not parse, of a draft',
      text: '+++\nx = \ndraft = true\n+++\n',
      want: { draft: true },
      warned: [/TOML/, /may hold it back/],
    },
    {
      name: 'JSON',
      text: '{\n  "title": "Braces {inside}",\n  "weight": 2,\n  "draft": true\n}\n\n# Braces {inside}',
      want: { title: 'Braces {inside}', draft: true, body: '\n# Braces {inside}' },
    },
    {
      name: 'JSON between lines',
      text: '---json\n{ "title": "A", "draft": true }\n---\nB',
      want: { title: 'A', draft: true, body: 'B' },
    },
    { name: 'TOML between lines', text: '---toml\ntitle = "A"\n---\nB', want: { title: 'A', body: 'B' } },
    {
      name: 'what is no JSON',
      text: '{ not json\n\n# Real title',
      want: { title: 'Real title', body: '{ not json\n\n# Real title' },
    },
    {
      name: 'JSON that does not parse, of a draft',
      text: '{"title": "A", "draft": true,}\n',
      want: { draft: true, title: 'First note' },
      warned: [/JSON/, /may hold it back/],
    },
    {
      name: 'lines of MultiMarkdown',
      text: 'Title:   Seals\nSummary: How seals\n    age.\nAuthors: Ina Holt\nDate: 2023-02-01\n\nText.',
      want: {
        title: 'Seals',
        description: 'How seals age.',
        authors: ['Ina Holt'],
        date: '2023-02-01',
        body: 'Text.',
      },
    },
    {
      name: 'prose that begins like them',
      text: 'Title: what it is\nis not clear.',
      want: { body: 'Title: what it is\nis not clear.', draft: false },
    },
    {
      name: 'after a comment',
      text: '<!-- licence -->\n\n---\ntitle: Late\nDraft: true\n---\nText.',
      want: { title: 'Late', draft: true, body: 'Text.' },
      warned: [/^The front matter is not at the beginning of the file/],
    },
    {
      name: 'after a byte order mark',
      text: '\ufeff---\ntitle: A\n---\nB',
      want: { title: 'A', body: 'B' },
      warned: [/not at the beginning/],
    },
    {
      name: 'a rule that begins the text',
      text: '---\n\n# Notes of May\n\nFirst.\n\n---\n\nSecond.',
      want: {
        title: 'Notes of May',
        draft: false,
        body: '---\n\n# Notes of May\n\nFirst.\n\n---\n\nSecond.',
      },
      warned: [/^The "---" begins no front matter, because the lines after it are not "key: value"/],
    },
    {
      name: 'a rule alone',
      text: '---\n# A',
      want: { title: 'A', body: '---\n# A' },
      warned: [/no line "---" closes it/],
    },
    {
      name: 'no end, of a draft',
      text: '---\ntitle: A\ndraft: true\n\nText.',
      want: { draft: true },
      warned: [/closes it/, /may hold it back/],
    },
    {
      name: 'YAML that does not parse',
      text: '---\ntitle: Part two: the valve\ntags: [a, b]\nbadge: {{ site.version }}\ntype: "x\n---\nText.',
      want: {
        title: 'Part two: the valve',
        tags: [{ slug: 'a' }, { slug: 'b' }],
        type: null,
        draft: false,
        body: 'Text.',
      },
      warned: [/^The front matter is not valid YAML: .* Each key was read by itself\.$/],
    },
    {
      name: 'YAML that does not parse, of a draft',
      text: '---\ntitle: [open\ndraft: soon\n---\nText.',
      want: { title: 'First note', draft: true },
      warned: [/the \[ in line 2 has no closing \]/, /"draft" must be/],
    },
    {
      name: 'Docusaurus',
      path: 'guide/03-tune.md',
      text: '---\nid: tuning\ntitle: Tune the pump\nslug: /Guides/Tuning_It\ntags:\n  - label: Fine work\n    permalink: /fine\n  - Valves\nlast_update:\n  date: 5/6/2024\n---\nText.',
      want: {
        title: 'Tune the pump',
        slug: 'tuning-it',
        tags: [{ slug: 'fine-work', title: 'Fine work' }, { slug: 'valves' }],
        updated: null,
        draft: false,
      },
      warned: [/"slug" is no slug.* "tuning-it"/, /"last_update.date" was left out/],
    },
    {
      name: 'the page of a folder',
      path: 'intro.md',
      text: '---\nslug: /\n---\n# Welcome',
      want: { slug: 'intro', aliases: ['/'] },
      warned: [],
    },
    {
      name: 'Starlight',
      text: '---\ntitle: Cards\nlastUpdated: 2025-01-09\nhero: { tagline: x }\n---\n',
      want: { title: 'Cards', updated: '2025-01-09' },
    },
    { name: 'Starlight without a date', text: '---\nlastUpdated: false\n---\n', want: { updated: null } },
    {
      name: 'tags and authors in any form',
      text: '---\ntags: alpha, Beta gamma\ncategory: Tools/Small\nauthors:\n  - name: Ina Holt\n    url: https://ina.example/\n  - Bo Lind\nlang: en_US\n---\n',
      want: {
        tags: [{ slug: 'alpha' }, { title: 'Beta gamma' }, { slug: 'tools-small' }],
        ...{ authors: ['Ina Holt', 'Bo Lind'], lang: 'en-US' },
      },
    },
    {
      name: 'a post of Jekyll',
      path: '_posts/2023-01-29-cold-start.md',
      text: '---\nlayout: post\nauthor: ina\ncategories: news pumps\n---\nCold.',
      want: {
        date: '2023-01-29',
        authors: ['ina'],
        tags: [{ slug: 'news' }, { slug: 'pumps' }],
        draft: false,
      },
    },
    {
      name: 'the next key, if a value cannot be used',
      text: '---\nlang: no such one\nlocale: de_CH\n---\n',
      want: { lang: 'de-CH' },
      warned: [/"lang" was left out: it must be a language tag/],
    },
    {
      name: 'a key of every object',
      text: '{"__proto__": {"title": "A"}, "constructor": 1}\nB',
      want: { title: 'First note', body: 'B' },
    },
  ];
  for (const { name, text, path, want, warned = [] } of cases)
    t.test(name, async (t) => {
      const { document, warnings } = parse(text, path);
      t.match(document, want);
      t.equal(warnings.length, warned.length, JSON.stringify(warnings));
      t.match(
        warnings.map(({ message }) => message),
        warned,
      );
    });
});

t.test('a value that cannot be used never hides its file', async (t) => {
  const cases: readonly { name: string; text: string; want: RegExp }[] = [
    {
      name: 'an unclosed text',
      text: '---\ntitle: "A\ntype: b\nslug: c\n---\n',
      want: /not valid YAML: the " in line 2 has no closing "\./,
    },
    {
      name: 'a text with its quote in it',
      text: "---\ntype: a\ntitle: 'it's'\n---\n",
      want: /not valid YAML: Unexpected .*in line 3\./,
    },
    {
      name: 'more than a line of YAML needs',
      text: '---\ntitle: [A,,]\n---\n',
      want: /not valid YAML: Unexpected , .*in line 2\./,
    },
    { name: 'two documents', text: '---\na: b\n--- c\n---\n', want: /second document/ },
    { name: 'brackets', text: `---\na: ${'['.repeat(16_000)}\n---\n`, want: /more than 50 levels/ },
    {
      name: 'lists in lists',
      text: `---\na: ${'['.repeat(30)}${']'.repeat(30)}\n---\n`,
      want: /more than 20 levels/,
    },
    { name: 'JSON in JSON', text: `${'{"a":'.repeat(30)}1${'}'.repeat(30)}\n`, want: /more than 20 levels/ },
    { name: 'commas', text: `---\na: [${','.repeat(16_000)}\n---\n`, want: /too long\. Remove unused keys/ },
    {
      name: 'thousands of keys',
      text: `---\n${Array.from({ length: 1_500 }, (_, at) => `k${at}: a\n`).join('')}---\n`,
      want: /too long\. Remove unused keys/,
    },
    { name: 'a list', text: '---\n- title\n---\n', want: /"key: value"/ },
    {
      name: 'a slug that leads elsewhere',
      text: '---\nslug: ../etc\n---\n',
      want: /"slug" is no slug.* "etc"/,
    },
    { name: 'a slug that hides a PDF', text: '---\nslug: guide.pdf\n---\n', want: /"guide-pdf"/ },
    { name: 'a slug of nothing', text: '---\nslug: "?"\n---\n', want: /"slug" was left out/ },
    {
      name: 'tags that have no name',
      text: '---\ntags: [[1]]\n---\n',
      want: /"tags" was read without \["1"\]/,
    },
    { name: 'authors that have no name', text: '---\nauthors: [{}]\n---\n', want: /"authors" was left out/ },
    { name: 'two wrong keys', text: '---\ntitle: []\ntype: [A]\n---\n', want: /"title".*\n.*"type"/ },
    {
      name: 'aliases that grow',
      text: `---\na: &a [x,x,x,x,x,x,x,x,x]\n${[...'bcdefghi'].map((key, at) => `${key}: &${key} [${Array(9).fill(`*${'abcdefghi'[at]}`)}]\n`).join('')}---\n`,
      want: /cannot be read/,
    },
    {
      name: 'a front matter without an end',
      text: `---\n${'a: b\n'.repeat(20_000)}`,
      want: /within 16384 characters/,
    },
    ...['../secret.png', '/etc/hostname', 'file:///etc/hostname', 'https://example.org/a.png', '[7]'].map(
      (cover) => ({
        name: `a cover at ${cover}`,
        text: `---\ncover: ${cover}\n---\n`,
        want: /"cover" was left out/,
      }),
    ),
  ];
  for (const { name, text, want } of cases)
    t.test(name, async (t) => {
      const { document, warnings } = parse(text);
      t.match(warnings.map(({ message }) => message).join('\n'), want);
      t.match(document, { title: 'First note', cover: null, draft: false });
    });
  t.throws(() => parseDocumentFile('a.md', new Uint8Array([0x41, 0xff]), { now, future: false }), {
    message: /not valid UTF-8/,
  });
  t.equal(parse('A', 'x/---.md').document.slug, 'unnamed');
  t.equal(parse(`---\ntags: [${'[],'.repeat(900)}]\n---\n`).warnings.length, 20);
});

t.test('a collection is what its file says', async (t) => {
  const cases: readonly { name: string; text: string; want: object | RegExp }[] = [
    {
      name: 'a list',
      text: 'name: book\ntitle: A book\ndocs: [b, a]\norder: title\nauthor: Ada\nlang: de\ncover: c.png\ndescription: Words.',
      want: {
        name: 'book',
        title: 'A book',
        docs: ['b', 'a'],
        order: 'title',
        author: 'Ada',
        lang: 'de',
        cover: 'c.png',
        description: 'Words.',
      },
    },
    {
      name: 'a query',
      text: 'query: { type: guide, tag: news }',
      want: { name: 'the-book', title: 'the-book', docs: { type: 'guide', tag: 'news' }, order: 'listed' },
    },
    { name: 'a query in docs', text: 'docs: { tag: news }', want: { docs: { tag: 'news' } } },
    {
      name: 'a plain list with comments, before and behind other keys',
      text: 'title: A\n\ndocs: # all\n- 007\n\n  - b-2 # why\n# more\n- true\norder: date\r\n',
      want: { title: 'A', docs: ['007', 'b-2', 'true'], order: 'date' },
    },
    { name: 'a list that is not plain', text: 'docs:\n- a\n- "b"\n', want: { docs: ['a', 'b'] } },
    { name: 'a list behind a plain one', text: 'docs:\n- a\ndocs: [b]', want: /"docs" occurs twice/ },
    { name: 'a mistake behind the list', text: 'docs:\n- a\n- b\nx: [,]', want: /YAML.*in line 4/ },
    {
      name: 'a list of thousands',
      text: `docs:\n${'- a-slug-such-as-this\n'.repeat(2_500)}`,
      want: { docs: Array.from({ length: 2_500 }, () => 'a-slug-such-as-this') },
    },
    {
      name: 'more slugs than a book has',
      text: `docs:\n${'- a\n'.repeat(5_001)}`,
      want: /at most 5000 slugs/,
    },
    { name: 'a long list in brackets', text: `docs: [${'a,'.repeat(9_000)}]`, want: /one "- value" a line/ },
    { name: 'a large file', text: `docs:\n${'- a\n'.repeat(17_000)}`, want: /at most 65536 bytes/ },
    {
      name: 'thousands of keys',
      text: Array.from({ length: 4_000 }, (_, at) => `key${at}: a`).join('\n'),
      want: /too long/,
    },
    { name: 'neither', text: 'name: book', want: /"docs" must be a list/ },
    { name: 'both', text: 'docs: [a]\nquery: { tag: b }', want: /"docs" must be a list/ },
    { name: 'an empty query', text: 'query: {}', want: /must have "type" or "tag"/ },
    { name: 'an unknown order', text: 'docs: [a]\norder: random', want: /"order" must be one of/ },
    { name: 'an unsafe slug', text: 'docs: [../a]', want: /"docs/ },
    { name: 'no map', text: '[a]', want: /"key: value"/ },
  ];
  for (const { name, text, want } of cases)
    t.test(name, async (t) => {
      const run = () => parseCollectionFile('collections/The book.yaml', bytes(text)).collection;
      if (want instanceof RegExp) t.throws(run, { name: 'ContentError', message: want });
      else t.match(run(), want);
    });
});

t.test('any text can be read in little time, and nothing of it is lost', async () => {
  const pieces = [
    '---',
    '+++',
    '...',
    '{',
    '}',
    '"',
    'title: A',
    'Draft: true',
    'a = 1',
    '"b": [',
    '# H',
    '',
    '\t- x',
    '<!--',
    '-->',
    '\ufeff',
    '\u0000',
    '__proto__: {a: b}',
    'a: &a *a',
  ];
  const lines = fc.array(fc.constantFrom(...pieces), { maxLength: 12 });
  fc.assert(
    fc.property(
      fc.oneof(
        lines.map((some) => some.join('\n')),
        anyText(),
      ),
      (text) => {
        const { document, warnings } = parse(text);
        return (
          text.endsWith(document.body) &&
          warnings.every(({ line }) => line >= 1 && line <= text.split('\n').length)
        );
      },
    ),
  );
  // Were anything of it not linear, the test would not end.
  for (const piece of [...pieces, '}', '[a]', 'a: b: c'])
    for (const start of ['', '---\n', '+++\n', '{', '---\na: [\n', '---\ndate: '])
      readFrontMatter(`${start}${piece.repeat(200_000 / (piece.length || 1))}\n---\n`);
});

t.test('every slug can be an address', async (t) => {
  const cases: readonly [string, string | undefined][] = [
    ['How to begin?', 'how-to-begin'],
    ['Ünïcode & Co.', 'ünïcode-co'],
    ['文書を検索する', '文書を検索する'],
    ['a__b--c', 'a-b-c'],
    ['???', undefined],
    ['guide.pdf', 'guide-pdf'],
    ['a'.repeat(100), 'a'.repeat(100)],
    ['a'.repeat(101), 'a'.repeat(100)],
    [`${'a'.repeat(99)} b`, 'a'.repeat(99)],
    ['𠮷'.repeat(50), '𠮷'.repeat(50)],
    [`a${'𠮷'.repeat(50)}`, `a${'𠮷'.repeat(49)}`],
  ];
  for (const [text, want] of cases) t.equal(trySlug(text), want, text);
  fc.assert(
    fc.property(anyText({ maxLength: 300 }), (text) => {
      const slug = trySlug(text);
      return slug === undefined || (isSlug(slug) && trySlug(slug) === slug && !/[/?#%\s]/.test(slug));
    }),
  );
  t.ok(isSlug('é'.repeat(100)));
  for (const bad of [
    '',
    '.',
    '..',
    'a/b',
    'A',
    'a--b',
    '-a',
    'a-',
    'a b',
    'x.epub',
    'x.md',
    'x.html',
    'é'.repeat(101),
    'a\n',
  ])
    t.notOk(isSlug(bad), JSON.stringify(bad));
});

t.test('an open file is compared with the path that was checked', where('links'), async (t) => {
  const folder = await realpath(await temporaryFolder(t, { 'inside/a.md': 'a', 'outside/a.md': 'b' }));
  const checked = join(folder, 'inside/a.md');
  const opened = async (path: string) => {
    const handle = await open(path);
    t.teardown(() => handle.close());
    return handle.fd;
  };
  const inside = await opened(checked);
  t.ok(isOpenedAt(inside, checked));
  await rename(join(folder, 'inside'), join(folder, 'away'));
  await symlink('outside', join(folder, 'inside'));
  t.notOk(isOpenedAt(await opened(checked), checked), 'a link was put into the path before it was opened');
  await rm(join(folder, 'inside'));
  await rename(join(folder, 'away'), join(folder, 'inside'));
  await writeFiles(folder, { 'inside/new.md': 'c' });
  await rename(join(folder, 'inside/new.md'), checked);
  t.ok(isOpenedAt(inside, checked), 'an editor has replaced the file since it was opened');
});

t.test('links and pictures are found with their lines, and code has none', (t) => {
  const text = [
    '---\r',
    'title: A\r',
    '---\r',
    '# One\r',
    '[a](a.md "title") ![b](b.png) [c](<c d.md>) [e](e%20f.md)\r',
    '[ref] [text][Ref] [text][] [no]\r',
    '',
    '> [quoted][ref] and [![in](in.png)](out.md)\r',
    '- item [g](g_(h).md)\r',
    '',
    '      [code](code.md) in the item',
    '',
    '`[x](x.md)` ``[x](`x.md)`` \\[x](x.md) [x\\](x.md) <!-- [x](x.md)',
    '[x](x.md) --> <a href="raw.md">raw</a> <img src=\'raw.png\'> [x](https://example.org) [x](../out.md)',
    '~~~',
    '[x](x.md)',
    '~~~',
    '',
    '    [x](x.md)',
    '',
    '[two',
    'lines](two.md) [self](#one) [end](#)',
    '',
    '[ref]: ref.md',
    '[^1]: [note](note.md)',
  ].join('\n');
  const { links } = parse(text, 'page.md');
  t.strictSame(
    links.links.map(({ line, href, isPicture }) => `${line} ${href}${isPicture ? ' picture' : ''}`),
    [
      '5 a.md',
      '5 b.png picture',
      '5 c d.md',
      '5 e%20f.md',
      '6 ref.md',
      '6 ref.md',
      '8 ref.md',
      '8 out.md',
      '8 in.png picture',
      '9 g_(h).md',
      '14 raw.md',
      '14 raw.png picture',
      '21 two.md',
      '22 #one',
      '25 note.md',
    ],
  );
  t.end();
});

t.test('the anchors of a file are those of its headings and of its raw HTML', (t) => {
  const text = [
    '# One *two* `three_four`',
    '# One',
    '## One ##',
    '> ### Quoted [link](x.md)',
    '- ## In a list',
    'Under',
    'lined',
    '---',
    '# Über <b>x</b> &amp; [y][z] [^1]',
    '```',
    '# Code',
    '```',
    '<!-- # Hidden -->',
    '<a name="raw"></a><p id=other>',
    '# !',
  ].join('\n');
  const raw = parse('<h1 align="center">Fast &amp; <b>small</b></h1>\n\n## Fast & small\n').links;
  t.strictSame(raw.anchors, ['fast--small', 'fast--small-1']);
  const { anchors } = parse(text).links;
  const want = 'raw other one-two-three_four one one-1 quoted-link in-a-list under-lined über-x--y section';
  t.strictSame([...(anchors ?? [])].sort(), want.split(' ').sort());
  t.end();
});

t.test('finding links takes linear time for any text, and is bounded', (t) => {
  const pieces = [
    '[',
    '![',
    '](',
    '`',
    '``` ',
    '<!-- ',
    '<pre>',
    '<a ',
    '[a]: ',
    '# [',
    '> ',
    '- ',
    '\\',
    '](a "',
    '[a](b)',
  ];
  for (const piece of pieces) {
    const { links, anchors } = parse(piece.repeat(1_000_000 / piece.length)).links;
    t.ok(links.length <= 2_000 && (anchors?.length ?? 0) <= 2_001, piece);
  }
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces, ' ', '\n', '\n\n', 'x', ')')), (parts) => {
      const { links } = parse(parts.join('')).links;
      return links.every(({ line }) => line >= 1);
    }),
  );
  t.end();
});

t.test('the same links are found as by Marked, in these pages and those of other projects', async (t) => {
  const folders = ['docs', 'node_modules/fastify', 'node_modules/undici', 'node_modules/pino'];
  const paths = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
      .map((name) => `${folder}/${name}`),
  );
  t.ok(paths.length > 100);
  for (const path of paths) {
    const { body: text } = parseFrontMatter(readFileSync(path, 'utf8'));
    const { links, anchors } = findWrittenLinks(path, text, (line) => line);
    const parsed = parseMarkdown(text);
    const hrefs = linksOf(parsed).filter((href) => {
      const target = resolveLink(href, path);
      return target.kind === 'inside' || (target.kind === 'fragment' && target.fragment !== '');
    });
    t.strictSame(links.map(({ href }) => href).toSorted(), hrefs.toSorted(), path);
    const ids = parsed.headings.map(({ id }) => id);
    t.strictSame(
      ids.filter((id) => !anchors?.includes(id)),
      [],
      path,
    );
    const lines = text.split('\n');
    const elsewhere = links.filter(({ line }) => !/[[<]/.test(lines[line - 1] ?? ''));
    t.strictSame(elsewhere, [], path);
  }
});

/** The addresses of all links and pictures, in raw HTML too. */
function linksOf({ tokens, footnotes }: MarkdownDocument): readonly string[] {
  const ofTokens = (inner: readonly Token[]): readonly string[] =>
    inner.flatMap((token) => {
      if (token.type === 'footnoteDefinition') return [];
      if (token.type === 'html')
        return Array.from(
          token.raw.matchAll(/<(?:a|img)\s[^<>]*?\b(?:href|src)="([^"]*)"/g),
          ([, href]) => href ?? '',
        );
      const own = token.type === 'link' || token.type === 'image' ? [String(token.href)] : [];
      return [...own, ...childrenOf(token).flatMap(ofTokens)];
    });
  return [tokens, ...footnotes.map((footnote) => footnote.tokens)].flatMap(ofTokens);
}

t.test('each field of a file may be as long as its limit, and not one character longer', async (t) => {
  const long = (length: number, start = '') => start.padEnd(length, 'a');
  const list = (count: number, of = (at: number) => `a${at}`) =>
    JSON.stringify(Array.from({ length: count }, (_, at) => of(at)));
  const document = (field: string) => (value: string) => {
    const [warning] = parse(`---\n${field}: ${value}\n---\n`).warnings;
    if (warning !== undefined) throw new ContentError(warning.message);
  };
  const collection = (field: string) => (value: string) =>
    parseCollectionFile('collections/a.yaml', bytes(`query: { tag: a }\n${field}: ${value}\n`));
  const cases: readonly { name: string; read: (value: string) => unknown; most: string; more: string }[] = [
    { name: 'a slug', read: document('slug'), most: long(100), more: long(101) },
    { name: 'a type', read: document('type'), most: long(100), more: long(101) },
    { name: 'a tag', read: document('tags'), most: `[${long(100)}]`, more: `[${long(101)}]` },
    { name: 'a tag alone', read: document('tags'), most: long(100), more: long(101) },
    {
      name: "a tag's title",
      read: document('tags'),
      most: `[{ slug: a, title: ${long(100)} }]`,
      more: `[{ slug: a, title: ${long(101)} }]`,
    },
    { name: 'an author', read: document('authors'), most: long(200), more: long(201) },
    { name: 'a description', read: document('description'), most: long(5_000), more: long(5_001) },
    { name: "a collection's title", read: collection('title'), most: long(500), more: long(501) },
    {
      name: "a collection's description",
      read: collection('description'),
      most: long(5_000),
      more: long(5_001),
    },
    {
      name: "a collection's type",
      read: (type) =>
        parseCollectionFile(
          'a.yaml',
          bytes(`query: { type: ${type} }
`),
        ),
      ...{ most: long(100), more: long(101) },
    },
    { name: "a collection's name", read: collection('name'), most: long(100), more: long(101) },
    { name: "a collection's author", read: collection('author'), most: long(200), more: long(201) },
  ];
  for (const { name, read, most, more } of cases) {
    t.doesNotThrow(() => read(most), `${name}: the most`);
    t.throws(() => read(more), { name: 'ContentError' }, `${name}: one more`);
  }
  t.equal(parse(`---\ntags: ${list(101)}\n---\n`).document.tags.length, 100, 'further tags are left out');
  const coverOf = (length: number) => parse(`---\ncover: ${long(length)}\n---\n`);
  t.match(coverOf(1_000), { document: { cover: long(1_000) }, warnings: [] });
  t.match(coverOf(1_001), { document: { cover: null }, warnings: [{ message: /"cover" was left out/ }] });
  t.equal(parse(`---\nauthors: ${list(101)}\n---\n`).document.authors.length, 100, 'and further authors');
  t.equal(parse(`---\ntitle: ${long(501)}\n---\n`).document.title, long(500), 'a long title is cut');
});
