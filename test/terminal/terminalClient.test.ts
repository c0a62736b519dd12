import { execFileSync } from 'node:child_process';
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
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import stringWidth from 'string-width';
import t from 'tap';
import { staysForGood } from '../../client/shared/modelWords.ts';
import { parseCommandLine } from '../../client/terminal/cli/commandLine.ts';
import { reportOf } from '../../client/terminal/cli/defect.ts';
import { TerminalError } from '../../client/terminal/cli/failure.ts';
import { optionNames } from '../../client/terminal/cli/flags.ts';
import { modelsTable } from '../../client/terminal/commands/models.ts';
import { AnswerClock, describeStats, describeUsage } from '../../client/terminal/conversation/answerStats.ts';
import type { ChatSettings } from '../../client/terminal/conversation/chatSettings.ts';
import { chooseModel, findModel } from '../../client/terminal/conversation/chooseModel.ts';
import {
  appendHistory,
  formerHistoryPath,
  historyPath,
  readHistory,
} from '../../client/terminal/conversation/history.ts';
import { fitToScreen, readSession } from '../../client/terminal/conversation/keptConversation.ts';
import {
  type ConversationState,
  isSlashCommand,
  runSlashCommand,
} from '../../client/terminal/conversation/slashCommands.ts';
import { completeLine } from '../../client/terminal/conversation/slashCompletion.ts';
import { forTerminal } from '../../client/terminal/daemon/advice.ts';
import { type DaemonClient, spawnDaemon } from '../../client/terminal/daemon/daemon.ts';
import { createAnswerPrinter, createControlFilter } from '../../client/terminal/screen/answerPrinter.ts';
import { createCodeColours } from '../../client/terminal/screen/codeColours.ts';
import { columnsOf } from '../../client/terminal/screen/columns.ts';
import { describeDiff } from '../../client/terminal/screen/diff.ts';
import { createMarkdownRenderer } from '../../client/terminal/screen/markdown.ts';
import { readCodeStart } from '../../client/terminal/screen/markdownBlock.ts';
import { markContext } from '../../client/terminal/screen/modelDescription.ts';
import { createStyle, Output } from '../../client/terminal/screen/output.ts';
import { formatTable } from '../../client/terminal/screen/table.ts';
import {
  createCallLines,
  describeArguments,
  describeCall,
  describeResult,
  isCallCut,
  toolsTable,
} from '../../client/terminal/screen/tools.ts';
import { WordWrap, wrapText } from '../../client/terminal/screen/wordWrap.ts';
import { deprecatedParameters, parameterWords } from '../../daemon/modelfile/vocabulary.ts';
import { formatBytes } from '../../protocol/base/bytes.ts';
import { nearestNames } from '../../protocol/base/editDistance.ts';
import type { AdviceCode, Advised } from '../../protocol/messages/advice.ts';
import type { ChatDelta, ToolCall } from '../../protocol/messages/chat.ts';
import { type Model, preferredModel } from '../../protocol/messages/models.ts';
import type { ListPromptsResult } from '../../protocol/messages/prompts.ts';
import type { Product } from '../../protocol/messages/status.ts';
import type { ListedToolServer } from '../../protocol/messages/tools.ts';
import { anyText } from '../support/anyText.ts';
import { pictures } from '../support/pictures.ts';
import { isModeOf } from '../support/systems.ts';

const unknown = { value: 'unknown', from: 'server' } as const;
const yes = { value: true, from: 'server' } as const;
const no = { value: false, from: 'server' } as const;

function model(name: string, more: Partial<Model> = {}): Model {
  const capabilities = { completion: yes, tools: no, vision: no, thinking: no, insert: no, embedding: no };
  return { name, server: 'default', family: name, capabilities, context: {}, ...more };
}

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
    [['chat', 'a', 'b'], { command: 'chat', words: ['a', 'b'] }],
    [
      ['chat', '--model', 'm', '--json', 'why?'],
      { command: 'chat', model: 'm', json: true, words: ['why?'] },
    ],
    [['--server', 'http://x', 'models'], { command: 'models', server: 'http://x' }],
    [['-h'], { help: true }],
    [['chat', '--', '--not-a-flag'], { words: ['--not-a-flag'] }],
  ];
  const more: typeof cases = [
    [['run', 'm', '--keep-alive', '-1'], { keepAlive: '-1', words: ['m'] }],
    [['--think', 'why?'], { think: true, command: 'why?' }],
    [['chat', '--think', 'high', '--think=low'], { think: 'low', words: [] }],
    [['chat', '--', '--think'], { words: ['--think'] }],
    [['--think', '--', 'why?'], { think: true, command: 'why?' }],
    [['chat', '--context=32k'], { context: 32_768 }],
    [
      ['chat', '--option', 'temperature=0.2', '--option=stop=["a"]'],
      { options: { temperature: 0.2, stop: ['a'] } },
    ],
    [['chat', '--option', 'a=x=y', '--option', 'b=true'], { options: { a: 'x=y', b: true } }],
    [
      ['chat', '--option', 'own_option=1', '--option', 'typical_p=1'],
      { options: { own_option: 1, typical_p: 1 } },
    ],
    [['chat', '--allow', 'a, b/c', '--allow', 'd'], { allow: ['a', 'b/c', 'd'] }],
    [['chat', '-f', 'a', '--file=-b', '--image', 'c'], { files: ['a', '-b'], images: ['c'] }],
    [['chat', '--system=--json'], { system: '--json', json: false }],
    [['-v'], { version: true, isCommandNamed: false }],
    [['--think', 'high', 'why?'], { think: 'high', command: 'why?' }],
    [['chat', 'high', '--think', 'why?'], { think: true, words: ['high', 'why?'] }],
    [['--', '--think'], { command: '--think' }],
    [['chat', '--think=true'], { think: true }],
    [['chat', '--think=false'], { think: false }],
    [['chat', '--context', '1'], { context: 1 }],
    [['chat', '--allow', 'a,,b, '], { allow: ['a', 'b'] }],
    [
      ['chat', '--option', 'own_a =  x y ', '--option', 'own_b=["a', '--option', 'own_c="a b"'],
      { options: { own_a: 'x y', own_b: '["a', own_c: 'a b' } },
    ],
    [['chat', '--option', 'tpk=1', '--option', 'seed= -1.5e3'], { options: { tpk: 1, seed: -1500 } }],
  ];
  for (const [args, want] of [...cases, ...more]) {
    const parsed = Object.entries(parseCommandLine(args)).filter(([name]) => name in want);
    t.strictSame(Object.fromEntries(parsed), want, args.join(' '));
  }
  const levels = { on: true, off: false, low: 'low', medium: 'medium', high: 'high', max: 'max' };
  for (const [word, think] of Object.entries(levels))
    t.equal(parseCommandLine(['chat', `--think=${word}`]).think, think, word);
  const wrong: readonly (readonly [readonly string[], string])[] = [
    [['--jsn'], 'There is no flag --jsn. Did you mean --json? "runner --help" lists the flags.'],
    [['--model'], '--model needs a value: --model M'],
    [['--json=1'], '--json takes no value.'],
    [['--server', ' '], '--server is empty. Say which, or leave it out.'],
    [
      ['--model', '--json'],
      '--model needs a value, and "--json" is a flag. If that is the value: --model=--json',
    ],
    [
      ['--context', 'much'],
      '"much" is no size of a context window: it is a number of tokens, such as 8192 or 32k.',
    ],
    [
      ['--context', '0'],
      '"0" is no size of a context window: it is a number of tokens, such as 8192 or 32k.',
    ],
    [['--option', 'hot'], '"hot" is no option: it is a name, "=" and a value, such as temperature=0.2.'],
    [['--option', 'temprature=0.1'], 'There is no option "temprature". Did you mean temperature?'],
    [['--option', 'sead=1'], 'There is no option "sead". Did you mean seed?'],
    [['--option', 'seed='], '"seed=" is no option: it is a name, "=" and a value, such as temperature=0.2.'],
    [['--option', 'own= '], '"own= " is no option: it is a name, "=" and a value, such as temperature=0.2.'],
    [['--option', '=1'], '"=1" is no option: it is a name, "=" and a value, such as temperature=0.2.'],
    [['--threads', '0'], '"0" is no number of threads, such as 4.'],
    [['--threads', '1000'], '"1000" is no number of threads, such as 4.'],
    [['--think=lots'], '"lots" is no level of thinking: it is one of on, off, low, medium, high, max, auto.'],
  ];
  for (const [args, message] of wrong)
    t.throws(() => parseCommandLine(args), { kind: 'usage', message }, args.join(' '));
});

t.test('the options are the parameters of a Modelfile, and a number is checked', async (t) => {
  const older = [...deprecatedParameters, 'numa', 'tfs_z'];
  t.strictSame(optionNames.toSorted(), [...parameterWords.keys(), ...older].toSorted());
  for (const [name, { type }] of parameterWords) {
    const parse = () => parseCommandLine(['chat', '--option', `${name}=x`]);
    if (type === 'int' || type === 'float')
      t.throws(parse, { message: `${name} must be a number, not "x".` });
    else t.hasStrict(parse().options, { [name]: name === 'stop' ? ['x'] : 'x' });
  }
});

t.test('a model is found by any form of its name', async (t) => {
  const models = [model('qwen3:4b'), model('hf.co/Acme/Tiny:Q4')];
  for (const name of [
    'QWEN3:4b',
    'library/qwen3:4b',
    'registry.ollama.ai/library/qwen3:4b',
    'qwen3:4b:local',
  ])
    t.hasStrict(findModel(models, name), { name: 'qwen3:4b' }, name);
  t.hasStrict(findModel(models, 'HF.co/acme/tiny:q4'), { name: 'hf.co/Acme/Tiny:Q4' });
  t.type(findModel(models, 'other/qwen3:4b'), 'string');
});

t.test('Markdown is rendered', async (t) => {
  const cases = [
    { name: 'plain', input: 'Hello there.\n', want: 'Hello there.\n' },
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
    { name: 'an escaped star', input: '\\*not italic\\*', want: '*not italic*' },
    { name: 'a list', input: '- one\n* two\n  + three\n10. four', want: '• one\n• two\n  • three\n10. four' },
    {
      name: 'a list that wraps hangs',
      input: `- ${'word '.repeat(10)}`,
      want: '• word word word word word word word \n  word word word ',
    },
    { name: 'a quote', input: '> said\n>\n> more', want: '│ said\n│ \n│ more' },
    {
      name: 'a quote that wraps keeps its bar',
      input: `> ${'word '.repeat(10)}`,
      want: '│ word word word word word word word\n│ word word word',
    },
    {
      name: 'code, lists and headings in a quote',
      input: '> # T\n> - a\n> ```sh\n> echo *x*\n>\n>   two\n> ```\n> **b**\nafter `c`',
      want: '│ T\n│ • a\n│ ```sh\n│ echo *x*\n│\n│   two\n│ ```\n│ b\nafter c',
    },
    { name: 'a fence ends with its quote', input: '> ```\n> x\n\n**b**', want: '│ ```\n│ x\n\nb' },
    {
      name: 'code in a list is shown from the left edge',
      input: '1. Do:\n   ```py\n   if a:\n       b\n   ```\n    then *this*\n2. Go',
      want: '1. Do:\n```py\nif a:\n    b\n```\n    then this\n2. Go',
    },
    { name: 'code on the line of an item', input: '- ```\n  x\n  ```\n- y', want: '• ```\n  x\n```\n• y' },
    {
      name: 'indented code is as it is, but not in a list',
      input: '    a **b**\n\n- x\n\n      c **d**\n\nend\n    e **f**',
      want: '    a **b**\n\n• x\n\n      c d\n\nend\n    e **f**',
    },
    {
      name: 'a fence with a long label',
      input: '```json title=a/long/name/of/a/file.json\n**x**\n```\n**y**',
      want: '```json title=a/long/name/of/a/file.json\n**x**\n```\ny',
    },
    { name: 'globs', input: 'see src/**/*.ts, *.js and **/x', want: 'see src/**/*.ts, *.js and **/x' },
    { name: 'bold in a script without blanks', input: 'これは**太字**です', want: 'これは太字です' },
    { name: 'a link with styled text', input: '[**a** `b`](u)', want: 'a b (u)' },
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
    {
      name: 'a backslash before a letter, and more stars than mark anything',
      input: 'C:\\temp \\*a\\* ****b****',
      want: 'C:\\temp *a* ****b****',
    },
    { name: 'brackets that are no link', input: 'a[0] [x] [y](', want: 'a[0] [x] [y](' },
    {
      name: 'a fence is exact',
      input: '```ts\nconst x = a < b;   \n\n    **deep** `x`\n```\nafter',
      want: '```ts\nconst x = a < b;   \n\n    **deep** `x`\n```\nafter',
    },
    { name: 'a short fence in a long one', input: '````\n```\n````\n', want: '````\n```\n````\n' },
    {
      name: 'code is not wrapped',
      input: `\`\`\`\n${'x'.repeat(60)} y\n\`\`\``,
      want: `\`\`\`\n${'x'.repeat(60)} y\n\`\`\``,
    },
    {
      name: 'a row that is no table is left as it is',
      input: `| a | ${'b '.repeat(30)} |\n`,
      want: `| a | ${'b '.repeat(30)} |\n`,
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
      name: 'a table as wide as the screen',
      input: `|${'a'.repeat(18)}|${'b'.repeat(19)}|\n|-|-|\n`,
      want: `${'a'.repeat(18)} │ ${'b'.repeat(19)}\n${'─'.repeat(19)}┼${'─'.repeat(20)}\n`,
    },
    {
      name: 'a table of three columns as wide as the screen',
      input: `|${'a'.repeat(11)}|${'b'.repeat(11)}|${'c'.repeat(12)}|\n|-|-|-|\n`,
      want: `${'a'.repeat(11)} │ ${'b'.repeat(11)} │ ${'c'.repeat(12)}\n${'─'.repeat(12)}┼${'─'.repeat(13)}┼${'─'.repeat(13)}\n`,
    },
    {
      name: 'a table of three columns that are too wide for it',
      input: `|${'a '.repeat(6)}|${'b '.repeat(6)}|${'c '.repeat(7)}|\n|-|-|-|\n`,
      want: 'a a a a a a │ b b b b b b │ c c c c c c\n            │             │ c\n────────────┼─────────────┼─────────────\n',
    },
    {
      name: 'a table with too few and too many cells',
      input: 'so:\n|a|b|\n|-|-|\n|1|\n|1|2|3|',
      want: 'so:\na │ b\n──┼──────\n1 │\n1 │ 2 | 3\n',
    },
    { name: 'a row above a table', input: '| x |\n| a |\n| - |\n| b |\n', want: '| x |\na\n─\nb\n' },
    { name: 'struck out', input: 'a ~~b c~~ ~ d ~~ e ~~~f~~~', want: 'a b c ~ d ~~ e ~~~f~~~' },
    { name: 'a rule', input: 'a\n---\nb', want: `a\n${'─'.repeat(40)}\nb` },
    {
      name: 'numbers of characters that there are not',
      input: '&#x10FFFF; &#x110000; &#xD800; &#xDFFF; &#32; &#31;',
      want: '\u{10ffff} &#x110000; &#xD800; &#xDFFF;   &#31;',
    },
    {
      name: 'a table that is indented',
      input: '  |a|b|\n  |-|-|\n  |1|2|\n',
      want: 'a │ b\n──┼──\n1 │ 2\n',
    },
    { name: 'marks with a word among them', input: '|a|b|\n|-|x|\n', want: '|a|b|\n|-|x|\n' },
    { name: 'bars alone', input: '|\n|\n|', want: '|\n|\n|\n' },
    {
      name: 'text wraps at words',
      input: 'The quick brown fox jumps over the lazy dog again',
      want: 'The quick brown fox jumps over the lazy \ndog again',
    },
    {
      name: 'wide characters count twice',
      input: '日本語 '.repeat(8),
      want: `${'日本語 '.repeat(5)}日本\n語 日本語 日本語`,
    },
    { name: 'an unclosed tick does not hide the next line', input: 'a ` b\n**c**', want: 'a  b\nc' },
  ];
  for (const { name, input, want } of cases) {
    t.equal(plain(render(input)).replace(/ +$/gm, ''), want.replace(/ +$/gm, ''), name);
  }
  const rule = (width: number) => plain(render('---', { width })).length;
  t.strictSame([rule(10), rule(20), rule(39), rule(80)], [20, 20, 39, 40], 'a rule fits the screen');
  const table = (wide: number) =>
    plain(render(`|a|\n|-|\n${'|b|\n'.repeat(wide - 1)}|${'c'.repeat(9)}|\n`)).split('\n')[1]?.length;
  t.strictSame([table(1), table(40), table(41)], [9, 9, 1], 'the first forty rows are measured');
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
      ...[
        '**',
        '*',
        '`',
        '```',
        '```ts\n',
        '~~~',
        '\n',
        '\n\n',
        '# ',
        '- ',
        '1. ',
        '> ',
        '| ',
        '|a|b|\n|-|-|\n',
        '~~',
        '[a](b)',
        '[',
        '](',
        ')',
        '\\',
        ' ',
        'word',
        'a',
        '日本',
        '𝄞',
        '---',
        '    ',
        '\t',
        '_',
        '<b>',
      ],
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

t.test('a terminal that does not know its size is taken for one of 80 columns and 24 rows', async (t) => {
  const sized = (size: { readonly columns?: number; readonly rows?: number }) => {
    const output = new Output(Object.assign(new PassThrough(), size), {});
    return [output.columns, output.rows];
  };
  t.strictSame(sized({ columns: 0, rows: 0 }), [80, 24]);
  t.strictSame(sized({}), [80, 24]);
  t.strictSame(sized({ columns: 100, rows: 10 }), [100, 10]);
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
    { numRuns: 3000 },
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
    { numRuns: 2000 },
  );
  t.pass();
});

t.test('the styles of Markdown, and marks that are none', async (t) => {
  /** With the numbers of the styles. */
  const marked = (text: string, options?: Rendering) =>
    render(text, options).replace(/\u001b\[(\d*)m/g, '<$1>');
  const long = (length: number) => `[a](${'b'.repeat(length - 1)})`;
  const label = (length: number) => `\`\`\`${'x'.repeat(length - 3)}\n**b**`;
  const wide = 'w'.repeat(20);
  const cases: readonly (readonly [source: string, shown: string])[] = [
    ['*a*', '<0><3>a<0>'],
    ['**a**', '<0><1>a<0>'],
    ['***a***', '<0><1><3>a<0>'],
    ['**a *b***', '<0><1>a <0><1><3>b<0>'],
    ['~~a~~', '<0><9>a<0>'],
    ['`a`', '<0><36>a<0>'],
    ['``a ` b``', '<0><36>a ` b<0>'],
    ['*a\nb', '<0><3>a<0>\nb'],
    ['~~a\nb', '<0><9>a<0>\nb'],
    ['`a\nb', '<0><36>a<0>\nb'],
    ['# T *i*', '<1>T <0><1><3>i<0><1><0>'],
    ['a *', 'a *'],
    ['a * b', 'a * b'],
    ['*'.repeat(60), '*'.repeat(60)],
    [`a ${'~'.repeat(60)}`, `a\n${'~'.repeat(60)}`],
    ['\\(*a*\\) \\[*b*\\] *c*', '\\(*a*\\) \\[*b*\\] <0><3>c<0>'],
    ['&quot;a&quot;&nbsp;&apos;', '"a"\u00a0\''],
    [long(399), `a\n(${'b'.repeat(398)})`],
    [long(400), long(400)],
    ['>said', '<0><2>│<0> said'],
    ['> ```\n> x\n**b**', '<0><2>│<0> <2>```<0>\n<0><2>│<0> <36>x<0>\n<0><1>b<0>'],
    ['- a\n  b\n\n      *c*', '• a\n  b\n\n      <0><3>c<0>'],
    ['-|**b**', '-|<0><1>b<0>'],
    [label(199), `<2>\`\`\`${'x'.repeat(196)}<0>\n<36>**b**<0>`],
    [label(200), `<0><36>${'x'.repeat(197)}<0>\n<0><1>b<0>`],
    ['a\ud83d', 'a\ud83d'],
    [`- ${'x'.repeat(39)}`, `• ${'x'.repeat(39)}`],
    ['日'.repeat(25), `${'日'.repeat(20)}\n${'日'.repeat(5)}`],
    ['|a||\n|-|-|\n|b||\n', '<1>a<0> <2>│<0> <1><0>\n<2>──┼──<0>\nb <2>│<0>\n'],
    ['|a *|\n|-|\n|b [c|\n|`d|\n', '<1>a *<0>\n<2>────<0>\nb [c\n<0><36>d<0>\n'],
    [
      `${`|${wide}`.repeat(5)}|\n${'|-'.repeat(5)}|\n`,
      `${Array(5).fill(`<1>${wide}<0>`).join(' <2>│<0> ')}\n<2>${Array(5).fill('─'.repeat(8)).join('─┼─')}<0>\n`,
    ],
    [`| ${'a '.repeat(3_000)}|`, `| ${'a '.repeat(3_000)}|`],
    [`|a|\n|-|\n|${'b'.repeat(5_000)}|`, `<1>a<0>\n<2>─<0>\n|${'b'.repeat(5_000)}|`],
  ];
  for (const [source, shown] of cases) t.equal(marked(source), shown, source.slice(0, 30));
  t.equal(
    marked(`> ${'word '.repeat(10)}`, { styled: false }),
    `> ${'word '.repeat(7).trim()}\n> word word word`,
  );
});

t.test('what is held of an answer is shown when something else comes', async (t) => {
  const cases: readonly (readonly [begun: string, shown: string])[] = [
    ['one two', 'one two'],
    ['```js\nconst a', '```js\nconst a'],
    ['|a|\n|-|\n|b|\n', 'a\n─\nb\n'],
    ['x'.repeat(60), 'x'.repeat(60)],
  ];
  for (const [begun, shown] of cases) {
    const renderer = createMarkdownRenderer(40, true, createCodeColours);
    const first = renderer.write(begun);
    t.equal(plain(first + renderer.flush()), shown);
    t.equal(plain(renderer.end()), '');
  }
  t.equal(createMarkdownRenderer(40).write('x'.repeat(60)), 'x'.repeat(60), 'a long word does not wait');
  const word = 'w'.repeat(20);
  const code = '```js\n';
  const limits: readonly (readonly [begun: string, held: string])[] = [
    [word, '*'.repeat(50)],
    [word, '&abcdefgh'],
    [code, 'x'.repeat(999)],
    ['', `|${'x'.repeat(3_998)}`],
  ];
  for (const [begun, held] of limits) {
    const renderer = createMarkdownRenderer(20, true, createCodeColours);
    renderer.write(begun);
    t.equal(renderer.write(held), '', `${held.length} characters are held`);
    t.match(renderer.write(held.at(-1) ?? ''), held, 'no more than that');
  }
});

t.test('the colours of code', async (t) => {
  const shown = (text: string) => {
    const renderer = createMarkdownRenderer(40, true, createCodeColours);
    return (renderer.write(text) + renderer.end()).replace(/\u001b\[(\d*)m/g, '<$1>');
  };
  t.strictSame(shown('```diff\n-a\n+b\n```').split('\n').slice(1, 3), ['<31>-a<0>', '<32>+b<0>']);
  t.match(shown('```js\nreturn 12 // so\n```'), '<35>return<0> <33>12<0> <2>// so<0>');
  const quoted = (text: string) => text.replace(/^/gm, '> ');
  const formula = '```tex\n$a\n\nb 12\n```';
  t.match(shown(quoted(formula)), '│<0> b 12\n', 'a blank line of a quote ends a formula, too');
});

t.test('a table gives way where it is flexible', async (t) => {
  const columns = [
    { title: 'ID' },
    { title: 'A', isFlexible: true },
    { title: 'N', align: 'right' as const },
  ];
  const more = [...columns, { title: 'B', isFlexible: true }];
  const row = ['12345', 'a'.repeat(20), '7', 'b'.repeat(15)];
  const table = (width?: number, some: typeof columns = more) =>
    formatTable(some, [row, ['1']], { style: createStyle(false), ...(width === undefined ? {} : { width }) })
      .split('\n')
      .slice(1);
  const [a, b] = ['a', 'b'].map((letter) => (count: number) => letter.repeat(count)) as [
    (count: number) => string,
    (count: number) => string,
  ];
  const cases: readonly (readonly [width: number | undefined, line: string])[] = [
    [undefined, `12345  ${a(20)}  7  ${b(15)}`],
    [47, `12345  ${a(20)}  7  ${b(15)}`],
    [46, `12345  ${a(18)}…  7  ${b(15)}`],
    [42, `12345  ${a(14)}…  7  ${b(15)}`],
    [41, `12345  ${a(13)}…  7  ${b(15)}`],
    [40, `12345  ${a(13)}…  7  ${b(13)}…`],
    [36, `12345  ${a(11)}…  7  ${b(11)}…`],
    [35, `12345  ${a(11)}…  7  ${b(10)}…`],
  ];
  for (const [width, line] of cases) t.strictSame(table(width), [line, '1', ''], `${width} columns`);
  t.strictSame(table(10, [{ title: 'ID' }]), ['12345', '1', '']);
  t.strictSame(table(4, [{ title: 'ID' }]), ['123…', '1', '']);
});

t.test('an answer is at most a hundred columns wide, and no wider than the screen', async (t) => {
  const widths = [30, 100, 200].map((columns) => {
    const printer = createAnswerPrinter(createStyle(false), columns);
    const text = 'word '.repeat(100);
    const lines = (printer.delta({ streamId: 's', seq: 0, kind: 'text', text }) + printer.end()).split('\n');
    return Math.max(...lines.map(columnsOf));
  });
  t.strictSame(widths, [29, 99, 99]);
  const printer = createAnswerPrinter(createStyle(false), 80);
  const toolResult = { id: 'a', name: 'look', server: 's', isError: false, content: 'one\ntwo' };
  t.equal(printer.delta({ streamId: 's', seq: 0, kind: 'toolResult', toolResult }), '  one\n  two\n');
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
  const odd = '~~~js\n#/*/*//\n~~~\n';
  t.equal(shown(odd), shown(odd), 'the same text has the same colours');
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
    { numRuns: 1000 },
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
    { numRuns: 2000 },
  );
  t.pass();
});

t.test('the beginning of a line of code', async (t) => {
  const code = (rest: string) => ({ kind: 'code', rest });
  const quote = (rest: string) => ({ kind: 'quote', rest });
  const undecided = { kind: 'undecided' };
  const cases = [
    { text: '', want: undecided },
    { text: '``', want: undecided },
    { text: '``', isWhole: true, want: code('``') },
    { text: '```', want: undecided },
    { text: '```', isWhole: true, want: { kind: 'closed' } },
    { text: '  ````  ', isWhole: true, want: { kind: 'closed' } },
    { text: '~~~', isWhole: true, want: code('~~~') },
    { text: '   `', want: undecided },
    { text: '    `', want: code('    `') },
    { text: '```x', want: code('```x') },
    { text: '`'.repeat(22), want: undecided },
    { text: '`'.repeat(23), want: code('`'.repeat(23)) },
    { text: '   x', indent: 2, want: code(' x') },
    { text: ' x', indent: 2, want: code('x') },
    { text: '     `', indent: 2, want: undecided },
    { text: '      `', indent: 2, want: code('    `') },
    { text: '', depth: 1, want: undecided },
    { text: '', depth: 1, isWhole: true, want: { kind: 'left' } },
    { text: '   ', depth: 1, want: undecided },
    { text: '    ', depth: 1, want: { kind: 'left' } },
    { text: 'x', depth: 1, want: { kind: 'left' } },
    { text: '>', depth: 1, want: undecided },
    { text: '>', depth: 1, isWhole: true, want: quote('') },
    { text: '> ', depth: 1, want: quote('') },
    { text: ' >x', depth: 1, want: quote('x') },
  ];
  for (const { text, isWhole = false, indent = 0, depth = 0, want } of cases)
    t.strictSame(
      readCodeStart({ mark: '```', indent, depth }, { text, isWhole, depth: 0 }),
      want,
      JSON.stringify({ text, isWhole, indent, depth }),
    );
  t.strictSame(
    readCodeStart({ mark: '```', indent: 0, depth: 1 }, { text: '> x', isWhole: false, depth: 1 }),
    code('> x'),
    'a line within its quote is code',
  );
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

t.test('an answer is printed with its thinking above it', async (t) => {
  const pieces = [
    { kind: 'thinking', text: 'hm\n' },
    { kind: 'thinking', text: 'so' },
    { kind: 'text', text: 'The **answer**' },
    { kind: 'notice', notice: { code: 'answer-lost', message: 'Look\u001b[2J\nhere.' } },
    { kind: 'toolCall', toolCall: { id: 'a', name: 'get\u001b', arguments: { a: 1 } } },
    { kind: 'text', text: 'more\u0007' },
  ] as const;
  const print = (on: boolean) => {
    const printer = createAnswerPrinter(createStyle(on), 80);
    const shown = pieces.map((piece, seq) => printer.delta({ streamId: 's', seq, ...piece }));
    return shown.join('') + printer.end();
  };
  const rest = 'Look␛[2J here.\ntool call: get␛ {"a":1}\nmore␇\n';
  t.equal(plain(print(true)), `thinking\nhm\nso\n\nThe answer\n${rest}`);
  t.equal(print(false), `thinking\nhm\nso\n\nanswer\nThe **answer**\n${rest}`);
});

t.test("the daemon's advice is in the words of the terminal", async (t) => {
  const window = 'set a larger window with "--context N" ("/context N" in a conversation)';
  const cases: readonly (readonly [AdviceCode, string])[] = [
    [
      'check-address',
      'Check the address in --server or OLLAMA_HOST. A name must be that of an entry in "servers" of ~/.config/runner/config.json.',
    ],
    ['set-address', 'Say with --server URL or OLLAMA_HOST where the runner itself answers.'],
    ['name-ca-file', 'If it is your own, name its CA file in "caFile" of ~/.config/runner/config.json.'],
    [
      'set-token',
      'Say in "auth" of ~/.config/runner/config.json where its token is, or check the one that is there.',
    ],
    [
      'set-password',
      'Say in "auth" of ~/.config/runner/config.json where its "user:password" is, or check the one that is there.',
    ],
    ['shorten-prompt', `Shorten it, start a new conversation ("/clear"), or ${window}.`],
    ['use-https', 'As the daemon has it.'],
  ];
  const adviseOn = (code: AdviceCode): Advised => ({
    message: 'It fails. As the daemon has it.',
    advice: { code, problem: 'It fails.', text: 'As the daemon has it.' },
  });
  for (const [code, want] of cases) t.equal(forTerminal(adviseOn(code)), `It fails. ${want}`, code);
  const onWindow = (contextLength: number) => {
    const { message, advice } = adviseOn('shorten-prompt');
    return forTerminal({ message, ...(advice && { advice: { ...advice, contextLength } }) });
  };
  t.match(
    onWindow(12_288),
    /"--context 12288" \("\/context 12288" in a conversation\)\.$/,
    'a window that fits',
  );
  t.equal(onWindow(0), 'It fails. Shorten it or start a new conversation ("/clear").', 'none fits');
  t.equal(forTerminal({ message: 'Nothing to do.' }), 'Nothing to do.');
  t.equal(
    forTerminal(adviseOn('of-a-newer-daemon' as AdviceCode)),
    'It fails. As the daemon has it.',
    'a code without words',
  );
  const printer = createAnswerPrinter(createStyle(false), 300);
  const notice = { code: 'context-nearly-full', ...adviseOn('make-room') } as const;
  t.equal(
    printer.delta({ streamId: 's', seq: 0, kind: 'notice', notice }),
    `It fails. Start a new conversation ("/clear") or ${window} before anything is refused.\n`,
  );
});

t.test('a change is shown with its signs, and a long one is folded', async (t) => {
  const style = createStyle(true);
  const describe = (unified: string, { width = 80, whole = false } = {}) =>
    describeDiff({ path: '/f', name: 'f\u001b', before: '', after: '', unified }, { style, width }, whole);
  const signs = '@@ -1,2 +1,2 @@ f()\n-a+\n+b-\n c+\n\\ No line feed\n+\tx\n+ab\tx\r\n';
  t.strictSame(describe(signs).text.split('\n'), [
    style.bold('f␛'),
    style.cyan('@@ -1,2 +1,2 @@ f()'),
    style.red('-a+'),
    style.green('+b-'),
    ' c+',
    style.dim('\\ No line feed'),
    style.green('+    x'),
    style.green('+ab  x'),
  ]);
  const lines = (count: number, length = 1) => `+${'x'.repeat(length - 1)}\n`.repeat(count);
  const cases: readonly (readonly [unified: string, width: number, folded: string | undefined])[] = [
    [lines(40), 80, undefined],
    [lines(41), 80, '… 1 more line'],
    [lines(50), 80, '… 10 more lines'],
    [lines(20, 11), 10, undefined],
    [lines(21, 11), 10, '… 1 more line'],
    [lines(1, 500), 10, undefined],
    [lines(1, 502), 10, '… 2 more characters'],
    [`${lines(1, 500)}+y\n`, 10, '… 1 more line'],
  ];
  for (const [unified, width, folded] of cases) {
    const { text, isFolded } = describe(unified, { width });
    t.equal(isFolded, folded !== undefined, folded ?? 'whole');
    t.equal(plain(text).split(/(?=…)/)[1], folded);
    t.notMatch(describe(unified, { width, whole: true }).text, '…');
  }
  const added = describeDiff(
    { path: '/f', name: 'f', after: '', unified: '' },
    { style: createStyle(false), width: 80 },
  );
  t.strictSame(added, { text: 'f (new file)', isFolded: false });
});

t.test('calls and results are shown in part', async (t) => {
  const call = (given: ToolCall['arguments']) => ({ id: 'c', name: 't', arguments: given });
  const long = (length: number) => call({ a: 'x'.repeat(length - 21) });
  t.equal(describeCall(long(500)).length, 500);
  t.match(describeCall(long(501)), /x"… 1 more character$/);
  t.match(describeCall(long(502)), /x… 2 more characters$/);
  t.strictSame([long(500), long(501)].map(isCallCut), [false, true]);
  const edit = { path: 'p', edits: [{}] };
  t.equal(describeCall(call(edit)), 'tool call: t p (1 edit)');
  t.ok(isCallCut(call(edit)), 'the texts are left out');
  const texts = { path: 'p', old_string: 'a', new_string: 'b' };
  t.equal(describeCall(call(texts)), 'tool call: t p');
  t.equal(describeCall(call({ ...texts, replace_all: true })), 'tool call: t p (wherever it occurs)');
  const whole = { ...call({ path: 'p', content: 'a\nb\n' }), name: 'write_file' };
  t.equal(describeCall(whole), 'tool call: write_file p (2 lines)');
  for (const other of [
    { ...edit, more: 1 },
    { ...edit, path: 1 },
    { path: 'p', edits: 1 },
  ])
    t.equal(describeCall(call(other)), `tool call: t ${JSON.stringify(other)}`);
  t.equal(describeArguments(call({ a: 1, b: 'x\ny' })), '  "a": 1\n  "b": "x\\ny"');
  const result = { id: 'c', name: 't', server: 's', isError: false };
  const shown = (content: string, more = {}, width = 80) =>
    describeResult({ ...result, content, ...more }, width);
  t.strictSame(shown('\n a\nb\n'), ['  a', '  b']);
  const lines = createCallLines();
  for (const id of ['c', 'd', 'e'])
    lines.call({ id, name: 'read', arguments: { from: 1, path: `${id}.txt` } });
  const shownOf = (id: string) => lines.result({ ...result, id, content: 'x' }, 80);
  t.strictSame(shownOf('e'), ['  x'], 'it stands below its call');
  t.strictSame(shownOf('c'), ['read c.txt', '  x']);
  t.strictSame(shownOf('unknown'), ['  x']);
  t.strictSame(shown('a\nb\nc\nd'), ['  a', '  b', '  c', '  d']);
  t.strictSame(shown('a\nb\nc\nd\ne'), ['  a', '  b', '  c', '  d', '  … 1 more line']);
  t.strictSame(shown('a\nb\nc\nd\ne\nf').at(-1), '  … 2 more lines');
  t.strictSame(shown('no', { isError: true }), ['  it failed:', '  no']);
  t.strictSame(shown('abcdefghijkl', {}, 13), ['  abcdefghi…'], 'a column is left free');
  t.strictSame(shown('abcdefghijkl', {}, 3), ['  abcdefg…'], 'something is shown on any screen');
  t.strictSame(shown('', { unapprovedTool: 'look' }), ['  it was not run. To allow it: --allow s/look']);
  t.strictSame(shown('', { unapprovedTool: "it's" }), [
    `  it was not run. To allow it: --allow 's/it'\\''s'`,
  ]);
});

t.test('the tools of each server, and why it has none', async (t) => {
  const tool = (name: string, description: string) => ({ name, description, approval: 'ask' as const });
  const servers = [
    {
      ...{ name: 'files', state: 'ready' as const, from: 'config' as const },
      tools: [tool('read', 'Reads a file.\nMore about it.'), tool('list', '')],
    },
    { name: 'web', state: 'failed' as const, message: 'It failed\u001b.', tools: [] },
    { name: 'mail', state: 'ready' as const, needsLogin: true, tools: [] },
    { name: 'quiet', state: 'ready' as const, tools: [] },
  ] as unknown as readonly ListedToolServer[];
  const cells = (isOn?: (name: string) => boolean) =>
    toolsTable(servers, new Output(new PassThrough(), {}), isOn)
      .split('\n')
      .map((line) => line.split(/ {2,}/));
  const rest = [
    ['', 'list'],
    ['web', 'failed'],
    ['mail', 'needs login'],
  ];
  const below = [[''], ['It failed␛.'], ['']];
  const head = ['SERVER', 'STATE', 'TOOL', 'WHAT IT DOES'];
  t.strictSame(cells(), [
    head,
    ['files', 'ready', 'read', 'Reads a file.'],
    ...rest,
    ['quiet', 'ready'],
    ...below,
  ]);
  t.strictSame(
    cells((name) => name === 'quiet'),
    [head, ['files', 'off', 'read', 'Reads a file.'], ...rest, ['quiet', 'on'], ...below],
  );
});

t.test('the window of a model, as far as it is known', async (t) => {
  const cases: readonly (readonly [context: Model['context'], shown: string])[] = [
    [{}, ''],
    [{ maximum: 8192 }, '8192'],
    [{ configured: 4096, maximum: 8192 }, '4096 of 8192'],
    [{ allocated: 2048, configured: 4096 }, '2048'],
    [{ allocated: 4096, maximum: 4096, from: 'assumed' }, '4096 assumed'],
    [{ allocated: 4096, from: 'observed' }, '4096 observed'],
    [{ allocated: 4096, from: 'server' } as Model['context'], '4096'],
  ];
  for (const [context, shown] of cases) t.equal(markContext(model('m', { context })), shown);
});

t.test('the statistics of an answer are one line', async (t) => {
  const result = {
    finishReason: 'length',
    usage: { promptTokens: 3, completionTokens: 20, contextLength: 4096 },
    message: { role: 'assistant', content: '' },
    notices: [],
  } as const;
  const statsAfter = (milliseconds: number, completionTokens = 20) => {
    let time = 700;
    const clock = new AnswerClock(() => time);
    time += 1500;
    clock.note({ kind: 'text' });
    time += milliseconds;
    return clock.stats({ ...result, usage: { ...result.usage, completionTokens } });
  };
  const stats = statsAfter(2000);
  t.strictSame(
    [50, 51].map((milliseconds) => statsAfter(milliseconds).tokensPerSecond),
    [undefined, 392.16],
    'what came at once has no speed',
  );
  t.strictSame(
    [1, 2].map((tokens) => statsAfter(1000, tokens).tokensPerSecond),
    [undefined, 2],
    'nor has a single token',
  );
  t.equal(
    describeUsage('m', result, stats),
    'm · 20 tokens · 10.0 tokens/s · context 23 of 4096 · cut at the limit (length)',
  );
  t.equal(describeUsage('m', { finishReason: 'stop' }, statsAfter(1)), 'm · 20 tokens · context 23 of 4096');
  t.equal(
    describeUsage('m', { finishReason: 'toolLimit' }, stats),
    'm · 20 tokens · 10.0 tokens/s · context 23 of 4096 · no more rounds of tools',
  );
  t.equal(describeUsage('m', { finishReason: 'stop' }, statsAfter(60, 1)), 'm · 1 token · context 4 of 4096');
  t.match(
    describeUsage('m', { finishReason: 'toolLoop' }, stats),
    / · stopped: the same calls again and again$/,
  );
  t.equal(describeUsage('m', { finishReason: 'cancelled' }, stats), 'm · cancelled');
  const uncounted = { ...stats, promptTokens: 0, completionTokens: 0, windowTokens: 0 };
  const beginning =
    'model         m\nfirst piece   after 1.5 s, with loading the model and reading the prompt\n';
  t.equal(describeStats('m', uncounted), `${beginning}answer        2.0 s; its tokens were not counted`);
  t.strictSame(stats, {
    ...result.usage,
    firstPieceSeconds: 1.5,
    answerSeconds: 2,
    tokensPerSecond: 10,
    windowTokens: 23,
  });
  const { tokensPerSecond: _, contextLength: __, ...unknownWindow } = stats;
  for (const [given, shown] of [
    [stats, ', 10.0 a second\nprompt        3 tokens\nwindow        23 tokens of 4096 (1 %)'],
    [
      { ...stats, windowTokens: 4096 },
      ', 10.0 a second\nprompt        3 tokens\nwindow        4096 tokens of 4096 (100 %)',
    ],
    [unknownWindow, '\nprompt        3 tokens\nwindow        23 tokens'],
  ] as const)
    t.equal(describeStats('m', given), `${beginning}answer        20 tokens in 2.0 s${shown}`);
  /** Each piece comes a second after the one before it. */
  const withCalls = (...kinds: readonly ChatDelta['kind'][]) => {
    let time = 0;
    const clock = new AnswerClock(() => time);
    for (const kind of kinds) {
      time += 1000;
      clock.note({ kind });
    }
    time += 1000;
    const toolCalls = [{ id: 'c', name: 'look', arguments: {} }];
    return clock.stats({ ...result, messages: [{ role: 'assistant', content: '', toolCalls }] });
  };
  const called = withCalls('thinking', 'text', 'toolCall', 'toolCall', 'toolResult', 'toolResult', 'text');
  t.strictSame(
    called,
    { ...result.usage, firstPieceSeconds: 1, answerSeconds: 3, tokensPerSecond: 6.67 },
    'tools take no time',
  );
  t.equal(describeUsage('m', { finishReason: 'stop' }, called), 'm · 20 tokens · 6.7 tokens/s');
  t.notMatch(describeStats('m', called), /window/, 'nobody says how full it is');
  const unmeasured = withCalls('text', 'toolCall', 'toolResult', 'toolCall', 'toolResult', 'text', 'text');
  t.strictSame(unmeasured, { ...result.usage, firstPieceSeconds: 1, answerSeconds: 3 });
  t.hasStrict(
    withCalls('notice', 'text', 'notice', 'text'),
    { firstPieceSeconds: 2, answerSeconds: 3 },
    'a notice is no piece of the answer',
  );
  t.hasStrict(withCalls(), { firstPieceSeconds: 1, answerSeconds: 0 });
});

t.test('a model stays for good if it would stay for more than a year', async (t) => {
  const [now, year] = [Date.parse('2026-11-21T12:00:00Z'), 365 * 24 * 3600 * 1000];
  const cases = [-1, 0, 24 * 3600 * 1000, year, year + 1].map((left) => staysForGood(now + left, now));
  t.strictSame(cases, [false, false, false, false, true]);
});

t.test('the table of models', async (t) => {
  const table = modelsTable(
    [
      model('m:latest', {
        size: 4e9,
        modifiedAt: '2026-11-21T12:00:00Z',
        context: { allocated: 4096, maximum: 32768 },
        running: { expiresAt: '', size: 4e9, sizeVram: 1e9 },
      }),
      model('日本:1b', {
        size: 640,
        capabilities: {
          completion: yes,
          tools: yes,
          vision: no,
          thinking: { value: true, from: 'name' },
          insert: no,
          embedding: no,
        },
      }),
      model('far:cloud', { remote: { host: 'https://x', model: 'far' } }),
    ],
    createStyle(false),
  );
  const cells = table.split('\n').map((line) => line.split(/ {2,}/));
  t.strictSame(cells, [
    ['MODEL', 'SIZE', 'CAN', 'CONTEXT', 'CHANGED', 'LOADED'],
    ['m:latest', '4.0 GB', 'chat', '4096 of 32768', '2026-11-21', '4.0 GB, 25 % on the GPU'],
    ['日本:1b', '640 B', 'chat tools thinking?'],
    ['far:cloud', 'remote', 'chat'],
    [''],
  ]);
  t.strictSame([0, 1, 999, 1000, 999_499, 999_600, 1_500_000, 99.94e6, 99.95e6, 123e9].map(formatBytes), [
    '0 B',
    '1 B',
    '999 B',
    '1.0 kB',
    '999 kB',
    '1.0 MB',
    '1.5 MB',
    '99.9 MB',
    '100 MB',
    '123 GB',
  ]);
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
  const exact = new WordWrap(6);
  const shownAt = [...'abcdefg'].map((character) => {
    exact.character(character);
    return exact.take();
  });
  t.strictSame(shownAt, ['', '', '', '', '', 'abcdef', 'g'], 'a word that takes the line does not wait');
  const halves = (width: number) => wrapText('a name  one two three', width);
  t.equal(halves(16), 'a name  one two\n        three', 'it hangs up to half of the line');
  t.equal(halves(15), 'a name  one two\nthree', 'further in, it would be hard to read');
  const narrow = new WordWrap(9);
  for (const line of ['quick  brown', 'a longword']) {
    for (const character of line) narrow.character(character);
    narrow.newline();
  }
  t.equal(narrow.take(), 'quick\nbrown\na\nlongword\n', 'no line ends with blanks');
  const wrap = new WordWrap(6);
  for (const character of '👨‍👩‍👧 🇩🇪🇫🇷 🇮🇹 ok') wrap.character(character);
  wrap.flush();
  t.equal(wrap.take(), '👨‍👩‍👧\n🇩🇪🇫🇷\n🇮🇹 ok', 'lines break by columns, not by characters');
  t.equal(wrapText('ab 👨‍👩‍👧 cd', 8), 'ab 👨‍👩‍👧 cd', 'what is joined takes two');
});

t.test('a model is chosen: loaded, else newest that can chat', async (t) => {
  const choose = (models: readonly Model[], named?: string) =>
    chooseModel(
      {
        request: async ({ method }: { method: string }) =>
          method === 'runner/models/list' ? { models } : { model: preferredModel(models) },
      } as unknown as DaemonClient,
      named,
    );
  const embedder = model('embedder', {
    capabilities: { completion: no, tools: no, vision: no, thinking: no, insert: no, embedding: yes },
  });
  const old = model('old', {
    capabilities: {
      completion: unknown,
      tools: unknown,
      vision: unknown,
      thinking: unknown,
      insert: unknown,
      embedding: unknown,
    },
  });
  const loaded = model('loaded', { running: { expiresAt: '', size: 1, sizeVram: 0 } });
  t.equal(await choose([embedder, model('a'), loaded]), 'loaded');
  t.equal(await choose([embedder, old, model('a')]), 'old');
  t.equal(await choose([model('a'), embedder], 'Embedder'), 'embedder', 'one that is named is not doubted');
  await t.rejects(choose([model('qwen3:4b')], 'qwen3'), {
    kind: 'model-not-found',
    message: 'There is no model "qwen3". Did you mean qwen3:4b? Installed: qwen3:4b.',
  });
  await t.rejects(choose([], 'qwen3'), {
    message: 'There is no model "qwen3". None that can chat is installed. Pull one with "runner pull".',
  });
  const six = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => model(name));
  await t.rejects(choose(six, 'zzzzzz'), { message: /Installed: a, b, c, d, e, …\.$/ });
  await t.rejects(choose(six.slice(1), 'zzzzzz'), { message: /Installed: b, c, d, e, f\.$/ });
  await t.rejects(choose([]), { message: /no model yet/ });
  await t.rejects(choose([embedder]), { message: /^None of the installed models can chat\. / });
  const far = model('far', { remote: { host: 'https://x', model: 'far' } });
  await t.rejects(choose([embedder, far]), { message: /^Every .* runs elsewhere\. .*"--model far"/ });
  await t.rejects(choose([embedder, model('a')], 'zzzzzz'), {
    message: 'There is no model "zzzzzz". Installed: a.',
  });
  t.equal((findModel([model('qwen3:4b'), model('a:latest')], 'A') as Model).name, 'a:latest');
  t.match(findModel([model('qwen3:4b')], 'qwen3'), /Did you mean qwen3:4b\?/);
  t.strictSame(nearestNames('modles', ['models', 'doctor', 'chat']), ['models']);
});

/** Two that can be used, one that a command hides, and one that is wrong. */
const keptPrompts: ListPromptsResult = {
  prompts: [
    { name: 'broken', description: '', from: 'user', arguments: [], problem: 'It is empty.', line: 1 },
    { name: 'model', description: 'm', from: 'user', arguments: [], hiddenBy: 'command' },
    {
      name: 'review',
      description: 'Reviews \u001b[2Jit',
      from: 'user',
      arguments: [{ name: 'file', required: true }, { name: 'focus' }],
    },
    { name: 'seek', description: '', from: 'workspace', arguments: [] },
    {
      name: 'git:show',
      description: '',
      from: 'server',
      server: 'git',
      arguments: [{ name: 'branch', required: true }],
    },
  ],
  folder: { path: '/here/.runner/prompts', state: 'unasked', files: 2 },
  problems: [],
};

t.test('slash commands', async (t) => {
  const cleared: string[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'runner-slash-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const settings: ChatSettings = {
    system: undefined,
    think: undefined,
    format: undefined,
    options: {},
    context: undefined,
    keepAlive: undefined,
    mode: undefined,
    rounds: undefined,
    attachments: [],
    images: [],
  };
  let product: Product | undefined;
  let listedPrompts: ListPromptsResult = { prompts: [], problems: [] };
  const state: ConversationState = {
    model: 'a',
    async chooseModel(name) {
      Object.assign(state, { model: name });
    },
    settings,
    cwd: folder,
    session: undefined,
    sessions: async () => [],
    change: async () => undefined,
    fork: async () => undefined,
    retitle: async () => undefined,
    stats: undefined,
    clear: () => cleared.push('yes'),
    models: async () => [model('a'), model('b')],
    product: async () => product,
    prompts: async () => listedPrompts,
    completeArgument: async () => [],
    completeResource: async () => [],
    knownTools: ['files'],
    tools: new Set<string>(),
    checks: async () => ({ checks: [], suggestions: [] }),
    allowCheck: async () => undefined,
    listTools: async () => 'a table\n',
    lastTurn: async () => ({}),
    undo: async () => undefined,
    undoToEdit: async () => undefined,
    lastEdits: async () => ({ files: [], count: 0 }),
    undoEdits: async () => ({ restored: [], left: [] }),
    redoEdits: async () => ({ restored: [], left: [] }),
    describeDiff: ({ name }) => `the change of ${name}`,
    copy: async () => true,
  };
  for (const command of ['/retry', '/undo', '/edit', '/copy', '/save a.md'])
    t.equal((await runSlashCommand(command, state)).text, 'There is no turn yet.', command);
  const diffOf = (name: string) => ({ path: `/p/${name}`, name, after: '', unified: '' });
  const withEdits: ConversationState = {
    ...state,
    lastTurn: async () => ({ prompt: { role: 'user', content: 'Fix it.' } }),
    undo: async () => ({ role: 'user', content: 'Fix it.' }),
    lastEdits: async () => ({ files: [diffOf('a.ts'), diffOf('b.ts')], count: 3 }),
    undoEdits: async () => ({
      restored: ['a.ts'],
      left: [{ name: 'b.ts', reason: 'b.ts has changed since.' }],
    }),
    redoEdits: async () => ({ restored: ['a.ts'], left: [] }),
  };
  const undone = await runSlashCommand('/undo', withEdits);
  const took = 'Took back "Fix it." and its answer.';
  const files = 'Took back the edits of a.ts.\nb.ts stays as it is: b.ts has changed since.';
  t.equal(
    undone.confirm?.question,
    'take back the prompt, and its 3 edits in 2 files? [y]es, [p]rompt only, [d]iff, [n]o ',
  );
  t.equal((await undone.confirm?.yes())?.text, `${took}\n${files}\n"/redo" brings them back.`);
  t.equal((await undone.confirm?.others?.get('prompt')?.())?.text, took);
  const shownEdits = await undone.confirm?.others?.get('diff')?.();
  t.equal(shownEdits?.text, 'the change of a.ts\nthe change of b.ts');
  t.equal(shownEdits?.confirm?.question, undone.confirm?.question, 'and the question again');
  const retried = await runSlashCommand('/retry', withEdits);
  t.equal(retried.confirm?.question, 'take back its 3 edits in 2 files first? [y]es, [k]eep, [n]o ');
  t.strictSame(await retried.confirm?.yes(), { text: `${files}\nAsking again: Fix it.`, again: true });
  t.strictSame(await retried.confirm?.others?.get('keep')?.(), {
    text: 'Asking again: Fix it.',
    again: true,
  });
  t.equal((await runSlashCommand('/redo', withEdits)).text, 'Brought back the edits of a.ts.');
  t.equal((await runSlashCommand('/redo', state)).text, 'No edits of this conversation were taken back.');
  for (const [length, shown] of [
    [60, 'x'.repeat(60)],
    [61, `${'x'.repeat(59)}…`],
  ] as const) {
    const content = ` ${'x'.repeat(length)}\n`;
    const undo = async () => ({ role: 'user', content }) as const;
    t.equal(
      (await runSlashCommand('/undo', { ...state, undo })).text,
      `Took back "${shown}" and its answer.`,
    );
  }
  t.equal((await runSlashCommand('/tools', state)).text, 'a table');
  t.equal((await runSlashCommand('/sessions', state)).text, 'No conversation is kept yet.');
  t.equal(
    (await runSlashCommand('/model', { ...state, models: async () => [] })).text,
    'No model that can chat is installed. Pull one with "runner pull".',
  );
  t.match((await runSlashCommand('/tools files on', state)).text, /The tools of files are on/);
  t.ok(state.tools.has('files'));
  await runSlashCommand('/tools files off', state);
  t.notOk(state.tools.has('files'));
  t.match(
    (await runSlashCommand('/tools nobody on', state)).text,
    /no tool server "nobody"\. There are: files\./,
  );
  t.match((await runSlashCommand('/tools files maybe', state)).text, /Say "\/tools files on"/);
  t.match((await runSlashCommand('/model', state)).text, /\* 1 {2}a\n {2}2 {2}b/);
  await runSlashCommand('/model   b ', state);
  t.equal(state.model, 'b');
  for (const [served, isOffered] of [
    [undefined, true],
    ['ollama', true],
    ['llama.cpp', false],
    ['other', false],
  ] as const) {
    product = served;
    t.equal((await runSlashCommand('/help', state)).text.includes('/context'), isOffered, `${served}`);
    for (const change of ['/context 4096', '/set num_ctx 4096', '/set parameter num_ctx 4096']) {
      await runSlashCommand(change, state);
      t.equal(settings.context, isOffered ? 4096 : undefined, change);
      settings.context = undefined;
    }
  }
  product = 'vllm';
  t.match((await runSlashCommand('/context', state)).text, /^vLLM fixes the context window/);
  product = undefined;
  await runSlashCommand('/think high', state);
  t.equal(settings.think, 'high');
  await t.rejects(runSlashCommand('/think lots', state), { kind: 'usage', message: /one of on, off/ });
  t.equal(settings.think, 'high');
  await runSlashCommand('/think auto', state);
  t.equal(settings.think, undefined);
  const says = async (line: string) => (await runSlashCommand(line, state)).text;
  await says('/set temperature 0.2');
  await says('/set parameter stop ["a b"]');
  await says('/set top_k = 3');
  await t.rejects(says('/set tempreature 2'), {
    message: /no option "tempreature"\. Did you mean temperature\?/,
  });
  await says('/set own_option 2');
  await says('/set own_option off');
  await t.rejects(says('/set temperature hot'), /temperature must be a number, not "hot"/);
  t.strictSame(settings.options, { temperature: 0.2, stop: ['a b'], top_k: 3 });
  t.match(await says('/set'), /^temperature 0\.2\n/);
  t.match(await says('/set temperature off'), /left to the model/);
  t.match(await says('/set temperature'), /left to the model.*\/set temperature VALUE/);
  t.strictSame(settings.options, { stop: ['a b'], top_k: 3 });
  await says('/context 32k');
  t.equal(settings.context, 32_768);
  await t.rejects(says('/context lots'), { message: /number of tokens/ });
  await says('/context auto');
  t.equal(settings.context, undefined);
  await says('/set num_ctx 4096');
  t.equal(settings.context, 4096);
  await says('/set nothink');
  t.equal(settings.think, false);
  await says('/set think');
  t.equal(settings.think, true);
  await says('/set think low');
  t.equal(settings.think, 'low');
  t.equal(await says('/think'), 'Thinking is low. Choose one of on, off, low, medium, high, max, auto.');
  await says('/think auto');
  t.match(await says('/think'), /^Thinking is auto\./);
  t.match(await says('/system'), /^There is no system prompt but the model's own\./);
  await says('/set system Be kind.');
  t.equal(settings.system, 'Be kind.');
  writeFileSync(join(folder, 'style.md'), 'Be brief.\n');
  await says('/system @style.md');
  t.equal(settings.system, 'Be brief.');
  t.equal(await says('/system'), 'Be brief.');
  await says('/system @@home');
  t.equal(settings.system, '@home');
  await says('/system off');
  t.equal(settings.system, undefined);
  await says('/file style.md');
  const uris = [pathToFileURL(join(folder, 'style.md')).href];
  t.strictSame(settings.attachments, [{ path: 'style.md', text: 'Be brief.\n', uris, language: 'md' }]);
  writeFileSync(join(folder, 'dot.png'), pictures.png);
  await says('/image dot.png');
  t.strictSame(settings.images, [pictures.png.toString('base64')]);
  t.equal(await says('/file'), 'With the next prompt go: style.md, one picture.');
  t.equal(await says('/image'), await says('/file'));
  // By this name Windows knows the home.
  const { HOME = '', USERPROFILE = '' } = process.env;
  Object.assign(process.env, { HOME: folder, USERPROFILE: folder });
  t.teardown(() => {
    Object.assign(process.env, { HOME, USERPROFILE });
  });
  writeFileSync(join(folder, 'my own file.md'), 'mine');
  const before = settings.attachments;
  for (const named of [
    '"my own file.md"',
    "'my own file.md'",
    'my\\ own\\ file.md',
    'my own file.md',
    '~/my own file.md',
    '"~/my own file.md"',
  ]) {
    t.match(await says(`/file ${named}`), /my own file\.md goes along with the next prompt\.$/, named);
    t.equal(settings.attachments.at(-1)?.text, 'mine', named);
  }
  settings.attachments = before;
  await t.rejects(says('/image style.md'), {
    message: 'style.md is no picture: it is a PNG, JPEG, GIF or WebP file.',
  });
  t.equal(await says('/file dot.png'), 'dot.png goes along with the next prompt.');
  await t.rejects(says('/file gone'), { message: 'gone is not there.' });
  await t.rejects(says('/file .'), { message: '. is no file.' });
  await t.rejects(says('/file -'), { message: /^Pipe it in without --file/ });
  if (process.platform !== 'win32') {
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    const [asked] = [says('/file pipe'), writeFile(join(folder, 'pipe'), 'a difference')];
    t.match(await asked, /pipe goes along/);
    t.equal(settings.attachments.at(-1)?.text, 'a difference', 'as from <(git diff)');
    settings.attachments = before;
  }
  t.notMatch(await says('/clea'), /Did you mean/, 'nothing that takes something away is suggested');
  await runSlashCommand('/clear', state);
  t.strictSame(cleared, ['yes']);
  t.match((await runSlashCommand('/modle', state)).text, /Did you mean \/model\?/);
  await runSlashCommand('/model 1', state);
  t.equal(state.model, 'a', 'by its number in the list');
  t.match((await runSlashCommand('/model 3', state)).text, /no model "3"/);
  const tagged = { ...state, models: async () => [model('wise:8b'), model('wise-old:1b')] };
  t.match((await runSlashCommand('/model wise', tagged)).text, /Now talking to wise:8b/, 'the only tag');
  const spaced = { ...state, knownTools: ['my server'] };
  t.match((await runSlashCommand('/tools my server on', spaced)).text, /tools of my server are on/);
  t.match((await runSlashCommand('/tools my server', spaced)).text, /Say "\/tools my server on"/);
  for (const name of ['constructor', '__proto__', 'home/x'])
    t.match((await runSlashCommand(`/${name}`, state)).text, /There is no command/, name);
  t.match((await runSlashCommand('/help', state)).text, /\/think/);
  t.notMatch(await says('/help'), /Prompts:/);
  listedPrompts = keptPrompts;
  t.match(
    await says('/help'),
    /\nPrompts:\n\/review FILE \[FOCUS\] +Reviews ␛\[2Jit\n\/seek\n\/git:show BRANCH\n\/here\/\.runner\/prompts has 2 prompts that/,
  );
  t.match(await says('/reviw'), /Did you mean \/review\?/);
  t.notMatch(await says('/broke'), /Did you mean/, 'one that cannot be used is not suggested');
  for (const word of ['/bye', '/exit', '/quit']) t.ok((await runSlashCommand(word, state)).leave);
});

t.test('a long turn is cut to the screen, and its styles end where it is cut', async (t) => {
  const shown = (count: number, rows: number, isScreen = false) => {
    const output = new Output(Object.assign(new PassThrough(), { rows, isTTY: isScreen }), {});
    const text = Array.from({ length: count }, (_, at) => `${at}`).join('\n');
    return fitToScreen(text, { output, id: 'x' }).split('\n');
  };
  const note = (count: number) =>
    `… ${count} ${count === 1 ? 'line' : 'lines'}, which "runner sessions show x" prints`;
  const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `${from + at}`);
  t.strictSame(shown(17, 20), numbers(0, 17));
  t.strictSame(shown(18, 20), [...numbers(0, 3), note(1), ...numbers(4, 18)]);
  t.strictSame(shown(30, 20), [...numbers(0, 3), note(13), ...numbers(16, 30)]);
  t.strictSame(shown(6, 5), numbers(0, 6), 'six lines are shown on any screen');
  t.strictSame(shown(8, 5), [...numbers(0, 3), note(2), ...numbers(5, 8)]);
  t.equal(shown(8, 5, true)[3], `\u001b[0m\u001b[2m${note(2)}\u001b[22m`);
});

t.test('which conversation a beginning of an id means', async (t) => {
  const sessions = [
    '20261122-abcaaaaa',
    '20261122-abcbbbbb',
    '20261122-abcccccc',
    '20261123-abcddddd',
    '20261123-xyzxyzxy',
  ].map((id) => ({ id, title: '', createdAt: '', updatedAt: '', turns: 1 }));
  const daemon = {
    request: async ({ method }: { readonly method: string }, { id }: { readonly id?: string }) => {
      if (method === 'runner/sessions/list') return { sessions };
      const session = sessions.find((one) => one.id === id);
      if (!session) throw Object.assign(new Error('There is none.'), { code: -32602, data: { path: 'id' } });
      return { session, messages: [] };
    },
  } as unknown as DaemonClient;
  const meant = (text: string) =>
    readSession(daemon, text).then(
      ({ session }) => session.id,
      (error: Error) => error.message,
    );
  const lists = '"runner sessions" lists them.';
  const cases: readonly (readonly [text: string, meant: string])[] = [
    ['20261123-xyzxyzxy', '20261123-xyzxyzxy'],
    ['xyz', '20261123-xyzxyzxy'],
    ['xyzxyzxy', '20261123-xyzxyzxy'],
    ['20261123-x', '20261123-xyzxyzxy'],
    ['xy', `"xy" is too short for an id. Type at least 3 characters of one; ${lists}`],
    ['yzx', `There is no conversation "yzx". ${lists}`],
    [
      'abc',
      `4 conversations begin with "abc", such as 20261122-abcaaaaa, 20261122-abcbbbbb, 20261122-abcccccc. Type more of the id. ${lists}`,
    ],
  ];
  for (const [text, want] of cases) t.equal(await meant(text), want, text);
});

t.test('which entries are commands', async (t) => {
  const commands = ['/model', '/model a', '/system\nBe brief.', '/modle', '/modle a', '/?', '/'];
  const prompts = [
    'model',
    '//etc',
    '/usr/lib/foo.py:12: error',
    '/usr/lib/foo.py:12: error\n  at line 3',
    '/Users\nhave paths',
    ' /model',
  ];
  for (const text of commands) t.ok(isSlashCommand(text), text);
  for (const text of prompts) t.notOk(isSlashCommand(text), text);
});

t.test('Tab completes slash commands, and what they take', async (t) => {
  const cwd = mkdtempSync(join(tmpdir(), 'runner-tab-'));
  t.teardown(() => rmSync(cwd, { recursive: true, force: true }));
  mkdirSync(join(cwd, 'src'));
  mkdirSync(join(cwd, 'many'));
  const many = ['e', 'b', 'h', 'a', 'g', 'd', 'c', 'f'].map((name) => `many/${name}`);
  for (const name of ['a.ts', 'src/b.ts', 'my notes.md', '.env', ...many]) writeFileSync(join(cwd, name), '');
  const state = {
    cwd,
    knownTools: ['git', 'my server'],
    models: async () => [model('wise:8b'), model('able:1b')],
    sessions: async () => [],
    product: async (): Promise<Product | undefined> => undefined,
    prompts: async () => keptPrompts,
    completeArgument: async () => ['two words', 'one'],
    completeResource: async (word: string) =>
      ['git:', 'git:memo://1', 'git:memo://a b'].filter((offered) => word !== '' && offered.startsWith(word)),
  };
  const cases: readonly (readonly [line: string, candidates: readonly string[]])[] = [
    ['/mo', ['/model ', '/mode ']],
    ['/he', ['/help']],
    ['/c', ['/context ', '/check', '/copy', '/clear']],
    ['/context ', ['auto']],
    ['/s', ['/system ', '/set ', '/sessions ', '/save ', '/stats', '/seek']],
    ['/nope', []],
    ['/nope x', []],
    ['/model wi', ['wise:8b']],
    ['/model ', ['wise:8b', 'able:1b']],
    ['/think h', ['high']],
    ['/set temp', ['temperature']],
    ['/tools ', ['git ', 'my server ']],
    ['/tools my server o', ['on', 'off']],
    ['/file s', ['src/']],
    ['/file src/', ['src/b.ts']],
    ['/file my\\ n', ['my\\ notes.md']],
    ['/file .e', ['.env']],
    ['/file ', ['a.ts', 'many/', 'my\\ notes.md', 'src/']],
    ['/file many/', many.toSorted()],
    ['/image gone/', []],
    ['/system @my', ['my notes.md']],
    ['/system o', ['off']],
    ['What does @a', ['@a.ts']],
    ['@s', ['@src/']],
    ['see @src/', ['@src/b.ts']],
    ['@my', ['@"my notes.md"']],
    ['@"my n', ['@"my notes.md"']],
    ['@gone/', []],
    ['/r', ['/resume', '/rounds ', '/retry', '/redo', '/review ']],
    ['@git:m', ['@git:memo://1', '@"git:memo://a b"']],
    ['/se', ['/set ', '/sessions ', '/seek']],
    ['/b', ['/bye']],
    ['/review ', ['file=', 'focus=']],
    ['/review fi', ['file=']],
    ['/review file=src/', ['src/b.ts']],
    ['/review file=src/b.ts f', ['focus=']],
    ['/review src/', ['src/b.ts']],
    ['/review other=src/', []],
    ['/git', ['/git:show ']],
    ['/git:show b', ['branch=']],
    ['/git:show branch=', ['"two words"', 'one']],
    ['/broken ', []],
  ];
  for (const [line, candidates] of cases)
    t.strictSame((await completeLine(line, state))?.candidates, candidates, line);
  for (const prompt of ['text', 'me@a', '@a.ts ', '\\@a'])
    t.equal(await completeLine(prompt, state), undefined, 'elsewhere in a prompt, Tab is a character');
  const failing = { ...state, models: () => Promise.reject(new Error('no runner')) };
  t.strictSame((await completeLine('/model ', failing))?.candidates, []);
  const fixed = { ...state, product: async () => 'llama.cpp' as const };
  t.strictSame(
    (await completeLine('/c', fixed))?.candidates,
    ['/check', '/copy', '/clear'],
    'its window is fixed',
  );
  t.strictSame((await completeLine('/context ', fixed))?.candidates, []);
});

t.test('a defect of the terminal says so, and its stack is kept', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'runner-defect-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const today = () => new Date('2026-11-21T12:00:00Z');
  const report = (error: unknown, state = folder) =>
    reportOf(error, { env: { XDG_STATE_HOME: state }, today });
  const defect = new TypeError('x is not a function.');
  const path = join(folder, 'runner', 'defects.log');
  t.hasStrict(report(defect), {
    kind: 'internal',
    message: `This is a defect of Runner: x is not a function. Its stack is in ${path}: please report both.`,
  });
  t.equal(readFileSync(path, 'utf8'), `2026-11-21T12:00:00.000Z ${defect.stack}\n`);
  t.ok(isModeOf(path, 0o600));
  report(defect);
  t.equal(readFileSync(path, 'utf8').split('is not a function').length, 3, 'what was there stays');
  report(new Error('y'.repeat(300_000)));
  report(defect);
  t.equal(readFileSync(path, 'utf8').split('is not a function').length, 2, 'a long file begins anew');
  for (const size of [256 * 1024, 256 * 1024 + 1]) {
    writeFileSync(path, 'z'.repeat(size));
    report(defect);
    t.equal(readFileSync(path, 'utf8').startsWith('z'), size === 256 * 1024, `${size} bytes were there`);
  }
  t.match(report(defect, '/dev/null').message, /defect of Runner: .* could not be kept/);
  const others: readonly (readonly [unknown, string])[] = [
    [new TerminalError('usage', 'Say one.'), 'Say one.'],
    [Object.assign(new Error('EACCES: no'), { syscall: 'open' }), 'EACCES: no'],
    [Object.assign(new Error('Wait.'), { data: { kind: 'busy' } }), 'Wait.'],
  ];
  for (const [error, message] of others) t.equal(report(error).message, message);
  t.strictSame(report(new TerminalError('usage', 'Say one.')), {
    kind: 'usage',
    message: 'Say one.',
    retryable: false,
  });
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
  appendHistory(join(path, 'below', 'a-file'), 'x');
  appendHistory('/proc/1/none/deep/history', 'x');
  t.pass('a folder that cannot be written is no failure');
});

t.test('a history of an earlier version moves to the state folder', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'runner-history-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const env = { HOME: folder };
  const [path, former] = [historyPath(env, 'darwin'), formerHistoryPath(env)];
  appendHistory(former, 'an old line');
  t.strictSame(readHistory(path, former), ['an old line']);
  appendHistory(path, 'a new line');
  t.strictSame(readHistory(path, former), ['a new line', 'an old line']);
  t.strictSame(readHistory(former), [], 'it has moved');
  appendHistory(former, 'of an earlier version that still runs');
  t.strictSame(readHistory(path, former), ['a new line', 'an old line'], 'what is there is not replaced');
});

t.test('a growing history takes bounded space and keeps every entry that can be recalled', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'runner-history-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'history');
  for (let n = 0; n < 5_000; n += 1) {
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
