import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { Parser } from 'htmlparser2';
import { Marked } from 'marked';
import t from 'tap';
import { withCjkRules } from '../../docs-service/content/inlineText.ts';
import { resolveLink, tryLoose } from '../../docs-service/content/links.ts';
import { createEpub } from '../../docs-service/formats/epub/epub.ts';
import { createHtml } from '../../docs-service/formats/markdown/htmlFormat.ts';
import { lexPlain } from '../../docs-service/formats/markdown/markdown.ts';
import { createMarkdown } from '../../docs-service/formats/markdown/markdownFormat.ts';
import { createPdf } from '../../docs-service/formats/pdf/pdf.ts';
import { anyText } from '../support/anyText.ts';
import { documentOf, epubJob } from '../support/documents.ts';
import { failsWith } from '../support/failsWith.ts';
import { markdownReaders, unlistedIn } from '../support/markdownReaders.ts';
import { hostileMarkdown, markdownText } from '../support/markdownTexts.ts';
import { pdfJob } from '../support/pdfFiles.ts';
import { pictures, turnedJpeg } from '../support/pictures.ts';
import { where } from '../support/systems.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { idsIn, isWellFormed } from '../support/xhtml.ts';

const folder = await temporaryFolder(t, { 'a.png': pictures.png });

/** The page of a document that lies in a folder beside another one. */
async function pageOf(body: string, contentFolder = folder) {
  const document = documentOf('page', body, { path: 'guide/page.md', date: null });
  const job = { kind: 'html', contentFolder, form: 'page', root: '' } as const;
  const { bytes, notes } = await createHtml({ ...job, targets: { 'guide/other.md': '/other' }, document });
  return { html: Buffer.from(bytes).toString(), notes };
}

/** What stands below the title, with a title of its own; pictures have no bytes. */
async function htmlOf(body: string): Promise<string> {
  const { html } = await pageOf(body);
  const [, title = '', text = ''] =
    /<header>\n(.*)<\/header>\n<div class="text">\n(.*)<\/div>\n<\/article>/s.exec(html) ?? [];
  return (title.startsWith('<h1 ') ? title : '') + text.replaceAll(/(?<= src="data:)[^"]*/g, '');
}

function markdownOf(body: string): string {
  const document = documentOf('page-of-a-test', body);
  const { bytes } = createMarkdown({ kind: 'markdown', document, targets: {}, pictures: {} });
  return Buffer.from(bytes).toString();
}

t.test('code that a parser would take long for has no colours, and keeps its text', async (t) => {
  const coloured = (label: string, code: string) => htmlOf(`~~~${label}\n${code}\n~~~`);
  t.match(await coloured('js', 'const a'), '<span class="tok-keyword">const</span>');
  const plain = {
    'no language': ['', 'const a'],
    'an unknown language': ['unheard-of', 'const a'],
    'a long block': ['js', 'const a\n'.repeat(7_000)],
    'a long line': ['js', `const a = '${'x'.repeat(300)}'`],
    'a gap': ['yaml', `a${' '.repeat(3_000)}b`],
    'many gaps': ['yaml', `${'a  '.repeat(99)}\n`.repeat(160)],
  } as const;
  for (const [name, [label, code]] of Object.entries(plain)) {
    const html = await coloured(label, code);
    t.notMatch(html, 'tok-', name);
    t.ok(html.includes(code.trimEnd().replaceAll("'", '&#39;')) || html.includes(code.trimEnd()), name);
  }
  const many = await htmlOf(`~~~js\n${'const a\n'.repeat(5_000)}~~~\n\n`.repeat(2));
  t.equal(many.match(/tok-keyword/g)?.length, 10_000, 'each block counts by itself');
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
      if (want) await t.rejects(pageOf(source), failsWith({ name: 'UnrenderableError', message: want }));
      else await t.resolves(pageOf(source));
    });
  }
});

t.test('links lead to documents, files, addresses and places, or nowhere', async (t) => {
  const none = { kind: 'none' };
  const cases: readonly (readonly [string, unknown])[] = [
    ['other.md', file('guide/other.md')],
    ['./other.md#part%201', file('guide/other.md', 'part 1')],
    ['/guide/page.md#x', { kind: 'fragment', fragment: 'x' }],
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
    [`https://x/${'y'.repeat(2_038)}`, { kind: 'external', href: `https://x/${'y'.repeat(2_038)}` }],
    ...(
      '?q ../../x.md /../x ../.. %2e%2e/%2e%2e/x ..%2f..%2fx %5c%5chost //host/x C:/x c:%5cx x/c:/y ' +
      'a%00b % %ff javascript:x JaVaScRiPt:x &#106;avascript:x javascript&colon;x data:text/html,x ' +
      'vbscript:x file:///etc/passwd ftp://x/y https: http:// https://[x/ #%ff a.md#%'
    )
      .split(' ')
      .map((href) => [href, none] as const),
    ...[
      '',
      'a\\b',
      'a\0b',
      'java\nscript:x',
      ' javascript:x',
      '\u0001javascript:x',
      'http://a b',
      `https://x/${'y'.repeat(2_039)}`,
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
    const shown: Readonly<Record<string, RegExp>> = {
      ...Object.fromEntries(
        Object.keys(pictures).map((type) => [
          `real.${type}`,
          RegExp(`data:image/${type};.* width="3" height="2"`),
        ]),
      ),
      'gif.png': /data:image\/gif/,
      'inside.png': /data:image\/png/,
      'sub/../real.png': /data:image\/png/,
      'full.png': /width="3"/,
      'pixels.png': /width="10000"/,
    };
    for (const [path, want] of Object.entries(shown))
      t.match((await pageOf(`![](/${path})`, content)).html, want, path);
    const problems: Readonly<Record<string, RegExp>> = {
      'pixels-more.png': /100 million pixels/,
      'text.png': /is not a picture/,
      'cut.png': /damaged/,
      'heavy.png': /larger than 10 MB/,
      'link.png': /outside the content folder/,
      'folder/secret.png': /outside the content folder/,
      'loop.png': /ELOOP/,
      'pipe.png': /is not a file/,
      'folder.png': /is not a file|EISDIR/,
      'missing.png': /ENOENT/,
    };
    for (const [path, message] of Object.entries({
      ...problems,
      '../../outside/secret.png': /from another site/,
    })) {
      const { html, notes } = await pageOf(`![](${path.startsWith('.') ? path : `/${path}`})`, content);
      t.notMatch(html, '<img', path);
      t.match(notes.join(), message, path);
    }

    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>');
    for (const [type, bytes] of Object.entries({ ...pictures, jpg: pictures.jpeg, 'svg+xml': svg })) {
      const source = `data:image/${type};base64,${bytes.toString('base64')}`;
      const { html } = await pageOf(`![a](${source}) <img src="${source}">`);
      t.equal(html.match(/<img src="data:image/g)?.length, type === 'svg+xml' ? 1 : 2, `${type} in a page`);
      const book = await createEpub(epubJob(folder, [documentOf('a', `![a](${source})`)]));
      t.strictSame(book.notes, [], `${type} in a book`);
    }
    const base64 = pictures.png.toString('base64');
    for (const data of [
      ...['text/html;base64,PGI+', 'image/png,a', 'image/avif;base64,AAAA', 'image/png;base64,AAAA'],
      ...['a=b;base64,', 'base64, '].map((type) => `image/png;${type}${base64}`),
      `image/png;base64,${base64.slice(1)}`,
    ]) {
      const { html, notes } = await pageOf(`![a](<data:${data}>)`);
      t.notMatch(html, '<img', data);
      t.match(notes, [/^The picture data:.*… is not/], data);
    }
  },
);

/** The beginning of a PNG, which says how many pixels it has. */
function sizedPng(width: number, height: number): Buffer {
  const bytes = Buffer.from(pictures.png.subarray(0, 24));
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}

t.test('the size of a picture is read as each format writes it', async (t) => {
  const webp = (chunk: string, hex: string) =>
    Buffer.concat([Buffer.from(`RIFF....WEBP${chunk}....`), Buffer.from(hex, 'hex')]);
  const jpeg = (hex: string) => Buffer.from(`ffd8${hex.replaceAll(' ', '')}`, 'hex');
  const cases: readonly (readonly [name: string, bytes: Buffer, want: string])[] = [
    ['a PNG', sizedPng(7_000, 8_000), '7000 8000'],
    ['a GIF', Buffer.from('GIF87a\x01\x02\x03\x04', 'latin1'), '513 1027'],
    ['a WebP with loss', webp('VP8 ', '0000009d012a01420343'), '513 771'],
    ['a WebP without loss', webp('VP8L', '2f02c00000'), '3 4'],
    ['an extended WebP', webp('VP8X', '00000000020100030200'), '259 516'],
    ['a JPEG', jpeg('ffe000040000 ffc0000b08 0102 0304 01'), '772 258'],
    ['a JPEG with filling bytes', jpeg('ffe000040000 ffffff ffc2000b08 0102 0304 01'), '772 258'],
    [
      'a JPEG with tables before its frame',
      jpeg('ffc400040000 ffc800040000 ffcc00040000 ffd000040000 ffc1000b08 0102 0304'),
      '772 258',
    ],
    ['a JPEG without a frame', jpeg('ffe00002'), 'none'],
    ...[1, 3, 6].flatMap((turn) =>
      (['II', 'MM'] as const).map(
        (order) =>
          [`orientation ${turn}, ${order}`, turnedJpeg(turn, order), turn > 4 ? '2 3' : '3 2'] as const,
      ),
    ),
    ['an orientation that is cut', jpeg('ffe1000c 457869660000 4d4d002a ffc0000b08 0102 0304'), '772 258'],
  ];
  for (const [name, bytes, want] of cases) {
    writeFileSync(join(folder, 'sized'), bytes);
    const [, width, height] =
      /<img [^>]*width="(\d+)" height="(\d+)"/.exec(await htmlOf('![](/sized)')) ?? [];
    t.equal(width === undefined ? 'none' : `${width} ${height}`, want, name);
  }
});

t.test('the pictures of a page, a book and a PDF have a bounded number of bytes', async (t) => {
  const content = await temporaryFolder(t);
  const put = (name: string, size: number) => {
    const start = Buffer.from([...Buffer.from('GIF89a'), size % 251, 1, 1, 0, ...Buffer.from(name)]);
    writeFileSync(join(content, `${name}.gif`), start);
    truncateSync(join(content, `${name}.gif`), size);
  };
  const large = Array.from({ length: 10 }, (_, at) => `pic${at}`);
  for (const name of large) put(name, 10_000_000);
  put('last', 1_000);
  const textOf = (names: readonly string[]) => names.map((name) => `![${name}](/${name}.gif)`).join('\n\n');
  const inPage = async (...names: readonly string[]) => (await pageOf(textOf(names), content)).notes;
  t.strictSame(await inPage('pic0', 'pic1'), [], 'as much as a page may have');
  t.strictSame(await inPage('pic0', 'pic0', 'last', 'gone'), [
    'The picture last.gif is left out, because all pictures of the page together have more than 20 MB.',
    'The picture gone.gif cannot be read (ENOENT).',
  ]);
  const missing = Array.from({ length: 101 }, (_, at) => `gone${at}`);
  t.equal((await inPage(...missing)).length, 100, 'the most notes');
  const inBook = async (names: readonly string[]) =>
    (await createEpub(epubJob(content, [documentOf('a', textOf(names))]))).notes;
  t.strictSame(await inBook([...large, 'pic0', 'last']), [
    'The picture last.gif is left out, because all pictures together have more than 100 MB.',
  ]);
  t.equal((await inBook(missing)).length, 100);
  const { notes } = await createPdf(pdfJob(textOf([...large, 'last']), {}, { contentFolder: content }));
  t.equal(notes.at(-1), 'With last.gif, the pictures have more than 100 MB.');
});

t.test('an SVG is rewritten without active parts', async (t) => {
  const read = async (svg: string) => {
    writeFileSync(join(folder, 'a.svg'), svg);
    const [, base64] = /data:image\/svg\+xml;base64,([^"]*)/.exec((await pageOf('![](/a.svg)')).html) ?? [];
    return base64 === undefined ? undefined : Buffer.from(base64, 'base64').toString();
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
    { inner: '<style>a{fill:&#117;rl(http:x)}</style>', never: /http:x/ },
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
    { inner: '<text xml:space="nonsense">a</text>', never: /nonsense/ },
  ];
  for (const { inner, never, still } of cases) {
    const got = (await read(svg(inner))) ?? '';
    t.ok(isWellFormed(got), inner);
    t.notMatch(got, never, inner);
    if (still) t.match(got, still, inner);
  }
  const entities = '<!DOCTYPE svg [<!ENTITY c "#f80"><!ENTITY d "&c;&c;"><!ENTITY e "<a>">]>';
  t.match(
    await read(`${entities}<svg><rect fill="&c;"/>&d;&e;</svg>`),
    '<rect fill="#f80"></rect>&amp;d;&amp;e;</svg>',
  );
  const long = `<!DOCTYPE svg [<!ENTITY c "${'a'.repeat(256)}">]><svg>${'&c;'.repeat(100_000)}</svg>`;
  t.ok(((await read(long))?.length ?? 0) < 3_000_000, 'entities have a bounded length');
  t.equal(await read('<svg><rect/>'.repeat(500)), undefined, 'out of bounds');
  t.equal(await read('<!-- no svg --><html/>'), undefined);
  await read(svg(''));
  t.match(await htmlOf('![](/a.svg)'), 'width="20" height="10"');
});

t.test('tables, lists and figures of raw HTML are kept', async (t) => {
  const _table = (rows: string) => `<div class="table"><table>\n${rows}</table></div>\n`;
  const cases: Readonly<Record<string, RegExp>> = {
    '<table onclick="x"><caption>C</caption><thead><tr><th>a<th colspan=2 style="x" align=CENTER>b</thead>\n<tr><td rowspan="2">c<td align=right>d<td>e\n<tr><td colspan="0">f<td rowspan="100">g</table>':
      /<caption>C<\/caption>\n<thead><tr><th scope="col">a<.*align-center" colspan="2">b<.*<tbody><tr><td rowspan="2">c<.*"align-right">d<.*<td>f<.*<td>g</s,
    '<table><tr><th>k</th><td>\n\n*a*\n\n</td><td>\n\n- b\n\n</td></tr>\n\n<tr><td><table><tr><td>c</table></td></tr></table>\n\nend':
      /<th scope="row">k<.*<td><em>a<\/em><\/td>\n<td><ul><li>b<.*<td><div [^>]*><table>\n<tbody><tr><td>c<.*<\/div>\n<p>end</s,
    '<ol start="3" type="i"><li>a<li value="7">b<ul><li>c</ul><li>d</ol>':
      /^<ol start="3" type="i"><li value="3">a<.*<li value="7">b<ul><li>c<.*<li value="8">d</s,
    '<dl><dd>a<dt>b</dl>\n<figure><figcaption>c</figcaption><img src="../a.png"></figure>':
      /^<dl><dt><\/dt>\n<dd>a<\/dd>\n<dt>b<\/dt>\n<dd><\/dd>\n<\/dl>\n<figure><figcaption>c<.*<img /s,
    '<blockquote>a<ul><li>b</ul></blockquote><pre>\n <b>c</b>\n  d</pre>':
      /^<blockquote><p>a<\/p>\n<ul><li>b<.*<pre[^>]*>\n <b>c<\/b>\n {2}d<\/pre>\n$/s,
    '<ul id="u"><li id="l">a</ul><table id="t"><tr id="r"><td id="d">b</table>':
      /^<span id="u"><\/span><ul><li><span id="l">.*<span id="t">.*<td><span id="r"><\/span><span id="d">/s,
    '<li>a</li>\n\n<tr><td>b</td></tr>\n\n<ul>c<li>d</ul></table></ul>':
      /^<p>a<\/p>\n<p>b<\/p>\n<ul><li>c<\/li>\n<li>d<\/li>\n<\/ul>\n$/,
  };
  for (const [source, want] of Object.entries(cases)) t.match(await htmlOf(source), want, source);
  const piece = fc.constantFrom(
    ...'table tr td th thead tfoot caption ul ol li dl dt dd figure figcaption blockquote pre details summary p b'
      .split(' ')
      .flatMap((name) => [`<${name}>`, `</${name}>`]),
    ...['<td rowspan=9>', '<td colspan=99>', ' w ', ' w ', '\n\n', '\n\n- w\n\n', '\n\n> w\n\n'],
  );
  const wordsIn = (text: string) => text.replace(/<[^>]*>/g, '').split('w').length;
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 60 }), async (pieces) => {
      const source = pieces.join('');
      const html = await htmlOf(source);
      return isWellFormed(html) && wordsIn(html) === wordsIn(source);
    }),
    { numRuns: 250 },
  );
  for (const form of [
    '<table>',
    '<tr><td>',
    '<ul><li>',
    '<dl><dt>',
    '</td></table>',
    '<td colspan=99 rowspan=99>',
  ])
    t.ok(await htmlOf(`a\n\n<table>${form.repeat(50_000)}`), `many ${form}`);
});

t.test('what a text becomes in a page', async (t) => {
  const cases: Readonly<Record<string, string | RegExp>> = {
    '<https://example.org/a/> www.example.org [example.org](https://example.org) [a](https://b.example/a)':
      /^<p><a href="https:\/\/example\.org\/a\/" class="bare">.*<a href="http:\/\/www\.example\.org\/" class="bare">.*<a href="https:\/\/example\.org\/" class="bare">.*<a href="https:\/\/b\.example\/a">a</,
    'a &nbsp;&copy; &lt; `&lt;` "q"': '<p>a \u00a0© &lt; <code>&amp;lt;</code> &quot;q&quot;</p>\n',
    '# A\n[x](#a) [y](#b) [z](other.md#x)':
      '<h1 id="a">A</h1>\n<p><a href="#a">x</a> y <a href="/other#x">z</a></p>\n',
    '![](https://x.example/a%20b.png?c=d) <img src="https://x.example" title="t"> ![](gone.png)![b](gone.png)':
      '<p><a class="missing-picture" href="https://x.example/a%20b.png?c=d">a b.png</a> <a class="missing-picture" href="https://x.example/">t</a> <span class="missing-picture">b</span></p>\n',
    '[![](https://x/b.svg)](https://y.example/) <a href="https://y/z/?q"><b><img src="gone.png"></b></a> [![c](https://x/b.svg)](#) [![](../a.png)](https://y.example/d) <a href="https://e.example"></a>':
      '<p><a href="https://y.example/">y.example</a> <a href="https://y/z/?q"><b></b>z</a> <a class="missing-picture" href="https://x/b.svg">c</a> <a href="https://y.example/d" aria-label="d"><img src="data:" alt="" width="3" height="2"/></a> <a href="https://e.example/">e.example</a></p>\n',
    'a <SCRIPT>b</SCRIPT> c <script>d *e*': '<p>a  c d <em>e</em></p>\n',
    '|a|\n|-|\n|`DOCS_TOKEN_FILE=<x>` `short_one`|\n\n`DOCS_TOKEN_FILE=x`':
      /<td><code>DOCS_<wbr\/>TOKEN_<wbr\/>FILE=&lt;x&gt;<\/code> <code>short_one<\/code><\/td>[\s\S]*<code>DOCS_TOKEN_FILE=x<\/code>/,
    '**<kbd>a** b</kbd> [c <a href="https://b.c">d</a>](other.md)':
      '<p><strong><kbd>a</kbd></strong> b <a href="/other">c d</a></p>\n',
    '<div>a\n<hr>\n<abbr title="b &amp; c">d</abbr> <sub>e</sub><wbr>f\n</div>':
      '<p>a\n</p>\n<hr/>\n<p><abbr title="b &amp; c">d</abbr> <sub>e</sub><wbr/>f\n</p>\n',
    [`${'<details>\n'.repeat(11)}\na\n\n${'</details>\n'.repeat(11)}`]: `${'<details>\n<summary>Details</summary>\n'.repeat(10)}<p>a</p>\n${'</details>\n'.repeat(10)}`,
    [`${'<b>'.repeat(21)}a`]: `<p>${'<b>'.repeat(20)}a${'</b>'.repeat(20)}</p>\n`,
    '<img src="../a.png" width="9999px"> <img src="../a.png" height=" 4 "> <img src="../a.png" width="10000" height="50%">':
      /^<p><img [^>]* width="9999"[^>]*\/> <img [^>]* width="6" height="4"[^>]*\/> <img [^>]* width="3" height="2"[^>]*\/><\/p>\n$/,
    '<details open>\n\na': '<details open="open">\n<summary>Details</summary>\n<p>a</p>\n</details>\n',
    '> [!tip]  \n> a\n\n> [!OTHER]\n> b':
      /^<div class="alert tip" role="note">.*Tip<\/p>\n<p>a<\/p>\n<\/div>\n<blockquote><p>\[!OTHER\]\nb<\/p>\n<\/blockquote>\n$/,
    '$$\na\n\nb$$ c\n\n$$ $$': '<p>$$\na</p>\n<p>b$$ c</p>\n<p>$$ $$</p>\n',
    'a\u0000\u0008\ufffe\ud800b &#8;': '<p>ab </p>\n',
    'a\n| b | c | d |\n|---|---|\n| e |\n[^1]: note\n\nf[^1]\n\n- g\n  [^2]: h\n':
      /^<p>a\n\| b \| c \| d \|\n\|---\|---\|\n\| e \|<\/p>\n<p>f<sup>/,
    'a[^1] [b[^1]](other.md)\n\n[^1]: c\n':
      /role="doc-noteref">1<\/a><\/sup> <a href="\/other">b<sup>1<\/sup><\/a>(?!.*href="#fnref:1:2")/s,
  };
  for (const [source, want] of Object.entries(cases)) {
    if (typeof want === 'string') t.equal(await htmlOf(source), want, source);
    else t.match(await htmlOf(source), want, source);
  }
});

t.test(
  'any Markdown becomes well-formed XHTML in which no id stands twice and no link leads nowhere',
  async () => {
    await fc.assert(
      fc.asyncProperty(markdownText, async (source) => {
        const html = await htmlOf(source);
        if (!isWellFormed(html)) return false;
        const ids = idsIn(html);
        const inner = [...html.matchAll(/href="#([^"]*)"/g)].map(([, id = '']) => id);
        return (
          new Set(ids).size === ids.length && inner.every((id) => ids.includes(id)) && !isDangerous(html)
        );
      }),
      { numRuns: 200 },
    );
  },
);

t.test('only the raw HTML of Markdown is sanitised', async (t) => {
  const cases: Readonly<Record<string, string>> = {
    '# A\r\n\r\n a\t*b*\r`<b onclick=x>`\n\n': '# A\r\n\r\n a\t*b*\r`<b onclick=x>`\n\n',
    '```html\n<script>x</script>\n```\n': '```html\n<script>x</script>\n```\n',
    '`<b id=x>`\n\n<b id=x>y</b>': '`<b id=x>`\n\n<b id="x">y</b>',
    'a <b onclick="x()">c</b> <kbd>d</kbd>': 'a <b>c</b> <kbd>d</kbd>',
    '<script>\nalert(1)\n</script>\n\ntext': '\n\n\n\ntext',
    'a <!-- hidden --> b': 'a  b',
    '> <a\r\n> href="x" onclick="y">z</a>\r\n': '> <a href="x">\r\n> z</a>\r\n',
    '[a `b`](javascript:alert(1) "t") [c](d.md)': '[a `b`](#) [c](d.md)',
    '[a](javascript&colon;x)': '[a](#)',
    '<javascript:alert(1)>': '&lt;javascript:alert(1)>',
    '<scr<script>ipt>alert(1)</scr</script>ipt>': '',
    '<kbd><img src=x onerror=y </kbd>': '<kbd>&lt;img src=x onerror=y </kbd>',
    'a[^1]\n\n[^1]: b\n\n    <u id=x>c</u>\n': 'a[^1]\n\n[^1]: b\n\n    <u id="x">c</u>\n',
    '[a](ms-msdt:/id) <std::string>': '[a](#) &lt;std::string>',
    'x <img src=x title="\n| a | b | c |\n|---|---|\n" onerror=alert(1)>':
      'x <img src="x" title="\n| a | b | c |\n|---|---|\n" />',
    '[click me](\n javascript:alert(1)\n)| a | b |\n|---|---|\n| ':
      '[click me](#)\n \n| a | b |\n|---|---|\n| ',
    '| a |\n|---|\n| x [click](\n javascript:alert(1)\n)\n\n[b](c.md)':
      '| a |\n|---|\n| x &#91;click](\n javascript:alert(1)\n)\n\n[b](c.md)',
    '|a|\n|-|\n|`<T>`|<u id=x>b</u>|\n|[c](d.md)|\n': '|a|\n|-|\n|`&lt;T>`|&lt;u id=x>b</u>|\n|[c](d.md)|\n',
    'x <pre>y\n<img src=x onerror=alert(1)//\nz</pre>': 'x <pre>y\n&lt;img src=x onerror=alert(1)//\nz</pre>',
  };
  for (const [source, want] of Object.entries(cases)) {
    if (want) t.equal(markdownOf(source), want, source);
    for (const reader of markdownReaders)
      t.notOk(isDangerous(reader.print(markdownOf(source))), `${source}, read by ${reader.name}`);
  }
});

t.test('sanitised Markdown is safe, and sanitising it again changes nothing', async () => {
  fc.assert(
    fc.property(markdownText, (source) => {
      const sanitised = markdownOf(source);
      const isPlain = !source.includes('<') && !/script|data/i.test(source);
      if (isPlain && sanitised !== Buffer.from(source).toString()) return false;
      return (
        markdownOf(sanitised) === sanitised && !isDangerous(new Marked().parse(sanitised, { async: false }))
      );
    }),
    { numRuns: 200 },
  );
});

t.test('no reader finds an element, an attribute or a scheme that is not listed', async () => {
  fc.assert(
    fc.property(hostileMarkdown, (source) => {
      const sanitised = markdownOf(source);
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
    return escapes(markdownOf(source)) > escapes(source);
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
    for (const [source, want] of cases) t.equal(await htmlOf(source), `<p>${want}</p>\n`, source);
    // Everything else is read as Marked reads it.
    const signs = fc.constantFrom(...['**', 'https://a.b/c'], ...'*_~ \naé"().1');
    fc.assert(
      fc.property(fc.string({ unit: signs, maxLength: 40 }), (text) => {
        t.strictSame(lexPlain(text, withCjkRules), lexPlain(text));
      }),
    );
  },
);

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
