import { readdirSync, readFileSync } from 'node:fs';
import { open, realpath, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import type { Token } from 'marked';
import t from 'tap';
import { parseCollectionFile } from '../../docs-service/content/collectionFile.ts';
import { isOpenedAt } from '../../docs-service/content/contentFolder.ts';
import { parseDocumentFile } from '../../docs-service/content/documentFile.ts';
import { resolveLink } from '../../docs-service/content/links.ts';
import { isSlug, trySlug } from '../../docs-service/content/slug.ts';
import { findWrittenLinks } from '../../docs-service/content/writtenLinks.ts';
import {
  childrenOf,
  type MarkdownDocument,
  parseMarkdown,
} from '../../docs-service/formats/markdown/markdown.ts';
import { parseFrontMatter } from '../../protocol/base/frontMatter.ts';
import { anyText } from '../support/anyText.ts';
import { temporaryFolder, writeFiles } from '../support/temporaryFolder.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const parse = (text: string, path = 'notes/First note.md') => parseDocumentFile(path, bytes(text));

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
      name: 'no front matter: the slug is from the name of the file, the title from the first heading',
      text: 'Words.\n\n## The *first* heading\n\n# Another',
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
      name: 'a heading in raw HTML later is none',
      text: 'Words.\n\n<h1>Later</h1>\n\n## Server',
      want: { title: 'Server' },
    },
    { name: 'a heading in a fence is none', text: '```\n# code\n```\n', want: { title: 'First note' } },
    {
      name: 'a byte order mark is no part of the text',
      text: '\ufeff---\ntitle: A\n---\nB',
      want: { title: 'A', body: 'B' },
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
      const { document, problem } = parse(text);
      t.match(document, want);
      t.equal(problem, null);
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
    '2026-01-05 09:30:15 +01:00': '2026-01-05T09:30:15+01:00',
    '2026/01/05 12:05 AM': '2026-01-05T00:05Z',
    '25/12/2026': '2026-12-25',
    '12/25/2026': '2026-12-25',
    '25.12.2026': '2026-12-25',
    '05/05/2026': '2026-05-05',
  };
  for (const [written, want] of Object.entries(cases)) {
    const { document, problem, warnings } = parse(`---\ntitle: A\ndate: ${written}\n---\n`);
    t.match({ document, problem }, { document: { date: want, draft: false }, problem: null }, written);
    t.strictSame(warnings, [{ line: 3, message: `"date" was read as ${want}. Write it in this form.` }]);
  }
});

t.test('other spellings of draft are read, with a warning', async (t) => {
  const cases = { yes: true, On: true, '"true"': true, 1: true, no: false, off: false, 0: false };
  for (const [written, want] of Object.entries(cases)) {
    const { document, problem, warnings } = parse(`---\n# A comment\ndraft: ${written}\n---\n`);
    t.match({ document, problem }, { document: { draft: want }, problem: null }, written);
    t.strictSame(warnings, [{ line: 3, message: `"draft" was read as ${want}. Write "draft: ${want}".` }]);
  }
  const { warnings } = parse('---\nupdated: 2026/01/02\ndraft: no\ndate: 2026/01/01\n---\n');
  t.strictSame(
    warnings.map(({ line, message }) => `${line} ${message.split(' ')[0]}`),
    ['2 "updated"', '3 "draft"', '4 "date"'],
  );
});

t.test('a document is a draft while the meaning of its date or draft is unclear', async (t) => {
  const cases: Readonly<Record<string, RegExp>> = {
    'date: 2026-02-30': /"date" must be a date that exists, such as 2026-11-21/,
    'date: 2026-02-03T25:00Z': /"date" must be a date that exists/,
    'date: never': /"date" must be/,
    'date: 2026': /"date" must be/,
    'date: 1/2/26': /"date" must be/,
    'date: 5 Foo 2026': /"date" must be/,
    'date: [2026-01-01]': /"date" must be/,
    'date: 05/06/2026': /"date" must be 2026-05-06 or 2026-06-05: "05\/06\/2026" may mean either/,
    'updated: 05.06.2026': /"updated" must be 2026-05-06 or 2026-06-05/,
    'draft: maybe': /"draft" must be true or false/,
    'draft: []': /"draft" must be true or false/,
    'date: x\ndraft: 3': /"date" must be .*; "draft" must be/,
    'draft: false\ndate: x': /"date" must be/,
  };
  for (const [text, want] of Object.entries(cases)) {
    const { document, problem } = parse(`---\n${text}\n---\n# Text`);
    t.match(document, { draft: true, date: null, updated: null, title: 'Text' }, text);
    t.match(problem, want);
    t.match(problem, /Until then the document is a draft\.$/);
  }
  // Were it read again from each of its places, the test would not end.
  t.match(parse(`---\ndate: "${' 1'.repeat(8_000)}"\n---\n`).problem, /"date" must be/);
});

t.test('an unreadable value is refused with a sentence that names the key', async (t) => {
  const cases: readonly { name: string; text: string; want: RegExp }[] = [
    { name: 'an unclosed front matter', text: '---\ntitle: A\n# B', want: /no closing line/ },
    {
      name: 'an unclosed list',
      text: '---\ntitle: A\ntags: [a,\n  b\ntype: c\n---\n',
      want: /not valid YAML: the \[ in line 3 has no closing \]\./,
    },
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
    { name: 'a key twice', text: '---\ntitle: A\ntitle: B\n---\n', want: /not valid YAML/ },
    {
      name: 'more than a line of YAML needs',
      text: '---\ntitle: [A,,]\n---\n',
      want: /not valid YAML: Unexpected , .*in line 2\./,
    },
    { name: 'two documents', text: '---\na: b\n--- c\n---\n', want: /second document/ },
    { name: 'brackets', text: `---\n${'['.repeat(16_000)}\n---\n`, want: /more than 50 levels/ },
    { name: 'lists in lists', text: `---\n${'- '.repeat(8_000)}\n---\n`, want: /more than 50 levels/ },
    { name: 'commas', text: `---\na: [${','.repeat(16_000)}\n---\n`, want: /too long\. Remove unused keys/ },
    {
      name: 'thousands of keys',
      text: `---\n${Array.from({ length: 1_500 }, (_, at) => `k${at}: a\n`).join('')}---\n`,
      want: /too long\. Remove unused keys/,
    },
    { name: 'a list', text: '---\n- title\n---\n', want: /"key: value"/ },
    { name: 'a slug that leads elsewhere', text: '---\nslug: ../etc\n---\n', want: /"slug" must have only/ },
    { name: 'a slug that hides a PDF', text: '---\nslug: guide.pdf\n---\n', want: /"slug"/ },
    { name: 'a slug in capitals', text: '---\nslug: Guide\n---\n', want: /"slug"/ },
    {
      name: 'a language that is none',
      text: '---\nlang: english please\n---\n',
      want: /"lang" must be a language tag/,
    },
    {
      name: 'a title of several lines',
      text: '---\ntitle: "A\\nB"\n---\n',
      want: /"title" must be one line/,
    },
    { name: 'tags that have no name', text: '---\ntags: [[1]]\n---\n', want: /"tags.0"/ },
    { name: 'two wrong keys', text: '---\ntitle: []\nslug: A\n---\n', want: /"title".*"slug"/ },
    {
      name: 'aliases that grow',
      text: `---\na: &a [x,x,x,x,x,x,x,x,x]\n${[...'bcdefghi'].map((key, at) => `${key}: &${key} [${Array(9).fill(`*${'abcdefghi'[at]}`)}]\n`).join('')}---\n`,
      want: /cannot be read/,
    },
    {
      name: 'a front matter without an end',
      text: `---\n${'a: b\n'.repeat(20_000)}`,
      want: /longer than 16384/,
    },
  ];
  for (const { name, text, want } of cases)
    t.test(name, async (t) => t.throws(() => parse(text), { name: 'ContentError', message: want }));
  t.throws(() => parseDocumentFile('a.md', new Uint8Array([0x41, 0xff])), { message: /not valid UTF-8/ });
  t.throws(() => parse('A', '---.md'), { message: /Add "slug: some-name"/ });
});

t.test('a bad cover is left out, and the document is served', async (t) => {
  for (const cover of [
    '../secret.png',
    '/etc/hostname',
    'file:///etc/hostname',
    'https://example.org/a.png',
    '[7]',
  ]) {
    const { document, problem } = parse(`---\ntitle: A\ncover: ${cover}\n---\n`);
    t.equal(document.cover, null, cover);
    t.match(problem, /"cover" was left out/);
  }
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

t.test('any text can be read or is refused, and nothing of it is lost', async (t) => {
  const lines = fc.array(
    fc.constantFrom('---', '...', 'title: A', 'slug: b', '# H', '', '  x: [', 'a: &a *a', '\u0000', '"'),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(
      fc.oneof(
        lines.map((some) => some.join('\n')),
        anyText(),
      ),
      (text) => {
        try {
          const { body } = parseFrontMatter(text);
          return text.endsWith(body);
        } catch (error) {
          return error instanceof Error && error.name === 'ContentError';
        }
      },
    ),
  );
  t.pass();
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

t.test('an open file is compared with the path that was checked', async (t) => {
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
    const { links, anchors } = findWrittenLinks(path, text, 1);
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
  const document = (field: string) => (value: string) => parse(`---\n${field}: ${value}\n---\n`);
  const collection = (field: string) => (value: string) =>
    parseCollectionFile('collections/a.yaml', bytes(`query: { tag: a }\n${field}: ${value}\n`));
  const cases: readonly { name: string; read: (value: string) => unknown; most: string; more: string }[] = [
    { name: 'a title', read: document('title'), most: long(500), more: long(501) },
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
    { name: 'authors', read: document('authors'), most: list(100), more: list(101) },
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
  t.match(coverOf(1_000), { document: { cover: long(1_000) }, problem: null });
  t.match(coverOf(1_001), { document: { cover: null }, problem: /"cover" was left out/ });
});
