import fc from 'fast-check';
import t from 'tap';
import { headingAnchors, headingsOf, sectionsOf, titlesIn } from '../../docs-service/content/headings.ts';
import { markdownLines } from '../../docs-service/content/markdownLines.ts';
import { analyse, isUnspaced, maxTokenLength, words } from '../../docs-service/search/analyser.ts';
import { documentWords, lengthMark, markToLength } from '../../docs-service/search/documentWords.ts';
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
import { excerptOf, maxSnippetLength, snippet } from '../../docs-service/search/snippet.ts';
import { anyText } from '../support/anyText.ts';

/** Text as hostile as it comes, with more of what the parsers look for than chance would give. */
const piece = fc.oneof(
  anyText({ maxLength: 8 }),
  fc.constantFrom(
    ...['```', '~~~', '\n', '\n\n', '# ', '- ', '> ', '===', '"', '-', '*', ' '],
    ...['apple', 'pear', '検索', 'É', '👩‍👩‍👧', 'e\u0301'],
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
    { name: 'Japanese', input: '全文検索', want: ['全文', '文検', '検索', '索'] },
    { name: 'one letter', input: '東、京', want: ['東', '京'] },
    { name: 'half-width kana with their voices', input: 'ｶﾞﾗｽ', want: ['ガラ', 'ラス', 'ス'] },
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
  const toText = ({
    tokens,
    isQuoted,
    isBeginning,
    joined,
    count,
  }: ReturnType<typeof parseQuery>['some'][number]) =>
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
    ['-well-known -a/b', [], ['well known=wellknown', 'a b']],
    ['pre* in*fix *post a*b*', ['pre*', 'in', 'fix', 'post', 'a', 'b*']],
    ['"not closed', ['"not closed"']],
    ['glued"to it"gether', ['glued', '"to it"', 'gether']],
    ['検索する', ['検索', '索す', 'する']],
    ['検 -索* "東"', ['検*', '"東"*'], ['索*']],
    ['東京* -東京都', ['東京'], ['東京 京都']],
    ['C++ c# .NET "C++" docs/index.md', ['c++', 'c#', '.net', '"c++"', 'docs', 'index md=indexmd']],
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
        if (!(error instanceof Error && error.name === 'QueryError')) throw error;
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
    { body: '東京都庁', query: '東京庁', want: false },
  ])
    t.equal(isFound(body, query), want, `${query} in ${body}`);
});

t.test('headings', async (t) => {
  const cases: Readonly<Record<string, string | undefined>> = {
    '#\n\ntext\n\n# The [*guide*](x.md) to `a<b>` &amp; <b>more</b>\n': 'The guide to a<b> & more',
    '# &valueOf; &#x110000; &#65;&#0;&#xd800; one<br>two': '&valueOf; \ufffd A\ufffd\ufffd onetwo',
    'One  \ntwo\r\n===\r\n': 'One two',
    'only text\n\n- a\n---\n> b\n---\n': undefined,
  };
  for (const [input, want] of Object.entries(cases)) t.equal(titlesIn(input)[0], want, input);
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
  const hidden =
    'A needle <script>alert(1)</script> in <!-- a note --> it.\n\n<style>\nb { }\n\n</style>\nEnd.';
  const cases: readonly (readonly [body: string, query: string, want: RegExp])[] = [
    [hidden, 'needle', /^A needle {2,}in {2,}it\.\s+End\.$/],
    [`A needle. ${filler}${filler}The thread and the needle.`, 'thread needle', /thread and the needle\.$/],
    [`red. ${filler}apple. ${filler}A red apple. ${filler}`, '"red apple"', /A red apple/],
    [`${filler}Needles. ${filler}`, 'need* -lorem', /Needles/],
    [`Begin. ${filler}`, '-lorem', /^Begin/],
    ['👩‍👩‍👧'.repeat(200), 'x', /^(?:👩‍👩‍👧)+ …$/u],
  ];
  for (const [body, query, want] of cases) {
    const { text: excerpt } = snippet(body, parseQuery(query).some);
    t.match(excerpt, want, query);
    t.ok(excerpt.length <= maxSnippetLength, `${query}: ${excerpt.length}`);
  }
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
    { numRuns: 150 },
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
  t.strictSame(lengths('<script>\nsecret\n</script>\n'), []);
  const plain = (value: string) => value.replace(/\s/g, '');
  fc.assert(
    fc.property(hostileText, fc.string({ unit: 'grapheme', maxLength: 6_000 }), (hostile, long) => {
      for (const text of [hostile.repeat(40), long]) {
        const sections = sectionsOf(text);
        if (sections.some((one) => one.text.length > 1_200 || one.text.trim() === '')) t.fail('too long');
        if (/[<`~]/.test(text)) continue;
        t.ok(sections.every((one) => text.startsWith(one.text, one.start)));
        if (!/[#=-]/.test(text)) t.equal(plain(sections.map((one) => one.text).join('')), plain(text));
      }
    }),
    { numRuns: 50 },
  );
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
    wordsOfText(mark.repeat(100_000));
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

t.test('the section of an excerpt that is near in meaning', async (t) => {
  const filling = 'filling of a page\n'.repeat(40);
  const body = `Plum.\n\n## Same\nPear one.\n\nTwo lines\nof a quince\n---\nGrapes far from the\n${filling}olives.\n${filling}## Last\nGrapes and olives.`;
  const found = (query: string, matched: 'meaning' | 'both', place: number) => {
    const shown = excerptOf({ title: 'The title', body }, parseQuery(query).some, { matched, place });
    return `${shown.section?.id}: ${shown.snippet.slice(0, 19)}`;
  };
  const cases = [
    [found('else', 'meaning', 4), 'last: Grapes and olives.'],
    [found('olives of a page', 'meaning', 2), 'two-lines-of-a-quince: Grapes far from the'],
    [found('olives', 'meaning', 999), 'two-lines-of-a-quince: ', 'it has changed'],
    [found('pear', 'both', 4), 'same: ', 'where the word is'],
    [found('grapes', 'both', 4), 'last: ', 'the nearest of its places'],
    [found('grapes and olives', 'both', 2), 'last: ', 'all words together'],
    [found('plum olives', 'both', 2), 'two-lines-of-a-quince: ', 'they are not'],
  ] as const;
  for (const [is, want, why] of cases) t.ok(is.startsWith(want), `${why ?? want}: ${is}`);
  const titled = { title: 'Title', body: '# Title\n\nApple.\n\n## Pear\n' };
  const text = { matched: 'text', place: undefined } as const;
  t.equal(excerptOf(titled, parseQuery('apple').some, text).section, null, 'the title alone is the document');
});

t.test('headings and their ids are found in linear time in any text', async () => {
  fc.assert(
    fc.property(hostileText, hostileText, (text, other) => {
      const ids = Array.from(headingAnchors(`${text}\n\n${other}`), ({ id }) => id);
      if (new Set(ids).size !== ids.length) throw new Error(`An id is not unique: ${ids.join(', ')}`);
    }),
  );
});
