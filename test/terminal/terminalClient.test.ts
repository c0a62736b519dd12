import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import stringWidth from 'string-width';
import t from 'tap';
import { ResponseError } from 'vscode-jsonrpc';
import { parseCommandLine } from '../../client/terminal/cli/commandLine.ts';
import { appendHistory, readHistory } from '../../client/terminal/conversation/history.ts';
import { spawnDaemon } from '../../client/terminal/daemon/daemon.ts';
import { createControlFilter } from '../../client/terminal/screen/answerPrinter.ts';
import { createCodeColours } from '../../client/terminal/screen/codeColours.ts';
import { columnsOf } from '../../client/terminal/screen/columns.ts';
import { createMarkdownRenderer } from '../../client/terminal/screen/markdown.ts';
import { Output } from '../../client/terminal/screen/output.ts';
import { wrapText } from '../../client/terminal/screen/wordWrap.ts';
import { deprecatedParameters, parameterWords } from '../../daemon/modelfile/vocabulary.ts';
import type { Model } from '../../protocol/messages/models.ts';
import { anyText } from '../support/anyText.ts';
import { modelLike, no, unknown, yes } from '../support/modelLike.ts';
import { isModeOf } from '../support/systems.ts';
import { type Asked, type Piece, resultOf, runOnce, type Turn } from './terminalPeer.ts';

interface Rendering {
  readonly width?: number;
  /** How many UTF-16 units come at once. */
  readonly size?: number;
  readonly styled?: boolean;
}

function render(text: string, { width = 40, size = text.length, styled = true }: Rendering = {}): string {
  const renderer = createMarkdownRenderer(width, styled);
  let out = '';
  for (let at = 0; at < text.length; at += size) out += renderer.write(text.slice(at, at + size));
  return out + renderer.end();
}

/** What a person sees: without styles. */
function plain(text: string): string {
  return text.replace(/\u001b\[[0-9;]*m/g, '');
}

t.test('the command line', async (t) => {
  const cases: readonly (readonly [readonly string[], object])[] = [
    [[], { command: 'chat', words: [], json: false }],
    [
      ['chat', '--model', 'm', '--json', 'why?'],
      { command: 'chat', model: 'm', json: true, words: ['why?'] },
    ],
    [['--server', 'http://x', 'models'], { command: 'models', server: 'http://x' }],
    [['chat', '--', '--not-a-flag'], { words: ['--not-a-flag'] }],
    [['run', 'm', '--keep-alive', '-1'], { keepAlive: '-1', words: ['m'] }],
    [['chat', '--think', 'high', '--think=low'], { think: 'low', words: [] }],
    [
      ['chat', '--option', 'temperature=0.2', '--option=stop=["a"]'],
      { options: { temperature: 0.2, stop: ['a'] } },
    ],
    [['chat', '--allow', 'a,, b/c, ', '--allow', 'd'], { allow: ['a', 'b/c', 'd'] }],
    [['chat', '--system=--json'], { system: '--json', json: false }],
    [['chat', 'high', '--think', 'why?'], { think: true, words: ['high', 'why?'] }],
  ];
  for (const [args, want] of cases) {
    const parsed = Object.entries(parseCommandLine(args)).filter(([name]) => name in want);
    t.strictSame(Object.fromEntries(parsed), want, args.join(' '));
  }
  const wrong: readonly (readonly [readonly string[], string])[] = [
    [['--jsn'], 'There is no flag --jsn. Did you mean --json? "runner --help" lists the flags.'],
    [['--model'], '--model needs a value: --model M'],
    [['--json=1'], '--json takes no value.'],
    [
      ['--model', '--json'],
      '--model needs a value, and "--json" is a flag. If that is the value: --model=--json',
    ],
    [
      ['--context', 'much'],
      '"much" is no size of a context window: it is a number of tokens, such as 8192 or 32k.',
    ],
    [['--option', 'hot'], '"hot" is no option: it is a name, "=" and a value, such as temperature=0.2.'],
    [['--option', 'temprature=0.1'], 'There is no option "temprature". Did you mean temperature?'],
  ];
  for (const [args, message] of wrong)
    t.throws(() => parseCommandLine(args), { kind: 'usage', message }, args.join(' '));
});

t.test('Markdown is rendered', async (t) => {
  const cases = [
    { name: 'a heading', input: '## Title\ntext', want: 'Title\ntext' },
    { name: 'bold, italic and code', input: 'a **b** *c* `d*e` f', want: 'a b c d*e f' },
    {
      name: 'stars that are none',
      input: '2 * 3 * 4 and 2**3 and a_b_c',
      want: '2 * 3 * 4 and 2**3 and a_b_c',
    },
    {
      name: 'formulas of LaTeX are as they were written',
      input: 'so \\(a*b*c\\) and \\[ x_{1} \\\\ [y] \\] *i*',
      want: 'so \\(a*b*c\\) and \\[ x_{1} \\\\ [y] \\] i',
    },
    {
      name: 'entities, but not in code',
      input: 'a &lt;b&gt; &amp;&amp; c&#39;s &#x1F600; `&lt;` &nope; & &amp',
      want: "a <b> && c's \u{1f600} &lt; &nope; & &amp",
    },
    {
      name: 'an entity is no marker, and no control character',
      input: '&#42;a&#42; &#27;[2J',
      want: '*a* &#27;[2J',
    },
    { name: 'a list', input: '- one\n* two\n  + three\n10. four', want: '• one\n• two\n  • three\n10. four' },
    { name: 'a quote', input: '> said\n>\n> more', want: '│ said\n│ \n│ more' },
    {
      name: 'code, lists and headings in a quote',
      input: '> # T\n> - a\n> ```sh\n> echo *x*\n>\n>   two\n> ```\n> **b**\nafter `c`',
      want: '│ T\n│ • a\n│ ```sh\n│ echo *x*\n│\n│   two\n│ ```\n│ b\nafter c',
    },
    {
      name: 'code in a list is shown from the left edge',
      input: '1. Do:\n   ```py\n   if a:\n       b\n   ```\n    then *this*\n2. Go',
      want: '1. Do:\n```py\nif a:\n    b\n```\n    then this\n2. Go',
    },
    {
      name: 'indented code is as it is, but not in a list',
      input: '    a **b**\n\n- x\n\n      c **d**\n\nend\n    e **f**',
      want: '    a **b**\n\n• x\n\n      c d\n\nend\n    e **f**',
    },
    {
      name: 'a long address is not broken',
      input: `see https://example.org/${'a'.repeat(60)} there`,
      want: `see\nhttps://example.org/${'a'.repeat(60)}\nthere`,
    },
    {
      name: 'a link',
      input: '[the page](https://x.org/a) and [https://y.org](https://y.org)',
      want: 'the page (https://x.org/a) and \nhttps://y.org',
    },
    { name: 'brackets that are no link', input: 'a[0] [x] [y](', want: 'a[0] [x] [y](' },
    {
      name: 'a fence is exact',
      input: '```ts\nconst x = a < b;   \n\n    **deep** `x`\n```\nafter',
      want: '```ts\nconst x = a < b;   \n\n    **deep** `x`\n```\nafter',
    },
    {
      name: 'a table is aligned, with wide characters and styles in its cells',
      input: '| name | 値 | n |\n|:--|:-:|--:|\n| **one** | 日本 | 1 |\n| `a\\|b` | x | 12 |\n\nafter',
      want: 'name │  値  │  n\n─────┼──────┼───\none  │ 日本 │  1\na|b  │  x   │ 12\n\nafter',
    },
    {
      name: 'a wide table wraps its cells',
      input: `| a | b |\n|---|---|\n| ${'word '.repeat(4)}| ${'more '.repeat(8)}|\nafter`,
      want: `a                  │ b\n───────────────────┼───────────────────\nword word word     │ more more more\nword               │ more more more\n                   │ more more\nafter`,
    },
    {
      name: 'numbers of characters that there are not',
      input: '&#x10FFFF; &#x110000; &#xD800; &#xDFFF; &#32; &#31;',
      want: '\u{10ffff} &#x110000; &#xD800; &#xDFFF;   &#31;',
    },
    {
      name: 'text wraps at words',
      input: 'The quick brown fox jumps over the lazy dog again',
      want: 'The quick brown fox jumps over the lazy \ndog again',
    },
  ];
  for (const { name, input, want } of cases) {
    t.equal(plain(render(input)).replace(/ +$/gm, ''), want.replace(/ +$/gm, ''), name);
  }
  const ideographs = `${'word '.repeat(7)}${'𠀀'.repeat(5)}`;
  t.equal(render(ideographs, { size: 1 }), render(ideographs), 'no character is cut in half');
  t.equal(render('> **a**', { width: 40 }).split('\u001b[1m').length, 2, 'bold is bold');
  const wrapped = render(`> **${'word '.repeat(12)}end**`);
  t.ok(
    wrapped.split('\n').every((line) => line.includes('\u001b[1m')),
    'the style goes on after a bar',
  );
});

const markdownText = fc
  .array(
    fc.constantFrom(
      ...'** * ` ``` ~~~ ~~ [a](b) [ ]( ) \\ word a 日本 𝄞 --- _ <b>'.split(' '),
      ...['```ts\n', '\n', '\n\n', '# ', '- ', '1. ', '> ', '| ', '|a|b|\n|-|-|\n', ' ', '    ', '\t'],
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''));

t.test('a table has at most 30 columns, and as many marks as cells', async (t) => {
  const table = (columns: number, marks = columns) =>
    `${'|a'.repeat(columns)}|\n${'|-'.repeat(marks)}|\n${'|b'.repeat(columns)}|\n`;
  t.match(plain(render(table(30), { width: 200 })), '─');
  for (const source of [table(31), table(2, 3), table(3, 2)])
    t.equal(plain(render(source, { width: 200 })).trim(), source.trim(), 'other text stays as it is');
});

t.test('Markdown comes out the same however it is cut, and no letter is lost', async (t) => {
  // Cells that wrap stand beside each other, so that the order of letters is another there.
  const letters = (all: string) => [...plain(all).replace(/[^\p{L}\p{N}]/gu, '')].sort().join('');
  const cut = fc.record({ size: fc.integer({ min: 1, max: 7 }), width: fc.integer({ min: 20, max: 50 }) });
  fc.assert(
    fc.property(markdownText, cut, fc.boolean(), (text, { size, width }, styled) => {
      const whole = render(text, { width, styled });
      if (render(text, { width, styled, size }) !== whole)
        throw new Error(`cut at ${size}: ${JSON.stringify(text)}`);
      // A link shows its text and its address, in that order; all else keeps every letter.
      if (letters(whole) !== letters(text))
        throw new Error(`${JSON.stringify(text)} -> ${JSON.stringify(whole)}`);
    }),
    { numRuns: 600 },
  );
  t.pass();
});

t.test('without styles nothing but blanks changes', async (t) => {
  // A quote's mark is repeated where its line is wrapped, so those are not counted.
  const marks = (text: string) => text.replace(/[\s>]+/g, '');
  fc.assert(
    fc.property(markdownText, fc.integer({ min: 1, max: 7 }), (text, size) => {
      const shown = render(text, { styled: false, size });
      return !shown.includes('\u001b') && marks(shown) === marks(text);
    }),
    { numRuns: 400 },
  );
  t.pass();
});

t.test('the styles of Markdown, and marks that are none', async (t) => {
  /** With the numbers of the styles. */
  const marked = (text: string, options?: Rendering) =>
    render(text, options).replace(/\u001b\[(\d*)m/g, '<$1>');
  const long = (length: number) => `[a](${'b'.repeat(length - 1)})`;
  const cases: readonly (readonly [source: string, shown: string])[] = [
    ['**a *b***', '<0><1>a <0><1><3>b<0>'],
    ['`a`', '<0><36>a<0>'],
    ['*a\nb', '<0><3>a<0>\nb'],
    ['# T *i*', '<1>T <0><1><3>i<0><1><0>'],
    ['\\(*a*\\) \\[*b*\\] *c*', '\\(*a*\\) \\[*b*\\] <0><3>c<0>'],
    [long(399), `a\n(${'b'.repeat(398)})`],
    [long(400), long(400)],
    ['> ```\n> x\n**b**', '<0><2>│<0> <2>```<0>\n<0><2>│<0> <36>x<0>\n<0><1>b<0>'],
    ['- a\n  b\n\n      *c*', '• a\n  b\n\n      <0><3>c<0>'],
    [`| ${'a '.repeat(3_000)}|`, `| ${'a '.repeat(3_000)}|`],
    [`|a|\n|-|\n|${'b'.repeat(5_000)}|`, `<1>a<0>\n<2>─<0>\n|${'b'.repeat(5_000)}|`],
  ];
  for (const [source, shown] of cases) t.equal(marked(source), shown, source.slice(0, 30));
  t.equal(
    marked(`> ${'word '.repeat(10)}`, { styled: false }),
    `> ${'word '.repeat(7).trim()}\n> word word word`,
  );
});

t.test('nothing waits for a reader that is gone', async (t) => {
  const gone = new PassThrough();
  gone.destroy();
  await new Output(gone, {}).write('x');
  for (const event of ['drain', 'close', 'error']) {
    const full = new PassThrough({ highWaterMark: 1 });
    full.on('error', () => undefined);
    const written = new Output(full, {}).write('xyz');
    if (event === 'drain') full.resume();
    else full.destroy(event === 'error' ? new Error('It broke.') : undefined);
    await written;
    t.strictSame(
      ['drain', 'close'].map((name) => full.listenerCount(name)),
      [0, 0],
      `nothing listens after ${event}`,
    );
  }
});

t.test('code has colours, and comes out exactly', async (t) => {
  const shown = (text: string, size = text.length) => {
    const renderer = createMarkdownRenderer(40, true, createCodeColours);
    let out = '';
    for (let at = 0; at < text.length; at += size) out += renderer.write(text.slice(at, at + size));
    return out + renderer.end();
  };
  const source = '```js\nconst f = `a\n\n  b`; // so\n```\n';
  t.equal(plain(shown(source)), source);
  t.match(shown(source), '\u001b[35mconst\u001b[0m');
  t.match(shown(source), '\u001b[32mb`\u001b[0m', 'a text goes on over a blank line');
  t.match(shown('```tex\n$a\n\nb 12\n```\n'), 'b 12', 'but a formula ends there');
  t.match(shown('```unheard-of\ndef\n```'), '\u001b[36mdef', 'code of no known language has one colour');
  const long = `\`\`\`js\n${'const x; '.repeat(300)}\nconst y\n\`\`\`\n`;
  t.equal(plain(shown(long)), long);
  const labels =
    'js ts json py sh go rs c cpp cs java kt rb yaml toml ini css scss html sql lua diff dockerfile hs'.split(
      ' ',
    );
  const parts = 'a|1| |{|}|"|\'|/*|*/|//|#|<|>|=|\\|$|<<E|\n|日|%'.split('|');
  const code = fc.array(fc.constantFrom(...parts), { maxLength: 40 });
  fc.assert(
    fc.property(fc.constantFrom(...labels), code, fc.integer({ min: 1, max: 7 }), (label, some, size) => {
      const text = `~~~${label}\n${some.join('')}\n~~~\n`;
      return plain(shown(text, size)) === text && shown(text, size) === shown(text);
    }),
    { numRuns: 300 },
  );
});

t.test('code comes out exactly', async (t) => {
  const codeLine = fc
    .array(fc.constantFrom('a', ' ', '*', '`', '  ', '# ', '> ', '- ', '|', '日', '\t', '~'))
    .map((parts) => parts.join(''));
  const isFence = (line: string) => /^\s*~{3,}\s*$/.test(line);
  fc.assert(
    fc.property(fc.array(codeLine), fc.integer({ min: 1, max: 7 }), (lines, size) => {
      const code = lines
        .filter((line) => !isFence(line))
        .map((line) => `${line}\n`)
        .join('');
      return plain(render(`~~~sh\n${code}~~~\n`, { size })) === `~~~sh\n${code}~~~\n`;
    }),
    { numRuns: 400 },
  );
  t.pass();
});

t.test('the renderer holds a bounded part of a text', async (t) => {
  // What is shown at once need not be looked at again: so the work is in proportion to the length.
  for (const unit of ['[**`', '[a](', 'word ', ' ', 'a', '``` x\n', '> > - ', '日', '|a', '| a |\n', '~~']) {
    const renderer = createMarkdownRenderer(80);
    const piece = unit.repeat(1000);
    const shown: number[] = [];
    for (let count = 0; count < 40; count++) shown.push(renderer.write(piece).length);
    const [early = 0, late = 0] = [shown.slice(0, 20), shown.slice(20)].map((lengths) =>
      lengths.reduce((sum, length) => sum + length, 0),
    );
    const rest = renderer.end().length;
    t.ok(late >= early * 0.9 && rest <= 10_000, `${JSON.stringify(unit)}: ${early}, ${late}, then ${rest}`);
  }
});

t.test('an answer cannot send control sequences to the terminal', async (t) => {
  const filter = createControlFilter();
  const shown =
    filter.write('a\u001b[31mb\u0007\u0008\u009bc\u202ed\u2066\r') +
    filter.write('\ne\rf\u007f') +
    filter.end();
  t.notMatch(shown, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
  t.equal(shown, 'a␛[31mb␇␈<U+009B>c<U+202E>d<U+2066>\ne␍f␡');
  fc.assert(
    fc.property(anyText(), fc.nat(20), (text, at) => {
      const one = createControlFilter();
      const two = createControlFilter();
      const cut = one.write(text.slice(0, at)) + one.write(text.slice(at)) + one.end();
      return cut === two.write(text) + two.end() && !/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/.test(cut);
    }),
  );
  t.pass();
});

t.test('text is measured and wrapped in columns of the screen', async (t) => {
  t.equal(wrapText('run M  Loads a model into memory', 24), 'run M  Loads a model\n       into memory');
  t.equal(
    wrapText('The first sentence.  The second is long', 24),
    'The first sentence.  The\nsecond is long',
    'no column',
  );
  t.equal(columnsOf('a日é\u0301𝄞'), 5);
  for (const emoji of ['🇩🇪', '👨‍👩‍👧', '1️⃣', '❤️', '👍🏽']) t.equal(columnsOf(emoji), 2, emoji);
  t.equal(columnsOf(`${'é日'.repeat(2_000)}ok`), 6_002, 'a long text too');
  const unit = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 3 }),
    fc.constantFrom('a', '日', '\u0301', 'ｶﾞ', '🇩', '👨\u200d', '❤', '•'),
  );
  const text = fc.array(unit, { maxLength: 20 }).map((units) => units.join(''));
  fc.assert(fc.property(text, (some) => columnsOf(some) === stringWidth(some)));
  const styled = '\u001b[1maaa\u001b[22m bbb';
  t.strictSame(
    [7, 6].map((width) => wrapText(styled, width)),
    [styled, '\u001b[1maaa\u001b[22m\nbbb'],
  );
  t.equal(
    wrapText('👨‍👩‍👧 🇩🇪🇫🇷 🇮🇹 ok', 6),
    '👨‍👩‍👧\n🇩🇪🇫🇷\n🇮🇹 ok',
    'lines break by columns, not by characters',
  );
});

t.test('the options are the parameters of a Modelfile, and a number is checked', async (t) => {
  const { out } = await runOnce({ args: ['__complete', '--', 'chat', '--option', ''] });
  const offered = out.match(/^\w+(?==)/gm) ?? [];
  const older = [...deprecatedParameters, 'numa', 'tfs_z'];
  t.strictSame(offered.toSorted(), [...parameterWords.keys(), ...older].toSorted());
  for (const [name, { type }] of parameterWords) {
    const parse = () => parseCommandLine(['chat', '--option', `${name}=x`]);
    if (type === 'int' || type === 'float')
      t.throws(parse, { message: `${name} must be a number, not "x".` });
    else t.hasStrict(parse().options, { [name]: name === 'stop' ? ['x'] : 'x' });
  }
});

t.test('a model is found by any form of its name', async (t) => {
  const models = ['qwen3:4b', 'hf.co/Acme/Tiny:Q4', 'a:latest'].map((name) => modelLike(name));
  for (const [named, want] of [
    ['QWEN3:4b', 'qwen3:4b'],
    ['library/qwen3:4b', 'qwen3:4b'],
    ['registry.ollama.ai/library/qwen3:4b', 'qwen3:4b'],
    ['qwen3:4b:local', 'qwen3:4b'],
    ['HF.co/acme/tiny:q4', 'hf.co/Acme/Tiny:Q4'],
    ['A', 'a:latest'],
  ] as const) {
    const asked: unknown[] = [];
    const create = ({ params }: Asked) => asked.push(params['text']);
    const answers = { 'runner/models/create': create };
    await runOnce({ args: ['cp', named, 'mine'], models, answers });
    t.strictSame(asked, [`FROM ${want}\n`]);
  }
});

t.test('a model that can chat here answers, or a sentence says which there are', async (t) => {
  const remote = { host: 'https://x', model: 'far' };
  const running = { expiresAt: '', size: 1, sizeVram: 0 };
  const embedder = modelLike('embedder', {}, { completion: no, embedding: yes });
  const many = [...'abcdef'].map((name) => modelLike(name));
  const unknownOne = 'There is no model "qwen3".';
  const cases: readonly (readonly [models: readonly Model[], named: string, want: string | RegExp])[] = [
    [[embedder, modelLike('a'), modelLike('loaded', { running })], '', 'loaded'],
    [[embedder, modelLike('old', {}, { completion: unknown }), modelLike('a')], '', 'old'],
    [[embedder, modelLike('a')], 'embedder', 'embedder'],
    [
      [modelLike('qwen3:4b')],
      'qwen3',
      new RegExp(`^${unknownOne} Did you mean qwen3:4b\\? Installed: qwen3:4b\\.`),
    ],
    [[], 'qwen3', new RegExp(`^${unknownOne} None that can chat is installed\\.`)],
    [many, 'zzzzzz', /Installed: a, b, c, d, e, …\.$/m],
    [many.slice(1), 'zzzzzz', /Installed: b, c, d, e, f\.$/m],
    [[embedder, modelLike('a')], 'zzzzzz', /^There is no model "zzzzzz"\. Installed: a\.$/m],
    [[], '', /no model yet/],
    [[embedder], '', /^None of the installed models can chat\. /],
    [[embedder, modelLike('far', { remote })], '', /^Every .* runs elsewhere\. .*"--model far"/],
  ];
  for (const [models, named, want] of cases) {
    const asked: unknown[] = [];
    const chat = async ({ params }: Turn) => {
      const data = { kind: 'model-not-found', retryable: false };
      if (models.every(({ name }) => name !== params.model)) throw new ResponseError(-33004, 'No.', data);
      asked.push(params.model);
      return resultOf('ok');
    };
    const flags = named === '' ? [] : ['--model', named];
    const { code, error } = await runOnce({ args: ['chat', 'hi', ...flags], models, chat });
    t.equal(code, typeof want === 'string' ? 0 : 1, `${named} of ${models.length}`);
    if (typeof want === 'string') t.strictSame(asked, [want]);
    else t.match(error, want);
  }
});

t.test("the daemon's advice is in the words of the terminal", async (t) => {
  const file = '~/.config/runner/config.json';
  const window = 'set a larger window with "--context N" ("/context N" in a conversation)';
  const cases: readonly (readonly [code: string, says: string, contextLength?: number])[] = [
    [
      'check-address',
      `Check the address in --server or OLLAMA_HOST. A name must be that of an entry in "servers" of ${file}.`,
    ],
    ['set-token', `Say in "auth" of ${file} where its token is, or check the one that is there.`],
    ['shorten-prompt', `Shorten it, start a new conversation ("/clear"), or ${window}.`],
    [
      'shorten-prompt',
      `Shorten it, start a new conversation ("/clear"), or ${window.replaceAll(' N', ' 12288')}.`,
      12_288,
    ],
    ['shorten-prompt', 'Shorten it or start a new conversation ("/clear").', 0],
    ['of-a-newer-daemon', 'As the daemon has it.'],
  ];
  for (const [code, says, contextLength] of cases) {
    const advice = { code, problem: 'It fails.', text: 'As the daemon has it.', contextLength };
    const chat = async () =>
      new ResponseError(-33006, 'It fails. As the daemon has it.', { kind: 'busy', retryable: true, advice });
    const { code: exit, error } = await runOnce({ args: ['chat', 'hi'], models: [modelLike('m')], chat });
    t.match({ exit, error }, { exit: 1, error: `It fails. ${says}\n` }, code);
  }
});

t.test('the speed of an answer leaves out what tools took, and what came at once has none', async (t) => {
  const toolCall = { id: 'c', name: 'look', arguments: {} };
  const [say, call, result]: readonly Piece[] = [
    { kind: 'text', text: 'x' },
    { kind: 'toolCall', toolCall },
    { kind: 'toolResult', toolResult: { id: 'c', name: 'look', server: 's', isError: false, content: '' } },
  ];
  const messages = [{ role: 'assistant', content: '', toolCalls: [toolCall] }] as const;
  // The clock of a test goes on by a second whenever it is looked at.
  const cases: readonly (readonly [pieces: readonly (Piece | undefined)[], tokens: number, want: object])[] =
    [
      [[say], 20, { answerSeconds: 1, tokensPerSecond: 20, windowTokens: 23 }],
      [[say], 1, { answerSeconds: 1, windowTokens: 4, tokensPerSecond: undefined }],
      [[], 20, { answerSeconds: 0, tokensPerSecond: undefined }],
      [[say, call, result, say], 20, { answerSeconds: 2, tokensPerSecond: 10, windowTokens: undefined }],
      [[say, call, result, call, result, say], 20, { answerSeconds: 2, tokensPerSecond: undefined }],
    ];
  for (const [pieces, completionTokens, want] of cases) {
    const chat = async ({ send }: Turn) => {
      for (const piece of pieces) if (piece) await send(piece);
      const more = pieces.includes(call) ? { messages } : {};
      return resultOf('x', { usage: { promptTokens: 3, completionTokens }, ...more });
    };
    const run = await runOnce({ args: ['chat', 'hi', '--json'], models: [modelLike('m')], chat });
    const { stats } = run.events().at(-1);
    t.match({ tokensPerSecond: undefined, windowTokens: undefined, ...stats }, want, JSON.stringify(pieces));
  }
});

t.test('a conversation is named by the beginning of its id, or of what follows its day', async (t) => {
  const ids = ['20261122-abcaaaaa', '20261122-abcbbbbb', '20261122-abcccccc', '20261123-abcddddd'];
  const sessions = [...ids, '20261123-xyzxyzxy'].map((id) => ({
    ...{ id, title: '', createdAt: '', updatedAt: '', turns: 1 },
  }));
  const answers = {
    'runner/sessions/list': () => ({ sessions }),
    'runner/sessions/read': ({ params }: Asked) => {
      const session = sessions.find(({ id }) => id === params['id']);
      const messages = [{ role: 'assistant', content: 'The Rhine.' }];
      return session ? { session, messages } : new ResponseError(-32602, 'There is none.', { path: 'id' });
    },
  };
  const cases: readonly (readonly [text: string, says: RegExp])[] = [
    ['20261123-xyzxyzxy', /The Rhine/],
    ['xyz', /The Rhine/],
    ['20261123-x', /The Rhine/],
    ['xy', /"xy" is too short for an id\. Type at least 3 characters/],
    ['yzx', /There is no conversation "yzx"\. "runner sessions" lists them\./],
    ['abc', /4 conversations begin with "abc", such as \S+aaaaa, \S+bbbbb, \S+ccccc\. Type more/],
  ];
  for (const [text, says] of cases) {
    const { out, error } = await runOnce({ args: ['sessions', 'show', text], answers });
    t.match(out + error, says, text);
  }
});

t.test('a defect of the terminal says so, and its stack is kept', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'runner-defect-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'runner', 'defects.log');
  const fail = async (state = folder) => {
    const env = { XDG_STATE_HOME: state };
    const answers = { 'runner/models/list': () => ({ models: [null] }) };
    const { code, error } = await runOnce({ args: ['models'], env, answers });
    t.equal(code, 1);
    return error;
  };
  const says = await fail();
  t.match(says, /^This is a defect of Runner: Cannot .* Its stack is in /);
  t.match(says, `in ${path}: please report both.`);
  t.match(readFileSync(path, 'utf8'), /^2026-11-21T12:00:00\.000Z TypeError: .*\n +at /);
  t.ok(isModeOf(path, 0o600));
  for (const size of [256 * 1024, 256 * 1024 + 1]) {
    writeFileSync(path, 'z'.repeat(size));
    await fail();
    t.equal(readFileSync(path, 'utf8').startsWith('z'), size === 256 * 1024, `${size} bytes were there`);
  }
  t.match(await fail('/dev/null'), /defect of Runner: .* could not be kept/);
});

t.test('the process of a daemon: its last words, and how it ended', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'runner-spawn-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const script = join(folder, 'daemon.cjs');
  writeFileSync(
    script,
    `const [flag, word] = process.argv.slice(2);
     process.stderr.write('x'.repeat(5000) + process.env.WORD + '\u00e9');
     if (word === 'wait') process.stdin.on('data', (text) => process.stdout.write(flag + text));
     else process.exitCode = 3;`,
  );
  const ending = spawnDaemon(script, { WORD: 'end' }, ['now']);
  t.equal(await ending.ended, 'exit code 3');
  t.equal(ending.said(), `${'x'.repeat(4096 - 4)}end\u00e9`, 'the end of what it said');
  const waiting = spawnDaemon(script, {}, ['wait']);
  waiting.input.write(' hello');
  const [answer] = await once(waiting.output, 'data');
  t.equal(String(answer), '--stdio hello');
  waiting.kill();
  t.equal(await waiting.ended, 'SIGKILL');
  t.throws(() => spawnDaemon(join(folder, 'gone'), {}, []), {
    kind: 'daemon-failed',
    message: /gone is missing\. Build it/,
  });
});

t.test('history is private, bounded and in order', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'runner-history-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'deep', 'history');
  t.strictSame(readHistory(path), []);
  for (let n = 0; n < 1200; n += 1) appendHistory(path, `line ${n}`);
  t.ok(isModeOf(path, 0o600));
  chmodSync(path, 0o644);
  appendHistory(path, 'line 300');
  t.ok(isModeOf(path, 0o600), 'also when it was there with another');
  const lines = readHistory(path);
  t.equal(lines.length, 1000);
  t.strictSame(lines.slice(0, 2), ['line 300', 'line 1199'], 'the newest first, and each once');
  t.equal(lines.lastIndexOf('line 300'), 0);
  appendHistory(path, 'x'.repeat(64 * 1024 + 1));
  t.strictSame(readHistory(path), lines, 'an entry that is too long is not kept');
  appendHistory(path, 'x'.repeat(64 * 1024));
  t.equal(readHistory(path)[0]?.length, 64 * 1024);
  appendHistory('/proc/1/none/deep/history', 'x');
  t.pass('a folder that cannot be written is no failure');
});

t.test('a growing history takes bounded space and keeps every entry that can be recalled', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'runner-history-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'history');
  for (let n = 0; n < 1_500; n += 1) {
    appendHistory(path, `${n} ${'x'.repeat(500)}`);
    if (n % 50 > 0) continue;
    const numbers = readHistory(path).map((line) => Number.parseInt(line, 10));
    t.strictSame(
      numbers.slice(0, 500),
      Array.from(numbers.slice(0, 500), (_, at) => n - at),
    );
  }
  const sizes = readdirSync(folder).map((name) => [name, statSync(join(folder, name)).size]);
  t.match(sizes.sort(), [
    ['history', Number],
    ['history.old', Number],
  ]);
  for (const [, size] of sizes) t.ok(Number(size) < 512 * 1024);
  for (const size of [256 * 1024, 256 * 1024 + 1]) {
    const other = join(folder, String(size));
    mkdirSync(other);
    writeFileSync(join(other, 'history'), `${'y'.repeat(size - 1)}\n`);
    t.equal(readHistory(join(other, 'history')).length, 1);
    t.strictSame(readdirSync(other), [size === 256 * 1024 ? 'history' : 'history.old'], `${size} bytes`);
  }
});
