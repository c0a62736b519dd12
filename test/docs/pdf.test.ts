import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import * as fontkit from 'fontkit';
import t from 'tap';
import { lightPalette } from '../../docs-service/formats/markdown/codeColouring.ts';
import {
  directionOf,
  inVisualOrder,
  orderedLines,
  withLevels,
} from '../../docs-service/formats/pdf/directions.ts';
import { fontCoverage } from '../../docs-service/formats/pdf/fontBook.ts';
import { tryFontFace } from '../../docs-service/formats/pdf/fontFace.ts';
import {
  fallbackFiles,
  fontsFingerprint,
  listFontFiles,
  type Region,
  regionalFace,
  regionOf,
} from '../../docs-service/formats/pdf/fontFiles.ts';
import { createPdf } from '../../docs-service/formats/pdf/pdf.ts';
import type { TextPiece } from '../../docs-service/formats/pdf/pieces.ts';
import { metrics } from '../../docs-service/formats/pdf/style.ts';
import { breakable } from '../../docs-service/formats/pdf/typesetter.ts';
import type { Paper } from '../../docs-service/formats/renderJob.ts';
import { needs, places } from '../support/parts.ts';
import { drawn, pagesOf, pdfJob, poppler, textOf } from '../support/pdfFiles.ts';
import { pictures, turnedJpeg } from '../support/pictures.ts';
import { temporaryFolder, writeFiles } from '../support/temporaryFolder.ts';

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

t.test('code keeps its spaces, in a font of its own', parts, async (t) => {
  const code = [
    'def f(x):',
    '    if x  ==  1:',
    '        return [',
    '',
    '  "a => b != c"',
    '│ ├── x',
    '\tend',
  ];
  const long = `const x = ${'call(a, b); '.repeat(20)}`;
  const { bytes } = await createPdf(pdfJob(`\`\`\`\n${code.join('\n')}\n${long}\n\`\`\`\n`));
  // The width of a character of code, in points.
  const text = poppler('pdftotext', bytes, ['-fixed', '5.04']);
  const left = /^( *)def f/m.exec(text)?.[1] ?? '';
  for (const line of code) {
    const shown = line.replace('\t', '    ');
    if (line) t.ok(text.includes(`\n${left}${shown}`), shown);
  }
  t.equal(text.match(/call\(a, b\);/g)?.length, 20, 'a long line goes on below');
  t.match(poppler('pdffonts', bytes), /JetBrainsMono-Regular .* yes yes yes/);
});

t.test('drawn boxes and tables of code get smaller letters before a line is cut', parts, async (t) => {
  const box = ['─'.repeat(95), `│${' a'.repeat(40)}${' '.repeat(12)} │`];
  const cases = [
    { name: 'a box', lines: box, fits: true },
    { name: 'a table', lines: [`+${'-'.repeat(93)}+`, `| ${'ab '.repeat(30)} |`], fits: true },
    { name: 'other code', lines: [`x = "${'ab '.repeat(31)}"`], fits: false },
    { name: 'a small box', lines: ['┌──┐', '│ab│'], fits: true },
    { name: 'a box that is much too wide', lines: ['─'.repeat(150)], fits: false },
  ];
  for (const { name, lines, fits } of cases) {
    const body = `Words.\n\n\`\`\`\n${lines.join('\n')}\n\`\`\`\n`;
    const text = textOf((await createPdf(pdfJob(body))).bytes).replace(/ +/g, ' ');
    t.equal(
      lines.every((line) => text.includes(line.replace(/ +/g, ' '))),
      fits,
      name,
    );
  }
});

t.test('code has the colours of its language, over the lines that it is wrapped to', parts, async (t) => {
  const words = Array.from({ length: 30 }, (_, at) => `word${at}`).join(' ');
  const { bytes } = await createPdf(pdfJob(`\`\`\`js\nconst a = '${words}'; // so\n\`\`\`\n`));
  const html = poppler('pdftohtml', bytes);
  const [, font] = /<text [^>]*font="(\d+)">const</.exec(html) ?? [];
  t.match(html, new RegExp(`<fontspec id="${font}" [^>]*color="${lightPalette.keyword}"`));
  t.match(textOf(bytes).replace(/\s+/g, ' '), `const a = '${words}'; // so`);
  const [, last] = /<text [^>]*font="(\d+)">[^<]*word29'/.exec(html) ?? [];
  t.match(html, new RegExp(`<fontspec id="${last}" [^>]*color="${lightPalette.string}"`));
});

t.test('headings are bookmarks, and a long document has a list of contents with pages', parts, async (t) => {
  const chapter = (n: number) =>
    `## Chapter ${n}\n\n${'Words of it. '.repeat(120)}\n\n### Part ${n}\n\n${'More words. '.repeat(120)}`;
  const { bytes } = await createPdf(pdfJob(Array.from({ length: 5 }, (_, n) => chapter(n)).join('\n\n')));
  const outline = /<outline>[\s\S]*<\/outline>/.exec(poppler('pdftohtml', bytes))?.[0] ?? '';
  t.match(outline, />Chapter 4<\/item>\s*<outline>\s*<item page="\d+">Part 4<\/item>/);
  const text = textOf(bytes);
  const [, page] = /^ *Chapter 4 +(\d+)$/m.exec(text) ?? [];
  const pages = text.split('\f');
  t.match(pages[Number(page) - 1], /^ *Chapter 4$/m, 'the number is that of the page');
  t.match(poppler('pdfinfo', bytes, ['-dests']), /"chapter-4"/);
});

t.test('no heading stands alone at the end of a page', parts, async (t) => {
  const begins = [
    ...['Its text is here.', '- Its text is here.\n- More.', '1. Its text is here.\n\n2. More.'],
    ...['> Its text is here.', '```\nIts text is here.\n```', '| Head |\n|---|\n| Its text is here. |'],
  ];
  const pageOfHeading = async (lines: number, next: string) => {
    const body = `${'line<br>'.repeat(lines)}last\n\n## Heading\n\n### Below\n\n${next}`;
    const pages = textOf((await createPdf(pdfJob(body))).bytes).split('\f');
    const at = pages.findIndex((text) => /^ *Heading$/m.test(text));
    t.match(pages[at], /Its text is here\./, `${lines} lines, then ${next}`);
    return at;
  };
  for (const next of begins) {
    let lines = 27;
    while ((await pageOfHeading(lines, next)) === 0) lines += 1;
    t.ok(lines >= 33 && lines <= 35, `the room is used before ${next}`);
    await pageOfHeading(lines + 2, next);
  }
});

t.test('the label of a picture stands on its page', parts, async (t) => {
  const contentFolder = t.testdir({ 'a.svg': svgOf('Drawn', 200, 300) });
  for (let lines = 20; lines < 40; lines += 3) {
    const body = `${'line<br>'.repeat(lines)}last\n\n- Label ![](a.svg)\n`;
    const pages = textOf((await createPdf(pdfJob(body, {}, { contentFolder }))).bytes).split('\f');
    t.match(
      pages.find((text) => text.includes('Label')),
      /• +Label[\s\S]*Drawn/,
      `${lines} lines`,
    );
  }
});

t.test('preformatted text keeps its lines and its blanks', parts, async (t) => {
  const { bytes } = await createPdf(pdfJob('<pre>\n  a  b\n    c\nx\ty\n</pre>\n\nEnd'));
  t.match(textOf(bytes), /\n +a +b\n +c\n *x +y\n+End/);
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

t.test('a table with too many columns is divided where no word is cut', parts, async (t) => {
  const cells = (text: (column: number) => string) =>
    `|${Array.from({ length: 18 }, (_, column) => ` ${text(column)} |`).join('')}`;
  const body = [cells((n) => `head${n}`), cells(() => '---'), cells((n) => `value${n}x/0`)].join('\n');
  const { bytes } = await createPdf(pdfJob(body, { title: 'T' }));
  const rows = rowsOf(bytes).filter(([first]) => first === 'value0x/0');
  t.same(
    rows.flatMap(([, ...others]) => others),
    Array.from({ length: 17 }, (_, n) => `value${n + 1}x/0`),
    'each part begins with the first column',
  );
  t.same(
    rows.map(({ length }) => length),
    [7, 7, 6],
  );
  const few = `|${' head |'.repeat(6)}\n|${'---|'.repeat(6)}\n|${` ${'x'.repeat(40)} |`.repeat(6)}`;
  const whole = rowsOf((await createPdf(pdfJob(few, { title: 'T' }))).bytes);
  t.same(whole[2], Array<string>(6).fill('head'), 'a table of a few columns stays whole');
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

t.test('lists, tasks, quotes, alerts, formulas, diagrams and footnotes', parts, async (t) => {
  const body =
    '7. seven\n8. eight\n   - nested\n     1. deep\n\n- [x] done\n- [ ] open\n\n> quote\n>> inner\n\n> [!NOTE]\n> mind\n\n$$\na_1 * b_1\n$$\n\n```mermaid\ngraph TD\n```\n\nRef[^a] and[^b].\n\n[^a]: The note.\n[^b]: Another.\n';
  const text = textOf((await createPdf(pdfJob(body))).bytes).replace(/[\u00a0 ]+/g, ' ');
  const captioned = ['Formula', 'a_1 \\* b_1', 'Diagram source \\(Mermaid\\)', 'graph TD'];
  for (const line of [
    '7. seven',
    '8. eight',
    '– nested',
    '1. deep',
    '☑ done',
    '☐ open',
    'Note',
    'mind',
    ...captioned,
  ])
    t.match(text, new RegExp(`^ ?${line}$`, 'm'), line);
  t.match(text, /1\. The note\.\s+2\. Another\./);
});

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

t.test(
  'icons and badges stand in their line of text, and larger pictures in rows of their own',
  needs('poppler', 'dejaVu'),
  async (t) => {
    const contentFolder = t.testdir({
      'icon.svg': svgOf('Icon', 40, 24),
      'large.svg': svgOf('Large', 220, 60),
    });
    const fonts = [...pdfJob('').fonts, places.dejaVu];
    const [icon, large] = ['![i](icon.svg)', '![l](large.svg)'];
    const link = `[${icon}](https://example.org)`;
    const cases = [
      { name: 'a paragraph', body: `Before ${icon} after`, rows: [['Before', 'Icon', 'after']] },
      { name: 'a heading', body: `# Press ${icon}`, rows: [['Press', 'Icon']] },
      { name: 'an item', body: `- ${icon} item`, rows: [['•', 'Icon', 'item']] },
      { name: 'a cell', body: `| A |\n|---|\n| ${icon} cell |`, rows: [['A'], ['Icon', 'cell']] },
      { name: 'a link', body: `See ${link}.`, rows: [['See', 'Icon', '.']], leads: true },
      { name: 'right to left', body: `אב ${icon} גד`, rows: [['דג', 'Icon', 'בא']] },
      {
        name: 'more badges than fit',
        body: icon.repeat(20),
        rows: [Array<string>(15).fill('Icon'), Array<string>(5).fill('Icon')],
      },
      { name: 'large', body: `a ${large} ${large} b`, rows: [['a'], ['Large', 'Large'], ['b']] },
      {
        name: 'large ones in two rows',
        body: `${large} ${large} ${large}`,
        rows: [['Large', 'Large'], ['Large']],
      },
      { name: 'a large link', body: `[${large}](https://example.org)`, rows: [['Large']], leads: true },
    ];
    for (const { name, body, rows, leads = false } of cases) {
      const { bytes, notes } = await createPdf(pdfJob(body, { title: 'T' }, { contentFolder, fonts }));
      t.match(rowsOf(bytes).slice(2, -1), rows, name);
      t.equal(/https:\/\/example\.org/.test(poppler('pdfinfo', bytes, ['-url'])), leads, name);
      t.same(notes, [], name);
    }
    const placesOf = async (body: string) =>
      poppler('pdftotext', (await createPdf(pdfJob(body, {}, { contentFolder, fonts }))).bytes, ['-bbox']);
    t.equal(await placesOf(`&nbsp;${large}`), await placesOf(large), 'a blank has no line of its own');
  },
);

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
    { attributes: 'height="60"', size: '67.5 0 0 -45' },
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

t.test('a rule is a line over the width of the text', async (t) => {
  const linesOf = async (body: string) =>
    drawn((await createPdf(pdfJob(body))).bytes).match(/^527\.28 [\d.]+ l$/gm) ?? [];
  const [without, withRule] = [await linesOf('one\n\ntwo'), await linesOf('one\n\n---\n\ntwo')];
  t.equal(withRule.length, without.length + 1);
});

t.test('where a word may be cut', (t) => {
  const cases: readonly { name: string; text: string; code?: true; want: readonly string[] }[] = [
    {
      name: 'usual words are not cut',
      text: 'A well-known and/or usual sentence.',
      want: ['A well-known and/or usual sentence.'],
    },
    {
      name: 'an address is, after its punctuation',
      text: 'https://example.com/guides/install',
      want: ['https://', '', 'example.', '', 'com/', '', 'guides/', '', 'install'],
    },
    {
      name: 'a name in code is, before a capital',
      text: 'createDocumentIndex',
      code: true,
      want: ['create', '', 'Document', '', 'Index'],
    },
    { name: 'and in text it is not', text: 'createDocumentIndexOfAll', want: ['createDocumentIndexOfAll'] },
    {
      name: 'a word of 24 letters is not',
      text: 'abcdefghijkl/nopqrstuvwx',
      want: ['abcdefghijkl/nopqrstuvwx'],
    },
    {
      name: 'a word of 25 letters is',
      text: 'abcdefghijkl/nopqrstuvwxy',
      want: ['abcdefghijkl/', '', 'nopqrstuvwxy'],
    },
    {
      name: 'no less than three letters stand alone',
      text: 'ab/cd/efghijklmnopqrstuvw/xy/z',
      want: ['ab/cd/', '', 'efghijklmnopqrstuvw/', '', 'xy/z'],
    },
    {
      name: 'a word without a place is, after each 400 letters',
      text: 'x'.repeat(801),
      want: ['x'.repeat(400), 'x'.repeat(400), 'x'],
    },
    {
      name: 'and not within a character',
      text: `${'x'.repeat(399)}𠮷x`,
      want: [`${'x'.repeat(399)}𠮷`, 'x'],
    },
    { name: 'code of 16 letters is not', text: 'abcdefghIjklmnop', code: true, want: ['abcdefghIjklmnop'] },
    {
      name: 'code of 17 letters is',
      text: 'abcdefghIjklmnopq',
      code: true,
      want: ['abcdefgh', '', 'Ijklmnopq'],
    },
    {
      name: 'a number is not',
      text: 'about-1.234.567.890.123.456',
      want: ['about-', '', '1.234.567.890.123.456'],
    },
  ];
  for (const { name, text, code = false, want } of cases) t.strictSame(breakable(text, code), want, name);
  t.end();
});

t.test('a font has the same height as every other, and no gap between its lines', async (t) => {
  const folder = await temporaryFolder(t);
  const [own = ''] = pdfJob('').fonts;
  const name = readdirSync(own).find((file) => file.endsWith('.ttf')) ?? '';
  const bytes = readFileSync(join(own, name));
  const at = bytes.readUInt32BE(bytes.indexOf('hhea') + 8);
  for (const [index, value] of [3_000, -2_000, 500].entries()) bytes.writeInt16BE(value, at + 4 + 2 * index);
  await writeFiles(folder, { [name]: bytes });
  const face = tryFontFace(join(folder, name), false);
  const font = fontkit.create(face?.bytes ?? bytes) as fontkit.Font;
  const inEms = [font.ascent, font.descent, font.lineGap].map((value) => value / font.unitsPerEm);
  t.strictSame(
    inEms.map((value) => Math.round(value * 100) / 100),
    [metrics.ascent, -metrics.descent, 0].map((value) => Math.round(value * 100) / 100),
  );
});

t.test('a file that has nothing to draw is no font', async (t) => {
  const folder = await temporaryFolder(t);
  const [own = ''] = pdfJob('').fonts;
  const original = readFileSync(join(own, 'Roboto-Regular.ttf'));
  const cases = [
    { name: 'as it is', from: 'GPOS', to: 'GPOS', isFont: true },
    { name: 'without outlines', from: 'glyf', to: 'xlyf', isFont: false },
    { name: 'without characters', from: 'cmap', to: 'xmap', isFont: false },
    { name: 'with coloured bitmaps', from: 'GPOS', to: 'CBDT', isFont: false },
    { name: 'with the coloured bitmaps of macOS', from: 'GPOS', to: 'sbix', isFont: false },
  ];
  for (const { name, from, to, isFont } of cases) {
    const bytes = Buffer.from(original);
    bytes.write(to, bytes.indexOf(from), 'latin1');
    writeFileSync(join(folder, 'a.ttf'), bytes);
    const face = tryFontFace(join(folder, 'a.ttf'), false, () => 'Unknown');
    t.equal(face?.name, isFont ? 'Roboto-Regular' : undefined, name);
  }
  for (const length of [0, 4, 12, 40, 300, 6_000, original.length / 2]) {
    writeFileSync(join(folder, 'a.ttf'), original.subarray(0, length));
    const face = tryFontFace(join(folder, 'a.ttf'), true);
    t.equal(face, undefined, `the first ${length} bytes`);
  }
  t.equal(tryFontFace(join(folder, 'gone.ttf'), true), undefined);
});

t.test('the fonts in a folder, and whether they have changed', async (t) => {
  const files = {
    'b.ttf': 'b',
    'a.OTF': 'a',
    'c.txt': 'c',
    'empty.ttf': '',
    'a/in.otf': 'in',
    '1/2/3/4/in.ttc': 'in',
    '1/2/3/4/5/out.otc': 'out',
  };
  const one = await temporaryFolder(t, files);
  const other = await temporaryFolder(t, files);
  const list = (folder: string) => listFontFiles([join(folder, 'none'), folder]);
  t.strictSame(list(one), [
    { path: join(one, '1/2/3/4/in.ttc'), size: 2 },
    { path: join(one, 'a.OTF'), size: 1 },
    { path: join(one, 'a/in.otf'), size: 2 },
    { path: join(one, 'b.ttf'), size: 1 },
  ]);
  const print = fontsFingerprint([one]);
  t.equal(fontsFingerprint([other]), print, 'the same fonts elsewhere');
  await writeFiles(other, { 'c.txt': 'other' });
  t.equal(fontsFingerprint([other]), print, 'another file');
  await writeFiles(other, { 'b.ttf': 'x' });
  t.not(fontsFingerprint([other]), print, 'another font with this name');
  await writeFiles(other, { 'b.ttf': 'b', 'd.ttf': 'd' });
  t.not(fontsFingerprint([other]), print, 'one more font');
});

t.test('the region of a text, and its fonts', async (t) => {
  const regions: readonly [string | null, string, Region][] = [
    ['ja', '한', 'jp'],
    ['ko-KR', '', 'kr'],
    ['zh-Hant-HK', '', 'hk'],
    ['yue', '', 'hk'],
    ['zh-TW', '', 'tc'],
    ['zh-MO', '', 'tc'],
    ['zh-hant', '', 'tc'],
    ['zh', 'かな', 'sc'],
    ['en', '漢字かな', 'jp'],
    [null, 'ー', 'jp'],
    [null, '가', 'kr'],
    [null, '漢字', 'sc'],
    ['kok', 'Words.', 'sc'],
  ];
  for (const [lang, text, want] of regions) t.equal(regionOf(lang, text), want, `${lang} ${text}`);
  const names = [
    'NotoSansMonoCJKjp-Regular',
    'NotoSansCJKkr-Regular',
    'NotoSansCJKjp-Regular',
    'PingFangSC-Regular',
  ];
  t.equal(regionalFace(names, 'jp'), 'NotoSansCJKjp-Regular', 'none whose letters have one width');
  t.equal(regionalFace(names, 'sc'), 'PingFangSC-Regular');
  t.equal(regionalFace(names, 'hk'), undefined);

  const inOrder = [
    'NotoSansJP-Regular.otf',
    'NotoSans-Regular.ttf',
    'NotoSansCJK-Regular.ttc',
    'NotoSansHebrew-Regular.ttf',
    'NotoEmoji.ttf',
    'DejaVuSans.ttf',
    'Arial Unicode.ttf',
    'malgun.ttf',
    'Foo.ttf',
  ];
  const never = [
    'FooBold.ttf',
    'LastResort.ttf',
    'DejaVuSans-Bold.ttf',
    'NotoColorEmoji.ttf',
    'Foo-Italic.ttf',
  ];
  const files = [...never, ...inOrder].map((name) => ({ path: join('/fonts', name), size: 1 })).reverse();
  const found = fallbackFiles(files, 'jp');
  t.strictSame(
    found.map(({ regular }) => basename(regular.path)),
    inOrder,
    'those of the region first, then those that are known for many signs',
  );
  t.strictSame(
    found.flatMap(({ bold }) => (bold ? [basename(bold.path)] : [])),
    ['DejaVuSans-Bold.ttf'],
  );
  const regular = { path: join('/fonts', 'NotoSansCJK-Regular.ttc'), size: 1 };
  const bold = { path: join('/fonts', 'NotoSansCJK-Bold.ttc'), size: 1 };
  t.strictSame(fallbackFiles([bold, regular], 'kr'), [{ regular, bold }]);
});

t.test('the scripts that fonts have', (t) => {
  const scripts = ['Chinese', 'Japanese', 'Korean', 'Arabic', 'Hebrew', 'Hindi', 'Thai'];
  const found = ['Arabic'];
  const missing = scripts.filter((script) => !found.includes(script));
  t.strictSame(
    fontCoverage(pdfJob('').fonts),
    { found, missing },
    'the own font for code has Arabic letters',
  );
  t.end();
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
  for (const [lang, face] of Object.entries({ ja: 'jp', ko: 'kr', zh: 'sc', 'zh-Hant': 'tc', en: 'jp' })) {
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

t.test('a line does not end within a word whose look changes', async (t) => {
  const text = (text: string, bold = false): TextPiece => ({
    kind: 'text',
    text,
    mark: bold ? { bold } : {},
  });
  const pieces = [text('אב גד'), text('הו', true)];
  const lines = orderedLines(pieces, { direction: 'rtl', room: 5, widthOf: (piece) => piece.text.length });
  t.strictSame(
    lines.map((piece) => piece.text),
    ['אב', '\n', 'הו', 'גד'],
  );
});

t.test('right-to-left text is in its order', needs('poppler', 'dejaVu'), async (t) => {
  const fonts = [...pdfJob('').fonts, places.dejaVu];
  const author = 'דוד כהן';
  const cases = [
    {
      name: 'a paragraph',
      body: 'שלום עולם (2026) abc def סוף',
      document: {},
      // Poppler gives the letters of words from left to right, as they stand.
      want: [['ףוס', 'abc', 'def', '(2026)', 'םלוע', 'םולש']],
    },
    {
      name: 'a date, and a paragraph whose first letter decides',
      body: 'יצא ב 2026-11-27 in English alone',
      document: {},
      want: [['in', 'English', 'alone', '2026-11-27', 'ב', 'אצי']],
    },
    {
      name: 'signs of code in a paragraph',
      body: 'אם `>=` אז',
      document: {},
      want: [['זא', '&gt;=', 'םא']],
    },
    {
      name: 'title, description, authors and date, by their letters alone',
      body: '',
      document: { title: 'מדריך Runner מהיר', description: 'מילים [כאן]', authors: [author], lang: null },
      want: [
        ['ריהמ', 'Runner', 'ךירדמ'],
        ['[ןאכ]', 'םילימ'],
        ['March', '9,', '2026', '·', 'ןהכ', 'דוד'],
      ],
    },
    {
      name: 'a title from left to right in a document from right to left',
      body: '',
      document: { title: 'The guide', authors: [author], lang: 'he' },
      want: [
        ['The', 'guide'],
        ['2026', 'ץרמב', '9', '·', 'ןהכ', 'דוד'],
      ],
    },
    {
      name: 'a name from right to left in a title from left to right',
      body: '',
      document: { title: 'Runner: מדריך התקנה 2026, new', description: 'One מילה here' },
      want: [
        ['Runner:', '2026', 'הנקתה', 'ךירדמ,', 'new'],
        ['One', 'הלימ', 'here'],
      ],
    },
    {
      name: 'an item, its sign, a quote and a table',
      body: '7. פריט ראשון\n\n> ציטוט ישן\n\n| שם | סכום |\n|---|---|\n| דנה | 12 |',
      document: {},
      want: [
        ['ןושאר', 'טירפ', '.7'],
        ['ןשי', 'טוטיצ'],
        ['םוכס', 'םש'],
        ['12', 'הנד'],
      ],
    },
  ];
  for (const { name, body, document, want } of cases)
    t.test(name, async (t) => {
      const job = pdfJob(body, { date: '2026-03-09', title: 'x', ...document }, { fonts });
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
  t.test('authors without a date have nothing after them', async (t) => {
    const { bytes } = await createPdf(pdfJob('', { title: 'x', authors: [author], date: null }, { fonts }));
    t.notMatch(poppler('pdftotext', bytes, []), '·');
  });
  t.test('right-to-left text is set at the right', async (t) => {
    const document = { title: 'מדריך מהיר', description: 'מילים', lang: null };
    const { bytes } = await createPdf(pdfJob('- פריט', document, { fonts }));
    const boxes = poppler('pdftotext', bytes, ['-bbox']);
    for (const word of ['ךירדמ', 'םילימ', '•']) {
      const [, right] = new RegExp(`xMax="([\\d.]+)"[^>]*>${word}<`).exec(boxes) ?? [];
      t.ok(Math.abs(Number(right) - 527) < 10, `${word} ends at ${right}`);
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
  const print = (paper: Paper) =>
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

t.test('the title block has both dates, the type and the tags', parts, async (t) => {
  const tags = [{ slug: 'linux', title: 'Linux' }];
  const cases = [
    [
      { updated: '2026-04-01T08:00:00Z', type: 'guide', tags },
      /March 9, 2026 +· +updated April 1, 2026\s+guide +· +Linux\n/,
    ],
    [{ updated: '2026-03-09T08:00:00Z' }, /\n *March 9, 2026\n/],
    [{ date: null, updated: '2026-04-01', lang: 'de' }, /\n *1\. April 2026\n/],
    [{ lang: null }, /\n *March 9, 2026\n/],
  ] as const;
  for (const [document, want] of cases)
    t.match(textOf((await createPdf(pdfJob('Text.', document))).bytes), want);
});
