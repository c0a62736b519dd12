import type { Test } from 'tap';
import type { Document } from '../../docs-service/content/document.ts';
import type { DocumentIndex, IndexWriter, SearchQuery } from '../../docs-service/search/documentIndex.ts';
import { documentOf } from './documents.ts';

export type WritableIndex = DocumentIndex & IndexWriter;

/** A document without text or a date. */
export function emptyDocument(slug: string, more: Partial<Document> = {}): Document {
  return documentOf(slug, '', { date: null, contentHash: `hash of ${slug}`, ...more });
}

export async function found(
  index: DocumentIndex,
  text: string,
  more: Partial<SearchQuery> = {},
): Promise<readonly string[]> {
  const { items } = await index.search({ text, drafts: false, limit: 100, offset: 0, ...more });
  return items.map(({ document }) => document.slug);
}

const tag = (slug: string) => ({ slug, title: slug.toUpperCase() });

/** What every engine does alike. `open` makes an empty index. */
export async function documentIndexContract(t: Test, open: () => Promise<WritableIndex>): Promise<void> {
  type Work = (t: Test, index: WritableIndex) => Promise<void>;
  const shared = await open();
  await shared.apply({ isComplete: true });
  t.teardown(() => shared.close());
  /** On an index in which there is nothing any more, because a new one for each test takes most of the time. */
  const on = (name: string, work: Work) =>
    t.test(name, async (t) => {
      await work(t, shared);
      await empty(shared);
    });
  /** On an index in which there never was anything. */
  const onNew = (name: string, work: Work) =>
    t.test(name, async (t) => {
      const index = await open();
      t.teardown(() => index.close());
      await work(t, index);
    });

  on('lists are newest first, those without a date last, and filtered', async (t, index) => {
    await index.apply({
      put: [
        emptyDocument('undated-b'),
        emptyDocument('old', { date: '2020-01-01', type: 'guide', tags: [tag('one')] }),
        emptyDocument('new', { date: '2026-01-01', type: 'guide', tags: [tag('one'), tag('two')] }),
        emptyDocument('midnight', { date: '2023-05-05', tags: [tag('two')] }),
        emptyDocument('evening', { date: '2023-05-04T23:30:00-01:00', tags: [tag('two')] }),
        emptyDocument('undated-a', { draft: true, type: 'guide' }),
        emptyDocument('𝒶', { type: 'x' }),
        emptyDocument('ｚ', { type: 'x' }),
      ],
    });
    const list = async (more = {}) => {
      const { items, total } = await index.list({ drafts: false, limit: 100, offset: 0, ...more });
      return [items.map(({ slug }) => slug), total];
    };
    t.strictSame(await list(), [['new', 'evening', 'midnight', 'old', '𝒶', 'undated-b', 'ｚ'], 7]);
    t.strictSame(await list({ type: 'guide' }), [['new', 'old'], 2]);
    t.strictSame(await list({ type: 'guide', drafts: true }), [['new', 'old', 'undated-a'], 3]);
    t.strictSame(await list({ tag: 'two' }), [['new', 'evening', 'midnight'], 3]);
    t.strictSame(await list({ tag: 'two', type: 'guide' }), [['new'], 1]);
    t.strictSame(await list({ limit: 2, offset: 1 }), [['evening', 'midnight'], 7]);
    t.strictSame(await list({ limit: 2, offset: 5 }), [['undated-b', 'ｚ'], 7]);
    t.strictSame(await list({ limit: 2, offset: 6 }), [['ｚ'], 7]);
    t.strictSame(await list({ offset: 70 }), [[], 7]);
    t.strictSame(await list({ type: '\'; DROP TABLE x; \0 {"' }), [[], 0]);
    t.strictSame(await list({ type: 'Guide' }), [[], 0], 'a type is taken literally');
  });

  on('when texts have changed', async (t, index) => {
    await index.apply({ put: [emptyDocument('one'), emptyDocument('two')], at: 1_000 });
    await index.apply({
      put: [emptyDocument('one', { title: 'Another' }), emptyDocument('two', { contentHash: 'another' })],
      at: 2_000,
    });
    t.strictSame([...(await index.changedAt(['two', 'one', 'nowhere']))].sort(), [
      ['one', 1_000],
      ['two', 2_000],
    ]);
  });

  on('a document is read as it was put, and replaced, and removed', async (t, index) => {
    const whole = emptyDocument('whole', {
      title: 'Ganz "neu"',
      type: 'a, b}',
      tags: [tag('one')],
      date: '2026-11-21',
      updated: '2026-11-21T10:00:00Z',
      lang: 'de',
      authors: ['A', 'B'],
      description: "it's",
      cover: 'pictures/a.png',
      path: 'folder/whole ü.md',
      body: '# Größe\n\n```\ncode\n```\n\n🙂 end\n',
    });
    await index.apply({ put: [whole, emptyDocument('other', { draft: true })] });
    t.strictSame(await index.read('whole'), whole);
    t.equal((await index.read('other'))?.draft, true, 'a draft is read too');
    t.equal(await index.read('nothing'), undefined);
    t.equal(await index.read('a\0b\ud800'), undefined);
    const { body, ...located } = whole;
    const slugs = ['other', 'nothing', 'whole'];
    t.strictSame(
      (await index.metadataOf(slugs)).map(({ slug }) => slug),
      ['other', 'whole'],
    );
    t.strictSame((await index.metadataOf(['whole']))[0], located);
    t.strictSame([...(await index.slugsOf([whole.path, 'other.md', 'x']))], [[whole.path, 'whole']]);

    await index.apply({ put: [{ ...whole, title: 'Another', type: 'c', tags: [], body: 'short' }] });
    t.strictSame(await found(index, 'another'), ['whole']);
    t.strictSame(await found(index, 'neu'), []);
    t.equal((await index.list({ tag: 'one', drafts: true, limit: 1, offset: 0 })).total, 0);
    t.equal((await index.list({ type: 'c', drafts: true, limit: 1, offset: 0 })).total, 1);
    await index.apply({ remove: ['whole', 'nothing'], put: [emptyDocument('whole', { body: 'again' })] });
    t.strictSame(await found(index, 'again'), ['whole']);
    await index.apply({ remove: ['whole'] });
    t.strictSame(await found(index, 'again'), []);
    t.equal(await index.read('whole'), undefined);
    t.equal((await index.summary()).documents, 0);
  });

  on('characters that a store has no place for become a substitute', async (t, index) => {
    await index.apply({
      put: [emptyDocument('odd', { title: 'a\0b \ud800', body: 'nul \0 half \udc00 word' })],
    });
    t.equal((await index.read('odd'))?.body, 'nul \ufffd half \ufffd word');
    t.equal((await index.read('odd'))?.title, 'a\0b \ud800');
    t.strictSame(await found(index, 'word'), ['odd']);
  });

  on('a search finds words, phrases, beginnings and exclusions', async (t, index) => {
    await index.apply({
      put: [
        emptyDocument('getting-started', {
          title: 'Getting started',
          body: '# Getting started\n\nInstall the *program*, then run it.',
        }),
        emptyDocument('install', { body: '## How to install\n\nA well-known program. Run `npm install`.' }),
        emptyDocument('zurich', { body: 'Zürich, ΟΔΟΣ, Ёлка und Straße. 全文検索エンジンを作る。' }),
        emptyDocument('secret', { draft: true, body: 'Install nothing.' }),
        emptyDocument('split', { title: 'one two', body: 'three\n\n# Four\n\n# Five' }),
      ],
    });
    const cases: readonly (readonly [query: string, want: readonly string[]])[] = [
      ['install', ['install', 'getting-started']],
      ['program -known', ['getting-started']],
      ['"the program"', ['getting-started']],
      ['"program the"', []],
      ['well-known', ['install']],
      ['"well known program"', ['install']],
      ['prog*', ['getting-started', 'install']],
      ['progr* -"npm install"', ['getting-started']],
      ['well-kno*', ['install']],
      ['zurich', ['zurich']],
      ['ZÜRICH', ['zurich']],
      ['οδοσ', ['zurich']],
      ['strasse', ['zurich']],
      ['検索', ['zurich']],
      ['文検', ['zurich']],
      ['全文検索エンジンを作る', ['zurich']],
      ['"検索エンジン" 作る', ['zurich']],
      ['"検索する"', []],
      ['文全', []],
      ['install -検索', ['install', 'getting-started']],
      ['-install', ['split', 'zurich']],
      ['-"run it" -z* -split -three', ['install']],
      ['install -install', []],
      ['"one two"', ['split']],
      ['"two three"', []],
      ['two three', ['split']],
      ['', []],
      ['- "" -"" * -* "*"', []],
      ['c++ (', []],
      ['install:*', ['install', 'getting-started']],
      ["install' OR 1=1 --", ['install', 'getting-started']],
      ['\0 install \ud800', ['install', 'getting-started']],
      ['†install §any ¦ »i', []],
    ];
    for (const [query, want] of cases) t.strictSame(await found(index, query), want, query);
    t.strictSame((await found(index, 'install', { drafts: true })).toSorted(), [
      'getting-started',
      'install',
      'secret',
    ]);
    t.strictSame(await found(index, 'nothing', { drafts: false }), []);
    await t.rejects(found(index, 'x'.repeat(1_001)), { name: 'QueryError' });
    await t.rejects(found(index, 'a '.repeat(20) + Array.from({ length: 65 }, (_, n) => n).join(' ')), {
      name: 'QueryError',
    });
  });

  on('documents with all words of a short query come first, and titles before texts', async (t, index) => {
    const filler = 'some words of no meaning '.repeat(5);
    await index.apply({
      put: [
        emptyDocument('a', { title: 'x', body: `apple pear ${filler}` }),
        emptyDocument('b', { title: 'Apple', body: `pear ${filler}` }),
        emptyDocument('c', { title: 'x', body: `## An apple\n\npear ${filler}` }),
        emptyDocument('d', { title: 'Apple', body: `apple apple apple ${filler}` }),
        emptyDocument('e', { title: 'green plums', body: `pear ${filler}` }),
        emptyDocument('apple-cake', { title: 'x', body: filler, path: 'pies/apple-cake.md' }),
      ],
    });
    const search = async (text: string) => {
      const page = await index.search({ text, drafts: false, limit: 100, offset: 0 });
      return page.items.map(({ document, missing }) => [document.slug, ...missing].join(' '));
    };
    t.strictSame((await search('apple pear')).slice(0, 3), ['b', 'c', 'a']);
    t.strictSame((await search('apple pear')).slice(3).toSorted(), ['apple-cake pear', 'd pear', 'e apple']);
    t.equal(
      (await search('apple pear plum cherry'))[0],
      'e apple cherry',
      'a longer one is about its rare words',
    );
    t.strictSame(await search('"green plums"'), ['e'], 'a title is found too');
    t.strictSame(await search('"plums pear"'), [], 'a title and a text make no phrase');
    t.strictSame(await search('cake'), ['apple-cake'], 'and the name of a file');
    const page = await index.search({ text: 'apple pear', drafts: false, limit: 2, offset: 1 });
    t.match(page, { total: 6, allWords: 3, corrected: [], approximate: false });
    t.strictSame(
      page.items.map(({ document }) => document.slug),
      ['c', 'a'],
    );
  });

  on('a search finds what its reader means', async (t, index) => {
    const bodies = {
      code: 'Call `getUserName()` with C++, in a `.env` for .NET. Set `--port` to 1,000,000 of e-books.',
      plain: 'The user was installing it, and its name was well known. 3.14 is no number of 1000000.',
      letters: 'Łódź, Straße, đ, œuvre und שָׁלוֹם. 검색을 배우다. 属性名について。',
      vitamin: 'Vitamin C is in an environment of nets. A port of installations, red.',
    };
    const german = emptyDocument('german', { lang: 'de', body: 'Die Häuser der Stadt' });
    const texts = Object.entries(bodies).map(([slug, body]) => emptyDocument(slug, { title: 'x', body }));
    const bulgarian = emptyDocument('bulgarian', { lang: 'bg', body: 'В театър има сцени.' });
    await index.apply({ put: [...texts, german, bulgarian] });
    const cases: readonly (readonly [query: string, want: readonly string[]])[] = [
      ['C++', ['code']],
      ['.NET', ['code']],
      ['user name', ['plain', 'code']],
      ['username', ['code']],
      ['getUserName', ['code']],
      ['ebook', ['code']],
      ['"ebook"', []],
      ['1000000', ['code', 'plain']],
      ['3.14', ['plain']],
      ['--port', ['code', 'vitamin']],
      ['port -red', ['code']],
      ['install', ['plain', 'vitamin']],
      ['"install"', []],
      ['instaling', ['plain', 'vitamin']],
      ['lodz', ['letters']],
      ['oeuvre', ['letters']],
      ['שלום', ['letters']],
      ['검색', ['letters']],
      ['属性', ['letters']],
      ['Haus', ['german']],
      ['театър', ['bulgarian']],
      ['xx', []],
    ];
    for (const [query, want] of cases)
      t.strictSame((await found(index, query)).toSorted(), want.toSorted(), query);
    const { corrected, items } = await index.search({
      text: 'Vitmain C',
      drafts: false,
      limit: 9,
      offset: 0,
    });
    t.strictSame(corrected, [{ written: 'Vitmain', meant: 'vitamin' }]);
    t.match(items[0], { document: { slug: 'vitamin' }, missing: [] });
  });

  on('an answer says nothing of documents that its reader may not see', async (t, index) => {
    const filler = 'plain words '.repeat(20);
    const open = ['one', 'two', 'three'].map((slug) =>
      emptyDocument(slug, { title: 'x', body: `${filler} harvest ${slug}` }),
    );
    const asked = [
      'harvezt',
      'zebr*',
      'zebrafinhc',
      'zebrafinch',
      'harvest zebrafinch',
      'harvest -zebrafinch',
      'z*',
    ];
    const answers = async (drafts: boolean) =>
      JSON.stringify(
        await Promise.all(asked.map((text) => index.search({ text, drafts, limit: 9, offset: 0 }))),
      );
    await index.apply({ put: open });
    const before = await answers(false);
    const body = `zebrafinch harvezt ${'harvest '.repeat(500)}`;
    await index.apply({ put: [emptyDocument('hidden', { title: 'zebra', draft: true, lang: 'de', body })] });
    t.equal(await answers(false), before);
    t.not(await answers(true), before, 'others see it');
  });

  on('words that come more often are first, and shorter documents', async (t, index) => {
    const filler = (words: number) => 'filler '.repeat(words);
    await index.apply({
      put: [
        emptyDocument('a-once', { title: 'x', body: `apple ${filler(60)}` }),
        emptyDocument('b-twice', { title: 'x', body: `apple apple ${filler(60)}` }),
        emptyDocument('c-often', { title: 'x', body: `${'apple '.repeat(8)}${filler(60)}` }),
        emptyDocument('d-short', { title: 'x', body: `plum ${filler(5)}` }),
        emptyDocument('e-long', { title: 'x', body: `plum ${filler(500)}` }),
        emptyDocument('f-phrases', { title: 'x', body: `${'red pear '.repeat(4)}${filler(60)}` }),
        emptyDocument('e-phrase', { title: 'x', body: `red pear red plane pear ${filler(63)}` }),
        emptyDocument('g-tie', { title: 'x', body: `apple ${filler(60)}` }),
        emptyDocument('h-title', { title: 'Apple', body: filler(500) }),
      ],
    });
    t.strictSame(await found(index, 'apple'), ['c-often', 'h-title', 'b-twice', 'a-once', 'g-tie']);
    t.strictSame(await found(index, 'plum'), ['d-short', 'e-long']);
    t.strictSame(await found(index, '"red pear"'), ['f-phrases', 'e-phrase']);
    t.strictSame(await found(index, '東京'), []);
    const pages = [0, 1, 2, 3, 4].map((offset) => found(index, 'apple', { limit: 1, offset }));
    t.strictSame((await Promise.all(pages)).flat(), await found(index, 'apple'), 'pages make the whole');
  });

  on('a rare word weighs more than a common one', async (t, index) => {
    const common = Array.from({ length: 200 }, (_, number) =>
      emptyDocument(`other-${number}`, { title: 'x', body: 'common words of others, in some number' }),
    );
    const filler = 'some '.repeat(40);
    await index.apply({
      put: [
        ...common,
        emptyDocument('much-common', { title: 'x', body: `rare ${'common '.repeat(9)}${filler}` }),
        emptyDocument('much-rare', { title: 'x', body: `common ${'rare '.repeat(9)}${filler}` }),
      ],
    });
    const best = async () => (await found(index, 'common rare')).slice(0, 2);
    t.strictSame(await best(), ['much-rare', 'much-common']);
    // The counts go with the documents.
    await index.apply({ remove: common.map(({ slug }) => slug) });
    await index.apply({ put: common.map((document) => ({ ...document, body: 'rare words of others' })) });
    t.strictSame(await best(), ['much-common', 'much-rare']);
  });

  on('what is near in meaning joins what the text finds', async (t, index) => {
    const part = (title: string, text: string) => `# ${title}\n\n${text}\n\n## More\n\nFar ${text}\n`;
    await index.apply({
      put: [
        emptyDocument('both', { title: 'Pears', body: part('Pears', 'An apple.'), type: 'guide' }),
        emptyDocument('draft', { title: 'Plums', body: part('Plums', 'A plum.'), draft: true }),
        emptyDocument('far', { title: 'Figs', body: part('Figs', 'A fig.'), tags: [tag('one')] }),
        emptyDocument('near', { title: 'Limes', body: part('Limes', 'A lime tree.'), path: 'in/near.md' }),
        emptyDocument('text', { title: 'Apple', body: part('Apple', 'The fruit.') }),
      ],
    });
    // Both sections of the nearest one are near, the first before the second.
    const sections = ['near', 'gone', 'draft', 'both', 'near', 'far'].map((slug, at) => ({
      slug,
      place: Math.min(at, 1),
    }));
    const search = async (text: string, more: Partial<SearchQuery> = {}, count = 100, isAlone = false) => {
      const near = { sections, count, isAlone };
      const page = await index.search({ text, drafts: false, limit: 100, offset: 0, near, ...more });
      return page.items
        .map(({ document, matched }) => `${document.slug} ${matched}`)
        .concat(String(page.total));
    };
    t.strictSame(await search('apple'), ['both both', 'text text', 'near meaning', 'far meaning', '4']);
    t.strictSame(await search('apple', { limit: 2, offset: 1 }), ['text text', 'near meaning', '4']);
    t.strictSame(await search('apple', {}, 2), ['both both', 'text text', 'near meaning', '3']);
    t.strictSame(await search('apple', {}, 100, true), ['near meaning', 'both meaning', 'far meaning', '3']);
    t.strictSame(await search('nothing'), ['near meaning', 'both meaning', 'far meaning', '3']);
    t.strictSame(await search('nothing', { drafts: true }, 2), ['near meaning', 'draft meaning', '2']);
    t.strictSame(await search('apple', { type: 'guide' }), ['both both', '1']);
    t.strictSame(await search('nothing', { tag: 'one' }, 1), ['far meaning', '1'], 'only what passes counts');
    t.strictSame(await search('nothing', { folder: 'in/' }), ['near meaning', '1']);
    t.strictSame(await search('nothing', { changedSince: Date.now() + 60_000 }), ['0']);
    t.strictSame(await search('apple -lime'), ['both both', 'text text', 'far meaning', '3']);
    t.strictSame(await search('"lime tree"'), ['near both', '1'], 'a phrase holds for the meaning, too');
    t.strictSame(await search('nothing "an apple"'), ['both both', '1']);
    t.strictSame(await search('-lime'), ['both both', 'far both', 'text text', '3']);
    t.strictSame(await search('!'), ['0']);
    const all = { text: 'nothing', drafts: false, limit: 1, offset: 0 };
    const [nearest] = (await index.search({ ...all, near: { sections, count: 9, isAlone: true } })).items;
    t.equal(nearest?.snippet, 'A lime tree.', 'the excerpt is of the nearest section');
    const near = { sections: [{ slug: 'far', place: 1 }], count: 1, isAlone: true };
    const [hit] = (await index.search({ text: 'x', drafts: false, limit: 1, offset: 0, near })).items;
    t.equal(hit?.snippet, 'Far A fig.', 'the excerpt is of the section');
    t.strictSame(hit?.section, { id: 'more', title: 'More' });
  });

  onNew('a search counts all that it finds, and shows the first 2,000', async (t, index) => {
    const slug = (number: number) => `doc-${String(number).padStart(4, '0')}`;
    // They do not come in the order of their slugs.
    const numbers = Array.from({ length: 2_100 }, (_, at) => (at * 1_103) % 2_100);
    for (let from = 0; from < numbers.length; from += 300)
      await index.apply({
        put: numbers.slice(from, from + 300).map((number) =>
          emptyDocument(slug(number), {
            title: number === 2_099 ? 'Common' : 'x',
            body: number === 2_098 ? '# common' : number < 50 ? 'common rare' : 'common',
          }),
        ),
      });
    await index.apply({ isComplete: true });
    const page = async (text: string, offset: number) => {
      const { items, total, approximate } = await index.search({ text, drafts: false, limit: 3, offset });
      return [items.map(({ document }) => document.slug), total, approximate];
    };
    t.strictSame(await page('common', 0), [[slug(2_099), slug(2_098), slug(50)], 2_100, false]);
    t.strictSame((await page('common', 2_000))[0], []);
    t.strictSame((await page('rare', 0)).slice(1), [50, false]);
    t.strictSame(await page('-rare', 0), [[slug(50), slug(51), slug(52)], 2_050, false]);
    t.strictSame(await page('-rare', 1_997), [[slug(2_047), slug(2_048), slug(2_049)], 2_050, false]);
    const seen = new Set<string>();
    for (let offset = 0; offset < 2_000; offset += 100)
      for (const { document } of (await index.search({ text: 'common', drafts: false, limit: 100, offset }))
        .items)
        seen.add(document.slug);
    t.equal(seen.size, 2_000, 'pages make the whole');
    t.notOk(seen.has(slug(2_090)), 'the last by slug are left out');
  });

  onNew('collections, problems and files are kept', async (t, index) => {
    t.strictSame(await index.summary(), { documents: 0, problems: [], warnings: [], isComplete: false });
    const empty = await index.files();
    const { indexId } = empty;
    t.strictSame(empty, { indexId, isComplete: false, reading: '', files: [] });
    t.equal(await index.indexId(), indexId);
    t.strictSame(await index.collections(), []);
    const file = (path: string, problem: string | null = null) => ({
      path,
      look: 'Zk3_a-9qpB1x',
      contentHash: 'abc',
      slug: problem ? null : path,
      problem,
      warnings: [],
      ...(path === 'b' ? { named: { slug: 'c', line: 2 }, due: 1_800_000_000_000 } : {}),
    });
    const collection = (name: string) => ({
      name,
      title: name,
      docs: { tag: 'one' },
      order: 'date' as const,
      author: null,
      lang: null,
      cover: null,
      description: null,
    });
    await index.apply({
      putFiles: [file('b'), file('a', 'It is bad.')],
      collections: [collection('z'), collection('a')],
      collectionProblems: [{ path: 'c.yaml', message: 'No such slug.' }],
      reading: 'as a book',
      isComplete: true,
    });
    t.strictSame(await index.files(), {
      indexId,
      reading: 'as a book',
      isComplete: true,
      files: [file('a', 'It is bad.'), file('b')],
    });
    const other = index.apply({ indexId: 'another', removeFiles: ['a'], collections: [] });
    await t.rejects(other, { name: 'IndexUnavailableError', message: /being rebuilt/ });
    t.strictSame(await index.collections(), [collection('a'), collection('z')]);
    t.strictSame(await index.summary(), {
      documents: 0,
      problems: [
        { path: 'a', message: 'It is bad.' },
        { path: 'c.yaml', message: 'No such slug.' },
      ],
      warnings: [],
      isComplete: true,
    });
    await index.apply({ indexId, putFiles: [file('a')], removeFiles: ['b'], collectionProblems: [] });
    t.strictSame((await index.files()).files, [file('a')]);
    t.strictSame((await index.summary()).problems, []);
    const [lost, read] = [file('c'), { ...file('d'), contentHash: '' }];
    await index.apply({ putFiles: [lost, read, file('e', 'It is bad.')] });
    t.strictSame(await index.lostFiles(), ['a', 'c'], 'without a document');
    await index.apply({ put: [emptyDocument('a', { contentHash: 'abc' }), emptyDocument('c')] });
    t.strictSame(await index.lostFiles(), ['c'], 'of another content');
  });

  on('warnings of files and of links are kept, by place', async (t, index) => {
    const file = (path: string, lines: readonly number[]) => ({
      path,
      look: 'one',
      contentHash: 'abc',
      slug: path,
      problem: null,
      warnings: lines.map((line) => ({ line, message: `Line "${line}".` })),
    });
    const link = (path: string, line: number) => ({ path, line, message: 'It leads nowhere.' });
    await index.apply({ putFiles: [file('b', [2, 10]), file('a', []), file('c', [3])] });
    await index.apply({ linkWarnings: [link('c', 1), link('a', 7), link('b', 9)] });
    const places = async () => (await index.summary()).warnings.map(({ path, line }) => `${path}:${line}`);
    t.strictSame(await places(), ['a:7', 'b:2', 'b:9', 'b:10', 'c:1', 'c:3']);
    t.match((await index.summary()).warnings[1], { path: 'b', line: 2, message: 'Line "2".' });
    t.strictSame((await index.files()).files[1], file('b', [2, 10]), 'an unchanged file keeps its own');
    const before = index.generation;
    await index.apply({
      putFiles: [file('c', [3])],
      linkWarnings: [link('c', 1), link('a', 7), link('b', 9)],
    });
    await index.summary();
    t.equal(index.generation, before, 'nothing has changed');
    await index.apply({ putFiles: [file('c', [])], removeFiles: ['b'], linkWarnings: [] });
    t.strictSame(await places(), []);
    t.ok(index.generation > before);
  });

  on('the generation grows with what readers can see, and with nothing else', async (t, index) => {
    await index.apply({ put: [emptyDocument('a')], isComplete: true });
    const file = {
      path: 'a.md',
      look: 'one',
      contentHash: 'x',
      slug: 'a',
      problem: null,
      warnings: [],
    };
    let calls = 0;
    const listening = index.onDidChange(() => calls++);
    const before = index.generation;
    await index.apply({ putFiles: [file], put: [], remove: ['nothing'], isComplete: true });
    await index.summary();
    t.equal(index.generation, before, 'a file that was read again');
    await index.apply({ putFiles: [{ ...file, problem: 'bad' }] });
    t.ok(index.generation > before, 'a problem');
    t.equal(calls, 1);
    const later = index.generation;
    await index.apply({ remove: ['a'] });
    t.ok(index.generation > later, 'a document that is gone');
    listening.dispose();
    await index.apply({ put: [emptyDocument('a')] });
    t.equal(calls, 2);
  });

  on('without dates, titles are sorted as a person does, equal ones by slug', async (t, index) => {
    const titles = [
      'Part 10',
      'part 2',
      '“Épilogue”',
      'épilogue',
      'Zürich',
      '  - Ångström',
      'Part 2 (more)',
      '東京',
      '',
    ];
    await index.apply({
      put: [
        ...titles.map((title, at) => emptyDocument(`s${at}`, { title })),
        emptyDocument('dated', { title: 'A', date: '2026-01-01' }),
        emptyDocument('a-dated', { title: 'Z', date: '2026-01-01' }),
      ],
    });
    const want = 'a-dated dated s8 s5 s2 s3 s1 s6 s0 s4 s7';
    const { items } = await index.list({ drafts: false, limit: 100, offset: 0 });
    t.equal(items.map(({ slug }) => slug).join(' '), want);
    const pages = await Promise.all(
      Array.from({ length: 11 }, (_, offset) => index.list({ drafts: false, limit: 1, offset })),
    );
    t.equal(pages.map((page) => page.items[0]?.slug).join(' '), want, 'page by page, from either end');
    t.equal((await index.select({ order: '-date' })).map(({ slug }) => slug).join(' '), want);
    await index.apply({ remove: ['s1'], put: [emptyDocument('s8', { title: 'Part 3' })] });
    const later = await index.list({ drafts: false, limit: 100, offset: 0 });
    t.equal(later.items.map(({ slug }) => slug).join(' '), 'a-dated dated s5 s2 s3 s6 s8 s0 s4 s7');
  });

  on('a folder narrows lists and searches', async (t, index) => {
    const at = (path: string, more: Partial<Document> = {}) =>
      emptyDocument(path.replace(/\W/g, '-').toLowerCase(), { path, body: 'words', ...more });
    await index.apply({
      put: [
        at('guides/a.md', { type: 'guide' }),
        at('guides/deep/b.md', { date: '2026-01-01' }),
        at('guides-more/c.md'),
        at('guides.md'),
        at('guides/draft.md', { draft: true }),
        at("o'%_/d.md"),
      ],
    });
    const within = async (folder: string, more = {}) => {
      const asked = { folder, drafts: false, limit: 100, offset: 0, ...more };
      const listed = await index.list(asked);
      const searched = await index.search({ ...asked, text: 'words' });
      t.equal(searched.total, listed.total, folder);
      t.strictSame(
        searched.items.map(({ document }) => document.path).sort(),
        listed.items.map(({ path }) => path).sort(),
      );
      return [listed.items.map(({ path }) => path), listed.total];
    };
    t.strictSame(await within('guides/'), [['guides/deep/b.md', 'guides/a.md'], 2]);
    t.strictSame(await within('guides/deep/'), [['guides/deep/b.md'], 1]);
    t.strictSame(await within('guides/', { type: 'guide' }), [['guides/a.md'], 1]);
    t.strictSame((await within('guides/', { drafts: true }))[1], 3);
    t.strictSame(await within("o'%_/"), [["o'%_/d.md"], 1]);
    for (const folder of ['guide/', 'Guides/', 'nothing/', '\0/'])
      t.strictSame(await within(folder), [[], 0]);
    const { items, total } = await index.list({ folder: 'guides/', drafts: false, limit: 1, offset: 1 });
    t.strictSame([items.map(({ path }) => path), total], [['guides/a.md'], 2], 'a page');
  });

  onNew('documents whose text has changed since a time', async (t, index) => {
    const put = (at: number, slug: string, text: string) =>
      index.apply({ at, put: [emptyDocument(slug, { body: 'words', contentHash: text })] });
    await index.apply({ isComplete: true });
    await put(1_000, 'a', 'one');
    await put(1_000, 'b', 'one');
    await put(2_000, 'a', 'two');
    await put(3_000, 'b', 'one');
    const since = async (changedSince: number) => {
      const asked = { changedSince, drafts: false, limit: 100, offset: 0 };
      const { items } = await index.list(asked);
      t.equal((await index.search({ ...asked, text: 'words' })).total, items.length);
      return items.map(({ slug }) => slug).join(' ');
    };
    t.equal(await since(0), 'a b');
    t.equal(await since(1_000), 'a b');
    t.equal(await since(1_001), 'a', 'the text of b is the same as before');
    t.equal(await since(2_001), '');
    await index.apply({ at: 4_000, remove: ['b'] });
    await put(5_000, 'b', 'one');
    t.equal(await since(4_000), 'b', 'what comes back is new');
  });

  on('tags and types with the number of their documents', async (t, index) => {
    await index.apply({
      put: [
        emptyDocument('a', { type: 'guide', tags: [{ slug: 'mac', title: 'macOS' }, tag('one')] }),
        emptyDocument('b', { type: 'guide', tags: [{ slug: 'mac', title: 'macOS' }] }),
        emptyDocument('c', { type: 'note "x"', tags: [{ slug: 'mac', title: 'Mac\0\ud800' }] }),
        emptyDocument('d', { type: 'hidden', draft: true, tags: [tag('one'), tag('secret')] }),
        emptyDocument('e', { tags: Array.from({ length: 210 }, (_, at) => tag(`many-${at}`)) }),
      ],
    });
    const reader = { drafts: false };
    const tags = await index.terms('tag', reader);
    t.strictSame(tags.slice(0, 2), [
      { slug: 'mac', title: 'macOS', count: 3 },
      { slug: 'many-0', title: 'MANY-0', count: 1 },
    ]);
    for (const { slug, count } of [...tags].slice(0, 5))
      t.equal((await index.list({ tag: slug, drafts: false, limit: 1, offset: 0 })).total, count, slug);
    t.notOk(tags.some(({ slug }) => ['secret', 'many-200'].includes(slug)));
    t.strictSame(await index.terms('type', reader), [
      { slug: 'guide', title: 'guide', count: 2 },
      { slug: 'note "x"', title: 'note "x"', count: 1 },
    ]);
    t.ok((await index.terms('type', { drafts: true })).some(({ slug }) => slug === 'hidden'));
    t.match(
      (await index.terms('tag', { drafts: true })).find(({ slug }) => slug === 'one'),
      { count: 2 },
    );
  });

  on('a selection has everything that matches, in its order', async (t, index) => {
    await index.apply({
      put: [
        emptyDocument('c', { title: 'Part 10', date: '2024-01-01', tags: [tag('book')] }),
        emptyDocument('a', { title: 'part 2', date: '2025-01-01', tags: [tag('book')], draft: true }),
        emptyDocument('b', { title: 'Épilogue', tags: [tag('book')] }),
        emptyDocument('d', { title: 'other', type: 'x' }),
      ],
    });
    const select = async (order: 'date' | '-date' | 'title') =>
      (await index.select({ tag: 'book', order })).map(({ slug }) => slug).join(' ');
    t.equal(await select('date'), 'c a b');
    t.equal(await select('-date'), 'a c b');
    t.equal(await select('title'), 'b a c');
    t.strictSame(
      (await index.select({ order: 'title', type: 'x' })).map(({ path }) => path),
      ['d.md'],
    );
  });

  on('a document is found by the other forms of its slug', async (t, index) => {
    const at = (path: string, slug: string, draft = false) => emptyDocument(slug, { path, draft });
    await index.apply({
      put: [
        at('errors.md', 'errors'),
        at('b/errors.md', 'b-errors'),
        at('c/README.md', 'c'),
        at('b/deep/README.md', 'deep'),
        at('x/README.md', 'named-x'),
        at('d/deep/faq.md', 'd-deep-faq'),
        at('z/faq.md', 'z-faq'),
        at('e/faq.md', 'named'),
        at('a/faq.md', 'a-faq', true),
      ],
    });
    const named = async (names: readonly string[], drafts = false) =>
      Object.fromEntries(await index.slugsNamed(names, { drafts }));
    t.strictSame(await named(['x', 'c-readme', 'nothing', '', 'a\0b\ud800']), {
      x: 'named-x',
      'c-readme': 'c',
    });
    t.strictSame(await named(['readme']), { readme: 'deep' }, 'the first by path whose file has the name');
    t.strictSame(
      await named(['faq', 'e-faq', 'a-faq']),
      { faq: 'named', 'e-faq': 'named' },
      'the nearest, then by path',
    );
    t.strictSame(await named(['faq'], true), { faq: 'a-faq' });
    await index.apply({ remove: ['named', 'z-faq'] });
    t.strictSame(await named(['faq']), { faq: 'd-deep-faq' });
  });

  on('slugs near a wrong one', async (t, index) => {
    const slugs = ['getting-started', 'installation', 'linux-install-guide', 'configuration', 'größe', 'faq'];
    await index.apply({
      put: [...slugs.map((slug) => emptyDocument(slug)), emptyDocument('instalation-draft', { draft: true })],
    });
    const near = async (slug: string) => (await index.nearSlugs(slug, 3))[0];
    t.equal(await near('geting-started'), 'getting-started');
    t.equal(await near('nistallation'), 'installation');
    t.equal(await near('install-guide-linux'), 'linux-install-guide');
    t.equal(await near('groesse'), 'größe');
    t.equal(await near('größr'), 'größe');
    t.strictSame(await index.nearSlugs('completely-different', 3), []);
    t.strictSame(await index.nearSlugs('\0\ud800', 3), []);
    t.strictSame(await index.nearSlugs(`${'faq-'.repeat(30_000)}`, 3), []);
    t.strictSame(await index.slugsFrom('inst', 3), ['installation'], 'no draft is found by its beginning');
    t.strictSame(await index.slugsFrom('grö', 3), ['größe']);
    t.equal((await index.slugsFrom('', 3)).length, 3);
    t.strictSame(await index.slugsFrom('\0\ud800', 3), []);
  });

  on('a text of any size is found by how it begins', async (t, index) => {
    const word = (number: number) => `w${number.toString(36)}`;
    const body = Array.from({ length: 120_000 }, (_, number) => word(number)).join(' ');
    const repeated = `${'the word '.repeat(20_000)} the end`;
    await index.apply({
      put: [emptyDocument('long', { body }), emptyDocument('repeated', { body: repeated })],
    });
    t.strictSame(await found(index, word(30_000)), ['long']);
    t.strictSame(await found(index, word(119_999)), []);
    t.strictSame(await found(index, '"word the end"'), ['repeated'], 'a phrase far from the beginning');
    t.strictSame(await found(index, '"end the"'), []);
    t.strictSame(await found(index, '"the the"'), []);
  });

  on('a change is seen whole or not at all', async (t, index) => {
    const put = Array.from({ length: 50 }, (_, number) => emptyDocument(`doc-${number}`, { body: 'first' }));
    await index.apply({ put });
    const changing = index.apply({ put: put.map((document) => ({ ...document, body: 'second' })) });
    let [first, second] = [50, 0];
    while (second === 0) {
      first = (await found(index, 'first')).length;
      t.ok(first === 50 || first === 0, `${first} of the first`);
      second = (await found(index, 'second')).length;
      t.ok(second === 50 || second === 0, `${second} of the second`);
    }
    await changing;
    const bad = { ...emptyDocument('bad'), tags: undefined };
    await t.rejects(index.apply({ remove: ['doc-1'], put: [bad as unknown as Document] }));
    t.equal(
      (await index.list({ drafts: false, limit: 1, offset: 0 })).total,
      50,
      'nothing of a change that failed',
    );
  });
}

async function empty(index: WritableIndex): Promise<void> {
  const { files } = await index.files();
  const { items } = await index.list({ drafts: true, limit: 1_000, offset: 0 });
  await index.apply({
    remove: items.map(({ slug }) => slug),
    removeFiles: files.map(({ path }) => path),
    ...{ collections: [], collectionProblems: [], linkWarnings: [] },
  });
}
