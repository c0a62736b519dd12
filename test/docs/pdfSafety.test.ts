import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { PNG } from 'pngjs';
import t from 'tap';
import { fontsFingerprint, usualFontFolders } from '../../docs-service/formats/pdf/fontFiles.ts';
import { createPdf } from '../../docs-service/formats/pdf/pdf.ts';
import { tryDrawableSvg } from '../../docs-service/formats/pdf/pictures.ts';
import { UnrenderableError } from '../../docs-service/formats/renderJob.ts';
import { markdownText } from '../support/markdownTexts.ts';
import { needs } from '../support/parts.ts';
import { ownFonts, pagesOf, pdfJob, poppler, textOf } from '../support/pdfFiles.ts';
import { pictures } from '../support/pictures.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';

const parts = needs('poppler');

const everything = [
  '# Title\n\nText with **bold**, `code`, 中文, 🚀, a [link](#a) and notes[^1].\n\n[^1]: A note.',
  '## A\n\n- one\n- [x] two\n\n> quote\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode\n```',
  '![one](pictures/vscode-light.png) ![two](pictures/views-dark.png) ![three](pictures/pull.svg)',
].join('\n\n');

/** Renders in a worker of a process of its own, in another folder and another time zone. */
const renderElsewhere = `
  const { Worker } = require('node:worker_threads');
  const worker = new Worker(process.argv[1]);
  worker.on('error', (error) => { throw error; });
  worker.on('message', ({ account, rendered, failure }) => {
    if (account) return;
    if (failure) throw new Error(failure.message);
    const hash = require('node:crypto').createHash('sha256').update(rendered.bytes).digest('hex');
    process.stdout.write(JSON.stringify({ hash, notes: rendered.notes, listeners: process.getActiveResourcesInfo() }));
    worker.terminate();
  });
  worker.postMessage(JSON.parse(process.argv[2]));
`;

t.test(
  'the folder of the bundle can be moved, and gives the same bytes in any process and place',
  async (t) => {
    const folder = t.testdir({ home: {} });
    cpSync('dist/docs-service', join(folder, 'moved'), { recursive: true });
    const places = [
      { worker: resolve('dist/docs-service/renderWorker.cjs'), fonts: ownFonts, TZ: 'UTC', LANG: 'C' },
      {
        worker: join(folder, 'moved/renderWorker.cjs'),
        fonts: join(folder, 'moved/fonts'),
        TZ: 'Pacific/Auckland',
        LANG: 'de_DE.UTF-8',
      },
    ];
    const answers = [];
    for (const { worker, fonts, ...env } of places) {
      const job = JSON.stringify(pdfJob(everything, {}, { fonts: [fonts] }));
      const options = { cwd: join(folder, 'home'), env: { ...process.env, NODE_PATH: '', ...env } };
      const { stdout } = await promisify(execFile)(
        process.execPath,
        ['-e', renderElsewhere, worker, job],
        options,
      );
      answers.push(JSON.parse(stdout));
    }
    t.match(answers[0].hash, /^[0-9a-f]{64}$/);
    t.equal(answers[0].hash, answers[1].hash);
    t.same(answers[0].notes, answers[1].notes);
  },
);

t.test('nothing is fetched, and nothing outside the content folder is read', parts, async (t) => {
  let hits = 0;
  const server = createServer((_request, response) => {
    hits += 1;
    response.end(pictures.png);
  }).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const folder = t.testdir({ content: {}, 'secret.txt': 'secret' });
  const content = join(folder, 'content');
  writeFileSync(join(folder, 'secret.png'), pictures.png);
  symlinkSync(join(folder, 'secret.png'), join(content, 'link.png'));
  writeFileSync(
    join(content, 'evil.svg'),
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9" height="9"><style>@import url(${url}/a.css); @font-face { src: url(${url}/f) }</style><image width="9" height="9" xlink:href="${url}/i.png"/><image width="9" height="9" href="${folder}/secret.png"/><use href="${url}/u.svg#x"/><rect width="9" height="9" fill="url(${url}#g)"/></svg>`,
  );
  const sources = [
    `${url}/a.png`,
    `//127.0.0.1/b.png`,
    '../secret.png',
    join(folder, 'secret.png'),
    `file://${folder}/secret.png`,
    'link.png',
    'evil.svg',
    'data:image/png;base64,iVBORw0KGgo=',
  ];
  const body = [
    ...sources.flatMap((source) => [`![p](<${source}>)`, `<img src="${source}">`]),
    `<link rel="stylesheet" href="${url}/s.css"><iframe src="${url}/f"></iframe><object data="${url}/o"></object>`,
    `[a](${url}/link)`,
  ].join('\n\n');
  const { bytes } = await createPdf(pdfJob(body, { cover: '../secret.png' }, { contentFolder: content }));
  t.equal(hits, 0);
  t.equal(poppler('pdfimages', bytes, ['-list']).trim().split('\n').length, 2, 'no picture but none');
});

t.test('hostile documents are rendered in full, or refused with a sentence', parts, async (t) => {
  const row = (cells: number) => `|${' x |'.repeat(cells)}\n`;
  // Tens of pages show as much as hundreds: each bound of a line, a cell and a page is crossed many times.
  const cases = {
    'a table of 2,000 rows': { body: `${row(3)}${'|---|---|---|\n'}${row(3).repeat(2_000)}`, pages: 40 },
    'a word without an end': { body: 'a'.repeat(200_000), pages: 20 },
    'code without an end in one line': { body: `\`\`\`\n${'b'.repeat(100_000)}\n\`\`\`\n`, pages: 12 },
    'code without an end in a paragraph': { body: `\`${'b'.repeat(100_000)}\``, pages: 10 },
    'a paragraph without an end': { body: 'lorem ipsum dolor '.repeat(6_000), pages: 16 },
    'a word from right to left without an end': { body: '(ש)'.repeat(20_000), pages: 10 },
    'a Chinese paragraph': { body: '文'.repeat(10_000), pages: 3 },
    'a table of 1,000 columns': { body: row(1000) + `|${'---|'.repeat(1000)}\n` + row(1000), pages: 1 },
    'a cell longer than a page': {
      body: `| a | b |\n|---|---|\n| ${'long '.repeat(6000)} | x |\n`,
      pages: 5,
    },
    'a header longer than a page': {
      body: `| ${'long '.repeat(6000)} | b |\n|---|---|\n| a | x |\n`,
      pages: 5,
    },
    'a heading longer than a page': { body: `# ${'long '.repeat(3000)}\n\ntext`, pages: 3 },
    'lists and quotes in each other': {
      body: `${'> - '.repeat(12)}deep\n\n${'- '.repeat(40)}deep`,
      pages: 1,
    },
    'ids that JavaScript has': {
      body: '## constructor\n\n## __proto__\n\n## length\n\n## 7\n\n## A\n\n## A\n\n## !',
      pages: 1,
    },
    'a list that starts late': { body: '999999999. a\n2. b', pages: 1 },
  };
  for (const [name, { body, pages }] of Object.entries(cases)) {
    const { bytes, notes } = await createPdf(pdfJob(body));
    t.ok(pagesOf(bytes) >= pages, `${name}: ${pagesOf(bytes)} pages`);
    t.same(
      notes.filter((note) => /failed/.test(note)),
      [],
      name,
    );
  }
  for (const body of ['>'.repeat(5000), '[a](https://x.y/) '.repeat(100_000), '# a\n\n'.repeat(45_000)])
    await t.rejects(createPdf(pdfJob(body)), UnrenderableError);
});

t.test('nothing of a long cell, header or heading is lost', parts, async (t) => {
  const words = Array.from({ length: 1500 }, (_, n) => `w${n}`);
  for (const body of [
    `| a | b |\n|---|---|\n| ${words.join(' ')} | x |\n`,
    `| ${words.join(' ')} | b |\n|---|---|\n| 1 | x |\n`,
    `## ${words.join(' ')}\n\ntext`,
    `> ${words.join(' ')}`,
    `- > ${words.join(' ')}`,
  ]) {
    const text = poppler('pdftotext', (await createPdf(pdfJob(body, { title: 'Other' }))).bytes);
    t.same(new Set(text.match(/\bw\d+/g)), new Set(words), body.slice(0, 12));
  }
});

t.test('damaged and hostile pictures never end a document', parts, async (t) => {
  const content = t.testdir({});
  const picture = new PNG({ width: 40, height: 30 });
  const good = PNG.sync.write(picture);
  const files: Record<string, Buffer | string> = {
    'cut.png': good.subarray(0, good.length - 20),
    'flipped.png': Buffer.from(good.map((byte, at) => (at > 45 && at < 60 ? byte ^ 255 : byte))),
    'gif.png': pictures.gif,
    'cut.jpeg': pictures.jpeg.subarray(0, 600),
    'text.jpeg': 'not a picture',
    'empty.svg': '<svg xmlns="http://www.w3.org/2000/svg"></svg>',
    'path.svg':
      '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><path d="M x y z 1e999 A 1"/><text font-size="NaN" transform="rotate(a)">t</text></svg>',
    'loop.svg':
      '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><g id="a"><use href="#b"/></g><g id="b"><use href="#a"/></g><use href="#a"/></svg>',
    'bomb.svg': bomb('href'),
    'sized.svg':
      '<svg xmlns="http://www.w3.org/2000/svg" width="0" height="99999999"><rect width="1" height="1"/></svg>',
    'good.png': good,
  };
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(content, name), bytes);
  for (const name of Object.keys(files)) {
    const { bytes } = await createPdf(
      pdfJob(`before\n\n![${name}](${name})\n\nafter`, {}, { contentFolder: content }),
    );
    t.match(textOf(bytes), /before[\s\S]*after/, name);
  }
});

t.test('a picture on which the printer fails is left out, and everything else stays', parts, async (t) => {
  const content = await temporaryFolder(t, {
    // The printer does not know the filling bytes between two segments, which are allowed.
    'my pictures/filled 1.jpeg': Buffer.concat([
      pictures.jpeg.subarray(0, 2),
      Buffer.from('ffff', 'hex'),
      pictures.jpeg.subarray(2),
    ]),
    'my pictures/good.png': pictures.png,
  });
  const body =
    'before\n\n![filled](my%20pictures/filled%201.jpeg)\n\n![good](my%20pictures/good.png)\n\nafter';
  const { bytes, notes } = await createPdf(pdfJob(body, {}, { contentFolder: content }));
  t.match(textOf(bytes), /before[\s\S]*\[Picture: filled\][\s\S]*after/);
  t.notMatch(textOf(bytes), 'Picture: good');
  t.strictSame(notes.slice(0, -1), ['The picture my pictures/filled 1.jpeg is damaged.']);
  t.match(notes.at(-1), /^The document was rendered without the parts on which the first attempt failed: ./);
});

/** Each group draws the one before it twice. */
function bomb(attribute: string, refer = (id: string) => `#${id}`): string {
  const groups = Array.from({ length: 30 }, (_, n) => {
    const use = `<use ${attribute}="${refer(`g${n}`)}"/>`;
    return `<g id="g${n + 1}">${use}${use}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect id="g0" width="1" height="1"/>${groups.join('')}<use ${attribute}="${refer('g30')}"/></svg>`;
}

t.test('an SVG whose parts multiply exceeds the bounds', (t) => {
  t.equal(tryDrawableSvg(bomb('href')), undefined);
  t.equal(tryDrawableSvg(bomb('mask', (id) => `url(#${id})`)), undefined);
  t.equal(tryDrawableSvg(bomb('fill', (id) => `url( '#${id}')`)), undefined);
  const light = Array.from({ length: 200 }, (_, id) => `<path id="l${id}"/><use href="#l${id}"/>`).join('');
  t.equal(
    tryDrawableSvg(bomb('href').replace('<rect', `${light}<rect`)),
    undefined,
    'behind many that are light',
  );
  t.type(tryDrawableSvg('<svg><defs><path id="a"/></defs><use href="#a"/><use href="#a"/></svg>'), 'string');
  t.end();
});

t.test('any Markdown gives a whole PDF', parts, async (t) => {
  // Several texts in each, because a PDF and a look at it cost more than what is in it.
  const texts = fc.array(markdownText, { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(texts, async (some) => {
      const { bytes } = await createPdf(pdfJob(some.join('\n\n')));
      return pagesOf(bytes) >= 1;
    }),
    { numRuns: 25 },
  );
  t.pass();
});

t.test('the fingerprint of fonts changes with a font, and not with its folder', (t) => {
  const folder = t.testdir({ a: {}, b: {}, c: {} });
  for (const name of ['a', 'b', 'c'])
    cpSync(join(ownFonts, 'Roboto-Regular.ttf'), join(folder, name, 'Font.ttf'));
  mkdirSync(join(folder, 'c/more'));
  cpSync(join(ownFonts, 'Roboto-Italic.ttf'), join(folder, 'c/more/Italic.ttf'));
  const [a, b, c] = ['a', 'b', 'c'].map((name) => fontsFingerprint([join(folder, name)]));
  t.equal(a, b);
  t.not(a, c);
  t.equal(fontsFingerprint([join(folder, 'nowhere')]), fontsFingerprint([]));
  t.ok(usualFontFolders().length > 3);
  t.end();
});
