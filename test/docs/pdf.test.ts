import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';
import { directionOf, inVisualOrder, withLevels } from '../../docs-service/formats/pdf/directions.ts';
import { createPdf } from '../../docs-service/formats/pdf/pdf.ts';
import { needs, places } from '../support/parts.ts';
import { drawn, pagesOf, pdfJob, poppler, textOf } from '../support/pdfFiles.ts';
import { pictures, turnedJpeg } from '../support/pictures.ts';

const parts = needs('poppler');
const cjk = places.notoCjk;

t.test(
  'text is there in its order, with title, description, authors, date and page numbers',
  parts,
  async (t) => {
    const document = {
      title: 'The guide',
      description: 'What it says.',
      authors: ['Anna Example', 'Бо Ёлкин'],
      body: '# The guide\n\nFirst *second* **third** `fourth` ~~fifth~~ [sixth](https://example.com) &amp; H<sub>2</sub>O.<br>New line. <script>alert(1)</script>\n\n<details><summary>More</summary>hidden</details>\n',
    };
    const { bytes, notes } = await createPdf(pdfJob('', document));
    const text = textOf(bytes);
    t.equal(text.match(/The guide/g)?.length, 1, 'a heading that repeats the title is left out');
    t.match(text, /What it says\.\s+Anna Example, Бо Ёлкин +· +(March 9, 2026|9 March 2026)/);
    t.match(text, /First second third fourth fifth sixth & H2O\.\nNew line\.\s+More\s+hidden/);
    t.notMatch(text, /alert/);
    t.match(text, /1 ?\/ ?1/);
    t.same(notes, []);
  },
);

t.test('the heading that became the title is set once', parts, async (t) => {
  for (const heading of [
    '# The <em>guide</em>',
    '<!-- A comment -->\n\n## The guide',
    'Before.\n\n## The guide',
  ]) {
    const { bytes } = await createPdf(
      pdfJob('', { title: 'The guide', date: null, body: `${heading}\n\nWords.\n\n## More\n` }),
    );
    t.match(textOf(bytes), /^\s*The guide\s+(?:Before\.\s+)?Words\.\s+More\s+1 ?\/ ?1\s*$/, heading);
  }
});

t.test('metadata says what the front matter says', parts, async (t) => {
  const document = {
    title: 'Ключ ☂ "x"',
    description: 'About it',
    authors: ['A', 'B'],
    tags: [{ slug: 'x', title: 'X tag' }],
    updated: '2026-04-01T10:00:00+02:00',
    lang: 'de',
  };
  const { bytes } = await createPdf(pdfJob('text', document));
  const info = poppler('pdfinfo', bytes, ['-isodates']);
  t.match(info, /Title:\s+Ключ ☂ "x"\n/);
  t.match(info, /Subject:\s+About it\n/);
  t.match(info, /Keywords:\s+X tag\n/);
  t.match(info, /Author:\s+A, B\n/);
  t.match(info, /CreationDate:\s+2026-03-09T00:00:00Z/);
  t.match(info, /ModDate:\s+2026-04-01T08:00:00Z/);
  t.match(info, /Page size:\s+595\.28 x 841\.89 pts \(A4\)/);
  t.match(Buffer.from(bytes).toString('latin1'), /\/Lang \(de\)/);
});

t.test('no heading stands alone at the end of a page', parts, async (t) => {
  const begins = [
    'Its text is here.',
    '- Its text is here.\n- More.',
    '```\nIts text is here.\n```',
    '| Head |\n|---|\n| Its text is here. |',
  ];
  const pageOfHeading = async (lines: number, next: string) => {
    const body = `${'line<br>'.repeat(lines)}last\n\n## Heading\n\n### Below\n\n${next}`;
    const pages = textOf((await createPdf(pdfJob(body))).bytes).split('\f');
    const at = pages.findIndex((text) => /^ *Heading$/m.test(text));
    t.match(pages[at], /Its text is here\./, `${lines} lines, then ${next}`);
    return at;
  };
  for (const next of begins) {
    let lines = 31;
    while ((await pageOfHeading(lines, next)) === 0) lines += 1;
    t.ok(lines >= 33 && lines <= 35, `the room is used before ${next}`);
    await pageOfHeading(lines + 2, next);
  }
});

t.test('tables, lists and terms of raw HTML are set as such', parts, async (t) => {
  const { bytes } = await createPdf(
    pdfJob(
      '<table><caption>Caption</caption><tr><th>one</th><th colspan="2">both</th></tr><tr><td rowspan="2">high</td><td>a</td><td>b</td></tr><tr><td>c</td><td><ul><li>d</li><li>e</li></ul></td></tr></table>\n\n<ol start="4" type="I"><li>four</li><li value="9">nine</li></ol>\n\n<dl><dt>term</dt><dd>meaning</dd></dl>',
    ),
  );
  t.match(
    textOf(bytes),
    /Caption\s+one +both\s+high +a +b\s+c +•.?d\s+•.?e\s+IV\. +four\s+IX\. +nine\s+term\s+meaning/,
  );
  const wide = `<table><tr>${'<td colspan="3">some words</td>'.repeat(9)}</tr></table>`;
  t.match(textOf((await createPdf(pdfJob(wide))).bytes), /(some +){3}/);
});

t.test('tables repeat their header, fit the page and align', parts, async (t) => {
  const rows = Array.from(
    { length: 120 },
    (_, n) => `| row ${n} | \`runner.some.very.long.setting${n}\` | ${n} |`,
  );
  const body = `| name | key | count |\n|---|:-:|--:|\n${rows.join('\n')}\n`;
  const { bytes } = await createPdf(pdfJob(body));
  const pages = textOf(bytes).split('\f').slice(0, -1);
  t.ok(pages.length >= 3);
  for (const page of pages) t.match(page, /name +key +count/);
  t.same(
    [...textOf(bytes).matchAll(/row (\d+)/g)].map((match) => Number(match[1])),
    rows.map((_, n) => n),
  );
});

t.test('however many columns and however long their words, nothing leaves the page', parts, async (t) => {
  const cells = (text: string, count: number) => `|${` ${text} |`.repeat(count)}`;
  for (const columns of [2, 7, 19, 60]) {
    const word = 'aVeryLongWord_without.any/place'.repeat(3);
    const body = `${cells('head', columns)}\n${cells('---', columns)}\n${cells(`\`${word}\``, columns)}\n`;
    const html = poppler('pdftohtml', (await createPdf(pdfJob(body))).bytes);
    const ends = [...html.matchAll(/left="(\d+)" width="(\d+)"/g)].map(
      ([, left, width]) => Number(left) + Number(width),
    );
    // Pixels: 892 for the width of A4.
    t.ok(Math.max(...ends) <= 802, `${columns} columns end at ${Math.max(...ends)}`);
    t.ok(ends.length > columns);
  }
});

t.test(
  'links lead to other sites, into the document and to other documents, and nowhere else',
  parts,
  async (t) => {
    const body = [
      '[out here in the text](https://example.com/a?b=c)',
      '[in](#target) [other](other.md#part) [unknown](unknown.md) [script](javascript:alert(1)) [file](file:///etc/passwd)',
      '[bare and](/sub/page#Part) [a folder](sub/) <a href="sub/my%20file.md">raw and</a> [pointed](<sub/my file.md>)',
      '## Target',
    ].join('\n\n');
    const other = 'http://127.0.0.1:4000/read/other';
    const job = pdfJob(
      body,
      {},
      {
        targets: {
          'other.md': other,
          'sub/page.md': `${other}-1`,
          'sub/index.md': `${other}-2`,
          'sub/my file.md': `${other}-3`,
        },
      },
    );
    const { bytes } = await createPdf(job);
    const urls = poppler('pdfinfo', bytes, ['-url'])
      .split('\n')
      .flatMap((line) => /(\S+:\S+)$/.exec(line)?.[1] ?? []);
    const inside = ['#part', '-1#part', '-2', '-3', '-3'].map((end) => `${other}${end}`);
    t.same(urls, ['https://example.com/a?b=c', ...inside], 'one area for each');
    t.equal(
      Buffer.from(bytes)
        .toString('latin1')
        .match(/\/S \/GoTo/g)?.length,
      1,
    );
    t.match(textOf(bytes), /in other unknown script file/);
  },
);

t.test('the cover of any format is above the title', parts, async (t) => {
  const content = t.testdir({ pictures: {}, 'no-picture.png': 'text' });
  writeFileSync(join(content, 'pictures/cover.png'), pictures.png);
  // The document lies deeper: a cover counts from the content folder all the same.
  const document = { title: 'The guide', path: 'deep/guide.md' };
  const cases = [
    { cover: 'pictures/cover.png', shown: 1, note: undefined },
    { cover: 'pictures/gone.png', shown: 0, note: /gone\.png cannot be read/ },
    { cover: 'no-picture.png', shown: 0, note: /no-picture\.png is not a picture/ },
    { cover: '../../etc/passwd', shown: 0, note: /passwd/ },
  ];
  for (const { cover, shown, note } of cases) {
    const { bytes, notes } = await createPdf(
      pdfJob('Words.', { ...document, cover }, { contentFolder: content }),
    );
    t.equal(poppler('pdfimages', bytes, ['-list']).trim().split('\n').length - 2, shown, cover);
    t.match(textOf(bytes), /The guide\s[\s\S]*Words\./);
    t.match(notes, note ? [note] : []);
    t.equal(pagesOf(bytes), 1);
  }
});

t.test('pictures are shown, and those that cannot be are described', parts, async (t) => {
  const content = t.testdir({ pictures: {} });
  for (const [type, bytes] of Object.entries(pictures))
    writeFileSync(join(content, `pictures/a.${type}`), bytes);
  for (const type of ['png', 'gif', 'webp'] as const)
    writeFileSync(join(content, `pictures/broken.${type}`), pictures[type].subarray(0, -14));
  const size = Buffer.from(Uint16Array.of(6_325, 6_325).buffer);
  writeFileSync(join(content, 'pictures/large.gif'), Buffer.concat([Buffer.from('GIF89a'), size]));
  writeFileSync(
    join(content, 'pictures/text.svg'),
    '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="30" id="m"><style>#m .n rect{fill:#0f0}rect{fill:#f00}</style><g class="n"><rect width="9" height="9"/></g><rect fill="currentColor" width="3" height="3"/><text x="5" y="20">Drawn text</text></svg>',
  );
  const refused = ['broken.png', 'gone.png', 'broken.gif', 'broken.webp', 'large.gif'];
  const names = ['a.png', 'a.jpeg', 'a.gif', 'a.webp', 'text.svg', ...refused];
  const data = `![](data:image/png;base64,${pictures.png.toString('base64')})\n\n`;
  const body = data + names.map((name) => `![alt\nof ${name}](pictures/${name})`).join('\n\n');
  const { bytes, notes } = await createPdf(pdfJob(body, {}, { contentFolder: content }));
  const text = textOf(bytes);
  t.same(
    [...text.matchAll(/\[Picture: alt of (\S+)\]/g)].map(([, name]) => name),
    refused,
  );
  t.match(text, /Drawn text/);
  t.match(drawn(bytes), /\n0 1 0 scn/, 'the more specific rule counts');
  t.match(notes, [
    /broken\.png is damaged/,
    /gone\.png cannot be read/,
    /broken\.gif is damaged/,
    /broken\.webp is damaged/,
    /With pictures\/large\.gif, the GIF and WebP pictures have more than 40 million pixels/,
  ]);
  t.equal(poppler('pdfimages', bytes, ['-list']).trim().split('\n').length - 2, 5);
});

function svgOf(text: string, width: number, height: number): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><text x="2" y="${height / 2 + 5}" font-size="12">${text}</text></svg>`;
}

/** The words of a PDF by the lines that they stand on, from the left. */
function rowsOf(bytes: Uint8Array): string[][] {
  const boxes = poppler('pdftotext', bytes, ['-bbox']).matchAll(
    /xMin="([\d.]+)" yMin="([\d.]+)" xMax="[\d.]+" yMax="([\d.]+)">([^<]*)</g,
  );
  const words = Array.from(boxes, ([, x, top, bottom, text = '']) => ({
    x: Number(x),
    middle: (Number(top) + Number(bottom)) / 2,
    text,
  }));
  const rows: (typeof words)[] = [];
  for (const word of words.toSorted((a, b) => a.middle - b.middle)) {
    const first = rows.at(-1)?.[0];
    if (first && word.middle - first.middle < 5) rows.at(-1)?.push(word);
    else rows.push([word]);
  }
  return rows.map((row) => row.toSorted((a, b) => a.x - b.x).map(({ text }) => text));
}

t.test('a picture has the size that its author asked for, as in a browser', async (t) => {
  const contentFolder = t.testdir({ 'a.png': pictures.png });
  // The picture has 3 by 2 pixels; a pixel is 0.75 points.
  const cases = [
    { attributes: '', size: '2.25 0 0 -1.5' },
    { attributes: 'width="60"', size: '45 0 0 -30' },
    { attributes: 'width="60px" height="1"', size: '45 0 0 -30' },
    { attributes: 'width="50%" height="0"', size: '2.25 0 0 -1.5' },
  ];
  for (const { attributes, size } of cases) {
    const { bytes } = await createPdf(pdfJob(`<img src="a.png" ${attributes}>`, {}, { contentFolder }));
    t.match(drawn(bytes), `${size} `, attributes);
  }
  const matrices = ['2.25 0 0 -1.5', '-2.25 0 0 -1.5', '2.25 0 0 -1.5', '2.25 0 0 1.5'];
  for (const [at, matrix] of [
    ...matrices,
    '2.25 0 0 1.5',
    '2.25 0 0 -1.5',
    '-2.25 0 0 -1.5',
    '2.25 0 0 -1.5',
  ].entries()) {
    writeFileSync(join(contentFolder, 'a.jpeg'), turnedJpeg(at + 1));
    const { bytes } = await createPdf(pdfJob('![](a.jpeg)', {}, { contentFolder }));
    t.match(drawn(bytes), `\n${matrix} `, `orientation ${at + 1}`);
  }
});

t.test('text in an SVG has the fonts of its characters', needs('poppler', 'notoCjk', 'dejaVu'), async (t) => {
  const text =
    'Plain 日本語 👋 <tspan font-weight="bold">中文 &amp; more</tspan><title>한국</title></text><text y="95">שלום עולם';
  const contentFolder = t.testdir({ 'a.svg': svgOf(text, 400, 100) });
  const fonts = [...pdfJob('').fonts, cjk, places.dejaVu];
  const { bytes, notes } = await createPdf(pdfJob('![a](a.svg)', { title: 'T' }, { contentFolder, fonts }));
  t.same(rowsOf(bytes).slice(2, -1), [
    ['Plain', '日本語', '👋', '中文', '&amp;', 'more'],
    ['םלוע', 'םולש'],
  ]);
  t.match(poppler('pdffonts', bytes), /NotoSansCJK\w+-Regular[\s\S]*NotoSansCJK\w+-Bold/);
  t.same(notes, []);
});

t.test(
  'signs of Latin, Greek and Cyrillic and those of technical texts are in the own fonts',
  parts,
  async (t) => {
    const signs = 'ÄéñŁő αβγΩ Привет ёґ → ← ⇒ ↔ ✓ ✗ ≥ ≤ ≠ … │ ─ ► ☐ ☑ ★ ∀ ∈ ∑ √ ½ € ™ ⌘';
    const { bytes, notes } = await createPdf(pdfJob(`${signs}\n\n\`${signs}\`\n`));
    t.same(notes, []);
    const text = textOf(bytes);
    for (const sign of signs.split(/\s+/)) t.ok(text.split(sign).length > 2, sign);
  },
);

t.test('emoji are in an own font, without colours', parts, async (t) => {
  const emoji = '😀 👋 💡 🎉 ✅ ❌ ⭐ ❤ 🔴 👉 🚫';
  const { bytes, notes } = await createPdf(pdfJob(`${emoji} and 👍🏽. #️⃣ next\n`));
  t.same(notes, []);
  for (const sign of [...emoji.split(' '), 'and 👍. # next']) t.ok(textOf(bytes).includes(sign), sign);
});

t.test('a character that no font has is shown by its number, with a note', parts, async (t) => {
  const { bytes, notes } = await createPdf(pdfJob('Before 𐎀 after, ✅ and 中.'));
  t.match(textOf(bytes), /Before U\+10380 after, ✅ and U\+4E2D\./);
  t.same(notes, ['No font has U+10380, U+4E2D. Their numbers are shown in their place.']);
});

t.test('Chinese, Japanese and Korean', needs('poppler', 'notoCjk'), async (t) => {
  const body = '日本語の**段落**です。한국어 문장. 中文句子。`コード`\n\n# 見出し\n';
  for (const [lang, face] of Object.entries({
    'ko-KR': 'kr',
    zh: 'sc',
    'zh-TW': 'tc',
    en: 'jp',
  })) {
    const { bytes, notes } = await createPdf(pdfJob(body, { lang }, { fonts: [...pdfJob('').fonts, cjk] }));
    t.match(textOf(bytes), /日本語の段落です。한국어 문장\. 中文句子。コード\s+見出し/, lang);
    t.same(notes, []);
    t.match(
      poppler('pdffonts', bytes),
      new RegExp(`NotoSansCJK${face}-Regular[\\s\\S]*NotoSansCJK${face}-Bold`),
    );
  }
});

t.test('the order of a line is that of Unicode and of Chromium', async (t) => {
  const rows = (name: string) =>
    readFileSync(resolve('test/fixtures/bidi', name), 'utf8')
      .split('\n')
      .filter((row) => /^[^#]/.test(row));
  const pairs = new Map(['()', '[]', '{}', '<>', '⟨⟩', '〈〉'].map(([open, close]) => [open, close]));
  const other = new Map([...pairs, ...Array.from(pairs, ([open, close]) => [close, open] as const)]);
  const ignored = /\p{Default_Ignorable_Code_Point}/gu;
  const placed = (text: string, base: 'ltr' | 'rtl') =>
    inVisualOrder(withLevels([{ kind: 'text', text, mark: {} }], base))
      .map((piece) => (piece.isRightToLeft ? [...piece.text].reverse().join('') : piece.text))
      .join('')
      .replace(ignored, '');
  const wrong: string[] = [];
  for (const row of rows('unicode.txt')) {
    const [codes = '', direction, level, levels = '', order = ''] = row.split(';');
    const signs = codes.split(' ').map((code) => String.fromCodePoint(Number.parseInt(code, 16)));
    const base = level === '1' ? 'rtl' : 'ltr';
    const isOdd = levels.split(' ').map((one) => Number(one) % 2 === 1);
    const shown = (at: number) => (isOdd[at] ? (other.get(signs[at]) ?? signs[at]) : signs[at]);
    const want = order.split(' ').map((at) => shown(Number(at)));
    const isRight = placed(signs.join(''), base) === want.join('').replace(ignored, '');
    const hasBase = direction !== '2' || directionOf(signs.join('')) === base;
    if (!isRight || !hasBase) wrong.push(row);
  }
  t.strictSame(wrong, []);
  const unmirrored = (text: string) =>
    text.replace(/[\])}>»⟩]/g, (sign) => '[({<«⟨'.charAt('])}>»⟩'.indexOf(sign)));
  for (const row of rows('chromium.tsv')) {
    const [direction, line = '', want = ''] = row.split('\t');
    const text = line.replace(/\\u(....)/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
    t.equal(directionOf(text), direction, line);
    t.equal(unmirrored(placed(text, directionOf(text))), unmirrored(want), line);
  }
  // Far more than a line has are placed somehow, in no time.
  const many = 'ש'.concat('(a)'.repeat(10_000), '('.repeat(10_000));
  t.equal(placed(many, 'rtl').length, many.length);
});

t.test('right-to-left text is in its order', needs('poppler', 'dejaVu'), async (t) => {
  const fonts = [...pdfJob('').fonts, places.dejaVu];
  const author = 'דוד כהן';
  const cases = [
    {
      name: 'title, description, authors and date, by their letters alone',
      document: { title: 'מדריך Runner מהיר', description: 'מילים [כאן]', authors: [author], lang: null },
      want: [
        ['ריהמ', 'Runner', 'ךירדמ'],
        ['[ןאכ]', 'םילימ'],
        ['March', '9,', '2026', '·', 'ןהכ', 'דוד'],
      ],
    },
    {
      name: 'a title from left to right in a document from right to left',
      document: { title: 'The guide', authors: [author], lang: 'he' },
      want: [
        ['The', 'guide'],
        ['2026', 'ץרמב', '9', '·', 'ןהכ', 'דוד'],
      ],
    },
  ];
  for (const { name, document, want } of cases)
    t.test(name, async (t) => {
      const job = pdfJob('', { date: '2026-03-09', ...document }, { fonts });
      const boxes = poppler('pdftotext', (await createPdf(job)).bytes, ['-bbox']);
      const words = Array.from(
        boxes.matchAll(/xMin="([\d.]+)" yMin="([\d.]+)" xMax="([\d.]+)"[^>]*>([^<]*)</g),
        ([, left, top, right, text = '']) => ({
          left: Number(left),
          top: Number(top),
          right: Number(right),
          text,
        }),
      );
      for (const line of want) {
        const found = line.map((text) => words.find((word) => word.text === text));
        t.notOk(found.includes(undefined), boxes);
        const lefts = found.map((word) => word?.left ?? 0);
        t.same(
          lefts,
          lefts.toSorted((a, b) => a - b),
          line.join(' '),
        );
      }
    });
});

t.test('after a table in a list that spans two pages, text stays on the page', parts, async (t) => {
  const code = Array.from({ length: 90 }, (_, n) => `    line ${n}`).join('\n');
  const body = `1. one\n\n   \`\`\`\n${code}\n   \`\`\`\n\n   ${'words that fill lines '.repeat(60)}\n`;
  const html = poppler('pdftohtml', (await createPdf(pdfJob(body))).bytes);
  const ends = [...html.matchAll(/left="(\d+)" width="(\d+)"/g)].map(
    ([, left, width]) => Number(left) + Number(width),
  );
  t.ok(Math.max(...ends) <= 792, `${Math.max(...ends)}`);
});

t.test('long paragraphs and code blocks continue across pages without loss', parts, async (t) => {
  const words = Array.from({ length: 6000 }, (_, n) => `w${n}`);
  const code = Array.from({ length: 300 }, (_, n) => `c${n}`);
  const { bytes } = await createPdf(pdfJob(`${words.join(' ')}\n\n\`\`\`\n${code.join('\n')}\n\`\`\`\n`));
  const text = poppler('pdftotext', bytes);
  t.same(text.match(/\bw\d+/g), words);
  t.same(text.match(/\bc\d+/g), code);
  t.ok(pagesOf(bytes) > 10);
});

t.test(
  'a collection is one file with a title page, contents, bookmarks and links inside of it',
  parts,
  async (t) => {
    const { document, ...job } = pdfJob('');
    const chapter = (slug: string, body: string) => ({
      ...document,
      slug,
      path: `${slug}.md`,
      title: `The ${slug} page`,
      body,
    });
    const collection = {
      name: 'shelf',
      title: 'The shelf',
      docs: [],
      order: 'listed',
      author: null,
      lang: null,
      cover: null,
      description: 'All of it.',
    } as const;
    const note = 'Words.[^1]\n\n[^1]: A note.\n';
    const first = chapter('first', `[there](second.md#part) and [here](#part)\n\n## Part\n\n${note}`);
    const second = chapter(
      'second',
      `# The second page\n\n[out](third.md) [gone](first.md#gone)\n\n## Part\n\n${note}`,
    );
    const book = { ...job, kind: 'pdfBook', collection, documents: [first, second, first] } as const;
    const { bytes } = await createPdf(book);
    const pages = textOf(bytes).split('\f');
    t.match(pages[0], /The shelf\s+All of it\./);
    t.match(pages[1], /Contents\s+The first page +3\s+Part +3\s+The second page +4\s+Part +4\s/);
    t.match(pages[2], /The first page/);
    t.match(pages[3], /The second page/);
    t.equal(pagesOf(bytes), 4, 'a document that is listed twice is there once');
    const html = poppler('pdftohtml', bytes);
    const outline = /<outline>[\s\S]*<\/outline>/.exec(html)?.[0].replace(/\s+/g, '');
    const items = (page: number, name: string) =>
      `<itempage="${page}">The${name}page</item><outline><itempage="${page}">Part</item></outline>`;
    t.equal(outline, `<outline>${items(3, 'first')}${items(4, 'second')}</outline>`);
    const leadsTo = (text: string) => new RegExp(`href="[^"#]*#(\\d+)">${text}<`).exec(html)?.[1];
    t.strictSame(['there', 'here', 'gone', 'out'].map(leadsTo), ['4', '3', '3', undefined]);
    t.strictSame((await createPdf(book)).bytes, bytes, 'the same bytes again');
    const alike = { ...book, documents: [first, { ...second, title: first.title }] };
    t.match(
      textOf((await createPdf(alike)).bytes).split('\f')[1],
      /The first page · first +3\s+Part +3\s+The first page · second +4\s/,
      'documents with the same title have their files behind it',
    );
  },
);

t.test('pages are A4 or Letter, and the text takes their width', parts, async (t) => {
  const words = 'Words that fill more than one line of a page. '.repeat(6);
  const cover = 'pictures/neovim.png';
  const print = (paper: 'a4' | 'letter') =>
    createPdf(pdfJob(`${words}\n\n![](pictures/neovim.png)`, { cover }, { paper }));
  const [a4, letter] = [await print('a4'), await print('letter')];
  t.match(poppler('pdfinfo', a4.bytes), /Page size:\s+595\.28 x 841\.89 pts \(A4\)/);
  t.match(poppler('pdfinfo', letter.bytes), /Page size:\s+612 x 792 pts \(letter\)/);
  const firstLine = ({ bytes }: { readonly bytes: Uint8Array }) =>
    /Words[^\n]*/.exec(textOf(bytes))?.[0].length ?? 0;
  t.ok(firstLine(letter) > firstLine(a4));
  t.strictSame((await print('letter')).bytes, letter.bytes);
});

t.test('the properties of a file have the dates of its document, or none', parts, async (t) => {
  for (const [dates, want] of [
    [{ date: '2025-05-01', updated: null }, ['2025-05-01', '2025-05-01']],
    [{ date: '2025-05-01', updated: '2025-06-01' }, ['2025-05-01', '2025-06-01']],
    [{ date: null, updated: null }, [undefined, undefined]],
  ] as const) {
    const body = '# /ModDate 1 0 R\n\n## /CreationDate 1 0 R\n\n/CreationDate and /ModDate';
    const { bytes } = await createPdf(pdfJob(body, { ...dates, description: 'a\n/ModDate 2 0 R\nb' }));
    const info = poppler('pdfinfo', bytes, ['-isodates']);
    t.strictSame(
      ['CreationDate', 'ModDate'].map((key) => new RegExp(`${key}:\\s+([\\d-]{10})`).exec(info)?.[1]),
      want,
    );
    t.match(textOf(bytes), '/CreationDate and /ModDate');
    t.equal(Buffer.from(bytes).includes('1970-01-01'), false);
  }
});
