import fc from 'fast-check';
import t from 'tap';
import { headingAnchors } from '../../docs-service/content/headingAnchors.ts';
import { headingsOf, titlesIn } from '../../docs-service/content/headings.ts';
import { markdownLines } from '../../docs-service/content/markdownLines.ts';
import { sectionsOf } from '../../docs-service/content/sections.ts';
import { withoutScripts } from '../../docs-service/content/withoutCode.ts';
import { analyse, isUnspaced, maxTokenLength, words } from '../../docs-service/search/analyser.ts';
import { type Clause, QueryError } from '../../docs-service/search/documentIndex.ts';
import { documentWords, lengthMark, markToLength } from '../../docs-service/search/documentWords.ts';
import { excerptOf } from '../../docs-service/search/excerpt.ts';
import { createChanges } from '../../docs-service/search/indexDatabase.ts';
import { nearestSlugs, reversed, slugParts } from '../../docs-service/search/nearSlugs.ts';
import {
  changedRow,
  countOf,
  encodePlaces,
  entryOf,
  offsetOf,
  PlaceReader,
  type PostingRow,
  weightOf,
} from '../../docs-service/search/postings.ts';
import { parseQuery, questionOf } from '../../docs-service/search/query.ts';
import { joinRanks, nearestDocuments } from '../../docs-service/search/searchEngine.ts';
import { maxSnippetLength, snippet } from '../../docs-service/search/snippet.ts';
import { anyText } from '../support/anyText.ts';

/** Text as hostile as it comes, with more of what the parsers look for than chance would give. */
const piece = fc.oneof(
  anyText({ maxLength: 8 }),
  fc.constantFrom(
    '```',
    '~~~',
    '\n',
    '\n\n',
    '# ',
    '- ',
    '> ',
    '===',
    '"',
    '-',
    '*',
    ' ',
    'apple',
    'pear',
    '検索',
    'É',
    '👩‍👩‍👧',
    'e\u0301',
  ),
);
const hostileText = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''));

t.test('the analyser', async (t) => {
  const cases: readonly { name: string; input: string; want: readonly string[] }[] = [
    { name: 'words and numbers', input: 'It is 42, v2.0!', want: ['it', 'is', '42', 'v2', '0'] },
    { name: 'accents of Latin and Greek', input: 'Zürich ÉCOLE Ἑλλάς', want: ['zurich', 'ecole', 'ελλασ'] },
    { name: 'Turkish and German letters', input: 'İstanbul Straße', want: ['istanbul', 'strasse'] },
    { name: 'letters with strokes', input: 'łódź đ Ø œuvre', want: ['lodz', 'd', 'o', 'oeuvre'] },
    { name: 'points and vowel marks', input: 'שָׁלוֹם مُحَمَّد', want: ['שלום', 'محمد'] },
    { name: 'Korean', input: '검색을', want: ['검색', '색을', '을'] },
    { name: 'names in code', input: 'getHTTPName PDFs', want: ['get', 'http', 'name', 'pdfs'] },
    { name: 'Cyrillic', input: 'Ёлка мой', want: ['елка', 'мой'] },
    { name: 'compatible forms', input: 'ｚüｒｉｃｈ ﬁne ①', want: ['zurich', 'fine', '1'] },
    { name: 'a combining accent', input: 'cafe\u0301', want: ['cafe'] },
    { name: 'vowel signs stay', input: 'हिन्दी', want: ['हिन्दी'] },
    { name: 'Japanese', input: '全文検索', want: ['全文', '文検', '検索', '索'] },
    { name: 'Japanese within Latin', input: 'Node用のv2', want: ['node', '用の', 'の', 'v2'] },
    { name: 'one letter', input: '東、京', want: ['東', '京'] },
    { name: 'half-width kana with their voices', input: 'ｶﾞﾗｽ', want: ['ガラ', 'ラス', 'ス'] },
    { name: 'one letter that is two', input: 'ゟ前', want: ['より', 'り前', '前'] },
    { name: 'a letter beyond 16 bits', input: '𠮷野家', want: ['𠮷野', '野家', '家'] },
    { name: 'Thai, marks with their letters', input: 'ที่นี่', want: ['ที่นี่', 'นี่'] },
    { name: 'code', input: 'foo_bar(baz) // a-b', want: ['foo', 'bar', 'baz', 'a', 'b'] },
    { name: 'nothing', input: ' \0…👍🏽 ', want: [] },
  ];
  for (const { name, input, want } of cases) t.strictSame(analyse(input), want, name);

  fc.assert(
    fc.property(hostileText, (text) => {
      const tokens = analyse(text);
      const spaced = tokens.filter((token) => !isUnspaced(token));
      t.strictSame(analyse(spaced.join(' ')), spaced);
      for (const token of tokens)
        if (!/^[\p{L}\p{M}\p{N}]+$/u.test(token) || token.length > maxTokenLength) t.fail(token);
    }),
  );
  t.pass('a token is a word of its own, and no more than it may be');
  t.equal(
    analyse('a'.repeat(100_000)).join(''),
    'a'.repeat(100_000),
    'a long word is cut and nothing is lost',
  );
  t.equal(analyse('検'.repeat(50_000)).length, 50_000);
  const places = [...words('— Zürich\n検索する')];
  t.strictSame(places[0], { start: 2, end: 8, token: 'zurich' });
  t.strictSame(places.slice(1), [
    { start: 9, end: 11, token: '検索' },
    { start: 10, end: 12, token: '索す', isInside: true },
    { start: 11, end: 13, token: 'する', isInside: true },
    { start: 12, end: 13, token: 'る', isInside: true, isTail: true },
  ]);
});

t.test('a query', async (t) => {
  /** As the cases below write them: `"quoted"`, `beginning*`, `of two=joined`. */
  const toText = ({ tokens, isQuoted, isBeginning, joined, count }: Clause) =>
    [
      isQuoted ? `"${tokens.join(' ')}"` : tokens.join(' '),
      ...(isBeginning ? ['*'] : []),
      ...(joined === undefined ? [] : [`=${joined}`]),
      ...(count > 1 ? [`×${count}`] : []),
    ].join('');
  const cases: readonly (readonly [input: string, some: readonly string[], none?: readonly string[]])[] = [
    ['Two words two', ['two×2', 'words']],
    ['"a phrase" word', ['"a phrase"', 'word']],
    ['well-known getUserName', ['well known=wellknown', 'get user name=getusername']],
    ['a -b -"c d" --port', ['a', 'port'], ['b', '"c d"']],
    ['--b', ['b']],
    ['-well-known -a/b', [], ['well known=wellknown', 'a b']],
    ['pre* in*fix *post a*b*', ['pre*', 'in', 'fix', 'post', 'a', 'b*']],
    ['getUser*', ['get user*=getuser']],
    ['"not closed', ['"not closed"']],
    ['glued"to it"gether', ['glued', '"to it"', 'gether']],
    ['“typed by” „an editor“', ['"typed by"', '"an editor"']],
    ['same SAME same*', ['same×2', 'same*']],
    ['検索する', ['検索', '索す', 'する']],
    ['検 -索* "東"', ['検*', '"東"*'], ['索*']],
    ['東京* -東京都', ['東京'], ['東京 京都']],
    ['"東京 大阪"', ['"東京 京 大阪"']],
    ['Node用 検索v2', ['node', '用*', '検索', 'v2']],
    ['검색 검색을', ['검색×2', '색을']],
    ['C++ c# .NET "C++" docs/index.md', ['c++', 'c#', '.net', '"c++"', 'docs', 'index md=indexmd']],
    ['1,000,000', ['1 000 000=1000000']],
    ['AND OR NEAR(a b) title:c', ['and', 'or', 'near', 'a', 'b', 'title', 'c']],
    ['- "" -"" * ( ) ++ \0', []],
    ['', []],
  ];
  for (const [input, some, none = []] of cases) {
    const query = parseQuery(input);
    t.strictSame([query.some.map(toText), query.none.map(toText)], [some, none], input);
  }
  t.equal(parseQuery('see C++, now').some[1]?.written, 'C++', 'as it was written');
  for (const { input, question } of [
    { input: 'a-b "c d" -"e f" "g"', question: 'a-b c d g' },
    { input: 'how to* start -x --y', question: 'how to start --y' },
    { input: '-x -"y z"', question: '' },
  ])
    t.equal(questionOf(input), question);

  fc.assert(
    fc.property(hostileText, (text) => {
      try {
        const { some, none } = parseQuery(text);
        for (const { tokens } of [...some, ...none])
          if (tokens.length === 0 || tokens.some((token) => /[^\p{L}\p{M}\p{N}+#.]/u.test(token)))
            t.fail(text);
      } catch (error) {
        if (!(error instanceof QueryError)) throw error;
      }
    }),
  );
  fc.assert(
    fc.property(hostileText, (text) => {
      const phrase = text.replaceAll(/["“”„«»+#.]/g, ' ').slice(0, 60);
      const tokens = analyse(phrase);
      const some = parseQuery(`"${phrase}"`).some.map(({ tokens }) => tokens);
      // Of a run of letters that may go on, the last pair is the last token.
      if (tokens.length === 0) t.strictSame(some, []);
      else t.ok(isOneOf(some, [tokens, tokens.slice(0, -1)]), 'one clause', { phrase });
    }),
  );
  const numbers = (length: number) => Array.from({ length }, (_, number) => number);
  t.equal(parseQuery('a'.repeat(1_000)).some.length, 1, 'the longest');
  t.equal(parseQuery(numbers(64).join(' ')).some.length, 64, 'the most words');
  t.throws(() => parseQuery(numbers(65).join(' -')), { name: 'QueryError', message: /more than 64 words/ });
  t.throws(() => parseQuery('a'.repeat(1_001)), { name: 'QueryError', message: /1000 characters/ });
});

t.test('any part of a run in a script without spaces is found, and nothing else', async (t) => {
  const run = fc
    .array(fc.constantFrom('東', '京', '都', 'ｶ', 'ﾞ', 'ก', 'ี', '่', '𠮷', 'ー'), { maxLength: 8 })
    .map((letters) => letters.join(''));
  const isFound = (body: string, query: string) => {
    const [clause] = parseQuery(`"${query}"`).some;
    const tokens = analyse(body);
    return clause?.tokens.every((_, index) => index >= 0)
      ? tokens.some((_, from) =>
          clause.tokens.every((token, index) =>
            clause.isBeginning && index === clause.tokens.length - 1
              ? tokens[from + index]?.startsWith(token)
              : tokens[from + index] === token,
          ),
        )
      : false;
  };
  fc.assert(
    fc.property(run, run, run, (before, part, after) => {
      // A mark belongs to the letter before it, and begins nothing.
      if (part === '' || /^[\p{M}ﾞ]/u.test(part) || /^[\p{M}ﾞ]/u.test(after)) return;
      if (!isFound(before + part + after, part)) t.fail(`${before}|${part}|${after}`);
    }),
  );
  for (const { body, query, want } of [
    { body: '東京都', query: '京都', want: true },
    { body: '東京、都', query: '京都', want: false },
    { body: '京東', query: '東京', want: false },
    { body: '東京都', query: '都', want: true },
    { body: '東京都庁', query: '東京庁', want: false },
  ])
    t.equal(isFound(body, query), want, `${query} in ${body}`);
});

t.test('headings', async (t) => {
  const cases: readonly { name: string; input: string; want: readonly string[] }[] = [
    { name: 'with marks', input: '# One\n\n###### Six ######\n####### seven', want: ['One', 'Six'] },
    { name: 'underlined', input: 'One\n===\n\nTwo\nlines\n---\n\n---\n', want: ['One', 'Two lines'] },
    { name: 'no tags, no code', input: '#tag\n\n    # code\n\n```\n# code\n```\n\n# yes', want: ['yes'] },
    {
      name: 'fences in lists and quotes',
      input: '- ```\n  # no\n  ```\n\n> ~~~\n> # no\n> ~~~\n\n# yes',
      want: ['yes'],
    },
    { name: 'a fence that is never closed', input: '# yes\n````\n```\n# no', want: ['yes'] },
    { name: 'code within a line is no fence', input: '```a```\n# yes', want: ['yes'] },
    { name: 'C# and closing marks', input: '# C#\n# C #\n', want: ['C#', 'C'] },
    { name: 'lists and quotes are not underlined', input: '- a\n---\n> b\n---\n', want: [] },
    { name: 'lines that end as on Windows', input: '# One\r\n\r\nTwo\r\n===\r\n', want: ['One', 'Two'] },
  ];
  for (const { name, input, want } of cases)
    t.strictSame(
      headingsOf(input).filter((heading) => heading !== ''),
      want,
      name,
    );
  t.equal(
    titlesIn('#\n\ntext\n\n# The [*guide*](x.md) to `a<b>` &amp; <b>more</b>\n')[0],
    'The guide to a<b> & more',
  );
  t.equal(titlesIn('# &valueOf; &#x110000; &#65;')[0], '&valueOf; \ufffd A');
  const characters = [
    { name: 'decimal and hexadecimal numbers', input: '&#65;&#x42;&#X6f22;', want: 'AB漢' },
    {
      name: 'the last character',
      input: 'a&#x10FFFF;&#1114111;&#1114112;',
      want: 'a\u{10ffff}\u{10ffff}\ufffd',
    },
    { name: 'no character', input: 'a&#0;&#xd800;&#57343;', want: 'a\ufffd\ufffd\ufffd' },
    { name: 'beside those', input: '&#xd7ff;&#xe000;', want: '\ud7ff\ue000' },
    { name: 'a mark that is written as text', input: '`&#65;`', want: '&#65;' },
  ];
  for (const { name, input, want } of characters) t.equal(titlesIn(`# ${input}`)[0], want, name);
  t.equal(titlesIn('# one<br>two')[0], 'onetwo');
  t.equal(titlesIn('One  \ntwo\n===')[0], 'One two');
  t.equal(titlesIn('only text')[0], undefined);
  t.equal(titlesIn(`# ${'x'.repeat(1_000)}`)[0]?.length, 498, 'a line is read up to 500 units');

  fc.assert(
    fc.property(hostileText, (text) => {
      headingsOf(text);
      titlesIn(text);
      const lines = [...markdownLines(text)];
      t.strictSame(lines.map(({ start, end }) => text.slice(start, end)).join('\n'), text);
    }),
  );
});

t.test('an excerpt', async (t) => {
  const filler = 'Lorem ipsum dolor sit amet consectetur. '.repeat(30);
  const fence = '```js\nconst needle = 1;\n```';
  const longFence = `\`\`\`\n${'code '.repeat(100)}needle\n\`\`\``;
  const cases: readonly { name: string; body: string; query: string; want: RegExp; not?: RegExp }[] = [
    {
      name: 'the begin where nothing is found',
      body: `Begin. ${filler}`,
      query: 'other',
      want: /^Begin\. .* …$/s,
    },
    {
      name: 'around the word',
      body: `${filler}Here is a *needle* in it. ${filler}`,
      query: 'needle',
      want: /^… .*\*needle\*.* …$/s,
    },
    {
      name: 'what no reader sees is not in it',
      body: 'A needle <script>alert(1)</script> in <!-- a note --> it.\n\n<style>\nb { }\n\n</style>\nEnd of `<script>`.',
      query: 'needle',
      want: /^A needle {2,}in {2,}it\.\s+End of `<script>`\.$/,
    },
    {
      name: 'a short text is whole',
      body: 'A needle.\n\nThe end.\n',
      query: 'needle',
      want: /^A needle\.\n\nThe end\.$/,
    },
    {
      name: 'where more is found',
      body: `A needle. ${filler}${filler}The thread and the needle.`,
      query: 'thread needle',
      want: /thread and the needle\.$/,
    },
    {
      name: 'a short fence is whole',
      body: `${filler}\n\n${fence}\n\n${filler}`,
      query: 'needle',
      want: /^```js\nconst needle = 1;\n```$/,
    },
    {
      name: 'a long fence is left out',
      body: `Begin.\n\n${longFence}\n\nText with a needle.`,
      query: 'needle',
      want: /^Text with a needle\.$/,
    },
    { name: 'nothing but a long fence', body: longFence, query: 'needle', want: /^$/ },
    {
      name: 'a phrase, not its words',
      body: `red. ${filler}apple. ${filler}A red apple. ${filler}`,
      query: '"red apple"',
      want: /A red apple/,
    },
    { name: 'the beginning of a word', body: `${filler}Needles. ${filler}`, query: 'need*', want: /Needles/ },
    {
      name: 'an excluded word is nothing to show',
      body: `Begin. ${filler}`,
      query: '-lorem',
      want: /^Begin/,
    },
    {
      name: 'Japanese',
      body: `${'あ。'.repeat(400)}全文検索エンジン${'い。'.repeat(400)}`,
      query: '検索',
      want: /検索/,
    },
  ];
  for (const { name, body, query, want } of cases) {
    const { text: excerpt } = snippet(body, parseQuery(query).some);
    t.match(excerpt, want, name);
    t.ok(excerpt.length <= maxSnippetLength, `${name}: ${excerpt.length}`);
  }
  const families = '👩‍👩‍👧'.repeat(200);
  t.match(snippet(families, parseQuery('x').some).text, /^(?:👩‍👩‍👧)+ …$/u, 'no character is cut');

  const windows = ['Text.', '```js', '# needle', '```', 'More.'].join('\r\n');
  t.strictSame(
    [...markdownLines(windows)].map(({ fence }) => fence),
    [undefined, 0, 0, 0, undefined],
    'a fence in a file with the line ends of Windows',
  );

  for (const blank of ['\r', '\f', '\v', '\u00a0', '\u2028'])
    t.equal(
      snippet(` \n${blank}\r\n\t${blank}~~~a\n\n${blank}~~~a\n`, parseQuery('apple').some).text,
      `${blank === '\r' ? '\r\r\n\t' : ''}${blank}~~~a\n\n${blank}~~~a`,
      `after U+${blank.charCodeAt(0).toString(16)} there is no fence`,
    );

  fc.assert(
    fc.property(hostileText, fc.integer({ min: 1, max: 12 }), (text, times) => {
      const body = `${text}\n`.repeat(times);
      const { text: excerpt } = snippet(body, parseQuery('apple pear* "検索 apple"').some);
      if (excerpt.length > maxSnippetLength) t.fail(`${excerpt.length} units`);
      if (/\p{Surrogate}/u.test(excerpt) && !/\p{Surrogate}/u.test(body)) t.fail('half a character');
      const fences = new Set([...markdownLines(excerpt)].map(({ fence }) => fence)).size;
      if (fences > 1) t.fail(`a fence and more: ${JSON.stringify(excerpt)}`);
      const isFence = [...markdownLines(excerpt)][0]?.fence === 0;
      if (isFence && !fencesOf(body).includes(excerpt))
        t.fail(`a part of a fence: ${JSON.stringify(excerpt)}`);
    }),
    { numRuns: 500 },
  );
});

/** The words of a text in their order, without those that the index adds. */
function wordsOfText(body: string): readonly string[] {
  const document = { slug: '', title: '', type: null, tags: [], draft: false, lang: null, path: '' };
  const { words } = documentWords({ ...document, body });
  return words.filter((word) => /^\p{L}/u.test(word));
}

t.test('a document within its bounds', async (t) => {
  const numbers = Array.from({ length: 150_000 }, (_, number) => `w${number}`).join(' ');
  t.equal(wordsOfText(numbers).length, 100_000);
  const lengths = [0, 1, 2, 50, 300, 1_000, 100_000];
  for (const length of lengths) {
    const read = markToLength(lengthMark(length));
    t.ok(Math.abs(read - length) <= 0.05 * length, `${length} is ${read}`);
  }
});

t.test('a row of the index after any changes has what its documents have', async (t) => {
  const places = fc.array(fc.nat(100_000), { maxLength: 5 }).map((some) => some.toSorted((a, b) => a - b));
  const posting = fc.record({ weight: fc.nat(15), count: fc.nat(255), places });
  const change = fc.tuple(fc.nat(4_095), fc.option(posting, { nil: undefined }));
  fc.assert(
    fc.property(fc.array(fc.array(change, { maxLength: 8 }), { maxLength: 6 }), (steps) => {
      const want = new Map<number, string>();
      let row: PostingRow | undefined;
      for (const step of steps) {
        const latest = new Map(step.toSorted(([one], [other]) => one - other));
        const added = [...latest].flatMap(([offset, one]) => (one ? [{ offset, ...one }] : []));
        const lists = added.map(({ places }) => places);
        const words = lists.flatMap((list, word) => list.map(() => word));
        row = changedRow(row, {
          removed: new Set(latest.keys()),
          added: {
            entries: Uint32Array.from(
              added,
              ({ offset, weight, count }) => (offset << 16) | entryOf(weight, count),
            ),
            places: encodePlaces(lists.length, words, lists.flat()),
          },
        });
        for (const [offset, one] of latest) {
          if (one) want.set(offset, JSON.stringify([one.weight, one.count, one.places]));
          else want.delete(offset);
        }
      }
      const reader = new PlaceReader(row?.places ?? new Uint8Array());
      const got = Array.from(row?.entries ?? [], (entry) => {
        const places: number[] = [];
        reader.read(places);
        const stored = JSON.stringify([weightOf(entry), countOf(entry), places]);
        return [offsetOf(entry), stored] as const;
      });
      t.strictSame(
        got,
        [...want].toSorted(([one], [other]) => one - other),
      );
    }),
  );
  const damaged = new PlaceReader(Uint8Array.from([255, 255, 255, 255, 127, 1]));
  t.ok(damaged.read([]) < 10, 'a damaged one ends');
});

t.test('the slugs that resemble a wrong one, the nearest first', async (t) => {
  const longest = 'x'.repeat(100);
  const cases: readonly { wrong: string; of: readonly string[]; want: readonly string[]; limit?: number }[] =
    [
      {
        wrong: 'instal',
        of: ['uninstall', 'other', 'install', 'instal', 'install'],
        want: ['instal', 'install', 'uninstall'],
      },
      { wrong: 'guide-setup', of: ['setup-guide', 'guide-setups'], want: ['guide-setups', 'setup-guide'] },
      { wrong: 'ab', of: ['cd', 'ac'], want: ['ac'] },
      { wrong: 'abcd', of: ['abxyz', 'abxy', 'axyz'], want: ['abxy'] },
      { wrong: '', of: ['', 'a'], want: [''] },
      { wrong: '../../x', of: ['f1', 'f2', 'y'], want: [] },
      { wrong: '../../guide', of: ['guides', 'f1'], want: ['guides'] },
      { wrong: 'cat', of: ['hat', 'bat'], want: ['bat', 'hat'] },
      { wrong: 'cat', of: ['hat', 'bat'], want: ['bat'], limit: 1 },
      { wrong: longest, of: [longest], want: [longest] },
      { wrong: `${longest}x`, of: [longest], want: [] },
    ];
  for (const { wrong, of, want, limit = 9 } of cases)
    t.strictSame(nearestSlugs(wrong, of, limit), want, wrong);
  t.strictSame(slugParts('?'), []);
  t.strictSame(slugParts('guide-Guide'), ['guide']);
  t.equal(slugParts(`${'x'.repeat(98)}-yz`).at(-1), 'y', '100 characters are read');
  t.equal(slugParts('a-b-c-d-e-f-g-h').length, 6);
  t.equal(reversed('a𠮷b'), 'b𠮷a');
});

t.test('text and meaning are joined by their ranks', async (t) => {
  const near = new Map([
    ['b', 3],
    ['c', 0],
    ['d', 1],
  ]);
  const joined = joinRanks(['a', 'b'], near, (found) => found === 'd');
  t.strictSame(joined, [
    { found: 'b', matched: 'both', place: 3 },
    { found: 'a', matched: 'text', place: undefined },
    { found: 'c', matched: 'meaning', place: 0 },
    { found: 'd', matched: 'both', place: 1 },
  ]);
  const sections = ['x 1', 'a 2', 'a 0', 'b 5', 'c 1'].map((name) => {
    const [slug = '', place] = name.split(' ');
    return { slug, place: Number(place) };
  });
  const passes = (slug: string) => (slug === 'x' ? undefined : slug);
  const nearest = (count: number) => [...nearestDocuments({ sections, count }, passes)];
  t.strictSame(nearest(2), [['a', 2]], 'the nearest sections count, not the nearest documents');
  t.strictSame(nearest(3), [
    ['a', 2],
    ['b', 5],
  ]);
});

t.test('states of a library that come late are no changes', async (t) => {
  const changes = createChanges();
  let calls = 0;
  const subscription = changes.onDidChange(() => void (calls += 1));
  const states = [
    { indexId: 'a', changes: 1, want: [1, 0] },
    { indexId: 'a', changes: 3, want: [2, 1] },
    { indexId: 'a', changes: 3, want: [2, 1] },
    { indexId: 'a', changes: 2, want: [2, 1] },
    { indexId: 'b', changes: 1, want: [3, 2] },
  ];
  for (const { want, ...state } of states) {
    changes.onState(state);
    t.strictSame([changes.generation(), calls], want);
  }
  subscription.dispose();
  changes.onState({ indexId: 'b', changes: 2 });
  t.strictSame([changes.generation(), calls], [4, 2]);
});

t.test('a piece of a section is as long as it may be, and its place is known', async (t) => {
  const lengths = (text: string) => sectionsOf(text).map((section) => section.text.length);
  t.strictSame(lengths('x'.repeat(1_200)), [1_200]);
  t.strictSame(lengths('x'.repeat(1_201)), [1_200, 1]);
  t.strictSame(lengths(`${'x'.repeat(1_199)}😀`), [1_199, 2], 'no character is cut');
  t.strictSame(lengths(`${'x'.repeat(700)}\n${'y'.repeat(700)}`), [700, 700], 'between lines');
  t.strictSame(lengths(`${'x'.repeat(700)} ${'y'.repeat(700)}`), [700, 700], 'between words');
  t.strictSame(lengths(`${'x'.repeat(500)} ${'y'.repeat(900)}`), [1_200, 201], 'not far before');
  t.strictSame(lengths(`${'x'.repeat(700)}\n\n${'y'.repeat(498)}`), [1_200], 'two paragraphs that fit');
  t.strictSame(lengths(`${'x'.repeat(700)}\n\n${'y'.repeat(499)}`), [700, 499]);
  const places = (text: string) => sectionsOf(text).every((one) => text.startsWith(one.text, one.start));
  fc.assert(fc.property(hostileText, (text) => /[<`~]/.test(text) || places(text.repeat(40))));
});

t.test('what no reader sees cannot be found, and everything else can', async (t) => {
  const cases: readonly { name: string; body: string; want: readonly string[] }[] = [
    { name: 'a script in a line', body: 'a <SCRIPT src=x>b</script> c', want: ['a', 'c'] },
    { name: 'a script of several blocks', body: '<script>\n\nx\n```\ny\n```\n</script>\nz', want: ['z'] },
    { name: 'a script without an end', body: 'a\n\n<script>\nb\n\nc', want: ['a'] },
    { name: 'a tag in prose', body: 'the <script> tag\n\nb', want: ['the', 'script', 'tag', 'b'] },
    { name: 'a comment', body: 'a <!-- b --> c\n\n<!-- d\n\ne --> f', want: ['a', 'c', 'f'] },
    { name: 'code in a line', body: '`<style>` a `</style>`', want: ['style', 'a', 'style'] },
    {
      name: 'a fence',
      body: '````\n```\n<title>a</title>\n````\n<title>b</title>',
      want: ['title', 'a', 'title'],
    },
  ];
  for (const { name, body, want } of cases) t.strictSame(wordsOfText(body), [...new Set(want)], name);
  const begin = performance.now();
  for (const mark of ['<script ', 'x <script> ', '` `` ``` ', 'x <!-- ', '```\n', '</script <script>a'])
    withoutScripts(mark.repeat(100_000));
  t.ok(performance.now() - begin < 20_000, 'in one pass');
});

function isOneOf(value: unknown, wanted: readonly unknown[]): boolean {
  return wanted.some((one) => JSON.stringify([one]) === JSON.stringify(value));
}

function fencesOf(text: string): readonly string[] {
  const fences = new Map<number, { readonly start: number; readonly end: number }>();
  for (const { start, end, fence } of markdownLines(text))
    if (fence !== undefined) fences.set(fence, { start: fences.get(fence)?.start ?? start, end });
  return Array.from(fences.values(), ({ start, end }) => text.slice(start, end));
}

t.test('the section of an excerpt', async (t) => {
  const filling = Array.from({ length: 40 }, () => 'filling of a page');
  const body = [
    'Plum before.',
    '# The *title*',
    'Apple. <!--',
    '# hidden',
    '--> Apple.',
    '## Same',
    'Pear one.',
    '> ## Same',
    '> Pear two, a cherry.',
    '',
    '## Same',
    '```',
    '# no heading of figs',
    '```',
    'Two lines',
    'of a quince',
    '---',
    'Grapes far from the',
    ...filling,
    'olives.',
    ...filling,
    '## Last',
    'Grapes and olives.',
  ].join('\n');
  const found = (query: string, near: { matched: 'text' | 'meaning' | 'both'; place?: number }) => {
    const { snippet: text, section } = excerptOf({ title: 'The title', body }, parseQuery(query).some, {
      place: undefined,
      ...near,
    });
    return { text, id: section?.id ?? null };
  };
  const cases = [
    { query: 'plum', want: null },
    { query: 'nothing', want: null },
    { query: 'title', want: null },
    { query: 'apple', want: null },
    { query: 'one', want: 'same' },
    { query: 'cherry', want: 'same' },
    { query: 'figs', want: 'same-2' },
    { query: 'quince', want: 'two-lines-of-a-quince' },
    { query: 'last', want: 'last' },
  ];
  for (const { query, want } of cases) t.equal(found(query, { matched: 'text' }).id, want, query);
  const titled = { title: 'Title', body: '# Title\n\nApple.\n\n## Pear\n' };
  const text = { matched: 'text', place: undefined } as const;
  t.equal(excerptOf(titled, parseQuery('apple').some, text).section, null, 'the title alone is the document');
  t.strictSame(excerptOf(titled, parseQuery('pear').some, text).section, { id: 'pear', title: 'Pear' });

  const sections = sectionsOf(body);
  const last = sections.findIndex(({ heading }) => heading === 'Last');
  const quince = sections.findIndex(({ heading }) => heading.includes('quince'));
  t.match(found('else', { matched: 'meaning', place: last }), { text: 'Grapes and olives.', id: 'last' });
  const beginning = found('olives of a page', { matched: 'meaning', place: quince });
  t.match(beginning, { text: /^Grapes far from the/, id: 'two-lines-of-a-quince' });
  t.equal(found('olives', { matched: 'meaning', place: 999 }).id, 'two-lines-of-a-quince', 'it has changed');
  t.equal(found('pear', { matched: 'both', place: last }).id, 'same', 'where the word is');
  t.equal(found('grapes', { matched: 'both', place: last }).id, 'last', 'the nearest of its places');
  t.equal(found('grapes and olives', { matched: 'both', place: quince }).id, 'last', 'all words together');
  t.equal(
    found('plum olives', { matched: 'both', place: quince }).id,
    'two-lines-of-a-quince',
    'they are not',
  );
});

t.test('headings and their ids are found in linear time in any text', async () => {
  fc.assert(
    fc.property(hostileText, hostileText, (text, other) => {
      const ids = Array.from(headingAnchors(`${text}\n\n${other}`), ({ id }) => id);
      if (new Set(ids).size !== ids.length) throw new Error(`An id is not unique: ${ids.join(', ')}`);
    }),
  );
});
