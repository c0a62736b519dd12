import { readdirSync, readFileSync } from 'node:fs';
import { open, realpath, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import type { Token } from 'marked';
import t from 'tap';
import { parseCollectionFile } from '../../docs-service/content/collectionFile.ts';
import { isOpenedAt } from '../../docs-service/content/contentPlaces.ts';
import { parseDocumentFile } from '../../docs-service/content/documentFile.ts';
import { resolveLink } from '../../docs-service/content/links.ts';
import { findWrittenLinks } from '../../docs-service/content/writtenLinks.ts';
import {
  childrenOf,
  type MarkdownDocument,
  parseMarkdown,
} from '../../docs-service/formats/markdown/markdown.ts';
import { ContentError, parseFrontMatter } from '../../protocol/base/yaml.ts';
import { anyText } from '../support/anyText.ts';
import { where } from '../support/systems.ts';
import { temporaryFolder, writeFiles } from '../support/temporaryFolder.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const now = Date.parse('2026-11-28T12:00:00Z');
const parse = (text: string, path = 'notes/First note.md', future = false) =>
  parseDocumentFile(path, bytes(text), { now, future });

t.test('a document is what its front matter says', async (t) => {
  const whole =
    'title: How to begin\nslug: begin\ntype: guide\ntags: [First steps, { slug: mac-os, title: macOS }]\ndate: 2026-11-21\nupdated: 2026-11-22T09:30:00+01:00\ndraft: true\nlang: ZH-hans\nauthors: [Ada, Grace]\ndescription: |\n  Two\n  lines.\ncover: pictures/cover.png\ncolor: blue';
  const cases: readonly (readonly [text: string, want: object])[] = [
    [
      `---\n${whole}\n---\n# Another heading`,
      {
        ...{ title: 'How to begin', slug: 'begin', type: 'guide', draft: true, lang: 'zh-Hans' },
        tags: [
          { slug: 'first-steps', title: 'First steps' },
          { slug: 'mac-os', title: 'macOS' },
        ],
        ...{ date: '2026-11-21', updated: '2026-11-22T09:30:00+01:00', authors: ['Ada', 'Grace'] },
        ...{ description: 'Two lines.', cover: 'pictures/cover.png', body: '# Another heading' },
      },
    ],
    [
      'Words.\n\n## Not this\n\n# The *first* heading\n\n# Another',
      { slug: 'first-note', title: 'The first heading', type: null, tags: [], date: null, draft: false },
    ],
    ['Words.\n\n<h1>Later</h1>\n\n# Server', { title: 'Later' }],
    [`${'word '.repeat(20_000)}\n\n# Far`, { title: 'First note' }],
    [
      '---\ntitle: "The **`run`** command <Badge new /> {#run}"\ndescription: ""\n---\n',
      { title: 'The run command', description: null },
    ],
    ['---\ntitle: __init__ of Map<T>\n---\n', { title: '__init__ of Map<T>' }],
    ['---\r\ntitle: A\r\n---\r\nB', { title: 'A', body: 'B' }],
    [
      '---\ntitle: 1.10\nslug: 007\ntype: 0x1F\ntags: [1_000, 2.0]\nauthors: 1e3\n---\n',
      {
        ...{ title: '1.10', slug: '007', type: '0x1F', authors: ['1e3'] },
        tags: [
          { slug: '1-000', title: '1_000' },
          { slug: '2-0', title: '2.0' },
        ],
      },
    ],
    ['---\ntags: [News, news]\nauthors: Ada\n---\n', { tags: [{ slug: 'news' }], authors: ['Ada'] }],
    ['---\ndate: 2026-11-21 09:30\n---\n', { date: '2026-11-21T09:30Z' }],
    ['A\n\n---\n\nB', { body: 'A\n\n---\n\nB' }],
    ['---json\n{ "title": "A", "draft": true }\n---\nB', { title: 'A', draft: true, body: 'B' }],
    ['{"__proto__": {"title": "A"}, "constructor": 1}\nB', { title: 'First note', body: 'B' }],
    ['Title: what it is\nis not clear.', { body: 'Title: what it is\nis not clear.', draft: false }],
  ];
  for (const [text, want] of cases) {
    const { document, warnings } = parse(text);
    t.match(document, want, text);
    t.strictSame(warnings, [], text);
    t.match(document.contentHash, /^[0-9a-f]{64}$/);
  }
});

t.test('dates in other usual forms are read, with a warning', async (t) => {
  const cases: Readonly<Record<string, string>> = {
    '2026/01/05': '2026-01-05',
    20260105: '2026-01-05',
    '20260105T093015Z': '2026-01-05T09:30:15Z',
    '5 January 2026': '2026-01-05',
    'Jan 5, 2026': '2026-01-05',
    '05-Sept-2026': '2026-09-05',
    'Mon, 05 Jan 2026 09:30:15 +0100': '2026-01-05T09:30:15+01:00',
    'Monday, January 5, 2026 at 9:30 p.m. UTC': '2026-01-05T21:30Z',
    '25/12/2026': '2026-12-25',
    '12/25/2026': '2026-12-25',
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

t.test('a document is a draft if any program would hold it back', async (t) => {
  const cases: readonly (readonly [written: string, draft: boolean, warning?: RegExp])[] = [
    ['date: 2026-02-30', false, /"date" was left out: it must be a date that exists, such as 2026-11-21/],
    ['date: 05/06/2026', false, /must be 2026-05-06 or 2026-06-05: "05\/06\/2026" may mean either/],
    ['date: Spring 2027', true, /"date" is in the future/],
    ['updated: 05.06.2027', false, /"updated" was left out: it must be 2027-05-06 or 2027-06-05/],
    ['draft: maybe', true, /"draft" must be true or false\. Until then the document is a draft\./],
    ...Object.entries({ yes: true, On: true, '"true"': true, 1: true, no: false, off: false, 0: false }).map(
      ([written, want]) => [`draft: ${written}`, want, RegExp(`^"draft" was read as ${want}`)] as const,
    ),
    ['draft:', false],
    ['params: { draft: true }', true],
    ['draft: false\nDRAFT: true', true],
    ['published: false', true],
    ['publish: no', true, /"publish" was read as false/],
    ['published: true', false],
    ['published: 2026-01-01', false],
    ['published: 2027-01-01\ndraft: false', true, /"published" is in the future/],
    ['build: { render: never }', true],
    ['build: { list: never }', false],
    ['headless: true', true],
    ['date: 2020-01-01\npublishDate: 2027-02-01', true, /"publishDate" is in the future/],
    ['date: 2026-11-30', true, /"date" is in the future/],
    ['date: 2026-11-28T12:00:01Z', true, /"date" is in the future/],
    ['date: 2026-11-28 17:30 +0530', false],
    ['expiryDate: 2026-11-28', true, /"expiryDate" is over/],
    ['unpublishdate: soon', true, /"unpublishDate" is over, or is not clear/],
    ['title: [\ndraft: true', true, /not valid YAML/],
    ['title: [\nparams:\n  draft: true', true, /not valid YAML/],
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

t.test('front matter that does not parse hides no draft, and nothing of it is lost', async (t) => {
  const cases: readonly (readonly [text: string, want: object, ...warned: RegExp[]])[] = [
    [
      '+++\ntitle = \n+++\nText.',
      { body: '+++\ntitle = \n+++\nText.', draft: false },
      /^Invalid TOML .*as text\.$/,
    ],
    ['+++\nx = \ndraft = true\n+++\n', { draft: true }, /TOML/, /may hold it back/],
    ['{"title": "A", "draft": true,}\n', { draft: true, title: 'First note' }, /JSON/, /may hold it back/],
    ['---\ntitle: A\ndraft: true\n\nText.', { draft: true }, /closes it/, /may hold it back/],
    ['---\n# A', { title: 'A', body: '---\n# A' }, /no line "---" closes it/],
    ['\ufeff---\ntitle: A\n---\nB', { title: 'A', body: 'B' }, /not at the beginning/],
    [
      '---\ntitle: [open\ndraft: soon\n---\n',
      { draft: true },
      /the \[ in line 2 has no closing \]/,
      /"draft" must/,
    ],
    [
      '---\nlang: no such one\nlocale: de_CH\n---\n',
      { lang: 'de-CH' },
      /"lang" was left out: it must be a lang/,
    ],
  ];
  for (const [text, want, ...warned] of cases) {
    const { document, warnings } = parse(text);
    t.match(document, want, text);
    t.equal(warnings.length, warned.length, JSON.stringify(warnings));
    t.match(
      warnings.map(({ message }) => message),
      warned,
      text,
    );
  }
});

t.test('a value that cannot be used never hides its file', async (t) => {
  const cases: Readonly<Record<string, RegExp>> = {
    '---\ntitle: "A\ntype: b\nslug: c\n---\n': /not valid YAML: the " in line 2 has no closing "\./,
    "---\ntype: a\ntitle: 'it's'\n---\n": /not valid YAML: Unexpected .*in line 3\./,
    '---\na: b\n--- c\n---\n': /second document/,
    [`---\na: ${'['.repeat(16_000)}\n---\n`]: /more than 50 levels/,
    [`---\na: ${'['.repeat(30)}${']'.repeat(30)}\n---\n`]: /more than 20 levels/,
    [`${'{"a":'.repeat(30)}1${'}'.repeat(30)}\n`]: /more than 20 levels/,
    [`---\na: [${','.repeat(16_000)}\n---\n`]: /too long\. Remove unused keys/,
    [`---\n${Array.from({ length: 1_500 }, (_, at) => `k${at}: a\n`).join('')}---\n`]:
      /too long\. Remove unused keys/,
    '---\n- title\n---\n': /"key: value"/,
    '---\nslug: ../etc\n---\n': /"slug" is no slug.* "etc"/,
    '---\nslug: "?"\n---\n': /"slug" was left out/,
    '---\ntitle: []\ntype: [A]\n---\n': /"title".*\n.*"type"/,
    [`---\na: &a [x,x,x,x,x,x,x,x,x]\n${[...'bcdefghi'].map((key, at) => `${key}: &${key} [${Array(9).fill(`*${'abcdefghi'[at]}`)}]\n`).join('')}---\n`]:
      /cannot be read/,
    [`---\n${'a: b\n'.repeat(20_000)}`]: /within 16384 characters/,
    ...Object.fromEntries(
      ['../secret.png', '/etc/hostname', 'file:///etc/hostname', 'https://example.org/a.png', '[7]'].map(
        (cover) => [`---\ncover: ${cover}\n---\n`, /"cover" was left out/],
      ),
    ),
  };
  for (const [text, want] of Object.entries(cases)) {
    const { document, warnings } = parse(text);
    t.match(warnings.map(({ message }) => message).join('\n'), want, text.slice(0, 80));
    t.match(document, { title: 'First note', cover: null, draft: false });
  }
  t.throws(() => parseDocumentFile('a.md', new Uint8Array([0x41, 0xff]), { now, future: false }), {
    message: /not valid UTF-8/,
  });
  t.equal(parse('A', 'x/---.md').document.slug, 'unnamed');
  t.equal(parse(`---\ntags: [${'[],'.repeat(900)}]\n---\n`).warnings.length, 20);
});

t.test('a collection is what its file says', async (t) => {
  const cases: readonly (readonly [text: string, want: object | RegExp])[] = [
    [
      'name: book\ntitle: A book\ndocs: [b, a]\norder: title\nauthor: Ada\nlang: de\ncover: c.png\ndescription: Words.',
      {
        ...{ name: 'book', title: 'A book', docs: ['b', 'a'], order: 'title' },
        ...{ author: 'Ada', lang: 'de', cover: 'c.png', description: 'Words.' },
      },
    ],
    [
      'query: { type: guide, tag: news }',
      { name: 'the-book', title: 'the-book', docs: { type: 'guide', tag: 'news' }, order: 'listed' },
    ],
    ['docs: { tag: news }', { docs: { tag: 'news' } }],
    [
      'title: A\n\ndocs: # all\n- 007\n\n  - b-2 # why\n# more\n- true\norder: date\r\n',
      { title: 'A', docs: ['007', 'b-2', 'true'], order: 'date' },
    ],
    ['docs:\n- a\n- "b"\n', { docs: ['a', 'b'] }],
    ['docs:\n- a\ndocs: [b]', /"docs" occurs twice/],
    ['docs:\n- a\n- b\nx: [,]', /YAML.*in line 4/],
    [
      `docs:\n${'- a-slug-such-as-this\n'.repeat(2_500)}`,
      { docs: Array.from({ length: 2_500 }, () => 'a-slug-such-as-this') },
    ],
    [`docs:\n${'- a\n'.repeat(5_001)}`, /at most 5000 slugs/],
    [`docs: [${'a,'.repeat(9_000)}]`, /one "- value" a line/],
    [`docs:\n${'- a\n'.repeat(17_000)}`, /at most 65536 bytes/],
    [Array.from({ length: 4_000 }, (_, at) => `key${at}: a`).join('\n'), /too long/],
    ['name: book', /"docs" must be a list/],
    ['docs: [a]\nquery: { tag: b }', /"docs" must be a list/],
    ['docs: [a]\norder: random', /"order" must be one of/],
  ];
  for (const [text, want] of cases) {
    const run = () => parseCollectionFile('collections/The book.yaml', bytes(text)).collection;
    if (want instanceof RegExp) t.throws(run, { name: 'ContentError', message: want }, text.slice(0, 80));
    else t.match(run(), want, text.slice(0, 80));
  }
});

t.test('any text can be read in little time, and nothing of it is lost', async () => {
  const pieces = [
    ...['---', '+++', '...', '{', '}', '"', 'title: A', 'Draft: true', 'a = 1', '"b": [', '# H', ''],
    ...['\t- x', '<!--', '-->', '\ufeff', '\u0000', '__proto__: {a: b}', 'a: &a *a'],
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
      parse(`${start}${piece.repeat(200_000 / (piece.length || 1))}\n---\n`);
});

t.test('every slug can be an address', async (t) => {
  const read = (slug: string) => parse(`---\nslug: ${JSON.stringify(slug)}\n---\n`);
  const slugOf = (slug: string) => read(slug).document.slug;
  const cases: readonly (readonly [written: string, want: string])[] = [
    ['How to begin?', 'how-to-begin'],
    ['Ünïcode & Co.', 'ünïcode-co'],
    ['文書を検索する', '文書を検索する'],
    ['a__b--c', 'a-b-c'],
    ['guide.pdf', 'guide-pdf'],
    ['x.epub', 'x-epub'],
    ['..', 'first-note'],
    ['???', 'first-note'],
    ['a'.repeat(101), 'a'.repeat(100)],
    [`${'a'.repeat(99)} b`, 'a'.repeat(99)],
    ['é'.repeat(100), 'é'.repeat(100)],
    ['é'.repeat(101), 'é'.repeat(100)],
    [`a${'𠮷'.repeat(50)}`, `a${'𠮷'.repeat(49)}`],
  ];
  for (const [written, want] of cases) t.equal(slugOf(written), want, written);
  fc.assert(
    fc.property(anyText({ maxLength: 300 }), (text) => {
      const slug = slugOf(text);
      const { document, warnings } = read(slug);
      return document.slug === slug && warnings.length === 0 && /^[^/?#%\s]{1,100}$/.test(slug);
    }),
  );
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

t.test('finding links takes linear time for any text, and is bounded', (t) => {
  const pieces = [
    ...[
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
    ],
    ...['<!--', '<div>', '<br ', '<!-- -->', '<h1>', '<h1 ', '<h1><', '<h1></', '<h1><img alt="'],
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
  const document = (text: string) => {
    const [warning] = parse(`---\n${text}\n---\n`).warnings;
    if (warning !== undefined) throw new ContentError(warning.message);
  };
  const collection = (text: string) =>
    parseCollectionFile('a.yaml', bytes(/query/.test(text) ? text : `query: { tag: a }\n${text}`));
  const cases: readonly (readonly [
    most: number,
    read: (text: string) => unknown,
    before: string,
    after?: string,
  ])[] = [
    [100, document, 'slug: '],
    [100, document, 'type: '],
    [100, document, 'tags: [', ']'],
    [100, document, 'tags: [{ slug: a, title: ', ' }]'],
    [200, document, 'authors: '],
    [1_000, document, 'cover: '],
    [5_000, document, 'description: '],
    [500, collection, 'title: '],
    [5_000, collection, 'description: '],
    [100, collection, 'query: { type: ', ' }'],
    [100, collection, 'name: '],
    [200, collection, 'author: '],
  ];
  for (const [most, read, before, after = ''] of cases) {
    t.doesNotThrow(() => read(before + 'a'.repeat(most) + after), before);
    t.throws(() => read(before + 'a'.repeat(most + 1) + after), { name: 'ContentError' }, before);
  }
  const list = JSON.stringify(Array.from({ length: 101 }, (_, at) => `a${at}`));
  const { tags, authors, title } = parse(
    `---\ntags: ${list}\nauthors: ${list}\ntitle: ${'a'.repeat(501)}\n---\n`,
  ).document;
  t.strictSame([tags.length, authors.length, title.length], [100, 100, 500], 'the rest is left out');
});
