import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import type { ChatResult } from '../../protocol/messages/chat.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { startWithTools } from '../support/toolDaemon.ts';

/** What a model reads: the result of its last call, and how many it has made. */
interface Reading {
  readonly last: string;
  readonly calls: number;
}

type Move = string | readonly [tool: string, given: Readonly<Record<string, unknown>>];

/** A model that reacts to what it reads. It is made anew for each task, and may remember. */
type Model = (reading: Reading) => Move;

interface Task {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  /** Makes no slip. */
  readonly capable: () => Model;
  /** Makes the slips of small models, and follows only what a result says. */
  readonly clumsy: () => Model;
  readonly want: Readonly<Record<string, string>>;
  readonly ends?: ChatResult['finishReason'];
}

/** Makes one move after the other, whatever it reads. */
const inOrder =
  (...moves: readonly (Move | ((reading: Reading) => Move))[]): (() => Model) =>
  () =>
  (reading) => {
    const move = moves[reading.calls] ?? 'Done.';
    return typeof move === 'function' ? move(reading) : move;
  };

const filler = (lines: number) =>
  Array.from({ length: lines }, (_, at) => `// line ${at} of a long file that fills a window\n`).join('');
const add = 'export function add(a, b) {\n\treturn a - b;\n}\n';
const users = Array.from({ length: 14 }, (_, at) => `src/m${String(at).padStart(2, '0')}.js`);
const long = `${filler(1_198)}function last() {\n\treturn 1;\n}\n${filler(300)}`;

/** Finds the files of a name, and changes one after the other, each after it has read it. */
const renamer = (change: (path: string) => Move): Model => {
  let paths: readonly string[] | undefined;
  const read = new Set<string>();
  return ({ last, calls }) => {
    if (calls === 0) return ['search_files', { query: 'total' }];
    paths ??= [...new Set([...last.matchAll(/^(\S+):\d+: /gm)].map(([, path = '']) => path))];
    const [path] = paths;
    if (path === undefined) return 'Renamed.';
    if (!read.has(path)) {
      read.add(path);
      return ['read_file', { path }];
    }
    paths = paths.slice(1);
    return change(path);
  };
};

const everywhere = (path: string): Move => [
  'edit_file',
  { path, old_string: 'total', new_string: 'sum', replace_all: true },
];

const tasks: readonly Task[] = [
  {
    name: 'a word in a file that is named',
    files: { 'src/calc.js': add },
    capable: inOrder(
      ['read_file', { path: 'src/calc.js' }],
      ['edit_file', { path: 'src/calc.js', old_string: 'a - b', new_string: 'a + b' }],
    ),
    clumsy: inOrder(
      ['cat', { file: 'proj/src/calc.js' }],
      ['edit', { path: '"proj/src/calc.js"', edits: '[{"old":"  return a - b;","new":"  return a + b;"}]' }],
    ),
    want: { 'src/calc.js': add.replace('-', '+') },
  },
  {
    name: 'a new file',
    files: { 'src/calc.js': add },
    capable: inOrder(['write_file', { path: 'test/calc.test.js', content: 'test();\n' }]),
    clumsy: inOrder(['create_file', { file_path: './test/calc.test.js', code: '```js\ntest();\n```' }]),
    want: { 'test/calc.test.js': 'test();\n' },
  },
  {
    name: 'a name in 14 long files',
    files: Object.fromEntries(users.map((path) => [path, `use(total);\n${filler(120)}use(total);\n`])),
    capable: () => renamer(everywhere),
    clumsy() {
      const edit = renamer(everywhere);
      let isAmbiguous = true;
      return (reading) => {
        const move = edit(reading);
        if (!isAmbiguous || !Array.isArray(move) || move[0] !== 'edit_file') return move;
        isAmbiguous = false;
        return ['edit_file', { path: users[13], old_string: 'use(total);', new_string: 'use(sum);' }];
      };
    },
    want: Object.fromEntries(
      users.slice(1, 13).map((path) => [path, `use(sum);\n${filler(120)}use(sum);\n`]),
    ),
  },
  {
    name: 'a function at line 1,200',
    files: { 'a.js': long },
    capable: inOrder(
      ['search_files', { query: 'function last' }],
      ['read_file', { path: 'a.js', start_line: 1_195, end_line: 1_205 }],
      ['edit_file', { path: 'a.js', old_string: 'return 1;', new_string: 'return 2;' }],
    ),
    clumsy: inOrder(
      ...Array.from({ length: 3 }, (): Move => ['read_file', { path: 'a.js' }]),
      ['grep', { pattern: 'return' }],
      ({ last }) => {
        const line = /^a\.js:\d+: .*$/m.exec(last)?.[0] ?? '';
        return ['edit_file', { path: 'a.js', old_string: line, new_string: line.replace('1;', '2;') }];
      },
    ),
    want: { 'a.js': long.replace('return 1', 'return 2') },
  },
  {
    name: 'the line ends, the quotes and the mark of Windows',
    files: { 'a.txt': '\ufeffsay “hi”\r\nthen\r\ngo\r\n' },
    capable: inOrder(['edit_file', { path: 'a.txt', old_string: 'then\ngo', new_string: 'then\nstay' }]),
    clumsy: inOrder([
      'edit_file',
      { path: 'a.txt', old_string: 'say "hi"\nthen\ngo', new_string: 'say "hi"\nthen\nstay' },
    ]),
    want: { 'a.txt': '\ufeffsay “hi”\r\nthen\r\nstay\r\n' },
  },
  {
    name: 'the second of two places',
    files: { 'a.js': 'f(1);\none();\nf(1);\ntwo();\n' },
    capable: inOrder(['edit_file', { path: 'a.js', old_string: 'f(1);\ntwo', new_string: 'f(2);\ntwo' }]),
    clumsy: inOrder(
      ...Array.from(
        { length: 2 },
        (): Move => ['edit_file', { path: 'a.js', old_string: 'f(1);', new_string: 'f(2);' }],
      ),
      ({ last }) => [
        'edit_file',
        { path: 'a.js', old_string: /f\(1\);\ntwo/.exec(last)?.[0] ?? 'nothing', new_string: 'f(2);\ntwo' },
      ],
    ),
    want: { 'a.js': 'f(1);\none();\nf(2);\ntwo();\n' },
  },
  {
    name: 'a model that never stops',
    files: { 'a.js': 'a\n', '.env': 'KEY=planted', '.vscode/tasks.json': '{}' },
    capable: () => () => ['read_file', { path: 'a.js' }],
    clumsy:
      () =>
      ({ calls }) =>
        calls % 2 === 0 ? ['bash', { command: 'ls' }] : ['read_file', { path: '.env' }],
    want: { 'a.js': 'a\n' },
    ends: 'toolLoop',
  },
];

for (const window of [8_192, 16_384])
  for (const kind of ['capable', 'clumsy'] as const)
    for (const { name, files, want, ends = 'stop', ...models } of tasks)
      t.test(`${name}, by a ${kind} model in ${window}`, async (t) => {
        const folder = join(await realpath(await temporaryFolder(t, prefixed(files))), 'proj');
        const model = models[kind]();
        const answered = new Set<object>();
        let largest = 0;
        const { runner, ask } = await startWithTools(t, [], {
          builtinTools: true,
          approvals: { builtin: ['*', 'edit_file', 'write_file'] },
          pair: { capabilities: { experimental: { runner: { folder, showsDiffs: true } } } },
          // It is called again once the body is read, and once the answer is over.
          onRequest(request) {
            const { path, body } = request;
            const { messages = [], tools } = (body ?? {}) as SentBody;
            if (path !== '/api/chat' || messages.length === 0 || answered.has(request)) return;
            answered.add(request);
            largest = Math.max(largest, JSON.stringify(body).length);
            if (!tools?.length) return runner.say('So.');
            const results = messages.filter(({ role }) => role === 'tool');
            const calls = messages.filter(({ role }) => role === 'assistant').length;
            const move = model({ last: results.at(-1)?.content ?? '', calls });
            if (typeof move === 'string') return runner.say(move);
            runner.toolCalls([{ id: `call_${calls}`, name: move[0], arguments: move[1] }]);
          },
        });
        const { result } = await ask({
          messages: [{ role: 'user', content: 'Do it.' }],
          options: { num_ctx: window },
        });
        t.equal(result.finishReason, ends);
        for (const [path, text] of Object.entries(want))
          t.equal(await readFile(join(folder, path), 'utf8'), text, path);
        t.notMatch(JSON.stringify(result), /planted/);
        // JSON has more characters than the prompt.
        t.ok(largest / 3.8 < window, `the largest request has ${largest} characters`);
      });

interface SentBody {
  readonly messages?: readonly { readonly role: string; readonly content: string }[];
  readonly tools?: readonly unknown[];
}

function prefixed(files: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [`proj/${path}`, text]));
}
