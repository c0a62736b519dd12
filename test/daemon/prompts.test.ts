import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as fc from 'fast-check';
import type { Test } from 'tap';
import t from 'tap';
import {
  filledLength,
  fillPlaceholders,
  parsePromptFile,
  placeholdersIn,
  readTypedArguments,
} from '../../daemon/prompts/promptFile.ts';
import { ContentError } from '../../protocol/base/yaml.ts';
import { type InitializationOptions, trustDidChange } from '../../protocol/messages/initialize.ts';
import {
  allowPromptsRequest,
  type GetPromptParams,
  getPromptRequest,
  type ListPromptsParams,
  listPromptsRequest,
} from '../../protocol/messages/prompts.ts';
import { startPair } from '../support/daemonPair.ts';
import { failsWith } from '../support/failsWith.ts';
import { isModeOf, where } from '../support/systems.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

t.test('a file is a prompt, or says what is wrong and where', async (t) => {
  const good: readonly { name: string; text: string; want: object }[] = [
    {
      name: 'text alone',
      text: '\nSay hello.\n',
      want: { name: 'the-file', description: '', arguments: [], text: 'Say hello.' },
    },
    {
      name: 'every field, with a byte order mark and line ends of Windows',
      text: [
        ...['\ufeff---', 'name: review', 'description: |', '  Reviews', '  a change'],
        ...['model: qwen3:8b', 'tools: [git, docs]', 'arguments:', '  - name: file'],
        ...['    description: The file', '    required: true', '  - { name: focus }', '---', ''],
        ...['Review {{file}}.', '{{ focus }} {{other}}'],
      ].join('\r\n'),
      want: {
        name: 'review',
        description: 'Reviews a change',
        model: 'qwen3:8b',
        tools: ['git', 'docs'],
        arguments: [{ name: 'file', description: 'The file', required: true }, { name: 'focus' }],
        text: 'Review {{file}}.\n{{ focus }} {{other}}',
      },
    },
    {
      name: 'one tool, and keys without a value',
      text: '---\ntools: git\nmodel:\narguments:\n---\na',
      want: { name: 'the-file', description: '', tools: ['git'], arguments: [], text: 'a' },
    },
    {
      name: 'a number and an unknown key',
      text: '---\nname: 42\nmode: agent\n---\na',
      want: { name: '42', description: '', arguments: [], text: 'a' },
    },
  ];
  const [hundred, most] = ['m'.repeat(100), 'm'.repeat(200)];
  const longest = parsePromptFile(
    '/p/a.MD',
    bytes(
      [
        '---',
        `description: ${'d'.repeat(1_000)}`,
        `model: ${most}`,
        `tools: [${most},${'m,'.repeat(99)}]`,
        `arguments: [{ name: ${'a'.repeat(64)}, description: ${'d'.repeat(500)} },`,
        ` ${Array.from({ length: 19 }, (_, at) => `{ name: a${at} },`).join('')}]`,
        '---',
        `{{${'a'.repeat(64)}}}${Array.from({ length: 19 }, (_, at) => `{{a${at}}}`).join('')}`,
      ].join('\n'),
    ),
  );
  t.match(longest, { name: 'a', model: most, description: /^d{1000}$/ });
  t.strictSame([longest.tools?.length, longest.arguments.length], [100, 20]);
  t.strictSame(longest.arguments[0], { name: 'a'.repeat(64), description: 'd'.repeat(500) });
  t.throws(() => parsePromptFile('/p/a.md', bytes(`---\nname: ${hundred}\n---\na`)), /cannot be typed/);
  t.equal(parsePromptFile('/p/a.md', bytes(`---\nname: ${'a'.repeat(64)}\n---\na`)).name.length, 64);
  for (const { name, text, want } of good)
    t.strictSame(parsePromptFile('/p/the-file.md', bytes(text)), want, name);

  const head = (text: string) => `---\nname: x\n${text}\n---\n{{a}}`;
  const bad: readonly (readonly [text: string | Uint8Array, want: RegExp, line?: number])[] = [
    ['---\nname: a\n---\n \n', /no text below/, 4],
    ['---\nname: a\n', /no closing line/],
    ['---\nname: a\ntools: [b\n---\nc', /\[ in line 3 has no closing \]/, 3],
    ['---\n- a\n---\nb', /"key: value"/],
    [head('name: b'), /occurs twice/],
    ['---\ndescription: x\nname: a b\n---\nc', /"a b" cannot be typed/, 3],
    ['---\nname: ../a\n---\nc', /cannot be typed/, 2],
    [`---\nname: ${'a'.repeat(65)}\n---\nc`, /cannot be typed/],
    [`---\nname: ${'m'.repeat(101)}\n---\na`, /"name" must have at most 100 characters/],
    [head('model: "a\\eb"'), /"model" must be one line/, 3],
    [head('model: { a: b }'), /"model" must be a text/],
    [head(`model: ${'m'.repeat(201)}`), /"model" must have at most 200 characters/, 3],
    [head(`description: ${'d'.repeat(1_001)}`), /"description" must have at most 1000 characters/],
    [head('tools: { a: b }'), /"tools" must be a list of names/],
    [head(`tools: ${'m'.repeat(201)}`), /"tools" must have at most 200 characters/],
    [head(`tools: [${'m'.repeat(201)}]`), /"tools\[0\]" must have at most 200 characters/],
    [head(`tools: [${'m,'.repeat(101)}]`), /"tools" /],
    [head('arguments: [{ required: true }]'), /"arguments\[0\]\.name" is missing/],
    [head('arguments: [{ name: a }, { name: 1 }]'), /"arguments\[1\]\.name"/, 3],
    [head('arguments: [{ name: a, required: maybe }]'), /true or false/],
    [head('arguments: [{ name: a }, { name: a }]'), /there twice/],
    [head('arguments: [{ name: b }]'), /Write \{\{b\}\}/, 3],
    [head(`arguments: [${'{ name: a },'.repeat(21)}]`), /at most 20 entries/],
    [head(`arguments: [{ name: a, description: ${'d'.repeat(501)} }]`), /at most 500 characters/],
    [head(`arguments: [{ name: ${'a'.repeat(65)} }]`), /"arguments\[0\]\.name" must begin with a letter/],
    [new Uint8Array([0xff, 0xfe, 0x41]), /UTF-8/],
    [bombOfAliases(), /aliases/],
    [head(`a: ${'['.repeat(400)}`), /levels/],
    [head(`a: ${'b'.repeat(20_000)}`), /longer than/],
  ];
  for (const [text, message, line] of bad) {
    const read = () => parsePromptFile('/p/the-file.md', typeof text === 'string' ? bytes(text) : text);
    t.throws(read, { name: 'ContentError', message, ...(line && { line }) }, String(message));
  }
  t.throws(() => parsePromptFile('/p/Read me.md', bytes('a')), /rename the file/);

  t.test('whatever is in a file, it is read or refused', async () => {
    const piece = fc.constantFrom(
      ...['---\n', 'name: ', 'a', '\n', 'arguments:\n', '- ', '{', '}', '{{a}}', '&x ', '*x', '"'],
      '\u001b',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 40 }), (pieces) => {
        try {
          parsePromptFile('/p/a.md', bytes(pieces.join('')));
        } catch (error) {
          if (!(error instanceof ContentError)) throw error;
        }
      }),
    );
  });
});

function bombOfAliases(): string {
  const lines = Array.from(
    { length: 30 },
    (_, index) => `a${index + 1}: &a${index + 1} [*a${index}, *a${index}]`,
  );
  return `---\na0: &a0 [x, x]\n${lines.join('\n')}\n---\nb`;
}

t.test('what is typed behind a name fills the arguments', async (t) => {
  const cases: readonly { typed: string; names?: readonly string[]; want: Record<string, string> }[] = [
    { typed: '', want: {} },
    { typed: 'a.ts', want: { file: 'a.ts' } },
    { typed: 'a.ts the error handling', want: { file: 'a.ts', focus: 'the error handling' } },
    { typed: '"my file.ts" x', want: { file: 'my file.ts', focus: 'x' } },
    { typed: "'my file.ts'   x  ", want: { file: 'my file.ts', focus: 'x' } },
    { typed: '"a \\"b\\" \\\\c\\n" x', want: { file: 'a "b" \\c\\n', focus: 'x' } },
    { typed: 'focus=errors a b', want: { focus: 'errors', file: 'a b' } },
    { typed: 'file="my file.ts" focus=what is left', want: { file: 'my file.ts', focus: 'what is left' } },
    { typed: 'focus= a', want: { focus: '', file: 'a' } },
    { typed: 'file=a "b c"', want: { file: 'a', focus: 'b c' } },
    { typed: 'a "b" c', want: { file: 'a', focus: '"b" c' } },
    { typed: 'a it\'s "open', want: { file: 'a', focus: 'it\'s "open' } },
    { typed: "don't panic", want: { file: "don't", focus: 'panic' } },
    { typed: '"open a', want: { file: '"open', focus: 'a' } },
    { typed: 'C:\\src\\a.ts \\d+', want: { file: 'C:\\src\\a.ts', focus: '\\d+' } },
    { typed: 'a\nb\n\nc', want: { file: 'a', focus: 'b\n\nc' } },
    { typed: 'other=1 2', want: { file: 'other=1', focus: '2' } },
    { typed: 'file=1 file=2', want: { file: '1', focus: 'file=2' } },
    { typed: 'all of this', names: ['text'], want: { text: 'all of this' } },
    { typed: 'text=all of this', names: ['text'], want: { text: 'all of this' } },
    { typed: '"all of this"', names: ['text'], want: { text: 'all of this' } },
    { typed: 'nothing', names: [], want: {} },
  ];
  for (const { typed, names = ['file', 'focus'], want } of cases)
    t.strictSame(Object.fromEntries(readTypedArguments(typed, names)), want, typed);

  t.test('nothing that was typed is lost', async () => {
    const word = fc.oneof(
      fc.string(),
      fc.constantFrom('"', "'", '\\', ' ', '\n', 'a=', 'b=', '{{a}}', '"x y"'),
    );
    fc.assert(
      fc.property(
        fc.array(word).map((words) => words.join('')),
        fc.integer({ min: 1, max: 4 }),
        (typed, size) => {
          const names = ['a', 'b', 'c', 'd'].slice(0, size);
          const values = readTypedArguments(typed, names);
          // Quotes, backslashes, blanks and the names of arguments may be how it was typed.
          const bare = (text: string) => text.replace(/[\s"'\\]|[abcd]=/g, '').replace(/[abcd=]/g, '');
          const order = [...values.values()].map(bare).join('');
          return order === bare(typed);
        },
      ),
    );
  });

  t.test('one argument takes any text as it is', async () => {
    fc.assert(
      fc.property(fc.string(), (typed) => {
        const text = typed.trim();
        const value = readTypedArguments(typed, ['only']).get('only') ?? '';
        return value === text || /^(["']|only=)/.test(text);
      }),
    );
  });
});

t.test('where a value can stand, and how long the text becomes', async (t) => {
  const values = new Map([['a', 'xyz']]);
  for (const [text, names, filled] of [
    ['{{a}}', ['a'], 'xyz'],
    ['{{\t a }}{{a}}', ['a', 'a'], 'xyzxyz'],
    ['{{\na}}', [], '{{\na}}'],
    ['{{1}} {{a b}} {{-a}}', [], '{{1}} {{a b}} {{-a}}'],
    ['{{A_-9}}', ['A_-9'], '{{A_-9}}'],
    [`{{${'b'.repeat(64)}}}`, ['b'.repeat(64)], `{{${'b'.repeat(64)}}}`],
    [`{{${'b'.repeat(65)}}}`, [], `{{${'b'.repeat(65)}}}`],
  ] as const) {
    t.strictSame(placeholdersIn(text), names, text);
    t.equal(fillPlaceholders(text, values), filled, text);
    t.equal(filledLength(text, values), filled.length, text);
  }
});

t.test('values are put in once, and nothing in them is replaced', async (t) => {
  const fill = (text: string, values: Record<string, string>) =>
    fillPlaceholders(text, new Map(Object.entries(values)));
  t.equal(
    fill('{{a}} {{ b }} {{c}} {{}} {a} {{a', { a: '{{b}}', b: '$& $1 {{a}}' }),
    '{{b}} $& $1 {{a}} {{c}} {{}} {a} {{a',
  );
  t.equal(fill('{{constructor}} {{__proto__}}', {}), '{{constructor}} {{__proto__}}');
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.string(), fc.constantFrom('{{a}}', '{{b}}', '{{ a }}', '{{c}}'))),
      fc.string(),
      fc.string(),
      (pieces, a, b) => {
        const text = pieces.join('');
        const values = new Map([
          ['a', `${a}{{b}}`],
          ['b', `${b}{{a}}`],
        ]);
        const filled = fillPlaceholders(text, values);
        const expected = text
          .split(/(\{\{[ \t]*[ab][ \t]*\}\})/)
          .map((piece, index) => (index % 2 === 0 ? piece : values.get(piece.replace(/[{} \t]/g, ''))))
          .join('');
        return filled === expected && filledLength(text, values) === filled.length;
      },
    ),
  );
});

/** A home, a workspace, and a daemon of a client that works there. */
async function place(t: Test, options: InitializationOptions = {}) {
  const base = await temporaryFolder(t);
  const [config, work] = [join(base, 'config'), join(base, 'work')];
  const [user, workspace] = [join(config, 'runner', 'prompts'), join(work, '.runner', 'prompts')];
  mkdirSync(user, { recursive: true });
  mkdirSync(work, { recursive: true });
  const answers = join(base, 'state', 'promptFolders');
  const start = async () => {
    const daemon = await startPair(options, {
      env: { XDG_CONFIG_HOME: config },
      readsUserSettings: true,
      promptAnswersFolder: answers,
    });
    t.teardown(daemon.close);
    return {
      daemon,
      list: (params: ListPromptsParams = {}) => daemon.request(listPromptsRequest, { cwd: work, ...params }),
      get: (params: GetPromptParams) => daemon.request(getPromptRequest, { cwd: work, ...params }),
      allow: (allowed: boolean) => daemon.request(allowPromptsRequest, { cwd: work, allowed }),
    };
  };
  const write = (path: string, text: string | Uint8Array) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  return { base, work, user, workspace, answers, start, write };
}

t.test("the user's prompts are listed with what is wrong with them, and used", async (t) => {
  const { user, write, start } = await place(t);
  const { list, get } = await start();
  t.strictSame(await list(), { prompts: [], problems: [] }, 'there is no folder');

  write(
    join(user, 'hello.md'),
    '---\ndescription: "Says\\e[31m hello"\nmodel: m:1b\n---\nSay hello to @secret {{who}}.',
  );
  write(
    join(user, 'review.md'),
    '---\narguments: [{ name: file, required: true }]\n---\nReview {{file}} and {{other}}.',
  );
  write(join(user, 'broken.md'), '---\nname: [\n---\nx');
  write(join(user, 'clear.md'), 'Clear it.');
  write(join(user, 'second.md'), '---\nname: hello\n---\nx');
  write(join(user, 'notes.txt'), 'x');
  write(join(user, '.hidden.md'), 'x');
  write(join(user, 'large.md'), 'x'.repeat(64 * 1024 + 1));
  mkdirSync(join(user, 'folder.md'));
  write(join(user, 'inner', 'deep.md'), 'x');
  const { prompts } = await list({ commands: ['clear'] });
  t.strictSame(prompts[3], {
    name: 'hello',
    description: 'Says␛[31m hello',
    from: 'user',
    path: join(user, 'hello.md'),
    arguments: [],
    model: 'm:1b',
  });
  t.match(prompts, [
    { name: 'broken', from: 'user', path: join(user, 'broken.md'), problem: /YAML/, line: 2 },
    { name: 'clear', hiddenBy: 'command' },
    { name: 'folder', problem: /cannot be read/ },
    { name: 'hello', description: 'Says␛[31m hello', model: 'm:1b', arguments: [] },
    { name: 'hello', path: join(user, 'second.md'), hiddenBy: 'prompt' },
    { name: 'large', problem: /more than 64 KB/ },
    { name: 'review', arguments: [{ name: 'file', required: true }] },
  ]);
  t.equal(prompts.length, 7);

  const hello = { kind: 'prompt', name: 'hello', model: 'm:1b', text: 'Say hello to @secret {{who}}.' };
  t.strictSame(await get({ name: 'hello' }), hello);
  t.strictSame(await get({ name: 'hello', text: ' and {{file}} ' }), {
    ...hello,
    text: `${hello.text}\n\nand {{file}}`,
  });
  t.match(await get({ name: 'review', text: '"a b"' }), { text: 'Review a b and {{other}}.' });
  t.match(await get({ name: 'review', values: { file: '{{other}}', toString: 'x' } }), {
    text: 'Review {{other}} and {{other}}.',
  });
  t.strictSame(await get({ name: 'review' }), {
    kind: 'missing',
    missing: [{ name: 'file', required: true }],
    values: { file: '' },
    message: 'The prompt /review needs a value for "file". Type /review file=…',
  });
  write(
    join(user, 'two.md'),
    '---\narguments: [{ name: a, required: true }, { name: b, required: true }]\n---\n{{a}} {{b}}',
  );
  t.match(await get({ name: 'two' }), {
    message: /needs values for "a", "b"\. Type \/two a=… b=…/,
  });
  t.match(await get({ name: 'broken' }), { kind: 'unusable', message: /broken\.md, line 2/ });
  t.strictSame(await get({ name: 'reviw' }), { kind: 'none', near: ['review'] });
  t.match(await get({ name: '../hello' }), { kind: 'none' });
  await t.rejects(list({ cwd: 'here' }), failsWith({ code: -32602 }));
  write(join(user, 'most.md'), 'x'.repeat(64 * 1024));
  t.match(await get({ name: 'most' }), { kind: 'prompt', text: 'x'.repeat(64 * 1024) });
  write(join(user, 'many.md'), `---\narguments: [{ name: a }]\n---\n${'{{a}}'.repeat(5_000)}`);
  t.match(await get({ name: 'many', text: 'x'.repeat(900_000) }), { kind: 'unusable', message: /too long/ });
});

t.test('only what lies in the folder is read, and no more than 200 files', where('links'), async (t) => {
  const { base, user, work, workspace, write, start } = await place(t);
  const { list, get, allow } = await start();
  write(join(base, 'secret.md'), 'The secret.');
  write(join(user, 'real.md'), 'Real.');
  symlinkSync(join(user, 'real.md'), join(user, 'inside.md'));
  symlinkSync(join(base, 'secret.md'), join(user, 'outside.md'));
  symlinkSync(join(base, 'nowhere.md'), join(user, 'nowhere.md'));
  t.match((await list()).prompts, [
    { name: 'inside' },
    { name: 'nowhere', problem: /cannot be read/ },
    { name: 'outside', problem: /leads out of the folder/ },
    { name: 'real' },
  ]);
  t.match(await get({ name: 'outside' }), { kind: 'unusable' });
  for (let index = 0; index < 196; index++) write(join(user, `x${index}.md`), 'x');
  const full = await list();
  t.equal(full.prompts.length, 200);
  t.notMatch(JSON.stringify(full.problems ?? []), /only its first/, 'as many as there may be');
  write(join(user, 'z.md'), 'x');
  const { prompts, problems } = await list();
  t.notOk(prompts.some(({ name }) => name === 'z'));
  t.equal(prompts.length, 200);
  t.match(problems, [/only its first 200 prompts/]);

  mkdirSync(join(work, '.runner'), { recursive: true });
  symlinkSync(user, workspace);
  t.equal((await list()).folder, undefined, 'a folder that leads out of the workspace is none');
  t.strictSame(await allow(true), {});
});

t.test(
  'the prompts of a workspace count after one question, and choose neither model nor tools',
  async (t) => {
    const { user, workspace, answers, write, start } = await place(t);
    const { list, get, allow } = await start();
    write(join(workspace, 'review.md'), '---\nmodel: big:1t\ntools: [shell]\n---\nReview it.');
    write(join(workspace, 'other.md'), '---\nname: named\n---\nOther.');
    const folder = { path: workspace, state: 'unasked', files: 2 };
    t.strictSame(await list(), { prompts: [], folder, problems: [] });
    t.match(await get({ name: 'review' }), {
      kind: 'unasked',
      folder,
      message: /the 2 prompts .*"runner prompts allow"/,
    });
    t.match(await get({ name: 'named' }), { kind: 'none' }, 'no file of it is read');

    t.match(await allow(false), { folder: { state: 'refused' } });
    t.match(await get({ name: 'review' }), { kind: 'unusable', message: /You refused/ });
    t.match(await allow(true), { folder: { state: 'allowed' } });
    const { prompts } = await list();
    t.match(prompts, [{ name: 'named' }, { name: 'review', from: 'workspace' }]);
    t.notOk(prompts.some((prompt) => 'model' in prompt || 'tools' in prompt));
    t.strictSame(await get({ name: 'review' }), { kind: 'prompt', name: 'review', text: 'Review it.' });

    write(join(user, 'review.md'), 'Mine.');
    t.match(await get({ name: 'review' }), { text: 'Mine.' }, "the user's own comes first");
    t.match((await list()).prompts, [
      { name: 'named' },
      { name: 'review', from: 'user' },
      { name: 'review', from: 'workspace', hiddenBy: 'prompt' },
    ]);

    const again = await start();
    t.match((await again.list()).folder, { state: 'allowed' }, 'another daemon knows it');
    const [kept = ''] = readdirSync(answers);
    t.ok(isModeOf(join(answers, kept), 0o600), 'the answer is private');
    const path = join(answers, kept);
    writeFileSync(path, readFileSync(path, 'utf8').replace(JSON.stringify(workspace), '"/elsewhere"'));
    t.match((await again.list()).folder, { state: 'unasked' }, 'an answer is for its folder alone');
  },
);

t.test('while a workspace is not trusted, its prompts never count', async (t) => {
  const { workspace, write, start } = await place(t, { trusted: false });
  const { daemon, list, get, allow } = await start();
  write(join(workspace, 'review.md'), 'Review it.');
  const trust = (trusted: boolean) => daemon.connection.sendNotification(trustDidChange.method, { trusted });
  await trust(true);
  await allow(true);
  await trust(false);
  t.match(await list(), { prompts: [], folder: { state: 'untrusted' } });
  t.match(await get({ name: 'review' }), { kind: 'unusable', message: /trust the workspace/ });
  t.match(await allow(true), { folder: { state: 'untrusted' } });
  await trust(true);
  t.match(await get({ name: 'review' }), { kind: 'prompt' });
});

t.test('tools that are not entered are named', async (t) => {
  const { user, write, start } = await place(t, { mcpServers: { git: { command: 'git-server' } } });
  const { get } = await start();
  write(join(user, 'good.md'), '---\ntools: git\n---\nx');
  write(join(user, 'bad.md'), '---\ntools: [git, shell]\n---\nx');
  t.strictSame(await get({ name: 'good' }), { kind: 'prompt', name: 'good', text: 'x', tools: ['git'] });
  t.match(await get({ name: 'bad' }), { kind: 'unusable', message: /no tool server "shell".*bad\.md/ });
});

t.test('nothing is loaded or made before a prompt is asked for', async (t) => {
  const { answers, start } = await place(t);
  const { list } = await start();
  await list();
  t.notOk(existsSync(answers));
});

t.test('a folder with too much in it says so', async (t) => {
  const { user, write, start } = await place(t);
  const { list } = await start();
  for (let index = 0; index < 9_999; index++) write(join(user, `.${index}.txt`), '');
  write(join(user, 'good.md'), 'x');
  t.notMatch(JSON.stringify(await list()), 'has too much in it');
  write(join(user, 'one more'), '');
  const listed = await list();
  t.match(JSON.stringify(listed), 'has too much in it: only its first');
  t.match(listed.prompts, [{ name: 'good' }]);
});
