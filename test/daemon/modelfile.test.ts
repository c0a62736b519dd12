import { createHash } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import t from 'tap';
import type { CompletionItem, Hover, PublishDiagnosticsParams } from 'vscode-languageserver/node';
import { createRequest } from '../../daemon/modelfile/create.ts';
import {
  checkModelfile,
  decodeModelfile,
  readModelfile,
  toParseResult,
  tryParameterValue,
} from '../../daemon/modelfile/modelfile.ts';
import {
  expandPath,
  findModelFiles,
  looksLikePath,
  resolveSources,
} from '../../daemon/modelfile/modelSources.ts';
import { isGap, isSpace, parseModelfile } from '../../daemon/modelfile/parser.ts';
import { Uploads } from '../../daemon/modelfile/uploads.ts';
import { commandWords, messageRoles, parameterWords } from '../../daemon/modelfile/vocabulary.ts';
import type { Runner } from '../../daemon/runner/runner.ts';
import {
  type ProgressParams,
  progressNotification,
  type WorkProgress,
} from '../../protocol/messages/messageTypes.ts';
import { type ModelfileDiagnostic, parseModelfileRequest } from '../../protocol/messages/modelfile.ts';
import { createModelRequest, modelsDidChange, showModelRequest } from '../../protocol/messages/models.ts';
import type { DaemonClient } from '../support/daemonClient.ts';
import { startDaemonWithRunner, type Teardown } from '../support/daemonWithRunner.ts';
import { failsWith } from '../support/failsWith.ts';
import type { StandInModel } from '../support/runner/standInModel.ts';
import { where } from '../support/systems.ts';

const models: readonly StandInModel[] = [{ name: 'plain:latest' }];
const setUp = (test: Teardown, capabilities: object = {}) =>
  startDaemonWithRunner(test, {}, { standIn: { models }, pair: { capabilities } });

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'runner-modelfile-')));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, content);
  return path;
}

const sha256 = (content: string | Uint8Array) =>
  `sha256:${createHash('sha256').update(content).digest('hex')}`;

/** Commands as `name: arguments`, and diagnostics as `line:column-line:column severity message`, both from 1. */
function read(text: string) {
  const { commands, diagnostics } = toParseResult(readModelfile(text));
  return {
    commands: commands.map(({ command, args }) => [command, ...args]),
    diagnostics: diagnostics.map(shown),
  };
}

function shown({ range: { start, end }, severity, message }: ModelfileDiagnostic): string {
  const place = ({ line, character }: typeof start) => `${line + 1}:${character + 1}`;
  return `${place(start)}-${place(end)} ${severity === 1 ? 'error' : 'warning'} ${message}`;
}

t.test('a Modelfile is read by the grammar', async (t) => {
  const cases: readonly (readonly [name: string, text: string, want: readonly string[]])[] = [
    ['a sign after a value is part of it', 'FROM a # x', ['from|a # x']],
    [
      'any case of commands; names of parameters keep theirs',
      'from a\nparameter STOP "x y"',
      ['from|a', 'parameter|STOP|x y'],
    ],
    [
      'newlines between triple quotes are kept',
      'FROM a\nSYSTEM """\none\ntwo\n"""',
      ['from|a', 'system|\none\ntwo\n'],
    ],
    [
      'quotes within quotes',
      'FROM a\nSYSTEM "he said "hi""\nTEMPLATE """a "b" c"""',
      ['from|a', 'system|he said "hi"', 'template|a "b" c'],
    ],
    [
      'a single quote may span lines',
      'FROM a\nSYSTEM "one\ntwo"\nLICENSE MIT',
      ['from|a', 'system|one\ntwo', 'license|MIT'],
    ],
    [
      'CRLF ends lines, and is kept between quotes',
      'FROM a\r\nSYSTEM """x\r\ny"""\r\nLICENSE MIT\r\n',
      ['from|a', 'system|x\r\ny', 'license|MIT'],
    ],
    ['a lone CR ends a line', 'FROM a\rSYSTEM b', ['from|a', 'system|b']],
    [
      'comments only as the first of a line',
      '# one\n  # two\nFROM a\n\t#three\nSYSTEM # four',
      ['from|a', 'system|# four'],
    ],
    [
      'an empty value where a blank follows',
      'FROM a\nSYSTEM \nLICENSE ""\nTEMPLATE """"""',
      ['from|a', 'system|', 'license|', 'template|'],
    ],
    [
      'messages',
      'FROM a\nMESSAGE user hi there\nMESSAGE assistant """oh\nhi"""\nmessage system "x"',
      ['from|a', 'message|user|hi there', 'message|assistant|oh\nhi', 'message|system|x'],
    ],
    [
      'what cannot be seen is dropped from bare values, and kept between quotes',
      'FROM\t a\u00a0\u200db \u0007\nSYSTEM "a\u00a0\u200db"\nLICENSE a\tb',
      ['from|ab', 'system|a\u00a0\u200db', 'license|a\tb'],
    ],
    [
      'pasted text with invisible characters before a command',
      '\ufeff\u00a0\u200bFROM a\n\u00a0SYSTEM b',
      ['from|a', 'system|b'],
    ],
    [
      'every command',
      'FROM a\nADAPTER ./l.gguf\nDRAFT ./d.gguf\nRENDERER r\nPARSER p\nREQUIRES v0.14.0\nPARAMETER stop x',
      [
        'from|a',
        'adapter|./l.gguf',
        'draft|./d.gguf',
        'renderer|r',
        'parser|p',
        'requires|v0.14.0',
        'parameter|stop|x',
      ],
    ],
  ];
  for (const [name, text, want] of cases) {
    const { commands, diagnostics } = read(text);
    t.strictSame(
      commands.map((words) => words.join('|')),
      want,
      name,
    );
    t.strictSame(
      diagnostics.filter((line) => line.includes('error') && !line.includes('unknown parameter')),
      [],
      `${name}: no mistake`,
    );
  }
});

t.test('blanks are those of the runner, and before a word also invisible characters', async (t) => {
  const codes = Array.from({ length: 0x10000 }, (_, code) => code);
  const hex = (of: (code: number) => boolean) => codes.filter(of).map((code) => code.toString(16));
  const blanks = '9 a b c d 20 85 a0 1680 2000 2001 2002 2003 2004 2005 2006 2007 2008 2009 200a';
  const spaces = [...blanks.split(' '), '2028', '2029', '202f', '205f', '3000'];
  t.strictSame(hex(isSpace), spaces);
  const unseen = ['ad', '200b', '200c', '200d', '200e', '200f', '2060', 'feff'];
  t.strictSame(
    new Set(hex(isGap)),
    new Set([...spaces.filter((code) => code !== 'a' && code !== 'd'), ...unseen]),
    'a line ends all the same',
  );
});

t.test('each mistake has its position', async (t) => {
  const commands =
    'FROM, PARAMETER, TEMPLATE, SYSTEM, ADAPTER, DRAFT, RENDERER, PARSER, LICENSE, MESSAGE, REQUIRES';
  const noFrom = 'error There is no FROM line: it says which model to start from, such as "FROM qwen3:4b".';
  const cases: readonly (readonly [name: string, text: string, want: readonly string[]])[] = [
    ['nothing', '', [`1:1-1:1 ${noFrom}`]],
    [
      'true lines in CRLF files',
      'FROM a\r\nBAD x\r\n  WORSE y\r\n',
      [
        `2:1-2:4 error "BAD" is not a command. The commands are ${commands}.`,
        `3:3-3:8 error "WORSE" is not a command. The commands are ${commands}.`,
      ],
    ],
    [
      'a mistyped command',
      'FROM a\nPARAMTER num_ctx 1\n',
      ['2:1-2:9 error "PARAMTER" is not a command. Did you mean PARAMETER?'],
    ],
    [
      'a role in upper case',
      'FROM a\nMESSAGE User hi',
      ['2:9-2:13 error "User" is not a role. The roles are system, user and assistant, in lower case.'],
    ],
    [
      'a parameter that is no word',
      'FROM a\nPARAMETER top-k 1',
      ['2:11-2:16 error "top-k" is not a parameter: names have letters, digits and "_".'],
    ],
    [
      'a parameter without a value',
      'FROM a\nPARAMETER stop\nMESSAGE user',
      ['2:1-2:15 error PARAMETER stop needs a value.', '3:1-3:13 error MESSAGE user needs a text.'],
    ],
    [
      'unknown parameters, with what was meant',
      'FROM a\nPARAMETER STOP "x y"\nPARAMETER numctx 1\nPARAMETER x 1\nPARAMETER temprature 1',
      [
        '2:11-2:15 error unknown parameter "STOP". Did you mean stop?',
        '3:11-3:17 error unknown parameter "numctx". Did you mean num_ctx?',
        '4:11-4:12 error unknown parameter "x".',
        '5:11-5:21 error unknown parameter "temprature". Did you mean temperature?',
      ],
    ],
    [
      'types',
      'FROM a\nPARAMETER num_ctx 4k\nPARAMETER temperature hot\nPARAMETER use_mmap maybe\nPARAMETER top_k ',
      [
        '2:19-2:21 error num_ctx needs a whole number.',
        '3:23-3:26 error temperature needs a number.',
        '4:20-4:25 error use_mmap needs true or false.',
        '5:11-5:16 error top_k needs a whole number.',
      ],
    ],
    [
      'quotes that are never closed',
      'FROM a\nSYSTEM """one\ntwo\nPARAMETER top_k 3',
      ['2:8-2:11 error The value that starts here is never closed: end a line with """.'],
    ],
    [
      'more behind closing quotes',
      'FROM a\nSYSTEM """x""" y  \nBAD x',
      [
        '2:15-2:17 error A closing """ must stand at the end of its line. Otherwise the value does not end there.',
        `3:1-3:4 error "BAD" is not a command. The commands are ${commands}.`,
      ],
    ],
    [
      'a value that swallows lines',
      'FROM a\nSYSTEM "x" y\nPARAMETER stop "z"',
      [
        '2:10-2:11 warning The value does not end at this ", because more text follows it; the value goes on to a later line.',
      ],
    ],
    [
      'what has no effect',
      'FROM a\nSYSTEM a\nPARAMETER mirostat 1\nSYSTEM b\nPARAMETER top_k 1\nPARAMETER top_k 2\nPARAMETER stop a\nPARAMETER stop b',
      [
        '2:1-2:9 warning A later SYSTEM replaces this one.',
        '3:11-3:19 warning mirostat no longer has any effect.',
        '5:1-5:18 warning A later top_k replaces this one.',
      ],
    ],
  ];
  for (const [name, text, want] of cases) t.strictSame(read(text).diagnostics, want, name);
});

t.test('a Modelfile has so many commands, and so many of its mistakes are reported', async (t) => {
  const most = (lines: number, line: string) =>
    readModelfile(`FROM a\n${line.repeat(lines)}`).problems.length;
  t.strictSame([most(999, 'BAD x\n'), most(1_000, 'BAD x\n'), most(1_001, 'BAD x\n')], [999, 1_000, 1_000]);
  const overruled = (lines: number) => most(lines, 'SYSTEM a\n');
  t.strictSame([overruled(1), overruled(1_001), overruled(1_002)], [0, 1_000, 1_000]);
  const wrong = (lines: number) => most(lines, 'PARAMETER x 1\n');
  t.strictSame([wrong(500), wrong(501), wrong(1_001)], [500 + 499, 1_000, 1_000]);
  for (const count of [99_999, 100_000]) {
    const { commands, problems, isCut } = parseModelfile(`${'FROM a\n'.repeat(count)}FROM b`);
    const cut = [{ start: 700_000, end: 700_001, severity: 'error', message: /at most 100000 commands/ }];
    t.match([commands.length, isCut, problems], [100_000, count === 100_000, count === 100_000 ? cut : []]);
  }
});

t.test('parameters have types', async (t) => {
  const cases = [
    ['int', '+9007199254740991', 9007199254740991],
    ['int', '9007199254740992', undefined],
    ['int', `${'0'.repeat(19)}1`, undefined],
    ['float', `${'0'.repeat(64)}1`, undefined],
    ['float', '+1.E-300', 1e-300],
    ['float', '1e-3000', undefined],
    ['float', '', undefined],
    ...['1', 't', 'T', 'true', 'True', 'TRUE'].map((text) => ['bool', text, true] as const),
    ...['0', 'f', 'F', 'false', 'False', 'FALSE'].map((text) => ['bool', text, false] as const),
    ['bool', 'tRUE', undefined],
    ['int', '8192', 8192],
    ['int', '1e3', undefined],
    ['int', '9223372036854775807', undefined],
    ['float', '0.7', 0.7],
    ['float', '1e-3', 0.001],
    ['float', 'inf', undefined],
    ['bool', 'yes', undefined],
    ['string', '', ''],
  ] as const;
  for (const [type, text, want] of cases) t.equal(tryParameterValue(type, text), want, `${type} ${text}`);
});

t.test('syntax colours have the same words as the parser, and no others', async (t) => {
  const neovim = readFileSync('client/neovim/syntax/modelfile.vim', 'utf8');
  const vscode = readFileSync('client/vscode/modelfile/modelfile.tmLanguage.json', 'utf8');
  /** All words of all places that the pattern finds. */
  const wordsIn = (text: string, pattern: RegExp) =>
    [...new Set([...text.matchAll(pattern)].flatMap(([, words = '']) => words.match(/\w+/g) ?? []))].sort();
  const commands = [...commandWords.keys()].sort();
  t.strictSame(wordsIn(neovim, /^syn match modelfileCommand .*\\c\\%\(([^)]*)\)/gm), commands);
  t.strictSame(wordsIn(vscode, /\(\?i\)(?:\(\?:)?([\w|]+)\)/g), commands);
  const parameters = wordsIn(neovim, /^syn keyword modelfileParameter .*((?:\n {2}\\ .*)+)/gm);
  t.strictSame(parameters, [...parameterWords.keys()].sort());
  const roles = [...messageRoles].sort();
  t.strictSame(wordsIn(neovim, /^syn keyword modelfileRole (.*) contained/gm), roles);
  t.strictSame(wordsIn(vscode, /\((system\|[\w|]+)\)\\\\b/g), roles);
});

t.test('any text is read in linear time', async (t) => {
  const pieces = [
    ...['FROM a\n', 'SYSTEM ', '"', '"""', '\n', '\r\n', ' ', 'x', '#', 'PARAMETER stop '],
    ...['MESSAGE user ', '𝄞', '\ufeff'],
  ];
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.constantFrom(...pieces), fc.string())).map((parts) => parts.join('')),
      (text) => {
        const { commands, problems } = parseModelfile(text);
        const spans = commands.flatMap(({ start, end, args }) => [{ start, end }, ...args]);
        const inside = [...spans, ...problems].every(
          ({ start, end }) => start >= 0 && start <= end && end <= text.length,
        );
        const inOrder = commands.every(({ start }, index) => start >= (commands[index - 1]?.end ?? 0));
        return inside && inOrder;
      },
    ),
    { numRuns: 500 },
  );
  const digits = '1'.repeat(300_000);
  t.match(readModelfile(`FROM a\nPARAMETER temperature ${digits}x`).problems, [
    { message: /needs a number/ },
  ]);
  const stops = readModelfile(`FROM a\n${'PARAMETER stop a\n'.repeat(90_000)}`).commands;
  const request = createRequest({ model: 'm', commands: stops, files: {}, adapters: {}, drafts: {} });
  t.equal((request.parameters['stop'] as string[]).length, 90_000);
  const wrong = parseModelfile(`FROM a\n${'PARAMETER x 1\n'.repeat(1_100)}`);
  t.equal(checkModelfile(wrong).length, 1_000, 'more than that nobody reads');
  const endless = readModelfile('FROM x\n'.repeat(150_000));
  t.equal(endless.commands.length, 100_000);
  t.match(endless.problems.at(-1)?.message ?? endless.problems[0]?.message, /at most/);
  // Each of these would take minutes where one line made the reader look through all that follow.
  for (const line of [
    ...['SYSTEM "a" b\n', 'SYSTEM """a""" b\n', 'SYSTEM "\n', 'PARAMETER\n', '\n', ' ', '"'],
    'SYSTEM """\n',
  ]) {
    const text = `FROM a\n${line.repeat(Math.ceil(1_000_000 / line.length))}`;
    const { problems } = readModelfile(text);
    t.ok(problems.length <= 2_001, `${JSON.stringify(line)} of a megabyte`);
  }
});

t.test('a file is decoded by its byte-order mark', async (t) => {
  const text = 'FROM a\nSYSTEM 日本 𝄞';
  const utf16 = Buffer.from(`\ufeff${text}`, 'utf16le');
  t.equal(decodeModelfile(Buffer.from(text)), text);
  t.equal(decodeModelfile(Buffer.from(`\ufeff${text}`)), text);
  t.equal(decodeModelfile(utf16), text);
  t.equal(decodeModelfile(Buffer.from(utf16).swap16()), text);
  for (const bytes of [
    Buffer.from([0x46, 0xff, 0xfe]),
    Buffer.from('GGUF\0\0'),
    Buffer.from([0xff, 0xfe, 0]),
    ...[0xff, 0xfe].flatMap((odd) => [Buffer.from([odd, 0x41]), Buffer.from([0x41, odd])]),
  ])
    t.throws(() => decodeModelfile(bytes), TypeError);
});

t.test('paths', where('slashes'), async (t) => {
  const cases = [
    ['/a/b', '/x', '/a/b'],
    ['~', '/x', homedir()],
    ['~/m.gguf', undefined, join(homedir(), 'm.gguf')],
    ['./m.gguf', '/x/y', '/x/y/m.gguf'],
    ['../m.gguf', '/x/y', '/x/m.gguf'],
    ['m', '/x', '/x/m'],
    ['m', undefined, undefined],
    ['', '/x', undefined],
    ['a\0b', '/x', undefined],
  ] as const;
  for (const [value, base, want] of cases) t.equal(expandPath(value, base), want, `${value} in ${base}`);
  for (const value of ['/a', './a', '../a', '.', '..', '~/a', 'a\\b', 'm.gguf', 'x/y.safetensors'])
    t.ok(looksLikePath(value), value);
  for (const value of ['a', 'a:b', 'hf.co/a/b-GGUF:Q4', 'llama3.2']) t.notOk(looksLikePath(value), value);
});

t.test('a folder gives its weights and the files that belong to them', where('links'), async (t) => {
  for (const name of [
    ...['model-1.safetensors', 'model-2.safetensors', 'extra.gguf', 'config.json'],
    ...['1_Pooling/config.json', 'tokenizer.model', 'chat_template.jinja', 'README.md'],
    ...['.git/config.json', 'secrets.json'],
  ])
    write(`whole/${name}`, name);
  const names = async (path: string) => {
    const found = await findModelFiles(join(folder, path));
    return found.kind === 'files' ? found.files.map(({ name }) => name) : found;
  };
  t.strictSame(await names('whole'), [
    ...['1_Pooling/config.json', 'chat_template.jinja', 'config.json', 'model-1.safetensors'],
    ...['model-2.safetensors', 'tokenizer.model'],
  ]);
  write('gguf/m.gguf', 'x');
  t.strictSame(await names('gguf'), ['m.gguf']);
  t.match(await names('gguf/../none'), { kind: 'none' });
  write('empty/README.md', 'x');
  t.match(await names('empty'), { kind: 'unusable', problem: /no weights/ });
  write('outside.gguf', 'x');
  mkdirSync(join(folder, 'linked'));
  symlinkSync(join(folder, 'outside.gguf'), join(folder, 'linked', 'm.gguf'));
  mkdirSync(join(folder, 'sly'));
  write('sly/model.gguf', 'x');
  write('.env', 'TOKEN=x');
  symlinkSync(join(folder, '.env'), join(folder, 'sly.gguf'));
  t.match(await names('sly.gguf'), { kind: 'unusable', problem: /looks like a secret/ });
  write('sly/id_rsa', 'x');
  symlinkSync(join(folder, 'sly', 'id_rsa'), join(folder, 'sly', 'config.json'));
  t.strictSame(await names('sly'), ['model.gguf'], 'a link to a secret is none of its files');
  mkdirSync(join(folder, 'torn'));
  symlinkSync(join(folder, 'nowhere'), join(folder, 'torn', 'model.safetensors'));
  t.match(
    await names('torn'),
    { kind: 'unusable', problem: /cannot be read/ },
    'and never a name of a model',
  );
  t.match(await names('linked'), { kind: 'unusable', problem: /leads out of its folder/ });
  t.match(await names(write('id_rsa', 'x').slice(folder.length)), {
    kind: 'unusable',
    problem: /looks like a secret/,
  });
  t.match(await names(relative(folder, '/dev/null')), {
    kind: 'unusable',
    problem: /neither a file nor a folder/,
  });

  mkdirSync(join(folder, 'many', 'below'), { recursive: true });
  for (let n = 1; n < 10_000; n++) writeFileSync(join(folder, 'many', `${n}.json`), '');
  write('many/below/config.json', '');
  t.match(await names('many'), { problem: /no weights/ }, '10,000 files are looked at');
  write('many/below/params.json', '');
  t.match(await names('many'), { problem: /too many files/ }, 'one more below');
  rmSync(join(folder, 'many', 'below', 'params.json'));
  write('many/.hidden', '');
  t.match(await names('many'), { problem: /too many files/ }, 'one more that is hidden');
});

t.test('what FROM, ADAPTER and DRAFT name, and what is wrong with it', where('slashes'), async (t) => {
  for (const name of ['a.gguf', 'b.gguf']) write(`named/${name}`, name);
  write('named/none.gguf', '');
  write('named/old/pytorch_model.bin', 'x');
  write('named/deep/one/two/model.safetensors', 'x');
  write('named/mixed/consolidated.safetensors', 'x');
  write('named/mixed/x.gguf', 'x');
  write('named/mixed/sub/tokenizer.model', 'x');
  const found = async (text: string) => {
    const from = join(folder, 'named');
    const { problems, ...named } = await resolveSources(parseModelfile(text).commands, from);
    const names = [...named.files, ...named.adapters, ...named.drafts].map(({ name }) => name);
    return [named.from, ...names, ...problems.map(({ message }) => message)].join(' | ');
  };
  for (const [text, want] of [
    ['FROM qwen3:4b', /^qwen3:4b$/],
    ['FROM ./none', /There is no file or folder/],
    ['FROM none.gguf', /is empty/],
    ['FROM a\nFROM b', /^b/],
    ['FROM a.gguf\nFROM b.gguf', /a\.gguf \| b\.gguf$/],
    ['FROM a.gguf\nDRAFT a.gguf', /DRAFT names the same file as FROM/],
    ['ADAPTER none', /There is no file or folder/],
    ['FROM old', /no weights|pytorch|safetensors/],
    ['FROM mixed', /consolidated\.safetensors.*tokenizer\.model/],
    ['FROM ../named/a.gguf', /a\.gguf$/],
    ['FROM a.gguf/b', /neither a model's name nor an existing file/],
  ] as const)
    t.match(await found(text), want, text);
  const many = (count: number) =>
    resolveSources(parseModelfile('FROM a\n'.repeat(count)).commands, undefined);
  t.strictSame(await many(64), { from: 'a', files: [], adapters: [], drafts: [], problems: [] });
  const { problems } = await many(66);
  const message = 'A Modelfile names at most 64 models and files.';
  t.strictSame(problems, [{ start: 64 * 7 + 5, end: 64 * 7 + 6, severity: 'error', message }]);
  await t.rejects(resolveSources(parseModelfile('FROM a').commands, folder, AbortSignal.abort()), {
    name: 'AbortError',
  });
});

t.test('links are followed only inside the folder of the Modelfile', where('links'), async (t) => {
  const home = join(folder, 'closed');
  write('closed/inside/m.gguf', 'x');
  write('open/m.gguf', 'x');
  const link = (name: string, to: string) => symlinkSync(to, join(home, name));
  link('own.gguf', join(home, 'inside', 'm.gguf'));
  link('out.gguf', join(folder, 'open', 'm.gguf'));
  link('outFolder', join(folder, 'open'));
  link('up', folder);
  symlinkSync(home, join(folder, 'closedToo'));
  const sourcesOf = (text: string, from = home) => resolveSources(parseModelfile(text).commands, from);
  const out = { problems: [{ message: /leads out of its folder/ }], files: [], adapters: [] };
  for (const text of [
    'FROM ./out.gguf',
    `FROM ${join(home, 'out.gguf')}`,
    'FROM ./outFolder',
    'FROM ./up',
    'FROM ./outFolder/m.gguf',
    'ADAPTER inside/../out.gguf',
  ])
    t.match(await sourcesOf(text), out, text);
  for (const text of ['FROM ./own.gguf', 'FROM inside', 'FROM ../open/m.gguf', 'FROM ../closedToo/out.gguf'])
    t.match(await sourcesOf(text), { problems: [], files: [{ name: /gguf/ }] }, text);
  const drafted = 'FROM ./inside/m.gguf\nFROM ../open/m.gguf\nDRAFT';
  const same = { problems: [{ message: 'DRAFT names the same file as FROM.' }] };
  for (const path of ['./own.gguf', '../open/m.gguf'])
    t.match(await sourcesOf(`${drafted} ${path}`), same, 'one of several files');
  write('open/draft.gguf', 'x');
  t.match(await sourcesOf(`${drafted} ../open/draft.gguf`), { problems: [] });
  t.match(
    await sourcesOf('FROM ./own.gguf', join(folder, 'closedToo')),
    { problems: [], files: [{}] },
    'the folder itself may be named by a link',
  );
});

t.test(
  'a file of the system that says it is regular holds nothing up',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const { daemon } = await setUp(t);
    await t.rejects(
      daemon.request(createModelRequest, { model: 'm', path: '/proc/kmsg' }),
      failsWith({ data: { kind: 'invalid-request' }, message: /\/proc\/kmsg cannot be read/ }),
    );
    await t.rejects(
      daemon.request(createModelRequest, { model: 'm', text: 'FROM /proc/kmsg' }),
      failsWith({ data: { kind: 'invalid-modelfile' }, message: /is empty/ }),
    );
  },
);

t.test('a model is created from a Modelfile and its files', async (t) => {
  const { runner, daemon } = await setUp(t);
  const weights = Buffer.alloc(3 * 1024 * 1024, 'w');
  write('made/weights.gguf', weights);
  write('made/lora.gguf', 'lora');
  const path = write(
    'made/Modelfile',
    'FROM ./weights.gguf\nADAPTER lora.gguf\nSYSTEM """Be\nbrief."""\nSYSTEM Be kind.\nTEMPLATE {{ .Prompt }}\n' +
      'PARAMETER stop "<A>"\nPARAMETER stop <B>\nPARAMETER temperature 0.5\nPARAMETER num_ctx 2048\nPARAMETER use_mmap F\n' +
      'PARAMETER mirostat 2\nLICENSE MIT\nLICENSE """Apache\n2"""\nMESSAGE user hi\nMESSAGE assistant "a: b"\nREQUIRES v0.14.0\nRENDERER r\nPARSER p\n',
  );
  const values: WorkProgress[] = [];
  daemon.on(progressNotification, ({ value }: ProgressParams) => values.push(value));
  const changed = new Promise<void>((resolve) => daemon.on(modelsDidChange, () => resolve()));
  t.strictSame(await daemon.request(createModelRequest, { model: 'made', path, workDoneToken: 1 }), {
    model: 'made',
  });
  await changed;
  t.strictSame(runner.bodies('/api/create'), [
    {
      model: 'made',
      files: { 'weights.gguf': sha256(weights) },
      adapters: { 'lora.gguf': sha256('lora') },
      parameters: { stop: ['<A>', '<B>'], temperature: 0.5, num_ctx: 2048, use_mmap: false },
      template: '{{ .Prompt }}',
      system: 'Be kind.',
      renderer: 'r',
      parser: 'p',
      requires: '0.14.0',
      license: ['MIT', 'Apache\n2'],
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: 'a: b' },
      ],
      stream: true,
    },
  ]);
  const blobs = runner.requests.filter(({ path: where }) => where.startsWith('/api/blobs/'));
  t.strictSame(
    blobs.map(({ method, body }) => [method, body]),
    [
      ['HEAD', undefined],
      ['POST', `${weights.length} bytes`],
      ['HEAD', undefined],
      ['POST', '4 bytes'],
    ],
  );
  t.match(values[0], { kind: 'begin', title: 'Creating made' });
  t.equal(values.at(-1)?.kind, 'end');
  const reports = values.filter((value) => value.kind === 'report');
  t.match(
    reports.find(({ parts }) => parts),
    {
      total: 2 * (weights.length + 4),
      parts: [{ name: 'weights.gguf (reading)', total: weights.length }],
    },
  );
  // Not every report is sent, so it is open which is the last.
  const rows = new Map(reports.flatMap(({ parts = [] }) => parts.map(({ name, total }) => [name, total])));
  t.strictSame([...rows].slice(0, 2), [
    ['weights.gguf (reading)', weights.length],
    ['weights.gguf', weights.length],
  ]);
  const shownModel = await daemon.request(showModelRequest, { model: 'made' });
  t.equal(shownModel.system, 'Be kind.');

  await daemon.request(createModelRequest, { model: 'again', path });
  const posts = runner.requests.filter(
    ({ method, path: where }) => method === 'POST' && where.startsWith('/api/blobs/'),
  );
  t.equal(posts.length, 2, 'what the runner has is not sent again');
});

t.test('a model is created from another, and from text', async (t) => {
  const { runner, daemon } = await setUp(t);
  const absolute = write('absolute.gguf', 'weights');
  t.strictSame(
    await daemon.request(createModelRequest, { model: 'x', text: 'FROM plain\r\nSYSTEM Hi\r\n' }),
    { model: 'x' },
  );
  await daemon.request(createModelRequest, { model: 'y', text: `FROM ${absolute}` });
  t.match(runner.bodies('/api/create'), [
    { model: 'x', from: 'plain', system: 'Hi' },
    { model: 'y', files: { 'absolute.gguf': sha256('weights') } },
  ]);
  const drafted = `FROM plain\nDRAFT ${absolute}\nADAPTER ${write('drafted/lora.gguf', 'lora')}`;
  await daemon.request(createModelRequest, { model: 'd', text: drafted });
  t.strictSame(runner.bodies('/api/create').at(-1), {
    ...{ model: 'd', from: 'plain', stream: true },
    adapters: { 'lora.gguf': sha256('lora') },
    draft_files: { 'absolute.gguf': sha256('weights') },
  });
  const path = write('plain/Modelfile', 'FROM plain');
  await daemon.request(createModelRequest, { model: 'z', path });
  t.match(runner.bodies('/api/create').at(-1), { from: 'plain' }, 'a name is a name where no file has it');
  const utf16 = write('utf16/Modelfile', Buffer.from('\ufeffFROM plain\r\nSYSTEM 日本', 'utf16le'));
  await daemon.request(createModelRequest, { model: 'u', path: utf16 });
  t.match(runner.bodies('/api/create').at(-1), { system: '日本' });
});

t.test('mistakes are reported before anything is sent', async (t) => {
  const { runner, daemon } = await setUp(t);
  const create = (params: object) =>
    daemon.connection.sendRequest<unknown>(createModelRequest.method, { model: 'x', ...params });
  const path = write('wrong/Modelfile', 'FROM ./none.gguf\nADAPTER none\nPARAMETER top_k x\nSYSTEM ok');
  const error = (await create({ path }).catch((reason) => reason)) as {
    message: string;
    data: { diagnostics: ModelfileDiagnostic[] };
  };
  t.match(error, { code: -33010, data: { kind: 'invalid-modelfile', retryable: false } });
  t.match(
    error.message,
    /^The Modelfile has a mistake on line 1: There is no file or folder .*none\.gguf\. Correct it/,
  );
  t.strictSame(
    error.data.diagnostics.map(({ range, severity }) => [range.start.line, range.start.character, severity]),
    [
      [0, 5, 1],
      [1, 8, 1],
      [2, 16, 1],
    ],
  );
  for (const [params, code, says] of [
    [{}, -32602, /"path"/],
    [{ path, text: 'FROM plain' }, -32602, /"path"/],
    [{ path: 'Modelfile' }, -32602, /"path".*absolute/],
    [{ path: pathToFileURL(path).href }, -32602, /"path".*absolute/],
    [{ path: join(folder, 'nowhere') }, -33011, /nowhere is not there\.$/],
    [{ path: folder }, -33011, /cannot be read: (it is not a regular file|EISDIR)/],
    [{ path: write('binary.gguf', Buffer.from([0x47, 0, 0xff])) }, -33011, /is not a text file/],
    [{ text: 'FROM ./relative.gguf' }, -33010, /save the Modelfile first, or write an absolute path/],
    [{ text: 'FROM a b' }, -33010, /neither a model's name nor an existing file/],
    [{ text: 'FROM plain\n\nPARAMETER top_k x' }, -33010, /mistake on line 3/],
    [{ text: 'FROM a # b' }, -33010, /A comment needs a line of its own/],
    [{ text: '' }, -33010, /no FROM line/],
    [{ text: 'FROM ./a.gguf\n'.repeat(5_000) }, -33010, /mistake on line 1/],
    [{ text: 'FROM plain', model: 'a b' }, -33011, /not a model name/],
    [{ text: `FROM ${write('.env.gguf', 'x')}` }, -33010, /looks like a secret/],
    [{ text: `FROM plain\nSYSTEM """${'x'.repeat(17 * 1024 * 1024)}"""` }, -32602, /"text".*16 MB/],
  ] as const) {
    await t.rejects(create(params), failsWith({ code, message: says }), JSON.stringify(params).slice(0, 80));
  }
  t.strictSame(
    runner.requests.filter(({ method }) => method !== 'GET'),
    [],
  );
  const large = write('large/Modelfile', `FROM plain\n${'# a comment line\n'.repeat(650_000)}SYSTEM end`);
  await create({ path: large });
  t.match(runner.bodies('/api/create').at(-1), { system: 'end' }, 'ten megabytes are read');
});

t.test('refusals of the runner, and a cancel', async (t) => {
  const { runner, daemon } = await setUp(t);
  await t.rejects(
    daemon.request(createModelRequest, { model: 'x', text: 'FROM nothing:1b' }),
    failsWith({ code: -33004, message: /starts from nothing:1b, which/ }),
  );
  runner
    .on('/api/create')
    .rawLines([{ status: 'parsing GGUF' }, { error: 'unknown type' }, { error: 'another' }]);
  await t.rejects(
    daemon.request(createModelRequest, { model: 'x', text: 'FROM plain' }),
    failsWith({ code: -33009, message: /unknown type/ }),
  );
  runner.on('/api/create').rawLines([{ status: 'parsing GGUF' }]);
  await t.rejects(
    daemon.request(createModelRequest, { model: 'x', text: 'FROM plain' }),
    failsWith({ code: -33008 }),
  );

  const path = write('slow.gguf', 'weights');
  const digest = sha256('weights');
  runner.on(`/api/blobs/${digest}`).failWith(404, '');
  runner.on(`/api/blobs/${digest}`).hang();
  const cancel = new AbortController();
  const created = daemon
    .request(createModelRequest, { model: 'x', text: `FROM ${path}` }, cancel.signal)
    .catch((error) => error.code);
  await runner.waitFor(({ method, path: where }) => method === 'POST' && where.startsWith('/api/blobs/'));
  cancel.abort();
  t.equal(await created, -32800);
  await runner.waitFor(({ method, aborted }) => method === 'POST' && aborted === true);
  runner.on(`/api/blobs/${digest}`).failWith(404, '');
  runner.on(`/api/blobs/${digest}`).failWith(400, { error: 'digest mismatch, expected "a", got "b"' });
  await t.rejects(
    daemon.request(createModelRequest, { model: 'x', text: `FROM ${path}` }),
    failsWith({ message: /changed while it was being sent/ }),
  );
});

t.test('the request for a parse', async (t) => {
  const { daemon } = await setUp(t);
  t.strictSame(await daemon.request(parseModelfileRequest, { text: 'FROM a\nPARAMETER top_k x' }), {
    commands: [
      {
        command: 'from',
        args: ['a'],
        range: { start: { line: 0, character: 0 }, end: { line: 0, character: 6 } },
      },
      {
        command: 'parameter',
        args: ['top_k', 'x'],
        range: { start: { line: 1, character: 0 }, end: { line: 1, character: 17 } },
      },
    ],
    diagnostics: [
      {
        range: { start: { line: 1, character: 16 }, end: { line: 1, character: 17 } },
        message: 'top_k needs a whole number.',
        severity: 1,
      },
    ],
  });
  await t.rejects(
    daemon.connection.sendRequest('runner/modelfile/parse', {}),
    failsWith({ code: -32602, data: { path: 'text' } }),
  );
});

/** Opens a document; `next` settles at the next diagnostics for it. */
function openDocument(daemon: DaemonClient, document: { uri: string; languageId?: string; text: string }) {
  const { uri, languageId = 'modelfile', text } = document;
  const seen: PublishDiagnosticsParams[] = [];
  const waiting = new Set<() => void>();
  daemon.on({ method: 'textDocument/publishDiagnostics' }, (params: PublishDiagnosticsParams) => {
    if (params.uri !== uri) return;
    seen.push(params);
    for (const look of waiting) look();
  });
  const told = async (count: number) => {
    while (seen.length < count) {
      await new Promise<void>((resolve) => {
        const look = () => {
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
      });
    }
    return seen[count - 1];
  };
  void daemon.connection.sendNotification('textDocument/didOpen', {
    textDocument: { uri, languageId, version: 1, text },
  });
  return { told, seen };
}

t.test('a file that grows while it is read is not read without end', async (t) => {
  const path = write('growing.gguf', 'longer than it was');
  const runner = { hasBlob: async () => true } as unknown as Required<Runner>;
  const uploads = new Uploads(runner, [{ path, name: 'growing', bytes: 5 }], () => undefined);
  await t.rejects(uploads.send([{ path, name: 'growing', bytes: 5 }], new AbortController().signal), {
    kind: 'invalid-request',
    message: `${path} cannot be read: it grows while it is read. Check that the file exists and is readable.`,
  });
});

t.test('mistakes are published while the user types', async (t) => {
  const { daemon } = await setUp(t);
  const uri = pathToFileURL(join(folder, 'editor', 'Modelfile')).href;
  write('editor/there.gguf', 'x');
  const { told, seen } = openDocument(daemon, { uri, text: 'FROM ./there.gguf\nADAPTER ./gone.gguf\n' });
  const first = await told(1);
  t.match(first, {
    version: 1,
    diagnostics: [{ severity: 1, source: 'runner', message: /There is no file .*gone\.gguf/ }],
  });
  const change = (version: number, line: number, text: string) =>
    daemon.connection.sendNotification('textDocument/didChange', {
      textDocument: { uri, version },
      contentChanges: [
        { range: { start: { line, character: 0 }, end: { line: line + 1, character: 0 } }, text },
      ],
    });
  await change(2, 1, 'PARAMETER\n');
  await change(3, 1, 'PARAMETER temperature warm\n');
  while (seen.at(-1)?.version !== 3) await told(seen.length + 1);
  t.match(seen.at(-1)?.diagnostics, [
    {
      range: { start: { line: 1, character: 22 }, end: { line: 1, character: 26 } },
      message: 'temperature needs a number.',
    },
  ]);
  await change(4, 1, 'PARAMETER temperature 0.1\n');
  while (seen.at(-1)?.version !== 4) await told(seen.length + 1);
  t.strictSame(seen.at(-1)?.diagnostics, []);
  await daemon.connection.sendNotification('textDocument/didClose', { textDocument: { uri } });
});

t.test('a Modelfile is checked again when it is saved', async (t) => {
  const { daemon } = await setUp(t);
  const uri = pathToFileURL(join(folder, 'saved', 'Modelfile')).href;
  write('saved/there.gguf', 'x');
  const { told } = openDocument(daemon, { uri, text: 'FROM ./there.gguf\nADAPTER ./later.gguf\n' });
  // Opening counts as a change, too.
  for (const count of [1, 2])
    t.match(await told(count), { diagnostics: [{ message: /There is no file .*later\.gguf/ }] });
  write('saved/later.gguf', 'x');
  await daemon.connection.sendNotification('textDocument/didSave', { textDocument: { uri } });
  t.match(await told(3), { version: 1, diagnostics: { length: 0 } });
});

t.test('a Modelfile that is too large is not checked, which is said', async (t) => {
  const { daemon } = await setUp(t);
  const most = 16 * 1024 * 1024;
  const open = (name: string, length: number) => {
    const uri = pathToFileURL(join(folder, 'large', name)).href;
    return openDocument(daemon, { uri, text: `FROM a\n#${'x'.repeat(length - 8)}` }).told(1);
  };
  t.match(await open('Modelfile', most), { diagnostics: { length: 0 } });
  t.match(await open('Modelfile.larger', most + 1), {
    diagnostics: [{ severity: 2, message: 'This file has more than 16 MB, so it is not checked.' }],
  });
});

t.test('which documents are Modelfiles', async (t) => {
  const { daemon } = await setUp(t);
  for (const [uri, languageId, is] of [
    ['untitled:Untitled-1', 'modelfile', true],
    ['untitled:Untitled-2', 'Modelfile', true],
    ['untitled:Untitled-3', 'modelfiles', false],
    ['file:///x/Modelfile', 'plaintext', true],
    ['file:///x/my.modelfile', 'plaintext', true],
    ['file:///x/Modelfile.small', 'text', true],
    ['file:///x/%E0/Modelfile', 'plaintext', true],
    ['file://far/x/Modelfile', 'modelfile', true],
    ['file:///x/Modelfile', 'dockerfile', false],
    ['file:///x/readme.txt', 'plaintext', false],
  ] as const) {
    const { seen } = openDocument(daemon, { uri, languageId, text: 'BAD' });
    const hover = await daemon.connection.sendRequest('textDocument/completion', {
      textDocument: { uri },
      position: { line: 0, character: 0 },
    });
    t.equal((hover as unknown[]).length > 0, is, `${uri} ${languageId}`);
    if (!is) t.equal(seen.length, 0);
    await daemon.connection.sendNotification('textDocument/didClose', { textDocument: { uri } });
  }
});

t.test('hover and completion', async (t) => {
  const formats = ['markdown', 'plaintext'];
  const { daemon } = await setUp(t, {
    textDocument: {
      hover: { contentFormat: formats },
      completion: { completionItem: { documentationFormat: formats } },
    },
  });
  const uri = 'untitled:m';
  const text = 'FROM plain\nPARAMETER num_ctx 1\nSYSTEM """\nF\n"""\nMESSAGE \nPAR\nPARAMETER use_mmap ';
  await openDocument(daemon, { uri, text }).told(1);
  const at = (method: string, line: number, character: number) =>
    daemon.connection.sendRequest(`textDocument/${method}`, {
      textDocument: { uri },
      position: { line, character },
    });
  t.match(await at('hover', 0, 2), { contents: { value: /\*\*FROM\*\* The model to start from/ } });
  t.match(await at('hover', 1, 12), {
    contents: { value: /\*\*num_ctx\*\* \(int\) Tokens/ },
    range: { start: { line: 1, character: 10 }, end: { line: 1, character: 17 } },
  });
  t.equal(await at('hover', 3, 0), null);
  const labels = async (line: number, character: number) =>
    ((await at('completion', line, character)) as { label: string }[]).map(({ label }) => label);
  t.ok((await labels(6, 3)).includes('PARAMETER'));
  t.ok((await labels(1, 12)).includes('num_ctx'));
  t.strictSame(await labels(0, 6), ['plain:latest']);
  const inserted = async (line: number, character: number) =>
    ((await at('completion', line, character)) as { insertText: string }[]).map(
      ({ insertText }) => insertText,
    );
  t.strictSame(await inserted(5, 8), ['system ', 'user ', 'assistant ']);
  t.strictSame(await inserted(7, 19), ['true', 'false'], 'Enter behind a whole line begins the next one');
  t.strictSame(await labels(3, 1), [], 'between quotes nothing is a command');
  t.strictSame(await labels(1, 19), []);
});

t.test('hover and completion have the format that the editor reads', async (t) => {
  const cases: readonly { name: string; formats: readonly string[] | undefined; kind: string }[] = [
    { name: 'an editor that says nothing', formats: undefined, kind: 'plaintext' },
    { name: 'plain text alone', formats: ['plaintext'], kind: 'plaintext' },
    { name: 'plain text first', formats: ['plaintext', 'markdown'], kind: 'plaintext' },
    { name: 'Markdown first', formats: ['markdown', 'plaintext'], kind: 'markdown' },
  ];
  for (const { name, formats, kind } of cases) {
    await t.test(name, async (t) => {
      const { daemon } = await setUp(t, {
        textDocument: {
          hover: formats ? { contentFormat: formats } : {},
          completion: formats ? { completionItem: { documentationFormat: formats } } : {},
        },
      });
      const textDocument = { uri: 'untitled:m' };
      await openDocument(daemon, { uri: textDocument.uri, text: 'FROM a\n' }).told(1);
      const at = (line: number) => ({ textDocument, position: { line, character: 0 } });
      const hover = await daemon.connection.sendRequest<Hover>('textDocument/hover', at(0));
      t.match(hover.contents, { kind, value: kind === 'markdown' ? /^\*\*FROM\*\* The/ : /^FROM The/ });
      const items = await daemon.connection.sendRequest<CompletionItem[]>('textDocument/completion', at(1));
      t.ok(items.length > 5 && items.every(({ documentation }) => Object(documentation).kind === kind));
      const written = items.map(({ documentation }) => Object(documentation).value).join('');
      t.equal(/[`*]/.test(written), kind === 'markdown', 'plain text has no marks');
    });
  }
});
