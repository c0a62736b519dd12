import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { Parser } from 'htmlparser2';
import { Marked } from 'marked';
import t from 'tap';
import { withCjkRules } from '../../docs-service/content/cjkRules.ts';
import { toCanonicalText } from '../../docs-service/content/dialects/canonicalText.ts';
import { titlesIn } from '../../docs-service/content/headings.ts';
import { resolveLink, tryLoose } from '../../docs-service/content/links.ts';
import { BookPictures } from '../../docs-service/formats/epub/bookPictures.ts';
import { articleStyle } from '../../docs-service/formats/markdown/articleStyle.ts';
import { readAsset } from '../../docs-service/formats/markdown/assets.ts';
import {
  bookPalette,
  codeColouringOf,
  darkPalette,
  lightPalette,
} from '../../docs-service/formats/markdown/codeColouring.ts';
import { markdownToHtml, placesOf } from '../../docs-service/formats/markdown/html.ts';
import { createHtml } from '../../docs-service/formats/markdown/htmlFormat.ts';
import { lexPlain, parseMarkdown } from '../../docs-service/formats/markdown/markdown.ts';
import { tryPictureType } from '../../docs-service/formats/markdown/pictureType.ts';
import { createReferences } from '../../docs-service/formats/markdown/references.ts';
import { sanitiseMarkdown } from '../../docs-service/formats/markdown/sanitisedMarkdown.ts';
import { plainSnippet } from '../../docs-service/formats/markdown/snippetText.ts';
import { Pictures as PdfPictures } from '../../docs-service/formats/pdf/pictures.ts';
import { anyText } from '../support/anyText.ts';
import { documentOf } from '../support/documents.ts';
import { failsWith } from '../support/failsWith.ts';
import { markdownReaders, unlistedIn } from '../support/markdownReaders.ts';
import { hostileMarkdown, markdownText } from '../support/markdownTexts.ts';
import { pictures, turnedJpeg } from '../support/pictures.ts';
import { where } from '../support/systems.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { idsIn, isWellFormed } from '../support/xhtml.ts';

const colouring = await codeColouringOf(['```js']);

function htmlOf(source: string): string {
  const document = parseMarkdown(source);
  const references = createReferences({
    path: 'guide/page.md',
    places: placesOf(document),
    documentAddress: (path, fragment) =>
      path === 'guide/other.md' ? `other.xhtml${fragment ? `#${fragment}` : ''}` : undefined,
    picture: (path) => (path === 'a.png' ? { src: 'images/a.png', width: 3, height: 2 } : undefined),
    onForeignPicture: () => undefined,
  });
  return markdownToHtml(document, { references, colouring });
}

const canonical = (body: string) => toCanonicalText({ path: 'a.md', body, lineOf: (line) => line }).text;

t.test('headings have the ids of GitHub, each once', async (t) => {
  const source =
    '# Hello, *World*!\n\n## Hello World\n\n> # Ünïcode `x` &amp; Co\n\n# !!!\n\n# ???\n\nA\n-\n';
  t.strictSame(parseMarkdown(source).headings, [
    { depth: 1, text: 'Hello, World!', id: 'hello-world' },
    { depth: 2, text: 'Hello World', id: 'hello-world-1' },
    { depth: 1, text: 'Ünïcode x & Co', id: 'ünïcode-x--co' },
    { depth: 1, text: '!!!', id: 'section' },
    { depth: 1, text: '???', id: '-1' },
    { depth: 2, text: 'A', id: 'a' },
  ]);
});

t.test('code has the colours of its language, and keeps its text', async (t) => {
  const coloured = (label: string, code: string) => htmlOf(`~~~${label}\n${code}\n~~~`);
  t.match(
    coloured('js', 'const a = `<b>\n`; // so'),
    '<pre><code class="language-js"><span class="tok-keyword">const</span> <span class="tok-name">a</span> = <span class="tok-string">`&lt;b&gt;</span>\n<span',
  );
  t.match(coloured('diff', '+a\n-b'), '<span class="tok-deleted">-b</span>');
  const plain = {
    'no language': ['', 'const a'],
    'an unknown language': ['unheard-of', 'const a'],
    'a long block': ['js', 'const a\n'.repeat(7_000)],
    'a long line': ['js', `const a = '${'x'.repeat(300)}'`],
    'a gap of which a parser would take long': ['yaml', `a${' '.repeat(3_000)}b`],
  } as const;
  for (const [name, [label, code]] of Object.entries(plain)) t.notMatch(coloured(label, code), 'tok-', name);
  const many = htmlOf(`~~~js\n${'const a\n'.repeat(5_000)}~~~\n\n`.repeat(2));
  t.equal(many.match(/tok-keyword/g)?.length, 10_000);
  const wide = `~~~yaml\n${`${'a  '.repeat(99)}\n`.repeat(160)}~~~\n\n- \`x\`\n\n~~~js\nconst a\n~~~\n`;
  const fresh = await codeColouringOf([wide]);
  const lines = `${'a  '.repeat(99)}\n`.repeat(160);
  t.ok(fresh('const a', 'js')[0]?.some(({ kind }) => kind === 'keyword'));
  t.ok(
    fresh(lines, 'yaml').every((line) => line.every(({ kind }) => kind === undefined)),
    'it would take seconds',
  );
});

t.test('the colours of code are readable on their ground', async (t) => {
  const grounds = [
    [lightPalette, '--soft: #f3f1eb', '#f3f1eb', '#ffffff', '#f5f6f8'],
    [darkPalette, '--soft: #22272a', '#22272a'],
    [bookPalette, '', '#ffffff', '#000000'],
  ] as const;
  for (const [palette, variable, ...colours] of grounds) {
    t.ok(articleStyle.includes(variable), 'the ground of pages');
    for (const [kind, colour] of Object.entries(palette)) {
      for (const ground of colours) {
        t.ok(contrast(colour, ground) >= 4.5, `${kind}: ${colour} on ${ground}`);
      }
    }
  }
});

/** WCAG 2.2, "contrast ratio". */
function contrast(a: string, b: string): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

t.test('a heading in raw HTML is a heading like any other', async (t) => {
  const picture = '<a href="https://example.org/"><img src="../a.png" alt="A picture"></a>';
  const cases: readonly { name: string; source: string; headings: readonly string[]; html: RegExp }[] = [
    {
      name: 'alone',
      source: '<h1 align="center">Fast &amp; *low*</h1>\n\n## Server\n',
      headings: ['1 Fast & *low* fast--low', '2 Server server'],
      html: /^<h1 id="fast--low">Fast &amp; \*low\*<\/h1>\n<h2 id="server">Server<\/h2>\n$/,
    },
    {
      name: 'over several lines, with a picture in a link',
      source: `<h2 align="center">\n  <br>\n  ${picture}\n  <br>\n  The\n  name<br/>below\n  <br>\n</h2>\n<p>Words.</p>\n`,
      headings: ['2 The name below the-name-below'],
      html: /^<h2 id="the-name-below"><a href="https:\/\/example\.org\/"><img [^>]*alt="A picture"[^>]*\/><\/a>[\s\S]*The name<br\/>\s*below ?<\/h2>\n<p>Words\.<\/p>\n$/,
    },
    {
      name: 'after comments and pictures, in an element that places it',
      source: `<!-- <h1>No</h1> -->\n\n<p align="center">\n${picture}\n</p>\n\n${picture}\n\n<div align="center">\n  <h1>Name</h1>\n  <em>Words.</em>\n</div>\n\nMore.`,
      headings: ['1 Name name'],
      html: /<h1 id="name">Name<\/h1>\n<p>\s*<em>Words\.<\/em>\s*<\/p>\n<p>More\.<\/p>\n$/,
    },
    { name: 'later', source: 'Words.\n\n<h1>Later</h1>\n', headings: ['1 Later later'], html: /<h1/ },
    { name: 'not in code', source: '    <h1>Code</h1>\n', headings: [], html: /<pre>/ },
    {
      name: 'not without its end',
      source: '<h1>Open\n\nWords.\n\n</h1>',
      headings: [],
      html: /<p>Open<\/p>/,
    },
    { name: 'not with another end', source: '<h1>Open</h2>', headings: [], html: /<p>Open<\/p>/ },
    { name: 'not a picture alone', source: `<h1>${picture}</h1>`, headings: [], html: /<p><a [^>]*><img/ },
  ];
  for (const { name, source, headings, html } of cases) {
    t.strictSame(
      parseMarkdown(canonical(source)).headings.map(
        ({ depth, text, id }) => `${depth} ${text.replace(/\s+/g, ' ')} ${id}`,
      ),
      headings,
      name,
    );
    t.match(htmlOf(canonical(source)), html, name);
  }
  // If one of them took more than linear time, this would not end.
  const hostile = ['<!--', '<div>', '<br ', '<!-- -->', '<h1>', '<h1 ', '<h1><', '<h1></', '<h1><img alt="'];
  for (const text of hostile) {
    for (const source of [text.repeat(20_000), text + '<'.repeat(200_000), text + ' '.repeat(200_000)])
      t.doesNotThrow(() => canonical(source));
  }
});

t.test('footnotes are numbered in the order of their first references', async (t) => {
  const source =
    'x[^b] y[^a] z[^b] [^none]\n[^a]: one\n[^b]: two[^c]\n\n    more\n\n- item\n\n  [^c]: three\n\n[^d]: unused';
  const { footnotes } = parseMarkdown(source);
  t.strictSame(
    footnotes.map(({ number, references, tokens }) => [number, references, tokens[0]?.raw]),
    [
      [1, 2, 'two[^c]'],
      [2, 1, 'one'],
      [3, 1, 'three'],
    ],
  );
});

t.test('a document is parsed within bounds, or refused with a sentence', async (t) => {
  const nested = (depth: number) =>
    Array.from({ length: depth }, (_, at) => `${'  '.repeat(at)}- a`).join('\n');
  const chain = Array.from({ length: 5000 }, (_, at) => `[^${at}]: x[^${at + 1}]`).join('\n');
  const cases: readonly { name: string; source: string; want?: RegExp }[] = [
    { name: 'quotes 5,000 deep', source: '>'.repeat(5000), want: /nested more than 50 deep/ },
    { name: 'quotes with a lazy line', source: `${'>'.repeat(5000)} a\nb`, want: /nested more than 50 deep/ },
    { name: 'lists 500 deep', source: nested(500), want: /nested more than 50 deep/ },
    { name: 'lists on one line', source: `${'- '.repeat(500)}a`, want: /nested more than 50 deep/ },
    { name: 'lists 20 deep', source: nested(20) },
    { name: 'footnotes in footnotes', source: `${chain}\n\ny[^0]` },
    { name: 'a table of 10,000 rows', source: `|a|b|\n|-|-|\n${'|1|2|\n'.repeat(10_000)}` },
    {
      name: 'a table whose rows would be filled up',
      source: `${'|a'.repeat(2000)}\n${'|-'.repeat(2000)}\n${'|\n'.repeat(100_000)}`,
      want: /more than 1,000,000 cells/,
    },
    { name: 'emphasis in emphasis', source: `${'*'.repeat(20_000)}a${'*'.repeat(20_000)}`, want: /Emphasis/ },
    { name: 'half a million marks', source: 'a_'.repeat(500_000), want: /too many marks/ },
    {
      name: 'a long link used often',
      source: `[a]: x${'y'.repeat(1e5)}\n\n${'[a]\n\n'.repeat(1e4)}`,
      want: /link/,
    },
    {
      name: 'a line of 9 MB',
      source: 'lorem ipsum '.repeat(800_000),
      want: /a line or a paragraph of megabytes/,
    },
    { name: 'more than 10 MB', source: 'a\n\n'.repeat(4e6), want: /longer than 10 MB/ },
    { name: 'a line of pipes', source: `${'|'.repeat(200_000)}\nx` },
    { name: 'formulas without an end', source: '$$a\n'.repeat(5e4) },
    { name: 'angles', source: '<div '.repeat(1e5) },
    { name: 'a definition and a million lines', source: `[^1]: x\n${'\n'.repeat(1e6)}` },
  ];
  for (const { name, source, want } of cases) {
    await t.test(name, async (t) => {
      if (want)
        t.throws(() => parseMarkdown(source), failsWith({ name: 'UnrenderableError', message: want }));
      else t.doesNotThrow(() => parseMarkdown(source));
    });
  }
});

t.test('links lead to documents, files, addresses and places, or nowhere', async (t) => {
  const none = { kind: 'none' };
  const cases: readonly (readonly [string, unknown])[] = [
    ['other.md', file('guide/other.md')],
    ['./other.md#part%201', file('guide/other.md', 'part 1')],
    ['../readme.md?raw=1', file('readme.md')],
    ['/other.MARKDOWN', file('other.MARKDOWN')],
    ['/guide/page.md#x', { kind: 'fragment', fragment: 'x' }],
    ['page.md#x', { kind: 'fragment', fragment: 'x' }],
    ['#%C3%BC', { kind: 'fragment', fragment: 'ü' }],
    ['a%20b/c.png', { kind: 'inside', path: 'guide/a b/c.png', documents: [], fragment: null }],
    ['/etc/x.conf', { kind: 'inside', path: 'etc/x.conf', documents: [], fragment: null }],
    ['x&amp;y.md', file('guide/x&y.md')],
    ['https://example.org/ä', { kind: 'external', href: 'https://example.org/%C3%A4' }],
    [
      'http://u:p@[::1]:80/%zz[a]?b|c#d#e',
      { kind: 'external', href: 'http://[::1]/%25zz%5Ba%5D?b%7Cc#d%23e' },
    ],
    ['mailto:me@example.org?subject=a b', { kind: 'external', href: 'mailto:me@example.org?subject=a%20b' }],
    ['mailto:me@example.org', { kind: 'external', href: 'mailto:me@example.org' }],
    [`https://x/${'y'.repeat(2_038)}`, { kind: 'external', href: `https://x/${'y'.repeat(2_038)}` }],
    ...[
      '',
      '?q',
      '../../x.md',
      '/../x',
      '../..',
      '%2e%2e/%2e%2e/x',
      '..%2f..%2fx',
      'a\\b',
      '%5c%5chost',
      '//host/x',
      'C:/x',
      'c:%5cx',
      'x/c:/y',
      'a%00b',
      'a\0b',
      '%',
      '%ff',
      'javascript:x',
      'JaVaScRiPt:x',
      'java\nscript:x',
      ' javascript:x',
      '\u0001javascript:x',
      '&#106;avascript:x',
      'javascript&colon;x',
      'data:text/html,x',
      'vbscript:x',
      'file:///etc/passwd',
      'ftp://x/y',
      'https:',
      'http://',
      'http://a b',
      `https://x/${'y'.repeat(2_039)}`,
      'https://[x/',
      '#%ff',
      'a.md#%',
    ].map((href) => [href, none] as const),
  ];
  for (const [href, want] of cases) {
    const found = resolveLink(href, 'guide/page.md');
    // The last one stands for what other programs would find.
    const exact = (one: string) => tryLoose(one) === undefined;
    const documents = 'documents' in found ? { documents: found.documents.filter(exact) } : {};
    t.strictSame({ ...found, ...documents }, want, JSON.stringify(href));
  }
  const names = [
    {
      href: 'other',
      path: 'guide/other',
      first: ['guide/other.md', 'guide/other.markdown', 'guide/other/README.md'],
    },
    { href: '/v1.2', path: 'v1.2', first: ['v1.2.md', 'v1.2.markdown', 'v1.2/README.md'] },
    { href: 'parts/#x', path: 'guide/parts', first: ['guide/parts/README.md'] },
    { href: './', path: 'guide', first: ['guide/README.md'] },
    { href: '..', path: '', first: ['README.md'] },
    { href: '/', path: '', first: ['README.md'] },
  ];
  for (const { href, path, first } of names) {
    const target = resolveLink(href, 'guide/page.md');
    t.match(target, { kind: 'inside', path }, href);
    t.strictSame('documents' in target && target.documents.slice(0, first.length), first, href);
  }
  fc.assert(
    fc.property(anyText(), fc.constantFrom('a.md', 'b/c/d.md'), (href, from) => {
      const target = resolveLink(href, from);
      return !('path' in target) || !/^(\.\.)?\/|\/\.\.(\/|$)|\\|\0/.test(target.path);
    }),
  );
});

function file(path: string, fragment: string | null = null) {
  return { kind: 'inside', path, documents: [path], fragment };
}

t.test(
  'the type of a picture comes from its bytes, and its file is inside the content folder',
  where('links', 'sh'),
  async (t) => {
    const content = join(t.testdir({ content: { sub: {} }, outside: {} }), 'content');
    const put = (name: string, bytes: string | Uint8Array) => writeFileSync(join(content, name), bytes);
    for (const [type, bytes] of Object.entries(pictures)) put(`real.${type}`, bytes);
    put('gif.png', pictures.gif);
    put('text.png', 'no picture');
    put('cut.png', pictures.png.subarray(0, 12));
    put('huge.png', Buffer.concat([pictures.png.subarray(0, 16), Buffer.from('00ffffff00ffffff', 'hex')]));
    put('pixels.png', sizedPng(10_000, 10_000));
    put('pixels-more.png', sizedPng(10_001, 10_000));
    put('full.png', Buffer.concat([pictures.png], 10_000_000));
    put('heavy.png', Buffer.concat([pictures.png], 10_000_001));
    writeFileSync(join(content, '../outside/secret.png'), pictures.png);
    symlinkSync('../outside/secret.png', join(content, 'link.png'));
    symlinkSync('../outside', join(content, 'folder'));
    symlinkSync('real.png', join(content, 'inside.png'));
    symlinkSync('loop.png', join(content, 'loop.png'));
    execFileSync('mkfifo', [join(content, 'pipe.png')]);
    mkdirSync(join(content, 'folder.png'));

    for (const type of ['png', 'jpeg', 'gif', 'webp'] as const)
      t.match(
        readAsset({ contentFolder: content }, `real.${type}`),
        { kind: 'picture', type, width: 3, height: 2 },
        type,
      );
    t.match(readAsset({ contentFolder: content }, 'gif.png'), { kind: 'picture', type: 'gif' });
    t.match(readAsset({ contentFolder: content }, 'inside.png'), { kind: 'picture', type: 'png' });
    t.match(readAsset({ contentFolder: content }, 'sub/../real.png'), { kind: 'picture' });
    t.match(readAsset({ contentFolder: content }, 'full.png'), { kind: 'picture', width: 3 });
    t.match(readAsset({ contentFolder: content }, 'pixels.png'), { kind: 'picture', width: 10_000 });
    const problems: Readonly<Record<string, RegExp>> = {
      'pixels-more.png': /100 million pixels/,
      'text.png': /is not a picture/,
      'cut.png': /damaged/,
      'huge.png': /100 million pixels/,
      'heavy.png': /larger than 10 MB/,
      'link.png': /outside the content folder/,
      'folder/secret.png': /outside the content folder/,
      '../outside/secret.png': /outside the content folder/,
      'loop.png': /ELOOP/,
      'pipe.png': /is not a file/,
      'folder.png': /is not a file|EISDIR/,
      'missing.png': /ENOENT/,
      'a\0b.png': /cannot be read/,
    };
    for (const [path, message] of Object.entries(problems))
      t.match(
        readAsset({ contentFolder: content }, path),
        { kind: 'problem', message },
        JSON.stringify(path),
      );

    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>');
    for (const [type, bytes] of Object.entries({ ...pictures, jpg: pictures.jpeg, 'svg+xml': svg })) {
      const source = `data:image/${type};base64,${bytes.toString('base64')}`;
      const asset = readAsset({ contentFolder: content }, source);
      t.match(asset, { kind: 'picture', type: { jpg: 'jpeg', 'svg+xml': 'svg' }[type] ?? type }, type);
      t.notMatch('bytes' in asset && Buffer.from(asset.bytes).toString('latin1'), '<script');
      const html = (await pageOf(content, `![a](${source}) <img src="${source}">`)).text;
      t.equal(html.match(/<img src="data:image/g)?.length, type === 'svg+xml' ? 1 : 2, `${type} in a page`);
      t.ok(new BookPictures({ contentFolder: content }).show(source), `${type} in a book`);
    }
    const base64 = pictures.png.toString('base64');
    const refused = [
      'text/html;base64,PGI+',
      'image/png,a',
      'image/avif;base64,AAAA',
      `image/png;base64,${base64.slice(1)}`,
    ];
    for (const data of [
      ...refused,
      'image/png;base64,AAAA',
      `image/png;a=b;base64,${base64}`,
      `image/png;base64, ${base64}`,
    ]) {
      const { text, notes } = await pageOf(content, `![a](<data:${data}>)`);
      t.notMatch(text, '<img', data);
      t.match(notes, [/^The picture data:.*… is not/], data);
    }
    t.match(readAsset({ contentFolder: content }, `data:image/png;base64,${'A'.repeat(13_333_336)}`), {
      message: /10 MB/,
    });
  },
);

async function pageOf(contentFolder: string, body: string) {
  const job = { kind: 'html', contentFolder, targets: {}, form: 'page', root: '' } as const;
  const { bytes, notes } = await createHtml({ ...job, document: documentOf('a', body) });
  return { text: Buffer.from(bytes).toString(), notes };
}

/** The beginning of a PNG, which says how many pixels it has. */
function sizedPng(width: number, height: number): Buffer {
  const bytes = Buffer.from(pictures.png.subarray(0, 24));
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}

t.test('the size of a picture is read as each format writes it', (t) => {
  const webp = (chunk: string, hex: string) =>
    Buffer.concat([Buffer.from(`RIFF....WEBP${chunk}....`), Buffer.from(hex, 'hex')]);
  const cases: readonly { name: string; bytes: Buffer; width: number | null; height: number | null }[] = [
    { name: 'a PNG', bytes: sizedPng(70_000, 80_000), width: 70_000, height: 80_000 },
    {
      name: 'a PNG without its first chunk',
      bytes: Buffer.from(sizedPng(7, 8).toString('latin1').replace('IHDR', 'IDAT'), 'latin1'),
      width: null,
      height: null,
    },
    { name: 'a PNG that is cut', bytes: sizedPng(7, 8).subarray(0, 23), width: null, height: null },
    { name: 'a GIF', bytes: Buffer.from('GIF87a\x01\x02\x03\x04', 'latin1'), width: 0x201, height: 0x403 },
    { name: 'a WebP with loss', bytes: webp('VP8 ', '0000009d012a01420343'), width: 0x201, height: 0x303 },
    { name: 'a WebP without loss', bytes: webp('VP8L', '2f02c00000'), width: 3, height: 4 },
    {
      name: 'the largest WebP without loss',
      bytes: webp('VP8L', '2fffffff0f'),
      width: 16_384,
      height: 16_384,
    },
    { name: 'an extended WebP', bytes: webp('VP8X', '00000000020100030201'), width: 0x103, height: 0x010204 },
    { name: 'another kind of WebP', bytes: webp('VP9 ', '0000009d012a01420343'), width: null, height: null },
    { name: 'a JPEG', bytes: jpeg('ffe000040000 ffc0000b08 0102 0304 01'), width: 0x304, height: 0x102 },
    {
      name: 'a JPEG with filling bytes',
      bytes: jpeg('ffe000040000 ffffff ffc2000b08 0102 0304 01'),
      width: 0x304,
      height: 0x102,
    },
    { name: 'the last frame of a JPEG', bytes: jpeg('ffcf000b08 0102 0304'), width: 0x304, height: 0x102 },
    {
      name: 'a JPEG with tables before its frame',
      bytes: jpeg('ffc400040000 ffc800040000 ffcc00040000 ffd000040000 ffc1000b08 0102 0304'),
      width: 0x304,
      height: 0x102,
    },
    { name: 'a JPEG without a frame', bytes: jpeg('ffe00002'), width: null, height: null },
    {
      name: 'a JPEG with something else',
      bytes: jpeg('ff00 0102 ffc0000b08 0102 0304'),
      width: null,
      height: null,
    },
    ...[1, 2, 3, 4, 5, 6, 7, 8].flatMap((orientation) =>
      (['II', 'MM'] as const).map((order) => ({
        name: `a JPEG with orientation ${orientation}, ${order}`,
        bytes: turnedJpeg(orientation, order),
        width: orientation > 4 ? 2 : 3,
        height: orientation > 4 ? 3 : 2,
      })),
    ),
    {
      name: 'a JPEG with orientation that is cut',
      bytes: jpeg('ffe1000c 457869660000 4d4d002a ffc0000b08 0102 0304'),
      width: 0x304,
      height: 0x102,
    },
    { name: 'a JPEG that is cut', bytes: jpeg('ffc0000b08 0102 03'), width: null, height: null },
  ];
  for (const { name, bytes, width, height } of cases) t.match(tryPictureType(bytes), { width, height }, name);
  t.equal(tryPictureType(Buffer.from('RIFF....WAVEVP8 ')), undefined);
  t.match(tryPictureType(Buffer.from(`${' '.repeat(196)}<svg`)), { type: 'svg', width: null, height: null });
  t.equal(tryPictureType(Buffer.from(`${' '.repeat(197)}<svg>`)), undefined, 'too far from the beginning');
  t.end();
});

function jpeg(hex: string): Buffer {
  return Buffer.from(`ffd8${hex.replaceAll(' ', '')}`, 'hex');
}

t.test('the pictures of a page and of a book have a bounded number of bytes', async (t) => {
  const content = await temporaryFolder(t);
  const put = (name: string, size: number) => {
    const start = Buffer.from([...Buffer.from('GIF89a'), size % 251, 1, 1, 0, ...Buffer.from(name)]);
    writeFileSync(join(content, `${name}.gif`), start);
    truncateSync(join(content, `${name}.gif`), size);
  };
  for (let at = 10; at < 20; at++) put(`pic${at}`, 10_000_000);
  put('last', 1_000);

  const book = new BookPictures({ contentFolder: content });
  for (let at = 10; at < 20; at++) t.ok(book.show(`pic${at}.gif`), `picture ${at}`);
  t.ok(book.show('pic10.gif'), 'one that is shown again takes no more room');
  t.equal(book.show('last.gif'), undefined);
  t.strictSame(book.notes, [
    'The picture last.gif is left out, because all pictures together have more than 100 MB.',
  ]);
  t.equal(book.all.length, 10);

  const page = async (names: readonly string[]) =>
    (await pageOf(content, names.map((name) => `![${name}](${name}.gif)`).join('\n\n'))).notes;
  t.strictSame(await page(['pic10', 'pic11']), [], 'as much as a page may have');
  t.strictSame(await page(['pic10', 'pic10', 'last', 'gone']), [
    'The picture last.gif is left out, because all pictures of the page together have more than 20 MB.',
    'The picture gone.gif cannot be read (ENOENT).',
  ]);
  const missing = Array.from({ length: 101 }, (_, at) => `gone${at}`);
  t.equal((await page(missing)).length, 100, 'the most notes');
  for (const name of missing) book.show(`${name}.gif`);
  t.equal(book.notes.length, 100);
  const printed = picturesOfPdf(content);
  for (let at = 10; at < 20; at++) t.match([...printed.place(`pic${at}.gif`)].at(-1), /damaged or too large/);
  t.match([...printed.place('last.gif')].at(-1), 'With last.gif, the pictures have more than 100 MB.');
});

function picturesOfPdf(folder: string) {
  const pictures = new PdfPictures({
    places: { contentFolder: folder },
    excluded: new Set(),
  });
  return {
    place(source: string) {
      pictures.place({ kind: 'image', source, alt: '', mark: {} }, 100);
      return pictures.notes;
    },
  };
}

t.test('an SVG is rewritten without active parts', async (t) => {
  const content = t.testdir({});
  const read = (svg: string) => {
    writeFileSync(join(content, 'a.svg'), svg);
    const asset = readAsset({ contentFolder: content }, 'a.svg');
    return asset.kind === 'picture' ? Buffer.from(asset.bytes).toString() : undefined;
  };
  const svg = (inner: string) => `<?xml version="1.0"?><svg viewBox="0 0 20 10">${inner}</svg>`;
  const cases: readonly { inner: string; never: RegExp; still?: RegExp }[] = [
    { inner: '<script>alert(1)</script><rect width="1"/>', never: /script|alert/, still: /<rect width="1">/ },
    {
      inner: '<g onclick="x()" id="a"><a href="javascript:x">t</a></g>',
      never: /onclick|javascript/,
      still: /id="a"/,
    },
    { inner: '<image href="http://x/y.png"/><use href="#a"/>', never: /http:\/\/x/, still: /href="#a"/ },
    { inner: '<style>@import "x"; a{}</style>', never: /import/ },
    { inner: '<style>a{fill:&#117;rl(http:x)}</style>', never: /http:x/ },
    { inner: '<style>a{fill:url(#b)}</style>', never: /script/, still: /url\(#b\)/ },
    { inner: '<rect fill="url(x)" style="fill:u\\72l(x)"/>', never: /fill/ },
    { inner: '<foreignObject><iframe src="x"/></foreignObject>', never: /iframe|foreign/ },
    {
      inner: '<foreignObject width="90" height="24"><div>Start <b>a</b><br/>&lt;b></div></foreignObject>',
      never: /foreign|div/,
      still: /<text x="45" y="12" text-anchor="middle"><tspan [^>]*>Start a<[^>]*><tspan [^>]*>&lt;b&gt;</,
    },
    { inner: '<foreignObject>a<script>alert(1)</script></foreignObject>', never: /alert/ },
    {
      inner: '<switch><foreignObject>HTML</foreignObject><text>Box</text></switch>',
      never: /HTML|switch/,
      still: /<g><text>Box/,
    },
    {
      inner: '<style>/*x*/@media a{b{c:d}}#m .n rect{fill:#eef}a{b:url(c)}@x{from{a:b}}i{j:k}</style>',
      never: /media|from|url|\*/,
      still: /<style>#m \.n rect\{fill:#eef\}i\{j:k\}</,
    },
    {
      inner: `<style>${'@{/*a'.repeat(50_000)}</style><style>${'@}'.repeat(50_000)}${'a'.repeat(100_000)}</style>`,
      never: /@/,
    },
    { inner: '<g id="a"/><g id="a"/>', never: /id="a".*id="a"/ },
    { inner: '<text>a &lt; b &unknown; \u0001</text>', never: /\u0001/, still: /a &lt; b &amp;unknown;/ },
    { inner: '<text xml:space="preserve">a</text>', never: /script/, still: /xml:space="preserve"/ },
    { inner: '<text xml:space="nonsense">a</text>', never: /nonsense/ },
    { inner: '<svg><g></svg>', never: /script/ },
  ];
  for (const { inner, never, still } of cases) {
    const got = read(svg(inner)) ?? '';
    t.ok(isWellFormed(got), inner);
    t.notMatch(got, never, inner);
    if (still) t.match(got, still, inner);
  }
  const entities = '<!DOCTYPE svg [<!ENTITY c "#f80"><!ENTITY d "&c;&c;"><!ENTITY e "<a>">]>';
  t.match(
    read(`${entities}<svg><rect fill="&c;"/>&d;&e;</svg>`),
    '<rect fill="#f80"></rect>&amp;d;&amp;e;</svg>',
  );
  const long = `<!DOCTYPE svg [<!ENTITY c "${'a'.repeat(256)}">]><svg>${'&c;'.repeat(100_000)}</svg>`;
  t.ok((read(long)?.length ?? 0) < 3_000_000, 'entities have a bounded length');
  t.equal(read('<svg><rect/>'.repeat(500)), undefined, 'out of bounds');
  t.equal(read('<!-- no svg --><html/>'), undefined);
  t.match(readAsset({ contentFolder: content }, 'a.svg'), { kind: 'problem' });
  writeFileSync(join(content, 'a.svg'), svg(''));
  t.match(readAsset({ contentFolder: content }, 'a.svg'), { width: 20, height: 10 });
});

t.test('tables, lists and figures of raw HTML are kept', async (t) => {
  const table = (rows: string) => `<div class="table"><table>\n${rows}</table></div>\n`;
  const cases: readonly [name: string, source: string, want: string][] = [
    [
      'a table with its head, its caption and cells over several places',
      '<table onclick="x"><caption>C</caption><thead><tr><th>a<th colspan=2 style="x" align=CENTER>b</thead>\n<tr><td rowspan="2">c<td align=right>d<td>e\n<tr><td colspan="0">f<td rowspan="100">g</table>',
      table(
        '<caption>C</caption>\n<thead><tr><th scope="col">a</th>\n<th scope="col" class="align-center" colspan="2">b</th>\n</tr>\n</thead>\n<tbody><tr><td rowspan="2">c</td>\n<td class="align-right">d</td>\n<td>e\n</td>\n</tr>\n<tr><td>f</td>\n<td>g</td>\n</tr>\n</tbody>\n',
      ),
    ],
    [
      'Markdown in its cells, and a table in a cell',
      '<table><tr><th>k</th><td>\n\n*a*\n\n</td><td>\n\n- b\n\n</td></tr>\n\n<tr><td><table><tr><td>c</table></td></tr></table>\n\nend',
      `${table(`<tbody><tr><th scope="row">k</th>\n<td><em>a</em></td>\n<td><ul><li>b</li>\n</ul>\n</td>\n</tr>\n<tr><td>${table('<tbody><tr><td>c</td>\n</tr>\n</tbody>\n')}</td>\n</tr>\n</tbody>\n`)}<p>end</p>\n`,
    ],
    [
      'lists with their numbers',
      '<ol start="3" type="i"><li>a<li value="7">b<ul><li>c</ul><li>d</ol>',
      '<ol start="3" type="i"><li value="3">a</li>\n<li value="7">b<ul><li>c</li>\n</ul>\n</li>\n<li value="8">d</li>\n</ol>\n',
    ],
    [
      'terms and figures',
      '<dl><dd>a<dt>b</dl>\n<figure><figcaption>c</figcaption><img src="../a.png"></figure>',
      '<dl><dt></dt>\n<dd>a</dd>\n<dt>b</dt>\n<dd></dd>\n</dl>\n<figure><figcaption>c</figcaption>\n<p><img src="images/a.png" alt="" width="3" height="2"/></p>\n</figure>\n',
    ],
    [
      'a quote, and code with its marks',
      '<blockquote>a<ul><li>b</ul></blockquote><pre>\n <b>c</b>\n  d</pre>',
      '<blockquote><p>a</p>\n<ul><li>b</li>\n</ul>\n</blockquote>\n<pre>\n <b>c</b>\n  d</pre>\n',
    ],
    [
      'ids of their elements',
      '<ul id="u"><li id="l">a</ul><table id="t"><tr id="r"><td id="d">b</table>[u](#u) [d](#D)',
      `<span id="u"></span><ul><li><span id="l"></span>a</li>\n</ul>\n<span id="t"></span>${table('<tbody><tr><td><span id="r"></span><span id="d"></span>b</td>\n</tr>\n</tbody>\n')}<p>[u](#u) [d](#D)</p>\n`,
    ],
    [
      'parts without what they belong to are paragraphs',
      '<li>a</li>\n\n<tr><td>b</td></tr>\n\n<ul>c<li>d</ul></table></ul>',
      '<p>a</p>\n<p>b</p>\n<ul><li>c</li>\n<li>d</li>\n</ul>\n',
    ],
  ];
  for (const [name, source, want] of cases) t.equal(htmlOf(source), want, name);
  const piece = fc.constantFrom(
    ...'table tr td th thead tfoot caption ul ol li dl dt dd figure figcaption blockquote pre details summary p b'
      .split(' ')
      .flatMap((name) => [`<${name}>`, `</${name}>`]),
    ...['<td rowspan=9>', '<td colspan=99>', ' w ', ' w ', '\n\n', '\n\n- w\n\n', '\n\n> w\n\n'],
  );
  const wordsIn = (text: string) => text.replace(/<[^>]*>/g, '').split('w').length;
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const source = pieces.join('');
      const html = htmlOf(source);
      return isWellFormed(html) && wordsIn(html) === wordsIn(source);
    }),
    { numRuns: 1_000 },
  );
  for (const form of [
    '<table>',
    '<tr><td>',
    '<ul><li>',
    '<dl><dt>',
    '</td></table>',
    '<td colspan=99 rowspan=99>',
  ])
    t.ok(htmlOf(`a\n\n<table>${form.repeat(50_000)}`), `many ${form}`);
});

t.test('Markdown becomes XHTML', async (t) => {
  const english = ' lang="en" xml:lang="en"';
  const captioned = (caption: string, language: string, code: string) =>
    `<figure class="source"><figcaption${english}>${caption}</figcaption>\n<pre><code class="language-${language}">${code}\n</code></pre>\n</figure>\n`;
  const cases: readonly { name: string; source: string; want: string | RegExp }[] = [
    {
      name: 'a link whose text is its address is marked',
      source:
        '<https://example.org/a/> www.example.org [example.org](https://example.org) [a](https://b.example/a)',
      want: /^<p><a href="https:\/\/example\.org\/a\/" class="bare">.*<a href="http:\/\/www\.example\.org\/" class="bare">.*<a href="https:\/\/example\.org\/" class="bare">.*<a href="https:\/\/b\.example\/a">a</,
    },
    {
      name: 'entities',
      source: 'a &nbsp;&copy; &lt; `&lt;` "q"',
      want: '<p>a \u00a0© &lt; <code>&amp;lt;</code> &quot;q&quot;</p>\n',
    },
    { name: 'ordered list', source: '3. a\n4. b', want: '<ol start="3"><li>a</li>\n<li>b</li>\n</ol>\n' },
    {
      name: 'tasks',
      source: '- [x] a\n- [ ] b',
      want:
        '<ul><li class="task"><span role="img" aria-label="Done">☑</span> a</li>\n' +
        '<li class="task"><span role="img" aria-label="To do">☐</span> b</li>\n</ul>\n',
    },
    {
      name: 'table',
      source: '|a|b|\n|:-:|-|\n|1|',
      want:
        '<div class="table"><table>\n<thead><tr><th scope="col" class="align-center">a</th>\n<th scope="col">b</th>\n</tr>\n' +
        '</thead>\n<tbody><tr><td class="align-center">1</td>\n<td></td>\n</tr>\n</tbody>\n</table></div>\n',
    },
    {
      name: 'code',
      source: '```js"x y\na < b\n```',
      want: '<pre><code class="language-js">a &lt; b\n</code></pre>\n',
    },
    { name: 'document', source: '[a](other.md#x)', want: '<p><a href="other.xhtml#x">a</a></p>\n' },
    { name: 'a document that is not there', source: '[*a*](gone.md)', want: '<p><em>a</em></p>\n' },
    {
      name: 'own place',
      source: '# A\n[x](#a) [y](#b)',
      want: '<h1 id="a">A</h1>\n<p><a href="#a">x</a> y</p>\n',
    },
    {
      name: 'picture',
      source: '![a *b*](../a.png "t")',
      want: '<p><img src="images/a.png" alt="a b" title="t" width="3" height="2"/></p>\n',
    },
    {
      name: 'foreign picture',
      source: '![a](http://x/a.png)',
      want: '<p><a class="missing-picture" href="http://x/a.png">a</a></p>\n',
    },
    {
      name: 'foreign pictures without a description',
      source:
        '![](https://x.example/a%20b.png?c=d) <img src="https://x.example" title="t"> ![](gone.png)![b](gone.png)',
      want: '<p><a class="missing-picture" href="https://x.example/a%20b.png?c=d">a b.png</a> <a class="missing-picture" href="https://x.example/">t</a> <span class="missing-picture">b</span></p>\n',
    },
    {
      name: 'links that show nothing',
      source:
        '[![](https://x/b.svg)](https://y.example/) <a href="https://y/z/?q"><b><img src="gone.png"></b></a> [![c](https://x/b.svg)](#) [![](../a.png)](https://y.example/d) <a href="https://e.example"></a>',
      want: '<p><a href="https://y.example/">y.example</a> <a href="https://y/z/?q"><b></b>z</a> <a class="missing-picture" href="https://x/b.svg">c</a> <a href="https://y.example/d" aria-label="d"><img src="images/a.png" alt="" width="3" height="2"/></a> <a href="https://e.example/">e.example</a></p>\n',
    },
    {
      name: 'inline HTML',
      source: '<kbd onclick="x">a</kbd><br><script>x</script> <b>c',
      want: '<p><kbd>a</kbd><br/> <b>c</b></p>\n',
    },
    { name: 'a script in capitals', source: 'a <SCRIPT>b</SCRIPT> c', want: '<p>a  c</p>\n' },
    { name: 'a script without an end', source: 'a <script>b *c*', want: '<p>a b <em>c</em></p>\n' },
    {
      name: 'pictures with a size of their own',
      source:
        '<img src="../a.png" width="30"> <img src="../a.png" height="20px"> <img src="../a.png" width="50%" alt="a">',
      want:
        '<p><img src="images/a.png" alt="" width="30" height="20"/> <img src="images/a.png" alt="" width="30" height="20"/> ' +
        '<img src="images/a.png" alt="a" width="3" height="2"/></p>\n',
    },
    {
      name: 'long code in a table may break',
      source: '|a|\n|-|\n|`DOCS_TOKEN_FILE=<x>` `short_one`|\n\n`DOCS_TOKEN_FILE=x`',
      want: /<td><code>DOCS_<wbr\/>TOKEN_<wbr\/>FILE=&lt;x&gt;<\/code> <code>short_one<\/code><\/td>[\s\S]*<code>DOCS_TOKEN_FILE=x<\/code>/,
    },
    {
      name: 'HTML across emphasis',
      source: '**<kbd>a** b</kbd>',
      want: '<p><strong><kbd>a</kbd></strong> b</p>\n',
    },
    {
      name: 'link in link',
      source: '[a <a href="https://b.c">x</a>](other.md)',
      want: '<p><a href="other.xhtml">a x</a></p>\n',
    },
    {
      name: 'details',
      source: '<details>\n<summary>S &amp; <em>T</em></summary>\n\n- a\n\n</details>\n\nb',
      want: '<details>\n<summary>S &amp; <em>T</em></summary>\n<ul><li>a</li>\n</ul>\n</details>\n<p>b</p>\n',
    },
    {
      name: 'a rule, an abbreviation and a break in HTML',
      source: '<div>a\n<hr>\n<abbr title="b &amp; c">d</abbr> <sub>e</sub><wbr>f\n</div>',
      want: '<p>a\n</p>\n<hr/>\n<p><abbr title="b &amp; c">d</abbr> <sub>e</sub><wbr/>f\n</p>\n',
    },
    {
      name: 'ten details within each other, and no more',
      source: `${'<details>\n'.repeat(11)}\na\n\n${'</details>\n'.repeat(11)}`,
      want: `${'<details>\n<summary>Details</summary>\n'.repeat(10)}<p>a</p>\n${'</details>\n'.repeat(10)}`,
    },
    {
      name: 'twenty elements within each other, and no more',
      source: `${'<b>'.repeat(21)}a`,
      want: `<p>${'<b>'.repeat(20)}a${'</b>'.repeat(20)}</p>\n`,
    },
    {
      name: 'the size of a picture in HTML',
      source:
        '<img src="../a.png" width="9999px"> <img src="../a.png" height=" 4 "> <img src="../a.png" width="10000" height="50%">',
      want: /^<p><img src="images\/a\.png"[^>]* width="9999"[^>]*\/> <img [^>]* width="6" height="4"[^>]*\/> <img [^>]* width="3" height="2"[^>]*\/><\/p>\n$/,
    },
    {
      name: 'details without a summary or an end',
      source: '<details open>\n\na',
      want: '<details open="open">\n<summary>Details</summary>\n<p>a</p>\n</details>\n',
    },
    {
      name: 'blocks of HTML',
      source: '<div align="center">\n\n# T\n\n<p>a <b>b</p>\n</div>',
      want: '<h1 id="t">T</h1>\n<p>a <b>b</b></p>\n',
    },
    {
      name: 'alert',
      source: '> [!WARNING]\n> *a* b\n>\n> - c',
      want: `<div class="alert warning" role="note"><p class="label"${english}>Warning</p>\n<p><em>a</em> b</p>\n<ul><li>c</li>\n</ul>\n</div>\n`,
    },
    {
      name: 'alert with its text after a line break or an empty line',
      source: '> [!tip]  \n> a\n\n> [!NOTE]\n>\n> b[^1]\n\n[^1]: c',
      want: /^<div class="alert tip" role="note">.*Tip<\/p>\n<p>a<\/p>\n<\/div>\n<div class="alert note" role="note">.*Note<\/p>\n<p>b<sup>/,
    },
    {
      name: 'alerts with a title, which may fold, and a quote that is none',
      source: '> [!NOTE] *a*\n\n> [!TIP]- b\n> c\n\n> [!OTHER]\n> b',
      want:
        '<div class="alert note" role="note"><p class="label">a</p>\n</div>\n' +
        '<details class="alert tip"><summary class="label">b</summary>\n<p>c</p>\n</details>\n' +
        '<blockquote><p>[!OTHER]\nb</p>\n</blockquote>\n',
    },
    {
      name: 'formula',
      source: 'a\n$$\n  x_1 * y_1 \\\\\n  - z\n$$\nb $$ c',
      want: `<p>a</p>\n${captioned('Formula', 'math', 'x_1 * y_1 \\\\\n- z')}<p>b $$ c</p>\n`,
    },
    {
      name: 'formula with a line of blanks',
      source: '$$\n    x\n  y \\\\   \n$$',
      want: captioned('Formula', 'math', '  x\ny \\\\'),
    },
    { name: 'formula in one line', source: '$$a*b*c$$', want: captioned('Formula', 'math', 'a*b*c') },
    {
      name: 'no formula',
      source: '$$\na\n\nb$$ c\n\n$$ $$',
      want: '<p>$$\na</p>\n<p>b$$ c</p>\n<p>$$ $$</p>\n',
    },
    {
      name: 'diagram',
      source: '```mermaid\ngraph TD\n```',
      want: captioned('Diagram source (Mermaid)', 'mermaid', 'graph TD'),
    },
    { name: 'control characters', source: 'a\u0000\u0008\ufffe\ud800b &#8;', want: '<p>ab </p>\n' },
    { name: 'comment', source: '<!-- a -- b -->\n\nc', want: '<p>c</p>\n' },
  ];
  for (const { name, source, want } of cases) {
    if (typeof want === 'string') t.equal(htmlOf(source), want, name);
    else t.match(htmlOf(source), want, name);
  }
  const footnotes = htmlOf('a[^1] [b[^1]](other.md)\n\n[^1]: c\n\n        code');
  t.match(footnotes, '<sup><a id="fnref:1" href="#fn:1" role="doc-noteref">1</a></sup>');
  t.match(footnotes, '<a href="other.xhtml">b<sup>1</sup></a>');
  t.notMatch(footnotes, 'href="#fnref:1:2"', 'no link back to a reference that could not be one');
});

t.test(
  'any Markdown becomes well-formed XHTML in which no id stands twice and no link leads nowhere',
  async () => {
    fc.assert(
      fc.property(markdownText, (source) => {
        const html = htmlOf(source);
        if (!isWellFormed(html)) return false;
        const ids = idsIn(html);
        const inner = [...html.matchAll(/href="#([^"]*)"/g)].map(([, id = '']) => id);
        return (
          new Set(ids).size === ids.length && inner.every((id) => ids.includes(id)) && !isDangerous(html)
        );
      }),
      { numRuns: 400 },
    );
  },
);

t.test('only the raw HTML of Markdown is sanitised', async (t) => {
  const cases: readonly { name: string; source: string; want: string }[] = [
    {
      name: 'plain',
      source: '# A\r\n\r\n a\t*b*\r`<b onclick=x>`\n\n',
      want: '# A\r\n\r\n a\t*b*\r`<b onclick=x>`\n\n',
    },
    {
      name: 'fence',
      source: '```html\n<script>x</script>\n```\n',
      want: '```html\n<script>x</script>\n```\n',
    },
    {
      name: 'the same in code and not',
      source: '`<b id=x>`\n\n<b id=x>y</b>',
      want: '`<b id=x>`\n\n<b id="x">y</b>',
    },
    { name: 'inline', source: 'a <b onclick="x()">c</b> <kbd>d</kbd>', want: 'a <b>c</b> <kbd>d</kbd>' },
    { name: 'script', source: '<script>\nalert(1)\n</script>\n\ntext', want: '\n\n\n\ntext' },
    { name: 'comment', source: 'a <!-- hidden --> b', want: 'a  b' },
    {
      name: 'line ends',
      source: '> <a\r\n> href="x" onclick="y">z</a>\r\n',
      want: '> <a href="x">\r\n> z</a>\r\n',
    },
    { name: 'a sign', source: '<div>\na < b\n</div>\n', want: '<div>\na &lt; b\n</div>\n' },
    { name: 'in a list', source: '- a\n\t- <i style="x">b</i>\n', want: '- a\n\t- <i>b</i>\n' },
    {
      name: 'in a table',
      source: '|<u class=a>x</u>|`<u class=a>`|\n|-|-|\n',
      want: '|<u>x</u>|`<u class=a>`|\n|-|-|\n',
    },
    { name: 'link', source: '[a `b`](javascript:alert(1) "t") [c](d.md)', want: '[a `b`](#) [c](d.md)' },
    { name: 'entity in a link', source: '[a](javascript&colon;x)', want: '[a](#)' },
    { name: 'definition', source: '[a]\n\n[a]: javascript:x "t"\n', want: '[a]\n\n[a]: #\n' },
    { name: 'autolink', source: '<javascript:alert(1)>', want: '&lt;javascript:alert(1)>' },
    { name: 'tag in a tag', source: '<scr<script>ipt>alert(1)</scr</script>ipt>', want: '' },
    {
      name: 'raw text in kbd',
      source: '<kbd><img src=x onerror=y </kbd>',
      want: '<kbd>&lt;img src=x onerror=y </kbd>',
    },
    {
      name: 'footnote',
      source: 'a[^1]\n\n[^1]: b\n\n    <u id=x>c</u>\n',
      want: 'a[^1]\n\n[^1]: b\n\n    <u id="x">c</u>\n',
    },
    { name: 'vscode link', source: '[a](vscode:extension/x)', want: '[a](vscode:extension/x)' },
    {
      name: 'link with brackets',
      source: '[a \\[b\\] <u id=x>c</u>](<d.md>)',
      want: '[a \\[b\\] <u id="x">c</u>](<d.md>)',
    },
    {
      name: 'a scheme that is not listed',
      source: '[a](ms-msdt:/id) <std::string>',
      want: '[a](#) &lt;std::string>',
    },
    {
      name: 'a tag in a paragraph that begins like a table',
      source: 'x <img src=x title="\n| a | b | c |\n|---|---|\n" onerror=alert(1)>',
      want: 'x <img src="x" title="\n| a | b | c |\n|---|---|\n" />',
    },
    {
      name: 'a link in a paragraph that ends like a table',
      source: '[click me](\n javascript:alert(1)\n)| a | b |\n|---|---|\n| ',
      want: '[click me](#)\n \n| a | b |\n|---|---|\n| ',
    },
    {
      name: 'a link for who knows no tables',
      source: '| a |\n|---|\n| x [click](\n javascript:alert(1)\n)\n\n[b](c.md)',
      want: '| a |\n|---|\n| x &#91;click](\n javascript:alert(1)\n)\n\n[b](c.md)',
    },
    {
      name: 'a tag in a cell beyond the last column',
      source: '|a|\n|-|\n|`<T>`|<u id=x>b</u>|\n|[c](d.md)|\n',
      want: '|a|\n|-|\n|`&lt;T>`|&lt;u id=x>b</u>|\n|[c](d.md)|\n',
    },
    {
      name: 'a line break in a tag that has no end',
      source: 'x <pre>y\n<img src=x onerror=alert(1)//\nz</pre>',
      want: 'x <pre>y\n&lt;img src=x onerror=alert(1)//\nz</pre>',
    },
  ];
  for (const { name, source, want } of cases) {
    if (want) t.equal(sanitiseMarkdown(source), want, name);
    for (const reader of markdownReaders) {
      t.notOk(isDangerous(reader.print(sanitiseMarkdown(source))), `${name}, read by ${reader.name}`);
    }
  }
});

t.test('sanitised Markdown is safe, and sanitising it again changes nothing', async () => {
  fc.assert(
    fc.property(markdownText, (source) => {
      const sanitised = sanitiseMarkdown(source);
      if (sanitiseMarkdown(sanitised) !== sanitised) return false;
      if (!source.includes('<') && !/script|data/i.test(source) && sanitised !== source) return false;
      return !isDangerous(new Marked().parse(sanitised, { async: false }));
    }),
    { numRuns: 400 },
  );
});

t.test('no reader finds an element, an attribute or a scheme that is not listed', async () => {
  fc.assert(
    fc.property(hostileMarkdown, (source) => {
      const sanitised = sanitiseMarkdown(source);
      return markdownReaders.every(({ print }) => unlistedIn(print(sanitised)).length === 0);
    }),
    { numRuns: 250 },
  );
});

t.test('nothing in ordinary pages is disarmed', async (t) => {
  const escapes = (text: string) => text.match(/&lt;|&#91;/g)?.length ?? 0;
  const pages = ['docs', 'node_modules/fastify/docs/Reference', 'node_modules/pino/docs'].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(folder, name)),
  );
  t.ok(pages.length > 40, `${pages.length} pages`);
  const disarmed = pages.filter((path) => {
    const source = readFileSync(path, 'utf8');
    return escapes(sanitiseMarkdown(source)) > escapes(source);
  });
  t.strictSame(disarmed, []);
});

t.test(
  'emphasis and bare addresses end at the letters and the punctuation of Chinese, Japanese and Korean',
  async (t) => {
    const cases: readonly [source: string, want: string][] = [
      [
        '**「重要」**は*強調*。**太字。**です',
        '<strong>「重要」</strong>は<em>強調</em>。<strong>太字。</strong>です',
      ],
      ['**Go（golang）**とは', '<strong>Go（golang）</strong>とは'],
      ['これは**`x`**で**[あ](x)**い', 'これは<strong><code>x</code></strong>で<strong>あ</strong>い'],
      ['中文**“重要”**的', '中文<strong>“重要”</strong>的'],
      ['한국어**"강조"**입니다', '한국어<strong>&quot;강조&quot;</strong>입니다'],
      ['***「あ」***い *该。*该', '<em><strong>「あ」</strong></em>い <em>该。</em>该'],
      ['a**(b)**c ** 文 **', 'a**(b)**c ** 文 **'],
      ['见 https://x.org/a（文）。', '见 <a href="https://x.org/a" class="bare">https://x.org/a</a>（文）。'],
      [
        '“https://x.org”与 https://x.org。',
        '“<a href="https://x.org/" class="bare">https://x.org</a>”与 <a href="https://x.org/" class="bare">https://x.org</a>。',
      ],
      ['https://x.org/文/(a)。', '<a href="https://x.org/%E6%96%87/(a)">https://x.org/文/(a)</a>。'],
    ];
    for (const [source, want] of cases) t.equal(htmlOf(source), `<p>${want}</p>\n`, source);
    t.equal(plainSnippet('**「重要」**は', ''), '「重要」は');
    t.equal(titlesIn('# **「重要」**は\n')[0], '「重要」は');
    // Everything else is read as Marked reads it.
    const signs = fc.constantFrom(
      '*',
      '**',
      '_',
      '~',
      ' ',
      '\n',
      'a',
      'é',
      '"',
      '(',
      ')',
      '.',
      '1',
      'https://a.b/c',
    );
    fc.assert(
      fc.property(fc.string({ unit: signs, maxLength: 40 }), (text) => {
        t.strictSame(lexPlain(text, withCjkRules), lexPlain(text));
      }),
    );
  },
);

t.test('a paragraph is the same with footnotes as without', async (t) => {
  const source = 'a\n| b | c | d |\n|---|---|\n| e |\n[^1]: note\n\nf[^1]\n\n- g\n  [^2]: h\n';
  t.match(htmlOf(source), '<p>a\n| b | c | d |\n|---|---|\n| e |</p>\n<p>f<sup>');
  t.notMatch(htmlOf(source), 'note</p>\n<p>f');
});

/** Whether a browser would run something of it. */
function isDangerous(html: string): boolean {
  let found = false;
  const parser = new Parser({
    onopentag(name, attributes) {
      if (/^(script|style|iframe|object|embed|svg|math|form|base|meta|link)$/.test(name)) found = true;
      for (const [key, value] of Object.entries(attributes)) {
        if (/^(on|style$|srcdoc$)/.test(key)) found = true;
        // Browsers leave these characters out of a scheme.
        const address = /^(href|src|action|formaction|poster|xlink:href)$/.test(key) ? value : '';
        if (/^(javascript|vbscript|data:text)/i.test(address.replace(/[\u0000-\u0020]/g, ''))) found = true;
      }
    },
  });
  parser.end(html);
  return found;
}
