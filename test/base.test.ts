import fc from 'fast-check';
import t from 'tap';
import { durationSeconds } from '../daemon/base/duration.ts';
import { readBounded, TooLargeError } from '../protocol/base/boundedBody.ts';
import { createCodeReader } from '../protocol/base/codeTokens.ts';
import { escapeControlsInJson, showControls, showLine } from '../protocol/base/controlCharacters.ts';
import { editDistance, nearestNames } from '../protocol/base/editDistance.ts';
import { messageOf, stackOf } from '../protocol/base/errorText.ts';
import { expectationOf } from '../protocol/base/expectation.ts';
import { isRecord, tryJson } from '../protocol/base/json.ts';
import { LineSplitter } from '../protocol/base/lineSplitter.ts';
import { isLoopbackHost } from '../protocol/base/loopback.ts';
import { arePublic, fixedLookup, isPublicAddress } from '../protocol/base/publicHosts.ts';
import { SerialQueue } from '../protocol/base/serialQueue.ts';
import { createSharedWork } from '../protocol/base/sharedWork.ts';
import { anyOf, count, cutText, escapeMarkup, plainEnds } from '../protocol/base/text.ts';
import { userConfigFile, userPrompts } from '../protocol/base/userFolders.ts';
import { parseYamlMap } from '../protocol/base/yamlMap.ts';
import { configurationAdvice, userConfiguration } from '../protocol/messages/advice.ts';

t.test('text is cut between characters, counted and escaped', async (t) => {
  t.equal(cutText('abc', 3), 'abc');
  t.equal(cutText('abc', 2), 'ab');
  t.equal(cutText('a😀b', 2), 'a', 'no half of a pair');
  t.equal(cutText('a😀b', 3), 'a😀');
  t.equal(cutText('abc', 0), '');
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat(40), (text, most) => {
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
  const answers: unknown[] = [];
  const look = (addresses: readonly string[], all: boolean) =>
    fixedLookup(addresses)('x', { all }, (_error, address, family) => answers.push([address, family]));
  look(['2606::1', '1.1.1.1'], false);
  look(['1.1.1.1', '2606::1'], true);
  t.strictSame(answers, [
    ['2606::1', 6],
    [
      [
        { address: '1.1.1.1', family: 4 },
        { address: '2606::1', family: 6 },
      ],
      undefined,
    ],
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

t.test('a body is read up to its limit', async (t) => {
  async function* body() {
    yield Buffer.from('ab');
    yield Buffer.from('cd');
  }
  t.equal((await readBounded(body(), 4)).toString(), 'abcd');
  await t.rejects(readBounded(body(), 3), TooLargeError);
});

t.test('names a few letters away are found, best first', async (t) => {
  const distances: readonly (readonly [string, string, number])[] = [
    ['', '', 0],
    ['a', '', 1],
    ['kitten', 'sitting', 3],
    ['list', 'lsit', 1],
    ['ab', 'ba', 1],
    ['abcd', 'badc', 2],
    ['abc', 'b', 2],
  ];
  for (const [one, other, distance] of distances) {
    t.equal(editDistance(one, other), distance, `${one} ${other}`);
    t.equal(editDistance(other, one), distance, `${other} ${one}`);
  }
  t.strictSame(nearestNames('lsit', ['list', 'show', 'last', 'stop-list']), ['list', 'last']);
  t.strictSame(nearestNames('llama', ['codellama', 'gemma', 'llama']), ['codellama', 'llama']);
  t.strictSame(nearestNames('xyzzy', ['list']), []);
  t.strictSame(nearestNames('LIST', ['Lists', 'listing', 'lost', 'last', 'l']), ['Lists', 'listing', 'lost']);
  t.strictSame(nearestNames('abcdefghi', ['abcdef', 'abcde', 'ab']), ['abcdef'], 'a third may be wrong');
  t.strictSame(nearestNames('', ['a', 'ab', 'abc']), ['a', 'ab']);
});

t.test('what a validator expected is said in plain words', async (t) => {
  t.equal(expectationOf({ keyword: 'type', type: 'integer' }), 'must be a whole number');
  t.equal(expectationOf({ keyword: 'enum', values: ['a', 1] }), 'must be one of "a", 1');
  t.equal(expectationOf({ keyword: 'minLength', limit: 1 }), 'must not be empty');
  t.equal(expectationOf({ keyword: 'maximum', limit: 3 }), 'must be at most 3');
  t.equal(expectationOf({ keyword: 'not' }), undefined);
  t.equal(expectationOf({ keyword: 'type', type: 'date' }), 'must be of the type date');
  t.equal(expectationOf({ keyword: 'enum' }), 'must be one of ');
  t.equal(expectationOf({ keyword: 'minLength', limit: 2 }), 'must have at least 2 characters');
  t.equal(expectationOf({ keyword: 'maxLength', limit: 2 }), 'must have at most 2 characters');
  t.equal(expectationOf({ keyword: 'minimum', limit: 2 }), 'must be at least 2');
});

t.test('durations are read as Go reads them', async (t) => {
  const cases = [
    [undefined, undefined],
    [5, 5],
    [-1, -1],
    ['300', 300],
    ['-1', -1],
    ['10m', 600],
    ['1h30m', 5_400],
    ['-1h30m', -5_400],
    ['1.5s', 1.5],
    ['250ms', 0.25],
    ['1h1s', 3_601],
    ['4us', 4e-6],
    ['4µs', 4e-6],
    ['1ns', 1e-9],
    ['', undefined],
    ['soon', undefined],
    ['10m later', undefined],
    ['-', undefined],
  ] as const;
  for (const [given, seconds] of cases) t.equal(durationSeconds(given), seconds, String(given));
});

t.test('work on one key runs in order, failed or not', async (t) => {
  const queue = new SerialQueue();
  const done: string[] = [];
  const first = queue.run('a', async () => {
    await Promise.resolve();
    done.push('first');
    throw new Error('no');
  });
  const second = queue.run('a', () => done.push('second'));
  const other = queue.run('b', () => done.push('other'));
  await t.rejects(first, { message: 'no' });
  await Promise.all([second, other, queue.settle()]);
  t.ok(done.indexOf('first') < done.indexOf('second'));
  t.equal(done.length, 3);
});

t.test('several callers share one piece of work', async (t) => {
  const work = createSharedWork<number>();
  let begun = 0;
  const begin = async () => ++begun;
  t.strictSame(await Promise.all([work.join('a', begin), work.join('a', begin)]), [1, 1]);
  t.equal(await work.join('a', begin), 2, 'later callers start it anew');
  const never = new Promise<number>(() => undefined);
  const leaving = new AbortController();
  const left = work.join('b', () => never, { signal: leaving.signal });
  leaving.abort(new Error('left'));
  await t.rejects(left, { message: 'left' });
});

t.test('whoever joins work gets its newest report at once, and every later one', async (t) => {
  const work = createSharedWork<string, number>();
  let report: ((state: number) => void) | undefined;
  let finish: (value: string) => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    void work.join('a', (_, reporting) => {
      report = reporting;
      resolve();
      return new Promise((done) => {
        finish = done;
      });
    });
  });
  await begun;
  const begin = () => Promise.reject(new Error('It has already begun.'));
  const [early, late]: [number[], number[]] = [[], []];
  const first = work.join('a', begin, { report: (state) => early.push(state) });
  t.strictSame(early, [], 'nothing was reported yet');
  report?.(0);
  report?.(1);
  const second = work.join('a', begin, { report: (state) => late.push(state) });
  t.strictSame(late, [1]);
  report?.(2);
  t.strictSame(
    [early, late],
    [
      [0, 1, 2],
      [1, 2],
    ],
  );
  finish('done');
  t.strictSame(await Promise.all([first, second]), ['done', 'done']);
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
  t.ok(kinds(`let ${'a'.repeat(296)}`), 'the longest line');
  t.notOk(kinds(`let ${'a'.repeat(297)}`), 'a longer one');
  t.ok(kinds(`let${' '.repeat(20)}a`), 'the longest gap');
  t.notOk(kinds(`let${' '.repeat(21)}a`), 'a longer one');
  t.ok(kinds(`${' '.repeat(100)}let a`), 'an indentation');
});

t.test('advice in the words of a configuration file', async (t) => {
  const advice = { code: 'log-in', problem: 'It failed.', text: 'Log in.' } as const;
  t.equal(configurationAdvice['log-in'](advice), 'Log in.');
  t.equal(configurationAdvice['use-https'](advice), 'Log in.');
  t.equal(configurationAdvice['wait-for-restart'](advice), 'Log in.');
  for (const code of ['set-token', 'check-network', 'set-catalog'] as const)
    t.ok(configurationAdvice[code]().includes(userConfiguration), code);
  t.match(configurationAdvice['check-network'](), /^Check the network, or set "catalogUrl" /);
  t.match(configurationAdvice['set-catalog'](), /^Set "catalogUrl" .* to where a catalog answers/);
});

t.test('prompts lie beside the configuration of the user', async (t) => {
  for (const [env, folder] of [
    [{ HOME: '/home/ada' }, '/home/ada/.config/runner'],
    [{ HOME: '/home/ada', XDG_CONFIG_HOME: '/etc/ada' }, '/etc/ada/runner'],
    [{ HOME: '/home/ada', XDG_CONFIG_HOME: 'ada' }, '/home/ada/.config/runner'],
  ] as const) {
    t.equal(userConfigFile(env), `${folder}/config.json`);
    t.equal(userPrompts(env), `${folder}/prompts`);
  }
});
