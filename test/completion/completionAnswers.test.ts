import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import t from 'tap';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { looksSecret, secretPaths } from '../../daemon/base/filePrivacy.ts';
import { compileGlob, createExcludes } from '../../daemon/base/pathRules.ts';
import {
  cursorContextAt,
  prefixBudget,
  suffixBudget,
  type TextSource,
} from '../../daemon/completion/cursorContext.ts';
import { overlapLength } from '../../daemon/completion/filters.ts';
import { restFor } from '../../daemon/completion/pacing.ts';
import type { TextPosition } from '../../protocol/messages/messageTypes.ts';
import {
  ask,
  asksAfter,
  change,
  close,
  fillers,
  generates,
  open,
  setOptions,
  startBusy,
  textOf,
  type,
  untilReceived,
} from '../support/completing.ts';
import { startDaemonWithRunner, type Teardown } from '../support/daemonWithRunner.ts';

/** An editor with one document after another. */
async function startEditor(t: Teardown, busy?: Parameters<typeof startBusy>[1]) {
  const { runner, daemon } = await startBusy(t, busy);
  let count = 0;
  /** What a document with this cursor is after the runner's answer, and the request for it, if there was one. */
  const suggest = async (text: string, pieces: string | readonly string[], languageId = 'typescript') => {
    const uri = `file:///shop/${++count}.ts`;
    const position = await open(daemon, text, uri, languageId);
    const before = text.slice(0, text.indexOf('│'));
    runner.on('/api/generate', 1, ({ body }) => asksAfter(before)({ body })).say(pieces);
    const seen = generates(runner).length;
    const item = (await ask(daemon, position, { uri }))?.items[0];
    const replaced = item ? item.range.end.character - position.character : 0;
    await close(daemon, uri);
    const after = text.slice(before.length + 1 + replaced);
    return {
      item,
      want: item ? `${before}${item.insertText}│${after}` : text,
      body: generates(runner)[seen],
    };
  };
  return { runner, daemon, suggest };
}

/** With the document after the answer. */
const answers: readonly (readonly [
  name: string,
  text: string,
  answer: string,
  want: string,
  languageId?: string,
])[] = [
  // special tokens, and marks at the end of a turn
  ['one at the end', 'a = │', '1<|im_end|>', 'a = 1│'],
  ['one at the beginning', 'a = │', '<|fim_middle|>1', 'a = 1│'],
  ['none', 'a = │', 'b <| c |> d', 'a = b <| c |> d│'],
  ['only tokens', 'a = │\n', '<|endoftext|>', 'a = │\n'],
  ['tags are text', 'x;\n│', '<s>a</s>', 'x;\n<s>a</s>│'],
  ['several, with blanks', 'a = │', '1;\n [EOS]</s>\n', 'a = 1;│'],
  ['the tag of an element', 'x;\n│', '<s class="x">a</s>', 'x;\n<s class="x">a</s>│'],
  ['of one on the line', '<p><s>a│', ' b</s>', '<p><s>a b</s>│'],
  ['a mark alone', 'a = │', '</s>', 'a = │'],
  ['the header of ChatML', 'a = │', '<|im_start|>assistant\n1<|im_end|>', 'a = 1│'],
  ['the header of Gemma', 'a = │', '<start_of_turn>model\n1', 'a = 1│'],
  ['the header of Llama', 'a = │', '<|start_header_id|>assistant<|end_header_id|>\n\n1', 'a = 1│'],
  ['a word of a header', 'a = │', '<|fim_middle|>model.assistant', 'a = model.assistant│'],
  ['the last channel', 'a = │', '<|start|>assistant<|channel|>final<|message|>1<|return|>', 'a = 1│'],
  ['another channel', 'a = │', '<|channel|>analysis<|message|>We need 1<|end|>', 'a = │'],
  // thinking
  ['thoughts', 'a = │', '<think>\nhm\n</think>\n\n1', 'a = 1│'],
  ['a tab after thoughts', 'x;\n│', '<think>hm</think>\n\n\tgo();', 'x;\n\tgo();│'],
  ['thoughts without an end', 'a = │', '<think>hm', 'a = │'],
  ['a mention', 'a = │', '1 // <think>', 'a = 1 // <think>│'],
  ['only the close tag', 'a = │', '</think>\n\n1', 'a = 1│'],
  ['an indented line after it', 'if (a)\n│', '<think>hm</think>\n\n  return;', 'if (a)\n  return;│'],
  ['a mention inside', 'a = │', '<think>a <think> tag</think> 1', 'a = 1│'],
  ['an element of the code', 'x;\n│', '<b>\n<think>x</think>', 'x;\n<b>\n<think>x</think>│'],
  // fences
  ['a fence around', 'a = │', '```ts\n1\n```\nThat is one.', 'a = 1│'],
  ['a fence around a block', 'f {\n    │', '```ts\n    a\n    b\n```\nDone', 'f {\n    a\n    b│'],
  ['a fence before a sign', 'a = │;', '```ts\n1\n```\nDone', 'a = 1│;'],
  ['a fence at the end', 'a = │', '1\n```', 'a = 1│'],
  ['nothing between two', 'x;\n│', '```\n```\nDone', 'x;\n│'],
  ['Markdown has fences', 'x;\n│', '```ts\n1\n```', 'x;\n```ts\n1\n```│', 'markdown'],
  ['backticks in a line', 'x;\n│', 'a ```b```', 'x;\na ```b```│'],
  // what is there already
  ['a blank twice', 'a = │', ' 1', 'a = 1│'],
  ['a new line', 'a: │', '\n  1', 'a: \n  1│'],
  ['text follows', 'a = │ + c', 'b\nd', 'a = b│ + c'],
  ['all of the rest', 'f(│ + c);', 'b + c);', 'f(b│ + c);'],
  ['its beginning', 'f(│, c, d)', 'b, c', 'f(b│, c, d)'],
  ['closers of its own', 'f(│)', 'g(b)', 'f(g(b)│)'],
  ['half a word is another word', 'f(│x)', 'max', 'f(max│x)'],
  ['one line', '{\n  │\n}\n', 'a\n}', '{\n  a│\n}\n'],
  ['several lines', '{\n  │\n\n  b\n}\n', 'a\n  b\n}', '{\n  a│\n\n  b\n}\n'],
  ['another indentation', '{\n  │\n}\n', 'a {\n  }', '{\n  a {\n  }│\n}\n'],
  ['behind lines of its own', '{\n  │\n  c\n}\n', 'a\n\n  b\n  c\n}', '{\n  a\n\n  b│\n  c\n}\n'],
  ['a line that comes again later', '{\n  │\n\n  b\n  c\n}\n', 'a\n  b\n  c', '{\n  a│\n\n  b\n  c\n}\n'],
  // closers
  ['both', 'f(│)', 'g(a))', 'f(g(a)│)'],
  ['brackets in others', 'f(│)', '[g(a)])', 'f([g(a)]│)'],
  ['a blank before one', 'f( │ )', 'a)', 'f( a│ )'],
  ['several brackets', 'f({ a: [│] });', '1] });', 'f({ a: [1│] });'],
  ['a quote', "f('│')", "it')", "f('it│')"],
  ['a quote that begins the line', '"│"', 'it"', '"it│"'],
  ['an escaped quote', 'f("│")', 'it\\"s")', 'f("it\\"s│")'],
  ['an escaped quote before', 'f("\\"│")', 'a")', 'f("\\"a│")'],
  ['a quote that was closed before', 'f("a", │)', 'b)', 'f("a", b│)'],
  ['a quote that ends with its line', 'f(│)', '"a\n)', 'f("a\n│)'],
  ['one that does not', 'f(│)', '`a\n)`', 'f(`a\n)`│)'],
  ['brackets in quotes', 'f(│)', '")")', 'f(")"│)'],
  ['an apostrophe is no quote', "say(don't, │)", 'a)', "say(don't, a│)"],
  ["a string's prefix", "f(f'│')", "it')", "f(f'it│')"],
  ['brackets behind a prefix', 'f(│)', "f')')", "f(f')'│)"],
  ['over lines', 'f({│})', '\n  a,\n})', 'f({\n  a,\n│})'],
  ['closers with more after them', 'f(│)\n', 'a);', 'f(a);│\n'],
  ['of which only the last is the same', 'f([│})\n', 'a])', 'f([a])│})\n'],
  ['quotes and brackets', 'f("│")\n', 'a", b)', 'f("a", b)│\n'],
  ['a block between brackets', 'f({│});\n', '\n  a,\n});\n', 'f({\n  a,\n│});\n'],
  ['what follows is longer', 'f(│) + b;\n', 'a)', 'f(a│) + b;\n'],
  ['no hand writes more than 32', `f(│${')'.repeat(40)}`, ')'.repeat(40), `f(│${')'.repeat(40)}`],
  // blanks at the end, and what is useless
  ['lines and blanks', 'a│', ' b  \n\n', 'a b│'],
  ['before blanks', 'a│ \nc', ' b\n', 'a b│ \nc'],
  ['the place of a closer', '{│}', '\n  a\n', '{\n  a\n│}'],
  ['what follows on the line', 'a│ + b', ' + b', 'a│ + b'],
  ['what follows, with a blank', 'a │+ b', '+ b ', 'a │+ b'],
  ['what follows, after a blank', 'a =│ b', 'b', 'a =│ b'],
  ['the following line', 'a\n│\n\nb\n', 'b', 'a\n│\n\nb\n'],
  ['a closer that is missing', 'f(a│', ')', 'f(a)│'],
  ['half a character', 'a│\udd1e', '\ud834', 'a│\udd1e'],
  ['whole ones', 'a = "│"', '𝄞"', 'a = "𝄞│"'],
  // where it ends
  ['a block and its closer', 'if (a) {│', '\n  b();\n}\nc();\n', 'if (a) {\n  b();\n}│'],
  ['a further branch', 'if (a) {│', '\n  b\n} else {\n  c\n}\nd', 'if (a) {\n  b\n} else {\n  c\n}│'],
  ['a block by indentation', 'def f():│', '\n  a\n\n  b\n\nc\n', 'def f():\n  a\n\n  b│'],
  ['a line that dedents', 'f {\n    │', 'a\n    b\n  c\n', 'f {\n    a\n    b│'],
  ['a closer that dedents stays', 'f {\n    │', 'a\n}\nb\n', 'f {\n    a\n}│'],
  ['a word that closes', 'if a\n    │', 'b\nfi\nc\n', 'if a\n    b\nfi│'],
  ['tabs', 'f {\n\t│', 'a\n\tb\n}\n', 'f {\n\ta\n\tb\n}│'],
  ['a tab is as wide as four blanks', 'f {\n\t│', 'a\n    b\n   c\n', 'f {\n\ta\n    b│'],
  ['the indentation of the answer', 'def f():\n│', '    a\n    b\nc\n', 'def f():\n    a\n    b│'],
  ['that of the cursor', 'f {\n    │', '\n    a\n  b\n', 'f {\n    \n    a│'],
  ['the next line of the text', 'a\n│\n\nlast()\n', 'b\nlast()\nc\n', 'a\nb│\n\nlast()\n'],
  ['the next but one is no such line', 'a\n│\nb\nc\n', 'd\nc\ne\n', 'a\nd\nc\ne│\nb\nc\n'],
  ['a repeated line', 'x;\n│', 'a();\na();\nb();\n', 'x;\na();│'],
  ['closers may repeat themselves', 'x;\n│', ']\n]\nb\n', 'x;\n]\n]\nb│'],
  ['lines that repeat in pairs', 'x;\n│', 'a\nb\na\nb\nc\n', 'x;\na\nb\na│'],
  ['lines that repeat in part', 'x;\n│', 'a\nb\na\nc\n', 'x;\na\nb\na\nc│'],
  ['pairs with closers', 'x;\n│', 'a\n]\na\n]\nb\n', 'x;\na\n]\na│'],
  ['by threes', 'x;\n│', 'a\nb\nc\na\nb\nc\n', 'x;\na\nb\nc\na\nb│'],
  ['CRLF', 'if (a) {│\r\n}', '\r\n  b\r\n}\r\n', 'if (a) {\r\n  b│\r\n}'],
];

t.test('what of an answer is suggested', async (t) => {
  const { suggest } = await startEditor(t);
  for (const [name, text, answer, want, languageId] of answers)
    t.equal((await suggest(text, [...answer], languageId)).want, want, name);
  const endless = await suggest('f(│', [`${'x'.repeat(999_999)}`]);
  t.equal(endless.item?.insertText.length, 16_000, 'no more than is useful');
});

t.test('an answer that the runner cut', async (t) => {
  const { runner, daemon } = await startBusy(t);
  const position = await open(daemon, 'f(│');
  for (const [response, want] of [
    ['a,\n  b,\n  c', 'a,\n  b,'],
    [' \n\n  b', ' \n\n  b'],
  ]) {
    const last = { model: 'filler', response: '', done: true, done_reason: 'length' };
    runner.on('/api/generate').rawLines([{ model: 'filler', response, done: false }, last]);
    t.equal(textOf(await ask(daemon, position)), want, 'without its last line, unless it is the only one');
    await close(daemon);
    await open(daemon, 'f(│');
  }
  runner.on('/api/generate').say(['a,\n', '  b']);
  t.equal(textOf(await ask(daemon, position)), 'a,\n  b', 'a last line needs no line end');
});

/** Pieces that mean something to the daemon, so that random texts reach its corners. */
const fragment = fc.constantFrom(
  ...[
    '\n',
    '\r\n',
    '\r',
    ' ',
    '    ',
    '\t',
    'a',
    'return ',
    'x = ',
    '😀',
    'e\u0301',
    '👩\u200D👧',
    '𝄞',
    '\\',
  ],
  ...['(', ')', '[', ']', '{', '}', '"', "'", '`', ';', ',', ':', '//', '#', '```', '```ts', '<|endoftext|>'],
  ...['<|', '|>', '<fim_', '<think>', '</think>', 'else', 'end', '} else {'],
);
const text = fc.array(fragment, { maxLength: 40 }).map((parts) => parts.join(''));

t.test('an answer is read in the same way, however it is split', async (t) => {
  const { suggest } = await startEditor(t);
  await fc.assert(
    fc.asyncProperty(text, text, fc.integer({ min: 1, max: 9 }), async (before, answer, size) => {
      const place = `x;${before}│\nlast`;
      const pieces = Array.from({ length: Math.ceil(answer.length / size) }, (_, index) =>
        answer.slice(index * size, (index + 1) * size),
      );
      return (await suggest(place, [answer])).want === (await suggest(place, pieces)).want;
    }),
    { numRuns: 60 },
  );
});

/** What an editor does before it asks: the places are looked for in the text as it is then. */
const step = fc.record({
  from: fc.nat(200),
  length: fc.nat(12),
  text,
  line: fc.nat(20),
  character: fc.nat(30),
  isAtEdit: fc.boolean(),
  answer: fc.array(fragment, { maxLength: 20 }),
  ending: fc.constantFrom(undefined, 'cut' as const),
});

t.test('no suggestion changes the rest of the document, whatever is edited and answered', async (t) => {
  let shown = 0;
  for (const model of ['filler', 'qwen2.5-coder:1b']) {
    const { runner, daemon } = await startBusy(t, { options: { completionModel: model } });
    let count = 0;
    await fc.assert(
      fc.asyncProperty(text, fc.array(step, { maxLength: 8 }), async (first, steps) => {
        const uri = `file:///shop/${++count}.ts`;
        const document = TextDocument.create(uri, 'typescript', 0, first);
        await open(daemon, `${first}│`, uri);
        for (const [at, { from, length, text: newText, answer, ending, ...asked }] of steps.entries()) {
          const range = { start: document.positionAt(from), end: document.positionAt(from + length) };
          TextDocument.update(document, [{ range, text: newText }], at + 2);
          await change(daemon, `│${document.getText()}`, at + 2, uri);
          const { line, character } = asked.isAtEdit ? document.positionAt(from + newText.length) : asked;
          const place = document.offsetAt({ line, character });
          const seen = generates(runner).length;
          runner.on('/api/generate').say(answer, ending ? { ending } : {});
          const [item] = (await ask(daemon, { line, character }, { uri }))?.items ?? [];
          const body = generates(runner)[seen];
          const [before, after] = [document.getText().slice(0, place), document.getText().slice(place)];
          if (body && model === 'filler')
            t.strictSame([body.prompt, body.suffix], [before, after || '\n'], 'it sends all of a short text');
          if (!item) continue;
          shown += 1;
          const broken = brokenBy(item, document, { line, character });
          if (broken.length > 0) throw new Error(broken.join('; '));
        }
        await close(daemon, uri);
      }),
      { numRuns: 50 },
    );
  }
  t.ok(shown > 40, `${shown} suggestions`);
});

type Item = NonNullable<Awaited<ReturnType<typeof ask>>>['items'][number];

/** What an item breaks; nothing, if all is well. */
function brokenBy({ insertText, range }: Item, document: TextDocument, position: TextPosition) {
  const whole = document.getText();
  const [from, to] = [document.offsetAt(range.start), document.offsetAt(range.end)];
  const [prefix, replaced, suffix] = [whole.slice(0, from), whole.slice(from, to), whole.slice(to)];
  const after = TextDocument.applyEdits(document, [{ range, newText: insertText }]);
  const rules = {
    'what stands before and after stays': after === prefix + insertText + suffix,
    'it begins at the cursor': from === document.offsetAt(position),
    'it says something': insertText.trim() !== '',
    'no pair is torn': isWellFormed(insertText) && (isWellFormed(after) || !isWellFormed(whole)),
    'only closers are replaced': /^[)\]}>"'`;,:\s]*$/.test(replaced),
    'they are in what replaces them': holdsInOrder(insertText, replaced.replace(/[^)\]}"'`]/g, '')),
  };
  return Object.entries(rules).flatMap(([rule, holds]) => (holds ? [] : [rule]));
}

function isWellFormed(value: string): boolean {
  return Buffer.from(value).toString() === value;
}

function holdsInOrder(text: string, characters: string): boolean {
  let at = 0;
  for (const character of characters) at = text.indexOf(character, at) + 1 || Number.POSITIVE_INFINITY;
  return at <= text.length;
}

t.test('several lines are asked for where they have room, and one in a comment', async (t) => {
  const { suggest } = await startEditor(t);
  const several = 128;
  const cases: readonly (readonly [text: string, want: number, languages?: string])[] = [
    ['function f() {│}', several],
    ['function f() {│', several],
    ['foo(a, │);', several],
    ['x = │ + 1', 32],
    ['  // what comes │', 32, 'typescript c php unknown'],
    ['# │', 32, 'python shellscript Modelfile php'],
    ['# │', several, 'markdown html json c'],
    ['-- │', 32, 'lua sql'],
    ['// │', several, 'python'],
    ['; │', 32, 'lisp ini'],
    ['% │', 32, 'latex matlab'],
    ["' │", 32, 'vb'],
    ['" │', 32, 'vim'],
    ['! │', 32, 'fortran'],
  ];
  for (const [text, want, languages = 'typescript'] of cases)
    for (const language of languages.split(' '))
      t.equal((await suggest(text, '1', language)).body?.options.num_predict, want, `${text} in ${language}`);
});

t.test('what follows an accepted suggestion', async (t) => {
  const { runner, daemon } = await startBusy(t);
  const cases: readonly (readonly [
    text: string,
    answer: string,
    want: string | null,
    wanted: number,
    languageId?: string,
  ])[] = [
    ['// Adds.│\n', '\nadd() {\n  a\n}\n\nb\n', '\nadd() {\n  a\n}', 128],
    ['// Adds.│\n', '\n\nadd();\n\nb\n', '\n\nadd();', 128],
    ['  // Adds.│\n}\n', '\n  add();\n}\nb\n', '\n  add();', 128],
    ['// Adds│\n', ' up.\n// All.\nadd();\n', ' up.\n// All.\nadd();', 128],
    ['// Adds.│\nadd() {\n', '\nfirst();\nadd() {\n  a\n', '\nfirst();', 128],
    ['# what comes│', '\nx', '\nx', 128, 'python'],
    ['-- what comes│ after', ' b\nc', ' b', 32, 'lua'],
    ['x = y│ + 1', ' * 2\nz', ' * 2', 32],
    ['f(a│)', ',\n  b', ',\n  b', 128],
  ];
  for (const [index, [text, answer, want, wanted, languageId]] of cases.entries()) {
    const uri = `file:///shop/${index}.ts`;
    const at = text.indexOf('│');
    // Its last character is the suggestion that is accepted.
    const shown = text.slice(at - 1, at);
    const position = await open(daemon, `${text.slice(0, at - 1)}│${text.slice(at + 1)}`, uri, languageId);
    runner.on('/api/generate').say(shown);
    t.equal(textOf(await ask(daemon, position, { uri })), shown);
    runner.on('/api/generate').say([...answer]);
    const next = await type(daemon, position, shown, { version: 2, uri });
    t.equal(textOf(await ask(daemon, next, { uri })), want, text);
    t.equal(generates(runner).at(-1)?.options.num_predict, wanted, text);
    await close(daemon, uri);
  }
});

t.test('where a suggestion ends is known until another one is accepted, for each document', async (t) => {
  const { runner, daemon } = await startBusy(t);
  const other = 'file:///shop/other.ts';
  const [start, there] = [await open(daemon, '// │\n'), await open(daemon, '// │\n', other)];
  runner.on('/api/generate', 2).say('One');
  const first = await ask(daemon, start);
  await ask(daemon, there, { uri: other });
  const wanted = async (position: TextPosition, uri?: string) => {
    runner.on('/api/generate').say('');
    await ask(daemon, position, uri === undefined ? {} : { uri });
    return generates(runner).at(-1)?.options.num_predict;
  };
  const at = await type(daemon, start, 'One', { version: 2 });
  t.equal(await wanted(at), 32, 'another one was shown since');
  const { command, arguments: given } = first?.items[0]?.command ?? {};
  await daemon.connection.sendRequest('workspace/executeCommand', { command, arguments: given });
  t.equal(await wanted(at), 128, 'it was accepted');
  t.equal(await wanted(await type(daemon, there, 'One', { version: 2, uri: other }), other), 128);
});

t.test('places that are not worth a request', async (t) => {
  const { daemon, runner } = await startBusy(t);
  const cases: readonly { text: string; want?: RegExp; invoked?: RegExp | null }[] = [
    { text: 'const a = │' },
    { text: 'foo("│")});' },
    { text: '│', want: /nothing around/ },
    { text: ' \n│\t\n', want: /nothing around/ },
    { text: '│a' },
    { text: 'con│st', want: /word/ },
    { text: 'é│é', want: /word/ },
    { text: '𝒶│𝒷', want: /word/ },
    { text: 'a1│_', want: /word/ },
    { text: 'x = │12345678' },
    { text: 'x = │ 123 456 789)', want: /too much/, invoked: null },
    { text: 'x(│ 123 456 7);)]}>"`,: \t)))' },
    { text: 'e│\u0301', want: /character/ },
    { text: 'a\u200d│b', want: /character/ },
    { text: '\uD83D│\uDE00', want: /character/ },
  ];
  const why = async (text: string, triggerKind: number) => {
    const position = await open(daemon, text);
    const seen = generates(runner).length;
    runner.on('/api/generate').say('');
    await ask(daemon, position, { triggerKind });
    await close(daemon);
    return generates(runner).length > seen ? 'asked' : daemon.logs.at(-1)?.message;
  };
  for (const { text, want = /asked/, invoked = want } of cases) {
    t.match(await why(text, 2), want, text);
    t.match(await why(text, 1), invoked ?? /asked/, text);
  }
});

t.test('each family of models is asked in its own way', async (t) => {
  const start = '<fim_prefix>P<fim_suffix>S<fim_middle>';
  const qwen = '<|fim_prefix|>P<|fim_suffix|>S<|fim_middle|>';
  const stops = {
    star: '<fim_prefix> <fim_suffix> <fim_middle> <|endoftext|> <file_sep> <repo_name>',
    qwen: '<|fim_prefix|> <|fim_suffix|> <|fim_middle|> <|endoftext|> <|fim_pad|> <|repo_name|> <|file_sep|> <|im_start|> <|im_end|>',
    deepseek: '<｜fim▁begin｜> <｜fim▁hole｜> <｜fim▁end｜> <｜end▁of▁sentence｜> <|EOT|>',
    gemma: '<|fim_prefix|> <|fim_suffix|> <|fim_middle|> <|file_separator|> <end_of_turn> <eos>',
    geex: '<|code_suffix|> <|code_prefix|> <|code_middle|> <|endoftext|> <|user|> <|assistant|>',
  };
  /** Of a model that does not insert by itself: the prompt, and what ends an answer. */
  const cases: readonly (readonly [models: string, prompt: string | undefined, stops?: string])[] = [
    ['qwen2.5-coder:1.5b-base qwen3-coder hf.co/someone/Qwen2.5-Coder-7B-GGUF:Q4_K_M', qwen, stops.qwen],
    ['codegemma:2b', '<|fim_suffix|>S<|fim_prefix|>P<|fim_middle|>', stops.gemma],
    ['starcoder2:3b', '<fim_prefix><fim_suffix>S<fim_middle>P', stops.star],
    ['stable-code granite-code:8b codeqwen', start, stops.star],
    ['codellama:7b-code', '<PRE> <SUF>S <MID> P', '<PRE> <SUF> <MID> <EOT>'],
    ['deepseek-coder:6.7b deepseek-coder-v2', '<｜fim▁begin｜>P<｜fim▁hole｜>S<｜fim▁end｜>', stops.deepseek],
    ['codestral', '[SUFFIX]S[PREFIX]P', '[PREFIX] [SUFFIX] [MIDDLE] </s>'],
    ['codegeex4', '<|code_suffix|>S<|code_prefix|>P<|code_middle|>', stops.geex],
    ['llama3.2 coder/llama3', undefined],
  ];
  const names = cases.flatMap(([names]) => names.split(' '));
  const inserting = ['any-insert', 'qwen2.5-coder:7b'];
  const models = [
    ...names.map((name) => ({ name, capabilities: ['completion'] as const })),
    ...inserting.map((name) => ({ name, capabilities: ['completion', 'insert'] as const })),
  ];
  const { runner, daemon } = await startBusy(t, { models });
  const bodyOf = async (completionModel: string) => {
    await setOptions(daemon, { completionModel, keepAlive: '300', contextLength: 99 });
    const position = await open(daemon, 'P = │, S\n');
    const seen = generates(runner).length;
    runner.on('/api/generate').say('1');
    await ask(daemon, position);
    await close(daemon);
    return generates(runner)[seen];
  };
  for (const [names, prompt, stop] of cases)
    for (const name of names.split(' ')) {
      const body = await bodyOf(name);
      if (prompt === undefined) t.equal(body, undefined, name);
      else
        t.strictSame(
          [body?.prompt, body?.options.stop, body?.raw, body?.keep_alive, body?.options.num_ctx],
          [prompt.replace(/\bS\b/, ', S\n').replace(/\bP\b/, 'P = '), stop?.split(' '), true, 300, 99],
          name,
        );
    }
  for (const name of inserting) {
    const body = await bodyOf(name);
    t.match(body, { prompt: 'P = ', suffix: ', S\n' }, `${name} is asked by its own template`);
    t.notHas(body, { raw: true });
  }
});

t.test('what is typed of a suggestion leaves its rest, and anything else is asked anew', async (t) => {
  const { runner, daemon } = await startBusy(t);
  const long = 'x = 1;\n'.repeat(2_000);
  /** The rest that is shown without a request; undefined if there is one. */
  const cases: readonly (readonly [name: string, before: string, now: string, rest: string | undefined])[] = [
    ['nothing', 'a = │\n', 'a = │\n', 'one + two'],
    ['a word', 'a = │\nb', 'a = one│\nb', ' + two'],
    ['at the end', 'a = │', 'a = o│', 'ne + two'],
    ['all of it', 'a = │\n', 'a = one + two│\n', undefined],
    ['erased', 'a = 1│', 'a = │', undefined],
    ['another word', 'a = │\n', 'a = x│\n', undefined],
    ['another place', 'a = │\nb = 1\n', 'a = \nb = │1\n', undefined],
    ['before it', 'a = │\n', 'b = one│\n', undefined],
    ['after it', 'a = │\n', 'a = one│ + 2\n', undefined],
    ['an editor that closes', 'f│\n', 'f(│)\n', 'one)'],
    ['an editor that closes before much', `f│\n${long}`, `f(│)\n${long}`, 'one)'],
    ['an editor that closes twice', 'g│\n', 'g([│])\n', 'one])'],
    ['an editor that closes at the end', 'f│', 'f(│)', 'one)'],
    ['budgets that move on', `${long}a = │;\n${long}`, `${long}a = one│;\n${long}`, ' + two'],
  ];
  for (const [index, [name, before, now, rest]] of cases.entries()) {
    const uri = `file:///shop/${index}.ts`;
    const start = await open(daemon, before, uri);
    const answer = before.startsWith('g') ? '([one])' : before.startsWith('f') ? '(one)' : 'one + two';
    runner.on('/api/generate').say(answer);
    t.equal(textOf(await ask(daemon, start, { uri })), answer, name);
    const position = await change(daemon, now, 2, uri);
    const seen = generates(runner).length;
    const list = await ask(daemon, position, { uri });
    t.equal(generates(runner).length - seen, rest === undefined ? 1 : 0, name);
    if (rest !== undefined) t.equal(textOf(list), rest, name);
    await close(daemon, uri);
  }
});

t.test('a hundred suggestions are remembered, and their acceptance is counted', async (t) => {
  const { runner, daemon } = await startBusy(t);
  const suggestedAt = async (name: string) => {
    const uri = `file:///shop/${name}.ts`;
    runner.on('/api/generate', 1, asksAfter(`a${name} = `)).say('1;');
    return ask(daemon, await open(daemon, `a${name} = │\n`, uri), { uri });
  };
  const lists = [await suggestedAt('0')];
  for (let count = 1; count < 100; count += 1) lists.push(await suggestedAt(String(count)));
  const seen = generates(runner).length;
  const uri = 'file:///shop/0.ts';
  const again = () => ask(daemon, { line: 0, character: 5 }, { uri });
  t.equal(textOf(await again()), '1;');
  t.equal(generates(runner).length, seen, 'the first of a hundred');
  const late = await suggestedAt('late');
  runner.on('/api/generate', 1, asksAfter('a0 = ')).say('2;');
  t.equal(textOf(await again()), '2;', 'and no more');
  const accept = async (list: (typeof lists)[number]) => {
    const { command, arguments: given } = list?.items[0]?.command ?? {};
    await daemon.connection.sendRequest('workspace/executeCommand', { command, arguments: given });
    return daemon.logs.at(-1)?.message;
  };
  t.equal(await accept(lists[0] ?? null), '0 of 103 suggestions were accepted.', 'it was shown long ago');
  for (const list of [late, late]) t.equal(await accept(list), '1 of 103 suggestions were accepted.', 'once');
});

t.test('the item that is selected in the editor’s list is taken to be inserted', async (t) => {
  const { runner, daemon } = await startBusy(t);
  const cases: readonly {
    name: string;
    text: string;
    /** Characters of the line. */
    range: readonly [from: number, to: number];
    selected: string;
    /** What is sent before the cursor and after it. */
    want?: readonly [string, string];
  }[] = [
    {
      name: 'a word goes on',
      text: 'a\ncons│;',
      range: [0, 4],
      selected: 'console',
      want: ['a\nconsole', ';'],
    },
    {
      name: 'another word',
      text: 'x = csl│',
      range: [4, 7],
      selected: 'console',
      want: ['x = console', '\n'],
    },
    {
      name: 'what follows is replaced',
      text: 'f(│ab)',
      range: [2, 4],
      selected: 'abc',
      want: ['f(abc', ')'],
    },
    { name: 'nothing is typed yet', text: 'a.│\n', range: [2, 2], selected: 'b', want: ['a.b', '\n'] },
    { name: 'lines', text: 'if│;', range: [0, 2], selected: 'if (a) {\n  b', want: ['if (a) {\n  b', ';'] },
    { name: 'pairs', text: '"😀"; a│', range: [6, 7], selected: 'a😀', want: ['"😀"; a😀', '\n'] },
    { name: 'before the cursor', text: 'ab cd│', range: [0, 2], selected: 'abc' },
    { name: 'behind the cursor', text: '│ab cd', range: [3, 5], selected: 'abc' },
  ];
  for (const { name, text, range, selected, want } of cases) {
    const position = await open(daemon, text);
    const [start, end] = range.map((character) => ({ ...position, character }));
    if (!start || !end) throw new Error('There is no range.');
    const seen = generates(runner).length;
    runner.on('/api/generate').say('');
    await ask(daemon, position, { selected: { range: { start, end }, text: selected } });
    const body = generates(runner)[seen];
    t.strictSame(body && [body.prompt, body.suffix], want, name);
    await close(daemon);
  }
  const end = await open(daemon, 'a\nb│\n');
  const seen = generates(runner).length;
  const over = { range: { start: { line: 0, character: 0 }, end }, text: 'x' };
  t.equal(await ask(daemon, end, { selected: over }), null);
  t.equal(generates(runner).length, seen, 'over lines');
});

t.test('a request ahead is for the document with the suggestion', async (t) => {
  const { runner, daemon } = await startDaemonWithRunner(
    t,
    { completionModel: 'filler' },
    { standIn: { models: fillers } },
  );
  for (const [text, answer, want] of [
    ['a = │\n', '1;', ['a = 1;', '\n']],
    ['f {│\n}\n', '\n  x;\n  y;', ['f {\n  x;\n  y;', '\n}\n']],
    ['f(│)\n', 'a);', ['f(a);', '\n']],
  ] as const) {
    const position = await open(daemon, text);
    runner.on('/api/generate').say(answer);
    runner.on('/api/generate').hang();
    await ask(daemon, position);
    const { body } = await runner.waitFor(asksAfter(want[0]));
    t.match(body, { prompt: want[0], suffix: want[1] }, text);
    await close(daemon);
  }
});

t.test('which text of other files is sent', async (t) => {
  const { runner, daemon } = await startBusy(t);
  const at = (name: string) => `file:///home/me/src/${name}`;
  const promptAt = async (uri: string, position: TextPosition) => {
    const seen = generates(runner).length;
    runner.on('/api/generate').say('');
    await ask(daemon, position, { uri });
    return generates(runner)[seen]?.prompt ?? '';
  };
  const namesIn = (prompt: string) => [...prompt.matchAll(/^\S+ (src\/\w)$/gm)].map(([, name]) => name);
  for (const name of 'abcde') await open(daemon, `${name}();\n│`, at(name));
  const end = { line: 1, character: 0 };
  const first = await promptAt(at('a'), end);
  t.ok(first.startsWith('// src/c\n// c();\n//\n// src/d\n// d();\n//\n// src/e\n// e();\n\n'), first);
  await change(daemon, 'b2();\n│', 2, at('b'));
  t.strictSame(namesIn(await promptAt(at('a'), end)), ['src/c', 'src/d', 'src/e'], 'they stay');
  await setOptions(daemon, { completionModel: 'filler', exclude: ['**/d'] });
  t.strictSame(namesIn(await promptAt(at('a'), end)), ['src/c', 'src/e', 'src/b'], 'with other settings');
  t.strictSame(namesIn(await promptAt(at('b'), end)), ['src/a', 'src/c', 'src/e'], 'in another file');
  await close(daemon, at('c'));
  t.strictSame(namesIn(await promptAt(at('b'), end)), ['src/a', 'src/e'], 'what is closed is not sent');
  await open(daemon, ' \n│', at('c'));
  t.strictSame(namesIn(await promptAt(at('a'), end)), ['src/e', 'src/b'], 'a blank one says nothing');
  for (const name of 'abcde') await close(daemon, at(name));

  for (const [uri, name] of [
    ['file:///home/me/a//b?c/d#e', 'a/b'],
    ['file:///a', 'a'],
    ['file://host/a', 'a'],
    ['file:///%C3%BC/%', 'ü/%'],
    ['untitled:Untitled-1', 'Untitled-1'],
  ] as const) {
    await open(daemon, 'x│', uri);
    const position = await open(daemon, 'y = │');
    t.equal((await promptAt('file:///shop/sum.ts', position)).split('\n')[0], `// ${name}`, uri);
    for (const one of [uri, undefined]) await close(daemon, one);
  }

  /** Of a file in which somebody asked at this line. */
  const quoteOf = async (text: string, line: number) => {
    await open(daemon, `${text}│`, at('x'));
    await promptAt(at('x'), { line, character: 0 });
    const position = await open(daemon, 'y = │');
    const prompt = await promptAt('file:///shop/sum.ts', position);
    for (const uri of [at('x'), undefined]) await close(daemon, uri);
    return prompt.split('\n').slice(1, -2);
  };
  const numbered = Array.from({ length: 12 }, (_, index) => `(line${index})`).join('\n');
  t.strictSame((await quoteOf(numbered, 9))[0], '// (line3)', 'six lines before the last cursor');
  t.strictSame((await quoteOf(numbered, 5))[0], '// (line0)');
  t.equal((await quoteOf('x'.repeat(699), 0))[0]?.length, 702, 'all of it');
  t.strictSame(await quoteOf('a\r\nb', 0), ['// a', '// b']);
  t.strictSame(await quoteOf(`y\n${'x'.repeat(698)}`, 0), ['// y'], 'whole lines');
  t.strictSame(await quoteOf(`${'x'.repeat(697)}\r\nyy`, 0), [`// ${'x'.repeat(697)}`]);

  const twenty = Array.from({ length: 20 }, (_, index) => `(line${index})`).join('\n');
  for (let count = 0; count < 200; count += 1) {
    await open(daemon, `${twenty}│`, `file:///${count}`);
    await promptAt(`file:///${count}`, { line: 16, character: 0 });
  }
  for (const count of [1, 0]) {
    await change(daemon, `${twenty}│`, 2, `file:///${count}`);
  }
  const quotes = await promptAt('file:///shop/none.ts', await open(daemon, 'z = │', 'file:///shop/none.ts'));
  t.match(quotes, /1\n\/\/ \(line10\)\n.*0\n\/\/ \(line0\)\n/s, 'the last cursor of two hundred files');
});

t.test('how long the user must pause', async (t) => {
  const even = (gap: number) => Array.from({ length: 12 }, () => gap);
  const cases: readonly { name: string; gaps: readonly number[]; latency?: number; want: number }[] = [
    { name: 'nothing is known', gaps: [], want: 150 },
    { name: 'too few gaps make no habit', gaps: [60, 60, 60], want: 150 },
    { name: 'four do', gaps: [90, 90, 90, 90], want: 120 },
    { name: 'as most people type', gaps: even(180), want: 240 },
    { name: 'one key at a time', gaps: even(700), want: 400 },
    { name: 'a key that is held', gaps: even(33), want: 75 },
    { name: 'the slower quarter counts for nothing', gaps: [...even(90).slice(3), 900, 950, 990], want: 120 },
    { name: 'in any order', gaps: [300, 60, 90, 120], want: 160 },
    { name: 'a fast model', gaps: even(90), latency: 100, want: 130 },
    { name: 'a slow model', gaps: even(90), latency: 800, want: 200 },
    { name: 'a very slow model', gaps: even(90), latency: 60_000, want: 220 },
    { name: 'never longer', gaps: even(380), latency: 1_000, want: 400 },
  ];
  for (const { name, want, ...pace } of cases) t.equal(restFor(pace), want, name);
  fc.assert(
    fc.property(fc.array(fc.nat(5_000)), fc.option(fc.nat(), { nil: undefined }), (gaps, latency) => {
      const rest = restFor({ gaps, latency });
      return rest >= 75 && rest <= 400;
    }),
  );
});

t.test('a slow model is asked a little later', async (t) => {
  let clock = 1_000;
  const waits: number[] = [];
  const pair = { now: () => clock, wait: async (milliseconds: number) => void waits.push(milliseconds) };
  const { runner, daemon } = await startBusy(t, { pair });
  let count = 0;
  /** The pause before an answer whose pieces come so much later each. */
  const pauseFor = async (...pieces: readonly (readonly [after: number, text: string])[]) => {
    const uri = `file:///shop/${++count}.ts`;
    const position = await open(daemon, 'a = │\n', uri);
    runner.on('/api/generate').answer({
      kind: 'speech',
      async *pieces() {
        for (const [after, text] of pieces) {
          clock += after;
          // It is read before the clock goes on.
          const isRead = untilReceived(text);
          yield { kind: 'text', text };
          await isRead;
        }
      },
    });
    clock += 5_000;
    waits.length = 0;
    await ask(daemon, position, { uri, triggerKind: 2 });
    await close(daemon, uri);
    return waits.find((milliseconds) => milliseconds < 1_000);
  };
  t.equal(await pauseFor([100, 'a {'], [50, 'b\n'], [500, 'd']), 150, 'nothing is known');
  t.equal(await pauseFor([200, '1']), 165, 'the time to the first line of several');
  t.equal(await pauseFor([200, '1']), 170, 'to the end where it is one line');
  t.equal(await pauseFor([9_000, '1']), 170);
  t.equal(await pauseFor([300, '1']), 170, 'a model that had to be loaded counts little');
  t.equal(await pauseFor([300, '1']), 170);
  t.equal(await pauseFor([300, '1']), 180, 'the oldest of six no longer counts');
});

t.test('no more of a document is read than the budgets allow', async (t) => {
  const document = TextDocument.create('file:///a', 'x', 1, 'let a = 1;\n'.repeat(50_000));
  let read = 0;
  const counted: TextSource = {
    languageId: 'x',
    offsetAt: (position) => document.offsetAt(position),
    positionAt: (offset) => document.positionAt(offset),
    getText(range) {
      const text = document.getText(range);
      read += text.length;
      return text;
    },
  };
  cursorContextAt(counted, { line: 25_000, character: 4 });
  t.ok(read <= prefixBudget + suffixBudget, `${read} characters`);
  t.strictSame([prefixBudget, suffixBudget], [6_000, 1_200], 'as docs/COMPLETION.md says');
});

t.test('overlaps are the longest, and found in linear work', async (t) => {
  t.equal(overlapLength('xaabaab', 'aabaaac'), 3);
  const similar = fc.stringMatching(/^[ab]{0,12}$/);
  fc.assert(
    fc.property(similar, similar, (one, other) => {
      const lengths = Array.from({ length: other.length + 1 }, (_, length) => length);
      const longest = lengths.findLast((length) => one.endsWith(other.slice(0, length)));
      return overlapLength(one, other) === longest;
    }),
  );
  const worst = (size: number) =>
    countReads((counting) => {
      overlapLength(counting('a'.repeat(size)), counting(`${'a'.repeat(size - 1)}b`));
    });
  t.ok(worst(4_000) < 2.5 * worst(2_000), `${worst(2_000)} and ${worst(4_000)} reads`);
});

/** Reads of characters, which grow with the work that is done. */
function countReads(work: (counting: (text: string) => ArrayLike<string>) => void): number {
  let reads = 0;
  work(
    (value) =>
      new Proxy([...value], {
        get(target, key) {
          if (typeof key === 'string' && key !== 'length') reads += 1;
          return Reflect.get(target, key);
        },
      }),
  );
  return reads;
}

t.test('globs', async (t) => {
  const cases: readonly { glob: string; yes: readonly string[]; no: readonly string[] }[] = [
    { glob: '*.log', yes: ['/a/b.log', '/A/B.LOG', '/x.log/y'], no: ['/a/b.logs', '/a/log'] },
    { glob: 'build', yes: ['/w/build/a.js', '/build'], no: ['/w/builds/a'] },
    { glob: 'build/', yes: ['/w/build/a.js'], no: ['/w/a'] },
    { glob: '/build/**', yes: ['/w/build/a/b', '/build/a'], no: ['/w/abuild/a'] },
    { glob: '**/secret/**', yes: ['/w/secret/a', '/secret/b/c'], no: ['/w/secrets/a'] },
    { glob: 'a/**/z', yes: ['/a/z', '/a/b/c/z'], no: ['/az', '/a/bz'] },
    { glob: 'src/*.ts', yes: ['/w/src/a.ts'], no: ['/w/src/b/a.ts', '/w/src/a.tsx'] },
    { glob: '**/*.{js,{m,c}js}', yes: ['/a.js', '/b/a.mjs', '/a.cjs'], no: ['/a.ts', '/a.js.map'] },
    { glob: '?.[a-c]!', yes: ['/x.a!'], no: ['/xx.a!', '/x.d!'] },
    { glob: '[!a]x', yes: ['/bx'], no: ['/ax'] },
    { glob: '[a-cx-]', yes: ['/a', '/c', '/x', '/-'], no: ['/d', '/['] },
    { glob: 'a[!-]b', yes: ['/axb'], no: ['/a-b', '/a/b', '/ab'] },
    { glob: '[a]x', yes: ['/ax'], no: ['/bx', '/[a]x'] },
    { glob: '[^a]x', yes: ['/bx'], no: ['/ax'] },
    { glob: '[c-a]', yes: ['/a', '/c'], no: ['/b', '/-'] },
    { glob: '[]a]', yes: ['/]', '/a'], no: ['/[', '/b'] },
    { glob: '[]', yes: ['/[]'], no: ['/[', '/]'] },
    { glob: '[', yes: ['/['], no: ['/a'] },
    { glob: '{a', yes: ['/{a'], no: ['/a'] },
    { glob: 'a}', yes: ['/a}'], no: ['/a'] },
    { glob: '{a,{b}', yes: ['/a', '/b'], no: ['/{a,b'] },
    { glob: 'x{,s}', yes: ['/x', '/xs'], no: ['/xx'] },
    { glob: '{a/b,c}/d', yes: ['/a/b/d', '/c/d'], no: ['/a/d', '/b/d/c'] },
    { glob: './a//', yes: ['/a', '/a/b'], no: ['/b'] },
    { glob: 'a***b', yes: ['/ab', '/a/x/b'], no: ['/a'] },
    { glob: 'a**b', yes: ['/a/b', '/axb'], no: ['/a/c'] },
    { glob: '?', yes: ['/😀', '/a'], no: ['/ab', '/'] },
    { glob: 'C:\\work\\**', yes: ['c:\\Work\\a.ts', '/c:/work/a'], no: ['d:\\work\\a'] },
    { glob: ' ', yes: [], no: ['/a', ''] },
  ];
  for (const { glob, yes, no } of cases) {
    const excludes = createExcludes([glob]);
    for (const path of yes) t.ok(excludes(path), `${glob} excludes ${path}`);
    for (const path of no) t.notOk(excludes(path), `${glob} leaves ${path}`);
  }
});

t.test('files that look like secrets', async (t) => {
  const page = await readFile('docs/PROTOCOL.md', 'utf8');
  for (const path of secretPaths) t.ok(page.includes(`\`${path}\``), `the page names ${path}`);
  for (const path of [
    ...[
      '/a/.env',
      '.ENV.local',
      'prod.env',
      'k.PEM',
      'id_rsa.pub',
      'id_ecdsa',
      'id_dsa',
      'key.ppk',
      'AuthKey.p8',
    ],
    ...[
      '.npmrc',
      '.pypirc',
      '.yarnrc.yml',
      '.git-credentials',
      '_netrc',
      '.my.cnf',
      '.htpasswd',
      '.vault-token',
    ],
    ...[
      'credentials.json',
      'my-credentials.json',
      'secrets.yml',
      'secret.yaml',
      'token.txt',
      'wp-config.php',
    ],
    ...['service-account.json', 'my-service_account-1.json', 'terraform.tfstate', 'terraform.tfstate.backup'],
    ...[
      'prod.tfvars',
      'server.keystore',
      'app.jks',
      'passwords.kdbx',
      'private.asc',
      'kubeconfig',
      'a.kubeconfig',
    ],
    ...['/h/.docker/config.json', '.dockercfg', '/h/.kube/config', '/h/.aws/config', '/h/.ssh/known_hosts'],
    ...['C:\\Users\\a\\.SSH\\config', '/h/.gnupg/a/b', '/h/.config/gcloud/a.db'],
  ])
    t.ok(looksSecret('/plain', path), path);
  for (const path of [
    ...[
      '/a/env.ts',
      'pem',
      'secret.ts',
      '/.env/a.ts',
      'vite-env.d.ts',
      'tokenizer.json',
      'added_tokens.json',
    ],
    ...[
      '/.docker/Dockerfile',
      '/.config/a.json',
      'manual.asc',
      'tokens.ts',
      'token/a.ts',
      'config.json',
      'ssh/a',
    ],
    'xkubeconfig.ts',
  ])
    t.notOk(looksSecret(path), path);
  const long = `${'service-account'.repeat(200)}${'/private'.repeat(100)}`;
  t.notOk(looksSecret(long));
});

const globs = fc
  .array(fc.constantFrom('*', '**', '/', '?', '[', ']', '!', '-', '{', '}', ',', 'a', 'b', '\\'))
  .map((parts) => parts.join(''));

t.test('no glob throws, and a path is excluded with its folder', async () => {
  fc.assert(
    fc.property(globs, fc.string(), fc.stringMatching(/^[^/\\]*$/), (glob, path, name) => {
      const excludes = createExcludes([glob]);
      return !excludes(path) || excludes(`${path}/${name}`);
    }),
  );
});

t.test('no glob reads a path more often than twice for each of its characters', async (t) => {
  const readsOf = (glob: string, path: string) =>
    countReads((counting) => {
      compileGlob(glob)(new Uint8Array(path.length + 1).fill(1), counting(path) as readonly string[]);
    });
  const worst: readonly string[] = [
    ...['*?'.repeat(500), `${'*a'.repeat(499)}b`, '**/'.repeat(333), `${'**/a'.repeat(249)}b`],
    ...[`{${'a,'.repeat(499)}`, `{${'*,'.repeat(498)}x}`, '{*,?}'.repeat(200), '{a*,}'.repeat(200)],
    ...['{'.repeat(1_000), `${'{'.repeat(999)}}`, `${'{'.repeat(499)}*${'}'.repeat(499)}`],
    ...['['.repeat(1_000), `${'['.repeat(999)}]`, '[a-z]'.repeat(200), `[${'x-z'.repeat(332)}]`],
  ];
  for (const path of ['a'.repeat(200), '/a'.repeat(100)])
    for (const glob of worst)
      t.ok(readsOf(glob, path) <= 2 * glob.length * path.length, `${glob.slice(0, 12)} of ${glob.length}`);
  fc.assert(
    fc.property(globs, fc.stringMatching(/^[ab/]{0,20}$/), (glob, path) => {
      return readsOf(glob, path) <= 2 * glob.length * path.length;
    }),
  );
  t.notOk(createExcludes([`${'*a'.repeat(499)}b`])(`/${'a'.repeat(4_000)}`), 'what would take for ever');
});
