import { readFile } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import t from 'tap';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { createFindPrivacy, looksSecret, secretPaths } from '../../daemon/base/filePrivacy.ts';
import { compileGlob, createExcludes } from '../../daemon/base/globs.ts';
import { type AnswerContext, answerContextOf } from '../../daemon/completion/answerContext.ts';
import { AnswerReader } from '../../daemon/completion/answerReader.ts';
import { itemOf } from '../../daemon/completion/completion.ts';
import {
  type CursorContext,
  cursorContextAt,
  cursorContextBehind,
  less,
  prefixBudget,
  suffixBudget,
  type TextSource,
  withInserted,
} from '../../daemon/completion/cursorContext.ts';
import {
  cutToSingleLine,
  type Filter,
  filters,
  overlapLength,
  replacedLength,
  suggestionOf,
  unlessUseless,
  withoutDoubledBlank,
  withoutEnds,
  withoutFences,
  withoutRepeatedClosers,
  withoutRepeatedLines,
  withoutRepeatedRest,
  withoutSpecialTokens,
  withoutThinking,
  withoutTrailingBlank,
} from '../../daemon/completion/filters.ts';
import { fillRequest, promptStrategies } from '../../daemon/completion/fimPrompts.ts';
import {
  type InFlightRequest,
  InFlightRequests,
  Newest,
  SupersededError,
} from '../../daemon/completion/inFlight.ts';
import { createNeighbours } from '../../daemon/completion/neighbours.ts';
import { isTyping } from '../../daemon/completion/openDocuments.ts';
import { createLatency, createPacing, restFor } from '../../daemon/completion/pacing.ts';
import { createSendable, dropReason, isTooLarge } from '../../daemon/completion/sendable.ts';
import {
  createAcceptances,
  createSuggestions,
  type Suggestion,
  typedSince,
} from '../../daemon/completion/suggestions.ts';
import { commentMarks, openQuote, strayClosers } from '../../daemon/completion/syntax.ts';
import { fillBody } from '../../daemon/runner/ollama/requests.ts';
import type { FillRequest } from '../../daemon/runner/runner.ts';
import { createVirtualClock } from '../support/virtualClock.ts';

const mark = '│';

/** The surroundings of the mark. */
function around(marked: string, languageId = 'typescript'): CursorContext {
  const document = TextDocument.create('file:///a', languageId, 1, marked.replace(mark, ''));
  return cursorContextAt(document, document.positionAt(marked.indexOf(mark)));
}

function contextAt(marked: string, languageId?: string): AnswerContext {
  return answerContextOf({ around: around(marked, languageId) }, []);
}

function contextAfterAcceptance(marked: string, languageId?: string): AnswerContext {
  return answerContextOf({ around: around(marked, languageId), isAfterAcceptance: true }, []);
}

/** The text after an answer, with the mark where the cursor is then. */
function typed(marked: string, insertText: string, replaced = 0): string {
  const [before = '', after = ''] = marked.split(mark);
  return `${before}${insertText}${mark}${after.slice(replaced)}`;
}

function isWellFormed(value: string): boolean {
  return Buffer.from(value).toString() === value;
}

t.test('the text around a cursor', async (t) => {
  const cases: readonly { name: string; text: string; want: Partial<CursorContext> }[] = [
    {
      name: 'all of a short text, line ends as they are',
      text: 'a\r\n  b│c\r\nd',
      want: { prefix: 'a\r\n  b', suffix: 'c\r\nd', linePrefix: '  b', lineSuffix: 'c' },
    },
    { name: 'the beginning', text: '│a\n', want: { prefix: '', suffix: 'a\n', lineSuffix: 'a' } },
    { name: 'the end', text: 'a\n│', want: { prefix: 'a\n', suffix: '', linePrefix: '', lineSuffix: '' } },
    {
      name: 'positions count in UTF-16',
      text: '𝄞é│😀',
      want: { prefix: '𝄞é', suffix: '😀', position: { line: 0, character: 3 } },
    },
  ];
  for (const { name, text, want } of cases) t.match(around(text), want, name);
  const line = 'const answer = 42;\n';
  const long = around(`${line.repeat(1000)}x│y\n${line.repeat(1000)}`);
  t.ok(long.prefix.startsWith(line) && long.prefix.endsWith(`${line}x`), 'cut at a line');
  t.ok(long.suffix.startsWith(`y\n${line}`) && long.suffix.endsWith(line), 'cut at a line');
  t.ok(long.prefix.length > prefixBudget - line.length && long.prefix.length <= prefixBudget);
  t.ok(long.suffix.length > suffixBudget - line.length && long.suffix.length <= suffixBudget);
  t.strictSame([prefixBudget, suffixBudget], [6_000, 1_200], 'as docs/COMPLETION.md says');
  const halves: readonly (readonly [before: number, after: number, want: readonly [number, number]])[] = [
    [2_999, 599, [3_000, 600]],
    [3_000, 598, [6_000, 1_200]],
  ];
  for (const [before, after, want] of halves) {
    const { prefix, suffix } = around(
      `x${'a'.repeat(before)}\n${'b'.repeat(5_999 - before)}│${'a'.repeat(after)}\n${'b'.repeat(1_200)}`,
    );
    t.strictSame([prefix.length, suffix.length], want, 'a line is cut where more than half would be lost');
  }
  const short = less(long);
  t.ok(short.prefix.length > 2_000 - line.length && short.prefix.length <= 2_000);
  t.ok(short.suffix.length > 400 - line.length && short.suffix.length <= 400);
  t.match(short, { linePrefix: 'x', lineSuffix: 'y', position: long.position });
  const unbroken = around(`x${'😀'.repeat(9_000)}│y${'😀'.repeat(9_000)}`);
  for (const part of [unbroken.prefix, unbroken.suffix]) {
    t.ok(isWellFormed(part), 'no half of a pair');
    t.ok(part.length > 1_000, 'a line without an end is cut inside');
  }
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
});

t.test('places that are not worth a request', async (t) => {
  const cases: readonly { text: string; want: RegExp | undefined; invoked?: RegExp | undefined }[] = [
    { text: 'const a = │', want: undefined },
    { text: 'foo(│)', want: undefined },
    { text: 'foo("│")});', want: undefined },
    { text: '', want: /nothing around/ },
    { text: ' \n│\t\n', want: /nothing around/ },
    { text: '│a', want: undefined },
    { text: 'con│st', want: /word/ },
    { text: 'é│é', want: /word/ },
    { text: '𝒶│𝒷', want: /word/ },
    { text: 'a1│_', want: /word/ },
    { text: 'if (│) {', want: undefined },
    { text: 'x = │12345678', want: undefined },
    { text: 'x = │ 123 456 789)', want: /too much/, invoked: undefined },
    { text: 'x(│ 123 456 7);)]}>"`,: \t)))', want: undefined },
    { text: 'e│\u0301', want: /character/ },
    { text: 'a\u200d│b', want: /character/ },
    { text: '\uD83D│\uDE00', want: /character/ },
  ];
  for (const { text, want, ...more } of cases) {
    const asked = around(text.includes(mark) ? text : mark);
    const typing = dropReason(asked, false);
    const invoked = dropReason(asked, true);
    const wantInvoked = 'invoked' in more ? more.invoked : want;
    want ? t.match(typing, want, text) : t.equal(typing, undefined, text);
    wantInvoked ? t.match(invoked, wantInvoked, text) : t.equal(invoked, undefined, text);
  }
  const limit = 10 * 1024 * 1024;
  t.notOk(isTooLarge('x'.repeat(limit)));
  t.ok(isTooLarge('x'.repeat(limit + 1)));
  t.ok(isTooLarge('語'.repeat(limit / 3 + 1)), 'bytes count');
});

t.test('whether one line or several are wanted', async (t) => {
  const cases: readonly (readonly [text: string, want: boolean, languageId?: string])[] = [
    ['function f() {│}', true],
    ['function f() {│', true],
    ['foo(a, │);', true],
    ['x = │ + 1', false],
    ['  // what comes │', false],
    ['# │', false, 'python'],
    ['# │', true, 'markdown'],
    ['-- │', false, 'lua'],
    ['// │', true, 'python'],
  ];
  for (const [text, want, languageId] of cases) t.equal(contextAt(text, languageId).isMultiline, want, text);
  const accepted: typeof cases = [
    ['  // what comes│', true],
    ['# what comes│', true, 'python'],
    ['-- what comes│ after', false, 'lua'],
    ['x = y│ + 1', false],
    ['f(a│)', true],
  ];
  for (const [text, want, languageId] of accepted)
    t.equal(contextAfterAcceptance(text, languageId).isMultiline, want, `${text}, accepted`);
});

const promptOf = (text: FillRequest['text'] | undefined) =>
  text && 'prompt' in text ? text.prompt : undefined;

t.test('the prompt strategies of each model', async (t) => {
  const ways = (model: string, insert: boolean | 'unknown') =>
    promptStrategies(model, insert).map(({ name }) => name);
  t.strictSame(ways('any', true), ['suffix']);
  t.strictSame(ways('qwen2.5-coder:7b', true), ['suffix', 'raw']);
  t.strictSame(ways('qwen2.5-coder:7b', false), ['raw']);
  t.strictSame(ways('any', false), []);
  t.strictSame(ways('any', 'unknown'), ['suffix'], 'a server that does not say is asked');
  const raw = (model: string) => promptOf(promptStrategies(model, false).at(-1)?.textOf('P', 'S'));
  const qwen = '<|fim_prefix|>P<|fim_suffix|>S<|fim_middle|>';
  const starcoder = '<fim_prefix>P<fim_suffix>S<fim_middle>';
  const deepseek = '<｜fim▁begin｜>P<｜fim▁hole｜>S<｜fim▁end｜>';
  const prompts: readonly (readonly [model: string, want: string | undefined])[] = [
    ['qwen2.5-coder:1.5b-base', qwen],
    ['qwen3-coder', qwen],
    ['hf.co/someone/Qwen2.5-Coder-7B-GGUF:Q4_K_M', qwen],
    ['codegemma:2b', qwen],
    ['starcoder2:3b', starcoder],
    ['stable-code', starcoder],
    ['granite-code:8b', starcoder],
    ['codeqwen', starcoder],
    ['codellama:7b-code', '<PRE> P <SUF>S <MID>'],
    ['deepseek-coder:6.7b', deepseek],
    ['deepseek-coder-v2', deepseek],
    ['codestral', '[SUFFIX]S[PREFIX]P'],
    ['codegeex4', '<|code_suffix|>S<|code_prefix|>P<|code_middle|>'],
    ['llama3.2', undefined],
    ['coder/llama3', undefined],
  ];
  for (const [model, want] of prompts) t.equal(raw(model), want, model);
  const suffixFirst = (model: string) => promptOf(promptStrategies(model, true)[0]?.textOf('P', 'S'));
  for (const [model, prompt] of [
    ['codegemma:2b', '<|fim_suffix|>S<|fim_prefix|>P<|fim_middle|>'],
    ['starcoder2:3b', '<fim_prefix><fim_suffix>S<fim_middle>P'],
    ['codellama:7b-code', '<PRE> <SUF>S <MID> P'],
    ['codestral', '[SUFFIX]S[PREFIX]P'],
  ] as const)
    t.equal(suffixFirst(model), prompt, `${model}, what changes at each key last`);
  t.strictSame(ways('codegemma:2b', true), ['raw', 'suffix', 'raw']);
  const stopsOf = (model: string) => promptStrategies(model, false).at(-1)?.stops;
  for (const [models, stops] of [
    [
      ['starcoder2:3b', 'stable-code', 'granite-code:8b', 'codeqwen'],
      ['<fim_prefix>', '<fim_suffix>', '<fim_middle>', '<|endoftext|>', '<file_sep>', '<repo_name>'],
    ],
    [
      ['deepseek-coder:6.7b'],
      ['<｜fim▁begin｜>', '<｜fim▁hole｜>', '<｜fim▁end｜>', '<｜end▁of▁sentence｜>', '<|EOT|>'],
    ],
    [['codestral'], ['[PREFIX]', '[SUFFIX]', '[MIDDLE]', '</s>']],
    [
      ['codegeex4'],
      [
        ...['<|code_suffix|>', '<|code_prefix|>', '<|code_middle|>'],
        ...['<|endoftext|>', '<|user|>', '<|assistant|>'],
      ],
    ],
    [['codellama:7b-code'], ['<PRE>', '<SUF>', '<MID>', '<EOT>']],
    [
      ['codegemma:2b'],
      [
        ...['<|fim_prefix|>', '<|fim_suffix|>', '<|fim_middle|>'],
        ...['<|file_separator|>', '<end_of_turn>', '<eos>'],
      ],
    ],
    [
      ['qwen2.5-coder:7b', 'qwen3-coder'],
      [
        ...['<|fim_prefix|>', '<|fim_suffix|>', '<|fim_middle|>', '<|endoftext|>', '<|fim_pad|>'],
        ...['<|repo_name|>', '<|file_sep|>', '<|im_start|>', '<|im_end|>'],
      ],
    ],
  ] as const)
    for (const model of models) t.strictSame(stopsOf(model), stops, model);
  for (const [model] of prompts)
    for (const { stops } of promptStrategies(model, false))
      t.ok(stops.length >= 3 && stops.every((stop) => stop !== ''));
});

t.test('the request for a gap, and its body on the wire', async (t) => {
  const [suffix] = promptStrategies('any', true);
  const [raw] = promptStrategies('codestral', false);
  if (!suffix || !raw) throw new Error('There is no way.');
  const asked = { model: 'm', wanted: 'line', before: '' } as const;
  const bodyOf = (...args: Parameters<typeof fillRequest>) => fillBody(fillRequest(...args));
  t.strictSame(bodyOf(suffix, around('a│b'), asked), {
    model: 'm',
    prompt: 'a',
    suffix: 'b',
    think: false,
    truncate: false,
    options: { temperature: 0.1, num_predict: 32 },
  });
  t.equal(bodyOf(suffix, around('a│b'), { ...asked, before: '// x\n' })['prompt'], '// x\na');
  t.equal(bodyOf(suffix, around('a│'), asked)['suffix'], '\n', 'never a question without a suffix');
  t.match(
    bodyOf(raw, around('a│b'), {
      ...asked,
      wanted: 'block',
      keepAlive: '300',
      contextLength: 99,
    }),
    { raw: true, keep_alive: 300, options: { num_predict: 128, num_ctx: 99, stop: ['[PREFIX]'] } },
  );
});

t.test('an answer is read until there is enough', async (t) => {
  const cases: readonly { name: string; text: string; answer: string; want: string; over: boolean }[] = [
    { name: 'one line', text: 'x = │ + y', answer: 'a\nb', want: 'a', over: true },
    { name: 'one line that is under way', text: 'x = │ + y', answer: 'a', want: 'a', over: false },
    {
      name: 'a block and its closer',
      text: 'if (a) {│',
      answer: '\n  b();\n}\nc();\n',
      want: '\n  b();\n}',
      over: true,
    },
    {
      name: 'a block with a further branch',
      text: 'if (a) {│',
      answer: '\n  b();\n} else {\n  c();\n}\nd();\n',
      want: '\n  b();\n} else {\n  c();\n}',
      over: true,
    },
    {
      name: 'a block by indentation',
      text: 'def f():│',
      answer: '\n  a\n\n  b\n\nc\n',
      want: '\n  a\n\n  b',
      over: true,
    },
    {
      name: 'a line that dedents',
      text: 'f {\n    │',
      answer: 'a\n    b\n  c\n',
      want: 'a\n    b',
      over: true,
    },
    {
      name: 'a closer that dedents stays',
      text: 'f {\n    │',
      answer: 'a\n}\nb\n',
      want: 'a\n}',
      over: true,
    },
    { name: 'tabs', text: 'f {\n\t│', answer: 'a\n\tb\n}\n', want: 'a\n\tb\n}', over: true },
    {
      name: 'the indentation comes with the answer',
      text: 'def f():\n│',
      answer: '    a\n    b\nc\n',
      want: '    a\n    b',
      over: true,
    },
    {
      name: 'the next line of the text',
      text: 'a\n│\n\nlast()\n',
      answer: 'b\nlast()\nc\n',
      want: 'b',
      over: true,
    },
    { name: 'a repeated line', text: '│', answer: 'a();\na();\nb();\n', want: 'a();', over: true },
    { name: 'closers may repeat themselves', text: '│', answer: ']\n]\nb\n', want: ']\n]\nb', over: false },
    { name: 'lines that repeat in pairs', text: '│', answer: 'a\nb\na\nb\nc\n', want: 'a\nb\na', over: true },
    { name: 'pairs with closers', text: '│', answer: 'a\n]\na\n]\nb\n', want: 'a\n]\na', over: true },
    { name: 'by threes', text: '│', answer: 'a\nb\nc\na\nb\nc\n', want: 'a\nb\nc\na\nb', over: true },
    {
      name: 'longer runs may repeat themselves',
      text: '│',
      answer: 'a\nb\nc\nd\na\nb\nc\nd\n',
      want: 'a\nb\nc\nd\na\nb\nc\nd',
      over: false,
    },
    {
      name: 'a tab is as wide as four blanks',
      text: 'f {\n\t│',
      answer: 'a\n    b\n   c\n',
      want: 'a\n    b',
      over: true,
    },
    {
      name: 'the indentation of the cursor counts if the answer begins with a line end',
      text: 'f {\n    │',
      answer: '\n    a\n  b\n',
      want: '\n    a',
      over: true,
    },
    { name: 'a fence around one line', text: 'x = │;', answer: '```ts\n1\n```\nDone', want: '1', over: true },
    {
      name: 'a fence around a block',
      text: 'f {\n    │',
      answer: '```ts\n    a\n    b\n```\nDone',
      want: 'a\n    b',
      over: true,
    },
    { name: 'a second fence ends it', text: '│', answer: '```\n```\nDone', want: '', over: true },
    { name: 'a special token', text: 'x = │', answer: 'a<|endoftext|>b', want: 'a', over: true },
    { name: 'CRLF', text: 'if (a) {│\r\n}', answer: '\r\n  b\r\n}\r\n', want: '\n  b', over: true },
  ];
  for (const { name, text, answer, want, over } of cases)
    for (const size of [1, 2, 7, answer.length]) {
      const reader = new AnswerReader(contextAt(text));
      for (const piece of piecesOf(answer, size)) reader.push(piece);
      t.equal(reader.isOver, over, `${name} in pieces of ${size}`);
      t.equal(reader.text().trimEnd(), want, `${name} in pieces of ${size}`);
    }
  const accepted: readonly (readonly [text: string, answer: string, want: string, over: boolean])[] = [
    ['// Adds.│\n', '\nadd() {\n  a\n}\n\nb\n', '\nadd() {\n  a\n}', true],
    ['// Adds.│\n', '\n\nadd();\n\nb\n', '\n\nadd();', true],
    ['  // Adds.│\n}\n', '\n  add();\n}\nb\n', '\n  add();', true],
    ['// Adds│\n', ' up.\n// All.\nadd();\n', ' up.\n// All.\nadd();', false],
    ['// Adds.│\nadd() {\n', '\nfirst();\nadd() {\n  a\n', '\nfirst();', true],
  ];
  for (const [text, answer, want, over] of accepted) {
    const reader = new AnswerReader(contextAfterAcceptance(text));
    for (const piece of piecesOf(answer, 2)) reader.push(piece);
    t.strictSame([reader.text().trimEnd(), reader.isOver], [want, over], `${text}, accepted`);
  }
  const ended = new AnswerReader(contextAt('f(│'));
  ended.push('a,\n  b');
  t.equal(ended.text(), 'a,\n  b', 'a last line needs no line end');
  const cut = new AnswerReader(contextAt('f(│'));
  cut.push('a,\n  b,\n  c');
  cut.cut();
  t.equal(cut.text(), 'a,\n  b,\n', 'a line that the limit cut is left out');
  const blank = new AnswerReader(contextAt('f(│'));
  blank.push(' \n\n  b');
  blank.cut();
  t.equal(blank.text(), ' \n\n  b', 'unless it is the only one with text');
  const endless = new AnswerReader(contextAt('f(│'));
  endless.push('x'.repeat(1_000_000));
  t.ok(endless.isOver);
  t.equal(endless.text().length, 16_000);
});

function piecesOf(text: string, size: number): string[] {
  return Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
    text.slice(index * size, (index + 1) * size),
  );
}

interface FilterCase {
  readonly name: string;
  readonly text: string;
  readonly answer: string;
  /** The text after the answer was inserted. */
  readonly want: string;
  readonly languageId?: string;
}

const filterCases: readonly (readonly [name: string, filter: Filter, cases: readonly FilterCase[]])[] = [
  [
    'special tokens',
    withoutSpecialTokens,
    [
      { name: 'one at the end', text: 'a = │', answer: '1<|im_end|>', want: 'a = 1│' },
      { name: 'one at the beginning', text: 'a = │', answer: '<|fim_middle|>1', want: 'a = 1│' },
      { name: 'what follows one', text: 'a = │', answer: '1<｜end▁of▁sentence｜>b', want: 'a = 1│' },
      { name: 'none', text: 'a = │', answer: 'b <| c |> d', want: 'a = b <| c |> d│' },
      { name: 'tags are text', text: '│', answer: '<s>a</s>', want: '<s>a</s>│' },
    ],
  ],
  [
    'marks at the end of a turn',
    withoutEnds,
    [
      { name: 'one', text: 'a = │', answer: '1</s>', want: 'a = 1│' },
      { name: 'several, with blanks', text: 'a = │', answer: '1;\n [EOS]</s>\n', want: 'a = 1;\n │' },
      { name: 'the tag of an element', text: '│', answer: '<s class="x">a</s>', want: '<s class="x">a</s>│' },
      { name: 'of one on the line', text: '<p><s>a│', answer: ' b</s>', want: '<p><s>a b</s>│' },
      { name: 'in the middle', text: '│', answer: 'a</s>b', want: 'a</s>b│' },
      { name: 'alone', text: 'a = │', answer: '</s>', want: 'a = │' },
    ],
  ],
  [
    'thinking',
    withoutThinking,
    [
      { name: 'thoughts', text: 'a = │', answer: '<think>\nhm\n</think>\n\n1', want: 'a = 1│' },
      { name: 'a tab after thoughts', text: '│', answer: '<think>hm</think>\n\n\tgo();', want: '\tgo();│' },
      { name: 'thoughts without an end', text: 'a = │', answer: '<think>hm', want: 'a = │' },
      { name: 'none', text: 'a = │', answer: '1 // <think>', want: 'a = 1 // <think>│' },
      {
        name: 'in capitals, with attributes, several of them',
        text: 'a = │',
        answer: '<THINK a="b>c">hm</think >\n<reasoning>so</reasoning>\n1',
        want: 'a = 1│',
      },
      { name: 'only the close tag', text: 'a = │', answer: '</think>\n\n1', want: 'a = 1│' },
      {
        name: 'in the channels of the harmony format',
        text: 'a = │',
        answer: '<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>1',
        want: 'a = 1│',
      },
      {
        name: 'the indentation after it stays',
        text: 'if (a)\n│',
        answer: '<think>hm</think>\n\n  return 1;\n  // <think>x</think>',
        want: 'if (a)\n  return 1;\n  // <think>x</think>│',
      },
      {
        name: 'a mention inside, which nests nothing',
        text: 'a = │',
        answer: '<think>a <think> tag</think> 1',
        want: 'a =  1│',
      },
      {
        name: 'an element of the code',
        text: '│',
        answer: '<b>\n<think>x</think>',
        want: '<b>\n<think>x</think>│',
      },
    ],
  ],
  [
    'fences',
    withoutFences,
    [
      { name: 'a fence around', text: 'a = │', answer: '```ts\n1\n```\nThat is one.', want: 'a = 1│' },
      { name: 'a fence at the end', text: 'a = │', answer: '1\n```', want: 'a = 1│' },
      {
        name: 'Markdown has fences',
        text: '│',
        answer: '```ts\n1\n```',
        want: '```ts\n1\n```│',
        languageId: 'markdown',
      },
      { name: 'backticks in a line', text: '│', answer: 'a ```b```', want: 'a ```b```│' },
    ],
  ],
  [
    'a doubled blank',
    withoutDoubledBlank,
    [
      { name: 'a blank twice', text: 'a = │', answer: ' 1', want: 'a = 1│' },
      { name: 'a blank once', text: 'a =│', answer: ' 1', want: 'a = 1│' },
      { name: 'a new line', text: 'a: │', answer: '\n  1', want: 'a: \n  1│' },
    ],
  ],
  [
    'a single line',
    cutToSingleLine,
    [
      { name: 'text follows', text: 'a = │ + c', answer: 'b\nd', want: 'a = b│ + c' },
      { name: 'nothing follows', text: 'a {│', answer: '\n b', want: 'a {\n b│' },
    ],
  ],
  [
    'the rest of the line',
    withoutRepeatedRest,
    [
      { name: 'all of it', text: 'f(│ + c);', answer: 'b + c);', want: 'f(b│ + c);' },
      { name: 'its beginning', text: 'f(│, c, d)', answer: 'b, c', want: 'f(b│, c, d)' },
      { name: 'closers are not its matter', text: 'f(│)', answer: 'g(b)', want: 'f(g(b)│)' },
      { name: 'half a word is another word', text: 'f(│x)', answer: 'max', want: 'f(max│x)' },
      { name: 'none', text: 'f(│, c)', answer: 'b', want: 'f(b│, c)' },
    ],
  ],
  [
    'the following lines',
    withoutRepeatedLines,
    [
      { name: 'one line', text: '{\n  │\n}\n', answer: 'a\n}', want: '{\n  a│\n}\n' },
      { name: 'several', text: '{\n  │\n\n  b\n}\n', answer: 'a\n  b\n}', want: '{\n  a│\n\n  b\n}\n' },
      { name: 'another indentation', text: '{\n  │\n}\n', answer: 'a {\n  }', want: '{\n  a {\n  }│\n}\n' },
      { name: 'none', text: '{\n  │\n}\n', answer: 'a\n  b', want: '{\n  a\n  b│\n}\n' },
      {
        ...{ name: 'behind lines of its own', text: '{\n  │\n  c\n}\n' },
        ...{ answer: 'a\n\n  b\n  c\n}', want: '{\n  a\n\n  b│\n  c\n}\n' },
      },
    ],
  ],
  [
    'closers',
    withoutRepeatedClosers,
    [
      { name: 'a bracket', text: 'f(│)', answer: 'a)', want: 'f(a│)' },
      { name: 'a bracket of its own', text: 'f(│)', answer: 'g(a)', want: 'f(g(a)│)' },
      { name: 'both', text: 'f(│)', answer: 'g(a))', want: 'f(g(a)│)' },
      { name: 'several', text: 'f({ a: [│] });', answer: '1] });', want: 'f({ a: [1│] });' },
      { name: 'a quote', text: "f('│')", answer: "it')", want: "f('it│')" },
      { name: 'a quote that begins the line', text: '"│"', answer: 'it"', want: '"it│"' },
      { name: 'brackets in quotes', text: 'f(│)', answer: '")")', want: 'f(")"│)' },
      { name: 'an apostrophe is no quote', text: "say(don't, │)", answer: 'a)', want: "say(don't, a│)" },
      { name: "a string's prefix", text: "f(f'│')", answer: "it')", want: "f(f'it│')" },
      { name: 'over lines', text: 'f({│})', answer: '\n  a,\n})', want: 'f({\n  a,\n│})' },
      { name: 'more that is missing', text: 'f(g(│)', answer: 'a))', want: 'f(g(a)│)' },
    ],
  ],
  [
    'blanks at the end',
    withoutTrailingBlank,
    [
      { name: 'lines and blanks', text: 'a│', answer: ' b  \n\n', want: 'a b│' },
      { name: 'before blanks', text: 'a│ \nc', answer: ' b\n', want: 'a b│ \nc' },
      { name: 'the place of a closer', text: '{│}', answer: '\n  a\n', want: '{\n  a\n│}' },
    ],
  ],
  [
    'what is useless',
    unlessUseless,
    [
      { name: 'blanks', text: 'a│', answer: ' \n', want: 'a│' },
      { name: 'what follows on the line', text: 'a│ + b', answer: ' + b', want: 'a│ + b' },
      { name: 'the following line', text: 'a\n│\n\nb\n', answer: 'b', want: 'a\n│\n\nb\n' },
      { name: 'a closer that is missing', text: 'f(a│', answer: ')', want: 'f(a)│' },
      { name: 'half a character', text: 'a│\udd1e', answer: '\ud834', want: 'a│\udd1e' },
      { name: 'whole ones', text: 'a│', answer: '\ud834\udd1e', want: 'a\ud834\udd1e│' },
    ],
  ],
];

for (const [name, filter, cases] of filterCases)
  t.test(`filter: ${name}`, async (t) => {
    for (const { name: what, text, answer, want, languageId } of cases) {
      const filtered = filter(answer, contextAt(text, languageId));
      t.equal(typed(text, filtered), want, what);
    }
  });

t.test('with which marks a comment line may begin', async (t) => {
  for (const [languages, marks] of [
    ['python shellscript Modelfile', ['#']],
    ['lua sql', ['--']],
    ['lisp ini', [';']],
    ['latex matlab', ['%']],
    ['php', ['//', '#']],
    ['vb', ["'"]],
    ['vim', ['"']],
    ['markdown html json', []],
    ['typescript c unknown', ['//']],
  ] as const)
    for (const language of languages.split(' ')) t.strictSame(commentMarks(language), marks, language);
});

t.test('each filter is in the list, and has cases', async (t) => {
  t.strictSame(new Set(filterCases.map(([, filter]) => filter)), new Set(filters));
});

t.test('from an answer to the text of the document', async (t) => {
  const cases: readonly { name: string; text: string; answer: string; want: string }[] = [
    { name: 'a plain one', text: 'a = │\n', answer: '1;\n', want: 'a = 1;│\n' },
    { name: 'closers with more after them', text: 'f(│)\n', answer: 'a);', want: 'f(a);│\n' },
    {
      name: 'closers of which only the last is the same',
      text: 'f([│})\n',
      answer: 'a])',
      want: 'f([a])│})\n',
    },
    { name: 'quotes and brackets', text: 'f("│")\n', answer: 'a", b)', want: 'f("a", b)│\n' },
    { name: 'nothing', text: 'a = │\n', answer: '  \n', want: 'a = │\n' },
    { name: 'only tokens', text: 'a = │\n', answer: '<|endoftext|>', want: 'a = │\n' },
    { name: 'CRLF', text: 'f {│\r\n}\r\n', answer: '\n  a\n', want: 'f {\r\n  a│\r\n}\r\n' },
    {
      name: 'a block between brackets',
      text: 'f({│});\n',
      answer: '\n  a,\n});\n',
      want: 'f({\n  a,\n│});\n',
    },
    { name: 'a pair', text: 'a = "│"', answer: '😀"', want: 'a = "😀│"' },
  ];
  for (const { name, text, answer, want } of cases) t.equal(suggested(text, answer), want, name);
});

function itemAt(answer: string, place: CursorContext, context: AnswerContext) {
  const text = suggestionOf(answer, place, context);
  const replaced = replacedLength(text, context);
  const base = { range: { start: place.position, end: place.position }, text: '' };
  return text === '' ? undefined : itemOf(text, { base, replaced }, '1');
}

function suggested(text: string, answer: string): string {
  const place = around(text);
  const item = itemAt(answer, place, answerContextOf({ around: place }, []));
  if (!item) return text;
  t.strictSame(item.range.start, place.position);
  return typed(text, item.insertText, item.range.end.character - item.range.start.character);
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

/** Pieces that mean something to the functions, so that random texts reach their corners. */
const fragment = fc.constantFrom(
  ...['\n', '\r\n', '\r', ' ', '    ', '\t', 'a', 'return', '😀', '𝄞', 'é', '\uD83D', '\uDE00'],
  ...['(', ')', '[', ']', '{', '}', '"', "'", '`', ';', ',', ':', '\\', '//', '#', '```', '```ts'],
  ...['<|endoftext|>', '<|', '|>', '<think>', '</think>', '<fim_', 'else', 'end', '} else {'],
);
const text = fc.oneof(
  fc.array(fragment, { maxLength: 60 }).map((parts) => parts.join('')),
  fc.string(),
);
const wellFormed = text.map((value) => Buffer.from(value).toString());

t.test('no text and no answer makes the filters throw or split a character', async (t) => {
  fc.assert(
    fc.property(wellFormed, wellFormed, wellFormed, fc.nat(), (before, after, answer, seed) => {
      const document = TextDocument.create('file:///a', 'typescript', 1, before + after);
      const place = cursorContextAt(document, document.positionAt(before.length));
      dropReason(place, false);
      const context = answerContextOf({ around: place }, ['[STOP]']);
      const reader = new AnswerReader(context);
      for (const piece of piecesOf(answer, 1 + (seed % 5))) reader.push(piece);
      const item = itemAt(reader.text(), place, context);
      if (!item) return;
      t.ok(item.insertText.trim() !== '' && isWellFormed(item.insertText));
      const { start, end } = item.range;
      t.ok(end.line === start.line && end.character - start.character <= place.lineSuffix.length);
    }),
  );
});

t.test('the next line that has text is known, without the blanks at its end', async (t) => {
  for (const [after, want] of [
    ['', ''],
    ['\n', ''],
    [')\n  \n\t\n', ''],
    [')\n  \n\r\n  last  \nmore', '  last'],
    ['\r\rlast', 'last'],
  ] as const)
    t.equal(contextAt(`f(${mark}${after}`).suffixLine, want, JSON.stringify(after));
});

t.test('an answer is read in the same way, however it is split', async () => {
  fc.assert(
    fc.property(text, text, fc.integer({ min: 1, max: 9 }), (marked, answer, size) => {
      const context = contextAt(`${marked.replaceAll(mark, '')}${mark}\nlast`);
      const [whole, inPieces] = [new AnswerReader(context), new AnswerReader(context)];
      whole.push(answer);
      for (const piece of piecesOf(answer, size)) inPieces.push(piece);
      return whole.text() === inPieces.text();
    }),
  );
});

t.test('every position of every text has its own context', async () => {
  fc.assert(
    fc.property(text, fc.nat(40), fc.nat(400), (value, line, character) => {
      const document = TextDocument.create('file:///a', 'x', 1, value);
      const { prefix, suffix, linePrefix, lineSuffix } = cursorContextAt(document, { line, character });
      return value === prefix + suffix && prefix.endsWith(linePrefix) && suffix.startsWith(lineSuffix);
    }),
  );
});

t.test('which closers belong to brackets that were opened before the text', async (t) => {
  const cases: readonly (readonly [text: string, quote: string, want: readonly number[]])[] = [
    ['a)', '', [1]],
    ['(a))]', '', [3, 4]],
    ['(]', '', [1]],
    ['"a")', '', [3]],
    ['a" + "b")', '"', [1, 8]],
    ['")"', '', []],
    ['\\))', '', [2]],
    ['it\\"s")', '"', [5, 6]],
    ["don't)", '', [5]],
    ['a\n)', '"', [2]],
    ['a\n)`)', '`', [3, 4]],
  ];
  for (const [text, quote, want] of cases) t.strictSame(strayClosers(text, quote), want, `${quote}${text}`);
});

t.test('closers, quotes and overlaps of any text', async () => {
  fc.assert(
    fc.property(text, text, (one, other) => {
      const length = overlapLength(one, other);
      const places = strayClosers(one, openQuote(other));
      return (
        one.endsWith(other.slice(0, length)) &&
        places.every((at, index) => at > (places[index - 1] ?? -1) && at < one.length)
      );
    }),
  );
  t.equal(overlapLength('xabab', 'ababc'), 4);
  t.equal(overlapLength('aaa', 'aab'), 2);
  t.equal(overlapLength('xaabaab', 'aabaaac'), 3);
  const similar = fc.stringMatching(/^[ab]{0,12}$/);
  fc.assert(
    fc.property(similar, similar, (one, other) => {
      const lengths = Array.from({ length: other.length + 1 }, (_, length) => length);
      const longest = lengths.findLast((length) => one.endsWith(other.slice(0, length)));
      return overlapLength(one, other) === longest;
    }),
  );
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

t.test('overlaps are found in linear work', async (t) => {
  const worst = (size: number) =>
    countReads((counting) => {
      overlapLength(counting('a'.repeat(size)), counting(`${'a'.repeat(size - 1)}b`));
    });
  t.ok(worst(4_000) < 2.5 * worst(2_000), `${worst(2_000)} and ${worst(4_000)} reads`);
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

t.test('what was typed between two places', async (t) => {
  const long = 'x = 1;\n'.repeat(2_000);
  const cases: readonly { name: string; before: string; now: string; want: string | undefined }[] = [
    { name: 'nothing', before: 'a = │\n', now: 'a = │\n', want: '' },
    { name: 'a word', before: 'a = │\nb', now: 'a = one│\nb', want: 'one' },
    { name: 'a line', before: 'f {│\n}', now: 'f {\n  x│\n}', want: '\n  x' },
    { name: 'at the end', before: 'a = │', now: 'a = 1│', want: '1' },
    { name: 'all of the document', before: '│', now: 'a│', want: 'a' },
    { name: 'a document that became shorter', before: 'a = 1│', now: '│', want: undefined },
    { name: 'erased', before: 'a = 1│', now: 'a = │', want: undefined },
    { name: 'another place', before: 'a = │\nb = 1\n', now: 'a = \nb = │1\n', want: undefined },
    { name: 'before it', before: 'a = │\n', now: 'b = 1│\n', want: undefined },
    { name: 'after it', before: 'a = │\n', now: 'a = 1│ + 2\n', want: undefined },
    { name: 'an editor that closes', before: 'f│\n', now: 'f(│)\n', want: '(' },
    { name: 'an editor that closes twice', before: 'f│\n', now: 'f(g[│])\n', want: '(g[' },
    { name: 'an editor that closes at the end', before: 'f│', now: 'f(│)', want: '(' },
    {
      name: 'budgets that move on',
      before: `${long}a│${long}`,
      now: `${long}a = b + c│${long}`,
      want: ' = b + c',
    },
  ];
  for (const { name, before, now, want } of cases)
    t.equal(typedSince(around(before), around(now)), want, name);
});

t.test('the part of a suggestion that was not typed yet is recalled', async (t) => {
  const suggestions = createSuggestions();
  const at = (marked: string, model = 'm') => ({ uri: 'file:///a', model, around: around(marked) });
  suggestions.remember({ place: at('a = │\n'), text: 'one + two;' });
  suggestions.remember({ place: at('a = one│\n'), text: ' * 3;' });
  t.equal(suggestions.recall(at('a = o│\n'))?.text, 'ne + two;');
  t.equal(suggestions.recall(at('a = one│\n'))?.text, ' * 3;', 'the newest');
  t.equal(suggestions.recall(at('a = one +│\n'))?.text, ' two;');
  t.equal(suggestions.recall(at('a = one + two;│\n')), undefined, 'all of it is typed');
  t.equal(suggestions.recall(at('a = x│\n')), undefined);
  t.equal(suggestions.recall(at('a = o│\n', 'other')), undefined);
  for (let count = 0; count < 98; count += 1)
    suggestions.remember({ place: at(`b${count} = │\n`), text: 'x' });
  t.ok(suggestions.recall(at('a = o│\n')), 'a hundred are kept');
  suggestions.remember({ place: { ...at('c = │\n'), uri: 'file:///c' }, text: 'x' });
  t.equal(suggestions.recall(at('a = o│\n')), undefined, 'and no more');
  suggestions.forget('file:///a');
  t.equal(suggestions.recall(at('b90 = │\n')), undefined, 'what was closed is forgotten');
  t.ok(suggestions.recall({ ...at('c = │\n'), uri: 'file:///c' }), 'and nothing else');
});

t.test('several lines are wanted after an acceptance', async (t) => {
  const cases: readonly (readonly [string, string, number, string])[] = [
    ['a = │\n', '1;', 0, 'a = 1;│\n'],
    ['f {│\n}\n', '\n  x;\n  y;', 0, 'f {\n  x;\n  y;│\n}\n'],
    ['f(│)\n', 'a);', 1, 'f(a);│\n'],
  ];
  for (const [before, text, replaced, after] of cases)
    t.strictSame(withInserted(around(before), text, replaced), around(after), after);
});

t.test('the context after the item that is selected in the editor’s list', async (t) => {
  const cases: readonly {
    name: string;
    text: string;
    /** Characters of the line. */
    range: readonly [from: number, to: number];
    selected: string;
    want: string | undefined;
  }[] = [
    {
      name: 'a word goes on',
      text: 'a\ncons│;\n',
      range: [0, 4],
      selected: 'console',
      want: 'a\nconsole│;\n',
    },
    { name: 'another word', text: 'x = csl│', range: [4, 7], selected: 'console', want: 'x = console│' },
    { name: 'what follows is replaced', text: 'f(│ab)', range: [2, 4], selected: 'abc', want: 'f(abc│)' },
    { name: 'nothing is typed yet', text: 'a.│\n', range: [2, 2], selected: 'b', want: 'a.b│\n' },
    { name: 'lines', text: 'if│\n', range: [0, 2], selected: 'if (a) {\n  b', want: 'if (a) {\n  b│\n' },
    { name: 'pairs', text: '"😀"; a│', range: [6, 7], selected: 'a😀', want: '"😀"; a😀│' },
    { name: 'before the cursor', text: 'ab cd│', range: [0, 2], selected: 'abc', want: undefined },
    { name: 'behind the cursor', text: '│ab cd', range: [3, 5], selected: 'abc', want: undefined },
  ];
  for (const { name, text, range, selected, want } of cases) {
    const document = TextDocument.create('file:///a', 'typescript', 1, text.replace(mark, ''));
    const position = document.positionAt(text.indexOf(mark));
    const [start, end] = range.map((character) => ({ ...position, character }));
    if (!start || !end) throw new Error('There is no range.');
    const behind = cursorContextBehind({ range: { start, end }, text: selected }, document, position);
    t.strictSame(behind, want === undefined ? undefined : around(want), name);
  }
  const document = TextDocument.create('file:///a', 'typescript', 1, 'a\nb\n');
  const range = { start: { line: 0, character: 0 }, end: { line: 1, character: 1 } };
  t.equal(cursorContextBehind({ range, text: 'x' }, document, range.end), undefined, 'over lines');
});

t.test('the cursor is recognised at the end of an accepted suggestion', async (t) => {
  const at = (marked: string, uri = 'file:///a') => ({ uri, model: 'm', around: around(marked) });
  const acceptances = createAcceptances();
  t.notOk(acceptances.isEnd(at('a│')));
  const first = acceptances.offer(at('a = 1;│\n'));
  t.ok(acceptances.isEnd(at('a = 1;│\n')), 'the one that was shown last');
  t.notOk(acceptances.isEnd(at('a = 1│\n')));
  t.notOk(acceptances.isEnd(at('a = 1;│\n', 'file:///b')), 'another document');
  acceptances.offer(at('b = 1;│\n'));
  t.notOk(acceptances.isEnd(at('a = 1;│\n')), 'another one was shown since');
  acceptances.accept(first);
  acceptances.accept(first);
  acceptances.accept('none');
  t.ok(acceptances.isEnd(at('a = 1;│\n')), 'the one that was accepted');
  t.strictSame([acceptances.offered, acceptances.accepted], [2, 1]);
  for (let count = 0; count < 99; count += 1) acceptances.offer(at('c│'));
  acceptances.accept('2');
  t.equal(acceptances.accepted, 2, 'a hundred are remembered');
  acceptances.offer(at('c│'));
  acceptances.offer(at('c│'));
  acceptances.accept('3');
  t.equal(acceptances.accepted, 2, 'and no more');
});

t.test('how long the user must pause', async (t) => {
  const even = (gap: number) => Array.from({ length: 12 }, () => gap);
  const cases: readonly { name: string; gaps: readonly number[]; latency?: number; want: number }[] = [
    { name: 'nothing is known', gaps: [], want: 150 },
    { name: 'too few gaps make no habit', gaps: [60, 60, 60], want: 150 },
    { name: 'four do', gaps: [90, 90, 90, 90], want: 120 },
    { name: 'fast', gaps: even(75), want: 100 },
    { name: 'as most people type', gaps: even(180), want: 240 },
    { name: 'slow', gaps: even(280), want: 373 },
    { name: 'one key at a time', gaps: even(700), want: 400 },
    { name: 'a key that is held', gaps: even(33), want: 75 },
    { name: 'the slower quarter counts for nothing', gaps: [...even(90).slice(3), 900, 950, 990], want: 120 },
    { name: 'in any order', gaps: [300, 60, 90, 120], want: 160 },
    { name: 'a fast model', gaps: even(90), latency: 100, want: 130 },
    { name: 'a slow model', gaps: even(90), latency: 800, want: 200 },
    { name: 'a very slow model', gaps: even(90), latency: 60_000, want: 220 },
    { name: 'a slow model alone', gaps: [], latency: 1_000, want: 250 },
    { name: 'never longer', gaps: even(380), latency: 1_000, want: 400 },
  ];
  for (const { name, want, ...pace } of cases) t.equal(restFor(pace), want, name);
  for (const [gap, want] of [
    [0, false],
    [19, false],
    [20, true],
    [1_000, true],
    [1_001, false],
    [Number.POSITIVE_INFINITY, false],
  ] as const)
    t.equal(isTyping(gap), want, `${gap} ms`);
});

t.test('the pause stays within its bounds for any gaps and latency', async () => {
  fc.assert(
    fc.property(fc.array(fc.nat(5_000)), fc.option(fc.nat(), { nil: undefined }), (gaps, latency) => {
      const rest = restFor({ gaps, latency });
      return rest >= 75 && rest <= 400;
    }),
  );
});

t.test('the latency of a model is the time to its first line', async (t) => {
  let clock = 0;
  const latency = createLatency(() => clock);
  const answering = (model: string, pieces: readonly (readonly [after: number, text: string])[]) => {
    const ask = latency.observe(async (_place, signal, receive) => {
      for (const [after, piece] of pieces) {
        clock += after;
        receive(piece);
      }
      signal.throwIfAborted();
      return 'text';
    });
    return (signal = new AbortController().signal) =>
      ask({ uri: 'file:///a', model, around: around('a│') }, signal, () => undefined);
  };
  t.equal(latency.of('m'), undefined);
  const lines = answering('m', [
    [100, 'a'],
    [50, 'b\nc'],
    [500, '\nd'],
  ]);
  await lines();
  t.equal(latency.of('m'), 150, 'to the first line of several');
  t.equal(latency.of('other'), undefined);
  const line = answering('m', [[200, 'a']]);
  await line();
  await line();
  t.equal(latency.of('m'), 200, 'to the end where it is one line');
  await answering('m', [[9_000, 'a']])();
  t.equal(latency.of('m'), 200, 'a model that had to be loaded counts little');
  await t.rejects(answering('m', [[1, 'a']])(AbortSignal.abort()));
  t.equal(latency.of('m'), 200, 'what was aborted tells nothing');
  for (const time of [300, 300]) await answering('m', [[time, 'a']])();
  t.equal(latency.of('m'), 300, 'the oldest of six no longer counts');
  await answering('other', [[70, 'a']])();
  t.strictSame([latency.of('other'), latency.of('m')], [70, undefined], 'another model');
});

t.test('only the remaining part of the pause is waited for', async (t) => {
  const waits: number[] = [];
  let rested = 0;
  const pacing = createPacing({
    documents: { gaps: () => [90, 90, 90, 90], restedFor: () => rested },
    latency: { of: (model) => (model === 'slow' ? 800 : undefined) },
    wait: async (milliseconds) => void waits.push(milliseconds),
  });
  const rest = (model: string, isSinceKey: boolean, signal = new AbortController().signal) =>
    pacing.rest({ uri: 'file:///a', model, isSinceKey }, signal);
  for (const [model, since, isSinceKey, want] of [
    ['m', 0, true, [120]],
    ['slow', 0, true, [200]],
    ['m', 119, true, [1]],
    ['m', 120, true, []],
    ['m', 121, true, []],
    ['m', Number.POSITIVE_INFINITY, true, []],
    ['m', Number.POSITIVE_INFINITY, false, [120]],
  ] as const) {
    rested = since;
    waits.length = 0;
    await rest(model, isSinceKey);
    t.strictSame(waits, want, `${model}, ${since} ms after a key, ${isSinceKey}`);
  }
  waits.length = 0;
  await t.rejects(rest('m', false, AbortSignal.abort(new Error('gone'))), { message: 'gone' });
  t.strictSame(waits, [], 'who is gone does not wait');
});

t.test('only the newest of several requests for one key goes on', async (t) => {
  const newest = new Newest();
  const never = new AbortController().signal;
  const hanging = () => new Promise<string>(() => undefined);
  const signals: AbortSignal[] = [];
  const older = newest.run('a', never, (signal) => {
    signals.push(signal);
    return hanging();
  });
  const other = newest.run('b', never, async () => 'b');
  const newer = newest.run('a', never, async () => 'a');
  await t.rejects(older, new SupersededError(), 'even where it does not heed its signal');
  t.ok(signals[0]?.aborted);
  t.strictSame([await newer, await other], ['a', 'b']);
  const [second, third] = [newest.run('a', never, hanging), newest.run('a', never, hanging)];
  await t.rejects(second, new SupersededError());
  const fourth = newest.run('a', never, async () => 'a');
  await t.rejects(third, new SupersededError(), 'what ended meanwhile is no reason to go on');
  t.equal(await fourth, 'a');
  const caller = new AbortController();
  const cancelled = newest.run('a', caller.signal, hanging);
  caller.abort(new Error('gone'));
  await t.rejects(cancelled, { message: 'gone' });
  let begun = 0;
  const late = newest.run('a', caller.signal, async () => {
    begun += 1;
  });
  await t.rejects(late, { message: 'gone' });
  t.equal(begun, 0, 'who is gone begins nothing');
});

/** Requests in flight whose answers the test gives. */
function scriptedRequests() {
  const asked: {
    readonly signal: AbortSignal;
    readonly say: (text: string) => void;
    readonly land: (suggestion?: Suggestion) => void;
    readonly fail: (error: Error) => void;
  }[] = [];
  const clock = createVirtualClock();
  const inFlight = new InFlightRequests(
    (_place, signal, say) =>
      new Promise((land, fail) => {
        signal.addEventListener('abort', () => fail(signal.reason));
        asked.push({ signal, say, land, fail });
      }),
    clock.wait,
  );
  /** Why each request was ended; undefined if it was not. */
  const ends = () => asked.map(({ signal }) => (signal.aborted ? signal.reason.message : undefined));
  return { inFlight, asked, ends, clock };
}

const placeAt = (marked: string, uri = 'file:///a', model = 'm') => ({ uri, model, around: around(marked) });
const suggestionAt = (marked: string, text: string) => ({ place: placeAt(marked), text });
const newer = 'A newer request for the same document replaced it.';

t.test('an answer goes on while the user types what it says', async (t) => {
  const start = 'a =│\n';
  const cases: readonly {
    name: string;
    said: string;
    at: string;
    uri?: string;
    model?: string;
    fits: boolean;
  }[] = [
    { name: 'what it says', said: ' one', at: 'a = o│\n', fits: true },
    { name: 'more than it says so far', said: ' o', at: 'a = one│\n', fits: true },
    { name: 'the same place, once it says something', said: ' ', at: start, fits: true },
    { name: 'the same place before that', said: '', at: start, fits: false },
    { name: 'something else', said: ' one', at: 'a = x│\n', fits: false },
    { name: 'text was erased', said: ' one', at: 'a │\n', fits: false },
    { name: 'a line end of the document', said: '\nb', at: 'a =\r\n│\n', fits: true },
    { name: 'another model', said: ' one', at: 'a = o│\n', model: 'other', fits: false },
  ];
  for (const { name, said, at, uri, model, fits } of cases) {
    const { inFlight, asked, ends } = scriptedRequests();
    const request = inFlight.begin(placeAt(start));
    asked[0]?.say(said);
    t.equal(inFlight.arrive(placeAt(at, uri, model), undefined), fits ? request : undefined, name);
    t.strictSame(ends(), [fits ? undefined : newer], name);
  }
  const { inFlight, asked, ends } = scriptedRequests();
  const request = inFlight.begin(placeAt('a = │\n'));
  t.equal(inFlight.arrive(placeAt('x│\n', 'file:///b'), undefined), undefined);
  t.strictSame(ends(), [undefined], 'another document is its own');
  asked[0]?.say('  one');
  t.equal(inFlight.arrive(placeAt('a = o│\n'), undefined), request, 'a blank that stands there already');
  t.ok(request.startsAt(placeAt('a = │\n')));
  t.notOk(request.startsAt(placeAt('a = o│\n')));
});

t.test('a request in flight returns its suggestion, and ends when nobody follows it', async (t) => {
  const never = new AbortController().signal;
  const { inFlight, asked, clock } = scriptedRequests();
  const first = inFlight.begin(placeAt('a = │\n'));
  const suggestion = suggestionAt('a = │\n', 'one');
  asked[0]?.say('one');
  asked[0]?.land(suggestion);
  t.equal(await first.follow(never), suggestion);
  t.equal(inFlight.arrive(placeAt('a = o│\n'), undefined), undefined, 'what has settled is not under way');

  const failing = inFlight.begin(placeAt('a = │\n'));
  asked[1]?.fail(new Error('no'));
  await t.rejects(failing.follow(never), { message: 'no' });

  const leaving = async (request: InFlightRequest, reason: string) => {
    const caller = new AbortController();
    const follow = request.follow(caller.signal);
    caller.abort(new Error(reason));
    await t.rejects(async () => void (await follow), { message: reason });
  };
  const [kept, left] = [inFlight.begin(placeAt('b = │\n', 'file:///b')), inFlight.begin(placeAt('c = │\n'))];
  const following = kept.follow(never);
  const [keptSignal, leftSignal] = asked.slice(2).map(({ signal }) => signal);
  await leaving(kept, 'one of two');
  await leaving(left, 'the only one');
  t.notOk(leftSignal?.aborted, 'a newer request may follow it yet');
  clock.pass(40);
  await nextTurn();
  t.ok(leftSignal?.aborted, 'none came');
  t.notOk(keptSignal?.aborted, 'somebody else follows it');
  asked[2]?.land();
  t.equal(await following, undefined);
});

t.test('the request ahead belongs to the suggestion that is shown', async (t) => {
  const shown = suggestionAt('a = │\n', 'one;');
  const next = placeAt('a = one;│\n');
  const begin = () => {
    const alone = scriptedRequests();
    alone.inFlight.beginAhead(shown, next);
    return alone;
  };
  const cases: readonly { name: string; at: string; seen?: Suggestion; accepted: boolean; end?: string }[] = [
    { name: 'it is typed', at: 'a = o│\n', seen: shown, accepted: false },
    { name: 'it is accepted', at: 'a = one;│\n', accepted: true },
    {
      name: 'another one is shown',
      at: 'a = o│\n',
      seen: suggestionAt('a = │\n', 'o'),
      accepted: false,
      end: newer,
    },
    { name: 'something else is typed', at: 'a = x│\n', accepted: false, end: newer },
    { name: 'after the acceptance something else is typed', at: 'a = one;x│\n', accepted: false, end: newer },
  ];
  for (const { name, at, seen, accepted, end } of cases) {
    const { inFlight, ends } = begin();
    t.equal(inFlight.arrive(placeAt(at), seen) !== undefined, accepted, name);
    t.strictSame(ends(), [end], name);
  }
  const typed = begin();
  typed.asked[0]?.say(' two');
  t.ok(
    typed.inFlight.arrive(placeAt('a = one; t│\n'), undefined),
    'it is accepted, and what follows is typed',
  );

  const { inFlight, asked, ends } = begin();
  inFlight.beginAhead(shown, next);
  t.equal(asked.length, 1, 'it is asked for once');
  inFlight.beginAhead(suggestionAt('b = │\n', 'two'), placeAt('b = two│\n'));
  t.strictSame(ends(), [newer, undefined], 'only one is ahead');
  asked[1]?.land();
  await inFlight.arrive(placeAt('b = two│\n'), undefined)?.follow(new AbortController().signal);
  t.equal(inFlight.arrive(placeAt('b = two│\n'), undefined), undefined, 'it has settled');
});

t.test('what else ends a running request', async (t) => {
  const next = placeAt('a = one;│\n');
  const begin = () => {
    const alone = scriptedRequests();
    alone.inFlight.begin(placeAt('b = │\n', 'file:///b'));
    alone.inFlight.beginAhead(suggestionAt('a = │\n', 'one;'), next);
    return alone;
  };
  const cases: readonly (readonly [
    name: string,
    end: (alone: ReturnType<typeof begin>) => unknown,
    want: readonly unknown[],
  ])[] = [
    ['the runner is wanted', ({ inFlight }) => inFlight.giveWay(), [undefined, newer]],
    [
      'one document is closed',
      ({ inFlight }) => inFlight.abort('Closed.', 'file:///a'),
      [undefined, 'Closed.'],
    ],
    ['the other is closed', ({ inFlight }) => inFlight.abort('Closed.', 'file:///b'), ['Closed.', undefined]],
    ['all end', ({ inFlight }) => inFlight.abort('Others.'), ['Others.', 'Others.']],
  ];
  for (const [name, end, want] of cases) {
    const alone = begin();
    end(alone);
    t.strictSame(alone.ends(), want, name);
  }
  const { inFlight, asked, ends } = begin();
  const following = inFlight.arrive(next, undefined)?.follow(new AbortController().signal);
  inFlight.giveWay();
  t.strictSame(ends(), [undefined, undefined], 'somebody waits for what follows the acceptance');
  asked[1]?.land();
  t.equal(await following, undefined);
});

t.test('which text of other files is quoted', async (t) => {
  const texts = new Map<string, string>();
  let close: (uri: string) => void = () => undefined;
  let secret = '';
  let exclude: readonly string[] = [];
  const neighbours = createNeighbours({
    documents: {
      document: (uri) => {
        const text = texts.get(uri);
        return text === undefined ? undefined : TextDocument.create(uri, 'typescript', 1, text);
      },
      onDidClose: (listener) => {
        close = listener;
      },
      recent: () => [...texts.keys()].reverse(),
    },
    whyNotSendable: async (uri) => (uri === secret ? 'it looks like a secret' : undefined),
    exclude: () => exclude,
  });
  const at = (uri: string, line = 0, languageId = 'typescript') => ({
    uri,
    model: 'm',
    around: { ...around('a│', languageId), position: { line, character: 0 } },
  });
  const names = async (uri: string, isWarming = false, languageId = 'typescript') =>
    [...(await neighbours.textFor(at(uri, 0, languageId), isWarming)).matchAll(/^\S+ (src\/\w)$/gm)].map(
      ([, name]) => name,
    );
  for (const name of 'abcde') texts.set(`file:///home/me/src/${name}`, `${name}();\n`);
  const [a, b, c, d, e] = [...texts.keys()];
  if (!a || !b || !c || !d || !e) throw new Error('There are five.');
  t.equal(
    await neighbours.textFor(at(a), false),
    '// src/c\n// c();\n//\n// src/d\n// d();\n//\n// src/e\n// e();\n\n',
    'three, the newest nearest',
  );
  secret = d;
  t.strictSame(await names(a), ['src/c', 'src/d', 'src/e'], 'they stay while the user is in the file');
  exclude = ['x'];
  t.strictSame(await names(a), ['src/b', 'src/c', 'src/e'], 'but not with other settings');
  t.strictSame(await names(a, false, 'markdown'), [], 'a language without comments has none');
  t.strictSame(await names(a), ['src/b', 'src/c', 'src/e']);
  t.strictSame(await names(b, true), ['src/a', 'src/c', 'src/e'], 'a file that is warmed');
  secret = '';
  t.strictSame(await names(a), ['src/b', 'src/c', 'src/e'], 'changes nothing for the file of the user');
  t.strictSame(await names(b), ['src/a', 'src/c', 'src/e'], 'and counts when the user comes');
  close(c);
  t.strictSame(await names(b), ['src/c', 'src/d', 'src/e'], 'a file that is closed is no longer quoted');
  texts.set(c, ' \n');
  t.strictSame(await names(a), ['src/b', 'src/d', 'src/e'], 'a blank one says nothing');

  for (const [uri, name] of [
    ['file:///home/me/a//b?c/d#e', 'a/b'],
    ['file:///a', 'a'],
    ['file://host/a', 'a'],
    ['file:///%C3%BC/%', 'ü/%'],
    ['untitled:Untitled-1', 'Untitled-1'],
  ] as const) {
    texts.clear();
    texts.set(uri, 'x');
    texts.set(a, '');
    exclude = [];
    t.equal((await neighbours.textFor(at(a), false)).split('\n')[0], `// ${name}`, uri);
  }

  const numbered = (count: number) => Array.from({ length: count }, (_, index) => `line${index}`).join('\n');
  const quoteOf = async (text: string, line: number) => {
    texts.clear();
    texts.set(a, text);
    texts.set(b, '');
    await neighbours.textFor(at(a, line), false);
    return (await neighbours.textFor(at(b), false)).split('\n').slice(1, -2);
  };
  t.strictSame((await quoteOf(numbered(12), 9))[0], '// line3', 'six lines before the last cursor');
  t.strictSame((await quoteOf(numbered(12), 5))[0], '// line0');
  t.equal((await quoteOf('x'.repeat(699), 0))[0]?.length, 702, 'all of it');
  t.strictSame(await quoteOf(`y\n${'x'.repeat(698)}`, 0), ['// y'], 'whole lines');
  t.strictSame(await quoteOf(`${'x'.repeat(697)}\r\nyy`, 0), [`// ${'x'.repeat(697)}`]);
});

t.test('the last cursor is remembered for two hundred files', async (t) => {
  const text = Array.from({ length: 20 }, (_, index) => `line${index}`).join('\n');
  let recent: readonly string[] = [];
  const neighbours = createNeighbours({
    documents: {
      document: (uri) => TextDocument.create(uri, 'typescript', 1, text),
      onDidClose: () => undefined,
      recent: () => recent,
    },
    whyNotSendable: async () => undefined,
    exclude: () => [],
  });
  const visit = (uri: string) =>
    neighbours.textFor(
      { uri, model: 'm', around: { ...around('a│'), position: { line: 16, character: 0 } } },
      false,
    );
  for (let count = 0; count < 200; count += 1) await visit(`file:///${count}`);
  recent = ['file:///1', 'file:///0'];
  const quotes = await visit('file:///200');
  t.match(quotes, /0\n\/\/ line0\n.*1\n\/\/ line10\n/s, 'of the oldest it is forgotten');
});

t.test('whether a document may be sent', async (t) => {
  let globs: readonly string[] = ['private/**'];
  const whyNot = createSendable(createFindPrivacy(() => globs));
  const cases: readonly (readonly [uri: string, want: RegExp | undefined])[] = [
    ['file:///a/b.ts', undefined],
    ['FILE:///a/b.ts', undefined],
    ['untitled:Untitled-1', undefined],
    ['untitled:/a/.env', /secret/],
    ['vscode-notebook-cell:/a/b.ipynb#W0', undefined],
    ['file:///a/private/b.ts', /excluded/],
    ['file:///a/%70rivate/b.ts', /excluded/],
    ['file:///a/%ZZ/.env', /secret/],
    ['file://host/private/b.ts', /excluded/],
    ['git:/a/b.ts', /not a file/],
    ['b.ts', /not a file/],
    [`file:///${'a'.repeat(4_095)}`, undefined],
    [`file:///${'a'.repeat(4_096)}`, /too long/],
  ];
  for (const [uri, want] of cases) {
    const why = await whyNot(uri);
    want ? t.match(why, want, uri.slice(0, 40)) : t.equal(why, undefined, uri.slice(0, 40));
  }
  globs = [];
  t.equal(await whyNot('file:///a/private/b.ts'), undefined, 'other settings hold at once');
  t.equal(
    replacedLength(')'.repeat(40), contextAt(`f(│${')'.repeat(40)}`)),
    32,
    'no hand writes more closers',
  );
});
