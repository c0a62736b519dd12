import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import t from 'tap';
import { durationSeconds } from '../daemon/base/duration.ts';
import { LineSplitter } from '../protocol/base/byteStreams.ts';
import { createCodeReader } from '../protocol/base/codeTokens.ts';
import { nearestNames } from '../protocol/base/editDistance.ts';
import { isRecord, tryJson } from '../protocol/base/json.ts';
import { isLoopback, isLoopbackHost } from '../protocol/base/loopback.ts';
import { startProgram } from '../protocol/base/platform/program.ts';
import { arePublic, fixedLookup, isPublicAddress } from '../protocol/base/publicHosts.ts';
import {
  anyOf,
  count,
  cutText,
  escapeControlsInJson,
  escapeMarkup,
  formatBytes,
  formatShare,
  messageOf,
  plainEnds,
  showControls,
  showLine,
  stackOf,
} from '../protocol/base/text.ts';
import { parseFrontMatter, parseYamlMap } from '../protocol/base/yaml.ts';
import { adviceCodes } from '../protocol/messages/advice.ts';
import * as chatMessages from '../protocol/messages/chat.ts';
import * as completionMessages from '../protocol/messages/completion.ts';
import * as editMessages from '../protocol/messages/edit.ts';
import * as elicitMessages from '../protocol/messages/elicit.ts';
import * as engineMessages from '../protocol/messages/engine.ts';
import { errorCodes, retryableKinds } from '../protocol/messages/errors.ts';
import * as filesMessages from '../protocol/messages/files.ts';
import * as initializeMessages from '../protocol/messages/initialize.ts';
import * as logMessages from '../protocol/messages/log.ts';
import { progressNotification } from '../protocol/messages/messageTypes.ts';
import * as modelfileMessages from '../protocol/messages/modelfile.ts';
import * as modelsMessages from '../protocol/messages/models.ts';
import * as promptsMessages from '../protocol/messages/prompts.ts';
import * as sessionsMessages from '../protocol/messages/sessions.ts';
import * as settingsMessages from '../protocol/messages/settings.ts';
import * as statusMessages from '../protocol/messages/status.ts';
import * as toolsMessages from '../protocol/messages/tools.ts';
import { anyText } from './support/anyText.ts';
import { temporaryFolder } from './support/temporaryFolder.ts';

t.test('text is cut between characters, counted and escaped', async (t) => {
  t.equal(cutText('abc', 3), 'abc');
  t.equal(cutText('abc', 2), 'ab');
  t.equal(cutText('a😀b', 2), 'a', 'no half of a pair');
  t.equal(cutText('a😀b', 3), 'a😀');
  t.equal(cutText('abc', 0), '');
  fc.assert(
    fc.property(anyText(), fc.nat(40), (text, most) => {
      const cut = cutText(text, most);
      return text.startsWith(cut) && cut.length <= most && !/[\ud800-\udbff]$/.test(cut);
    }),
  );
  t.equal(count(1, 'document'), '1 document');
  t.equal(count(2000, 'document'), '2,000 documents');
  t.equal(count(0, 'reply', 'replies'), '0 replies');
  t.equal(escapeMarkup(`<a href="x" id='y'>&`), '&#60;a href=&#34;x&#34; id=&#39;y&#39;&#62;&#38;');
});

t.test('choices, line ends and control characters in a text', async (t) => {
  t.equal(anyOf(), '');
  t.equal(anyOf('a', undefined), 'a');
  t.equal(anyOf('a', 'b'), 'a or b');
  t.equal(anyOf('a', undefined, 'b', 'c'), 'a, b, or c');
  t.equal(plainEnds('a\r\nb\rc\n'), 'a\nb\rc\n');
  t.equal(showControls('a\r\nb\tc\u001b\u007f\u0085\u202e'), 'a\nb\tc␛␡<U+0085><U+202E>');
  t.equal(showLine('a\n\tb\r\nc'), 'a b c');
  t.equal(escapeControlsInJson('"a\u001b\u202e"'), '"a\\u001b\\u202e"');
});

t.test('addresses: public ones, this machine, and the ones that were checked', async (t) => {
  for (const address of ['93.184.216.34', '2606:2800:220:1::1']) t.ok(isPublicAddress(address), address);
  for (const address of [
    '10.0.0.1',
    '127.0.0.1',
    '::1',
    'fe80::1',
    '4000::1',
    '::ffff:93.184.216.34',
    'x',
    '',
  ])
    t.notOk(isPublicAddress(address), address);
  t.ok(arePublic(['93.184.216.34', '1.1.1.1']));
  t.notOk(arePublic(['93.184.216.34', '10.0.0.1']));
  t.notOk(arePublic([]));
  for (const host of ['localhost', 'a.LOCALHOST', '127.0.0.2', '127.1.255.10', '::1', '[::1]'])
    t.ok(isLoopbackHost(host), host);
  for (const host of ['localhost.example', 'xlocalhost', '128.0.0.1', '127.0.0', '1127.0.0.1', '::2'])
    t.notOk(isLoopbackHost(host), host);
  for (const [url, isHere] of [
    ['http://a.localhost:1', true],
    ['http://[::1]:1', true],
    ['http://127.0.0.1.evil.org', false],
    ['http://localhost.evil.org', false],
  ] as const)
    t.equal(isLoopback(url), isHere, url);
  const answers: unknown[] = [];
  const look = (addresses: readonly string[], all: boolean) =>
    fixedLookup(addresses)('x', { all }, (_error, address, family) => answers.push([address, family]));
  look(['2606::1', '1.1.1.1'], false);
  look(['1.1.1.1', '2606::1'], true);
  look([], false);
  t.strictSame(answers, [
    ['2606::1', 6],
    [
      [
        { address: '1.1.1.1', family: 4 },
        { address: '2606::1', family: 6 },
      ],
      undefined,
    ],
    ['', 4],
  ]);
});

t.test('a map in YAML keeps what its author wrote, and says where it is wrong', async (t) => {
  const parse = (text: string) => parseYamlMap(text, 'The head', (line) => line + 1);
  t.strictSame(parse('a: 007\nb: 1.10\nc: [x, 2]\nd: true\n'), {
    a: '007',
    b: '1.10',
    c: ['x', '2'],
    d: true,
  });
  t.strictSame([parse(''), parse('# nothing\n'), parse('null')], [{}, {}, {}]);
  t.strictSame(parse('a: &x b\nc: *x\n'), { a: 'b', c: 'b' });
  const wrong: readonly (readonly [text: string, message: string, line?: number])[] = [
    ['- a', 'The head must be a list of "key: value" lines.'],
    ['a', 'The head must be a list of "key: value" lines.'],
    ['a: 1\nb: [x\nc: 2\n', 'The head is not valid YAML: the [ in line 3 has no closing ].', 3],
    ['a: "x\n', 'The head is not valid YAML: the " in line 2 has no closing ".', 2],
    ['\na: {x\n', 'The head is not valid YAML: the { in line 3 has no closing }.', 3],
    ["a: 'x\n", "The head is not valid YAML: the ' in line 2 has no closing '.", 2],
    [
      'a: b: c\nd: 1\n',
      'The head is not valid YAML: Nested mappings are not allowed in compact mappings in line 2.',
      2,
    ],
    ['a: 1\na: 2\n', 'The head is not valid YAML: the key "a" occurs twice.'],
    ['a: 1\n---\nb: 2\n', 'The head is not valid YAML: a line "---" begins a second document in it.'],
  ];
  for (const [text, message, line] of wrong)
    t.throws(() => parse(text), { message, ...(line === undefined ? {} : { line }) }, text);
  t.throws(() => parse('a: 1\n'.repeat(3_000)), /^The head is too long\./);
  t.throws(() => parse(`a: ${'['.repeat(60)}${']'.repeat(60)}`), /more than 50 levels/);
  t.throws(() => parse(`a: &x b\nc: [${Array(21).fill('*x').join(', ')}]`), /more than 20 aliases/);
  t.same(parse(`a: &x b\nc: [${Array(20).fill('*x').join(', ')}]`)['c'], Array(20).fill('b'));
});

t.test('JSON is read without throwing, and an object is neither null nor a list', async (t) => {
  t.same(tryJson('{"a":1}'), { a: 1 });
  t.equal(tryJson('{'), undefined);
  t.strictSame([{}, [], null, 'a', undefined].map(isRecord), [true, false, false, false, false]);
});

t.test('whatever was thrown has a text', async (t) => {
  t.equal(messageOf(new Error('no')), 'no');
  t.equal(messageOf('no'), 'no');
  t.match(stackOf(new Error('no')), /^Error: no\n.* at /s);
  t.equal(stackOf(Object.assign(new Error('no'), { stack: '' })), 'no', 'also without a stack');
  t.equal(stackOf('no'), 'no');
});

t.test('bytes become lines however they are split', async (t) => {
  const lines = fc.array(fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', '')));
  fc.assert(
    fc.property(lines, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (texts, sizes) => {
      const splitter = new LineSplitter(1e6);
      const read: string[] = [];
      // One buffer for all chunks: what is kept of a chunk must not change with it.
      const shared = Buffer.alloc(9);
      const bytes = Buffer.from(texts.join('\n'));
      for (let at = 0, turn = 0; at < bytes.length; turn++) {
        const length = bytes.copy(shared, 0, at, at + (sizes[turn % sizes.length] ?? 1));
        for (const { text } of splitter.push(shared.subarray(0, length))) read.push(text);
        at += length;
      }
      const last = splitter.end();
      if (last) read.push(last.text);
      // A text that ends with a line feed has no line after it.
      const wanted = texts.at(-1) === '' ? texts.slice(0, -1) : texts;
      t.strictSame(read, wanted);
    }),
  );
});

t.test('a line that is too long is cut, and the next one is whole', async (t) => {
  const splitter = new LineSplitter(4);
  const read = ['ab', 'cde', 'fg\nnext\nlas'].flatMap((text) => [...splitter.push(Buffer.from(text))]);
  t.strictSame(read, [
    { text: 'abcd', bytes: 7, isCut: true },
    { text: 'next', bytes: 4, isCut: false },
  ]);
  t.equal(splitter.pending, 3);
  t.strictSame(splitter.end(), { text: 'las', bytes: 3, isCut: false });
  t.equal(splitter.end(), undefined);
});

t.test('names a few letters away are found, best first', async (t) => {
  t.strictSame(nearestNames('lsit', ['list', 'show', 'last', 'stop-list']), ['list', 'last']);
  t.strictSame(nearestNames('lsit', ['last', 'lit', 'list', 'sit']), ['lit', 'list', 'sit'], 'best first');
  t.strictSame(nearestNames('llama', ['codellama', 'gemma', 'llama']), ['codellama', 'llama']);
  t.strictSame(nearestNames('xyzzy', ['list']), []);
  t.strictSame(nearestNames('LIST', ['Lists', 'listing', 'lost', 'last', 'l']), ['Lists', 'listing', 'lost']);
  t.strictSame(nearestNames('abcdefghi', ['abcdef', 'abcde', 'ab']), ['abcdef'], 'a third may be wrong');
  t.strictSame(nearestNames('', ['a', 'ab', 'abc']), ['a', 'ab']);
});

t.test('durations are read as Go reads them', async (t) => {
  const cases = [
    [undefined, undefined],
    [5, 5],
    [-1, -1],
    ['300', 300],
    ['-1', -1],
    ['1h30m', 5_400],
    ['1.5s', 1.5],
    ['250ms', 0.25],
    ['4µs', 4e-6],
    ['1ns', 1e-9],
    ['', undefined],
    ['soon', undefined],
    ['10m later', undefined],
  ] as const;
  for (const [given, seconds] of cases) t.equal(durationSeconds(given), seconds, String(given));
});

t.test('bytes are named in the unit that gives one to three digits', async (t) => {
  const sizes: readonly (readonly [bytes: number, text: string])[] = [
    [0, '0 B'],
    [999, '999 B'],
    [1_000, '1.0 kB'],
    [99_950, '100 kB'],
    [999_500, '1.0 MB'],
    [5_240_000_000, '5.2 GB'],
    [123e12, '123 TB'],
    [5e15, '5000 TB'],
  ];
  for (const [bytes, text] of sizes) t.equal(formatBytes(bytes), text);
  t.equal(formatShare(0, 800), '0 of 800 B');
  t.equal(formatShare(12_345, 999_999), '0.0 of 1.0 MB');
  t.equal(formatShare(50e6, 123e6), '50 of 123 MB');
});

t.test('front matter is split from a text, and its keys have lines', async (t) => {
  const split = (text: string) => {
    const { lineOf, ...rest } = parseFrontMatter(text);
    return { ...rest, lines: ['a', 'b', 'c'].map(lineOf) };
  };
  const none = { values: {}, bodyLine: 1, lines: [1, 1, 1] };
  for (const body of ['', 'a: 1\n', '----\na: 1\n---\n', ' ---\na: 1\n---\n', 'x\n---\na: 1\n---\n'])
    t.strictSame(split(body), { ...none, body }, body);
  t.strictSame(split('--- \t\r\na: 1\r\n"b" : 2\r\n--- \r\nbody\r\n---\r\n'), {
    values: { a: '1', b: '2' },
    body: 'body\r\n---\r\n',
    bodyLine: 5,
    lines: [2, 3, 1],
  });
  t.strictSame(split('---\n...'), { ...none, body: '', bodyLine: 2 });
  t.strictSame(split("---\nx:\n  a: 1\n'b': y\n...\n\nbody"), {
    ...{ values: { x: { a: '1' }, b: 'y' }, body: '\nbody', bodyLine: 6, lines: [1, 4, 1] },
  });
  t.throws(() => split('---\na: 1\n'), { message: 'The front matter has no closing line "---". Add it.' });
  t.throws(() => split(`---\n# ${'x'.repeat(16_381)}\n`), /^The front matter has no closing/);
  t.throws(
    () => split(`---\n# ${'x'.repeat(16_382)}\n`),
    /^The front matter is longer than 16384 characters\./,
  );
  t.throws(() => split('---\nb: [x\nc: 2\n---\n'), {
    line: 2,
    message: /^The front matter is not valid YAML/,
  });
});

t.test('each label of a fence has the parser of its language', async (t) => {
  const cases: readonly (readonly [labels: string, text: string, seen: string])[] = [
    ['js jsx mjs cjs javascript node', 'let a = 1', 'let:keyword a:name 1:number'],
    ['ts tsx mts cts typescript', 'let a: number', 'let:keyword a:name number:name'],
    ['json jsonc json5 jsonl', '{"a": null}', '"a":string null:number'],
    ['py python python3 pycon', 'return "b" # c', 'return:keyword "b":string # c:comment'],
    ['sh bash zsh shell console terminal shell-session fish', 'if true', 'if:keyword true:number'],
    ['go golang', 'return "b" // c', 'return:keyword "b":string // c:comment'],
    ['rs rust', 'fn a() -> u8 { 1 } // c', 'fn:keyword a:name u8:number 1:number // c:comment'],
    ['c h', 'int a = 1; // c', 'int:name 1:number // c:comment'],
    [
      'cpp c++ cc cxx hpp arduino',
      'class A { bool a = true; };',
      'class:keyword A:name bool:name true:number',
    ],
    ['cs csharp c#', 'class A { string a; }', 'class:keyword A:name string:name'],
    ['java', 'class A { int a = 1; } // c', 'class:keyword A:name int:name 1:number // c:comment'],
    ['rb ruby', 'def a; nil; end # c', 'def:keyword a:name nil:keyword end:keyword # c:comment'],
    ['yml yaml', 'a: true # c', 'a:number : :name # c:comment'],
    ['toml', 'a = "b" # c', '"b":string # c:comment'],
    ['css', 'a { color: red; } /* c */', 'a:name red:keyword /* c */:comment'],
    ['html htm vue svelte', '<a href="b">c</a>', 'a:name "b":string a:name'],
    ['sql postgres postgresql mysql sqlite', "select 'a' from b", "select:keyword 'a':string from:keyword"],
    ['lua', 'local a = "b" -- c', 'local:keyword "b":string -- c:comment'],
    ['diff patch', '+a', '+a:inserted'],
    ['dockerfile docker containerfile', 'FROM a', 'FROM:keyword'],
    ['ps1 powershell pwsh', 'if ($a) { 1 } # c', 'if:keyword 1:number # c:comment'],
    ['tex latex', '\\a{b} % c', '\\a:name % c:comment'],
    ['diff', '-a', '-a:deleted'],
    ['diff', '@@ -1 +1 @@', '@@ -1 +1 @@:name'],
    ['js', '`a`', '`a`:string'],
    ['ruby', ':a', ':a:number'],
    ['tex', '$a$', '$:keyword $:keyword'],
    ['html', '<!-- a -->', '<!-- a -->:comment'],
    ['python', '@a', '@:name a:name'],
  ];
  for (const [labels, text, seen] of cases)
    for (const label of labels.split(' ')) {
      const tokens = createCodeReader(label)?.line(text) ?? [];
      t.equal(tokens.map((token) => token.text).join(''), text, label);
      const shown = tokens.flatMap((token) => (token.kind ? [`${token.text}:${token.kind}`] : []));
      t.equal(shown.join(' '), seen, label);
    }
  for (const label of ['', 'text', 'plain', '#', 'c++x']) t.equal(createCodeReader(label), undefined, label);
});

t.test('code is read line by line, and two readers do not see each other', async (t) => {
  const kindsOf = (lines: readonly string[], label: string) => {
    const reader = createCodeReader(label);
    return lines.map((line) => reader?.line(line).map(({ kind }) => kind ?? '') ?? []);
  };
  t.strictSame(kindsOf(['/* a', '', 'b */ 1'], 'js'), [['comment'], [], ['comment', '', 'number']]);
  t.strictSame(kindsOf(['"""a', '', 'b"""'], 'py'), [['string'], [], ['string']]);
  const [one, other] = [createCodeReader('js'), createCodeReader('js')];
  one?.line('a = b');
  t.strictSame(other?.line('\\/a/')[1], { text: '/a/', kind: 'string' }, 'a pattern, not a division');
});

t.test('code has kinds, unless a line is too long for its parser', async (t) => {
  const read = (text: string, label = 'js') => createCodeReader(label)?.line(text);
  const kinds = (text: string) => read(text)?.some(({ kind }) => kind !== undefined);
  t.strictSame(read('let a', 'JS title'), [
    { text: 'let', kind: 'keyword' },
    { text: ' ', kind: undefined },
    { text: 'a', kind: 'name' },
  ]);
  t.equal(read('a', 'no language'), undefined);
  t.strictSame(read(''), []);
  const isPlain = (text: string) => t.strictSame(read(text), [{ text, kind: undefined }], 'a longer one');
  t.ok(kinds(`let ${'a'.repeat(296)}`), 'the longest line');
  isPlain(`let ${'a'.repeat(297)}`);
  t.ok(kinds(`let${' '.repeat(20)}a`), 'the longest gap');
  isPlain(`let${' '.repeat(21)}a`);
  t.ok(kinds(`${' '.repeat(100)}let a`), 'an indentation');
});

t.test('what the messages of the protocol are called is what docs/PROTOCOL.md says', async (t) => {
  const page = readFileSync('docs/PROTOCOL.md', 'utf8');
  const all = {
    ...chatMessages,
    ...completionMessages,
    ...editMessages,
    ...elicitMessages,
    ...engineMessages,
    ...filesMessages,
    ...initializeMessages,
    ...logMessages,
    ...modelfileMessages,
    ...modelsMessages,
    ...promptsMessages,
    ...sessionsMessages,
    ...settingsMessages,
    ...statusMessages,
    ...toolsMessages,
  };
  const named = Object.entries(all).flatMap(([name, value]) =>
    typeof value === 'object' && 'method' in value ? [[name, value.method] as const] : [],
  );
  t.ok(named.length > 60);
  for (const [name, method] of named) t.ok(method !== '' && page.includes(`"method": "${method}"`), name);
  t.equal(progressNotification.method, '$/progress', "LSP's own");
  t.equal(new Set(named.map(([, method]) => method)).size, named.length, 'each has a name of its own');
  const rows = [...page.matchAll(/^\| `([a-z-]+)` \| (-33\d+) \| (yes|no) \|/gm)];
  t.strictSame(
    Object.entries(errorCodes).map(([kind, code]) => [kind, code, retryableKinds.has(kind as 'busy')]),
    rows.map(([, kind, code, isRetryable]) => [kind, Number(code), isRetryable === 'yes']),
  );
  const [, advice = ''] = /^### Advice$(.*?)^### /ms.exec(page) ?? [];
  t.same(
    [...advice.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, code]) => code).sort(),
    [...adviceCodes].sort(),
  );
});

t.test(
  'Windows finds a program by its name, never in the working folder, and a script gets its arguments',
  async (t) => {
    const onWindows = process.platform === 'win32';
    const foreign = '#!/bin/sh\necho foreign\n';
    const folder = await temporaryFolder(t, {
      'work/tool.cmd': foreign,
      'work/foreign.exe': foreign,
      'bin/tool.cmd': `@"${process.execPath}" "%~dp0\\words.cjs" %*\n`,
      'bin/words.cjs': 'console.log(JSON.stringify(process.argv.slice(2)))',
      // In the place of the command processor, it says what that would read.
      'windows/System32/cmd.exe': '#!/bin/sh\nprintf "%s " "$@"',
    });
    await Promise.all(
      ['work/tool.cmd', 'work/foreign.exe', 'windows/System32/cmd.exe'].map((path) =>
        chmod(join(folder, path), 0o755),
      ),
    );
    const env = {
      ...process.env,
      PATH: ['.', '', `"${join(folder, 'bin')}"`].join(onWindows ? delimiter : ';'),
      PATHEXT: '.JS;.EXE;.CMD',
      ...(onWindows ? {} : { SYSTEMROOT: join(folder, 'windows') }),
    };
    const options = { env, cwd: join(folder, 'work'), platform: 'win32', stdio: 'pipe' } as const;
    const words = ['a b', '', '%PATH%', '"x"&y', '^!', 'C:\\e\\'];
    const started = startProgram('tool', words, options);
    const script = join(folder, 'bin', 'tool.cmd').replaceAll('/', '\\');
    const line = `/d /s /c "${script} ^^^"a^^^ b^^^" ^^^"^^^" ^^^"^^^%PATH^^^%^^^" ^^^"\\^^^"x\\^^^"^^^&y^^^" ^^^"^^^^^^^!^^^" ^^^"C:\\e\\\\^^^""`;
    t.equal((await text(started.stdout)).trim(), onWindows ? JSON.stringify(words) : line);
    const [failure] = await once(startProgram('foreign', [], options), 'error');
    t.match(failure, { code: 'ENOENT' });
  },
);
