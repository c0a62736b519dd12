import { existsSync, readFileSync } from 'node:fs';
import t from 'tap';

const page = readFileSync('test/specification.md', 'utf8');

/** What the specification numbers, and the keys of its tables, section by section. */
const wanted: Readonly<Record<string, readonly string[]>> = {
  'What the service does': numbered('service', 7),
  'Activation order': numbered('activation', 8),
  'Direct path': numbered('direct', 6),
  'Provider path': [
    'provider 1',
    ...['thinking', 'vision', 'tools'].map((guard) => `provider 2 ${guard}`),
    'provider 3',
    'provider 4',
  ],
  'Stream parsing': [
    'stream 1',
    ...['tags', 'thinking', 'calls', 'formatting'].map((part) => `stream 1 ${part}`),
    'stream 2',
  ],
  Settings: ['host', 'completionModel', 'streamLogs'].map((key) => `setting \`runner.${key}\``),
  'Model entries': numbered('entry', 3),
  'Thinking-model detection': numbered('thinking', 1),
  'Tree views': [
    ...numbered('views', 3),
    ...['ModelsLocal', 'ModelsRunning', 'ModelsLibrary', 'ModelsCloud', 'Modelfiles'].map(
      (name) => `view \`runner${name}View\``,
    ),
  ],
  Grouping: numbered('grouping', 4),
  'XML context blocks': ['context 0', ...numbered('context', 4)],
  'Model lifecycle': ['pull', 'run', 'stop', 'delete'].map((trigger) => `lifecycle ${trigger}`),
  'Tool support': ['enabled', 'disabled'].map((state) => `tools ${state}`),
  Endpoints: [
    'endpoint `GET /api/tags`',
    'endpoint `GET /api/ps`',
    'endpoint `POST /api/pull`',
    'endpoint `DELETE /api/delete`',
    'endpoint `POST /api/chat`',
    'endpoint `DELETE /api/ps/<model_name>`',
    'endpoint library',
    'endpoint none',
  ],
  Authentication: numbered('authentication', 2),
  Errors: numbered('error', 5),
  'Security rules': numbered('security', 3),
  'Documents: what the service does': numbered('documents', 5),
  'Documents: endpoints': [
    'endpoint `GET /api/v1/docs`',
    'endpoint `GET /api/v1/docs/:slug`',
    'endpoint `GET /api/v1/docs/:slug.pdf`',
    'endpoint `GET /api/v1/collections/:name.epub`',
    'endpoint authentication',
  ],
  'Documents: parameters of the list': ['type', 'tag', 'limit', 'offset'].map(
    (name) => `parameter \`${name}\``,
  ),
  'Documents: agent tools': ['search_docs', 'get_doc_markdown', 'list_collections'].map(
    (name) => `tool \`${name}\``,
  ),
  'Documents: authentication': numbered('bearer', 1),
};

interface Rule {
  readonly key: string;
  readonly wording: string;
  readonly tests: readonly { readonly file: string; readonly name: string }[];
}

const sections = new Map(page.split(/^## /m).slice(1).map(readSection));

t.test('each rule and each row of the specification has its row', async (t) => {
  t.strictSame([...sections.keys()], Object.keys(wanted), 'the sections, in their order');
  for (const [section, keys] of Object.entries(wanted)) {
    const rules = sections.get(section) ?? [];
    t.strictSame(
      rules.map(({ key }) => key),
      keys,
      section,
    );
    for (const { key, wording, tests } of rules) t.ok(wording.length > 10 && tests.length > 0, key);
  }
});

t.test('each test that is named is there', async (t) => {
  const rules = [...sections.values()].flat();
  const lines = page.split('\n').filter((line) => /^\| (?!rule |---)/.test(line));
  t.equal(rules.length, lines.length, 'every line of the tables was read');
  for (const { key, tests } of rules)
    for (const { file, name } of tests) t.ok(titlesOf(file).has(name), `${key}: ${file}: ${name}`);
});

t.test('the tests of the invariants in docs/ARCHITECTURE.md exist', async (t) => {
  const text = readFileSync('docs/ARCHITECTURE.md', 'utf8');
  const tests = [...text.matchAll(/`test\/[\w/]+\.test\.ts`: .+?(?=<br>| \|$)/gm)].map(([one]) =>
    readTest(one),
  );
  t.ok(tests.length > 40);
  for (const { file, name } of tests) t.ok(titlesOf(file).has(name), `${file}: ${name}`);
});

function numbered(name: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${name} ${index + 1}`);
}

function readSection(text: string): readonly [string, readonly Rule[]] {
  const [title = '', ...lines] = text.split('\n');
  const rules = lines.flatMap((line) => {
    const [, key = '', wording = '', tests = ''] = /^\| (.+?) \| (.+?) \| (.+) \|$/.exec(line) ?? [];
    if (key === '' || key === 'rule' || key.startsWith('---')) return [];
    return [{ key, wording, tests: tests.split('<br>').map(readTest) }];
  });
  return [title, rules];
}

function readTest(text: string): Rule['tests'][number] {
  const [, file = '', name = ''] = /^`(test\/[\w/]+\.test\.ts)`: (.+)$/.exec(text) ?? [];
  return { file, name };
}

/** The titles of the tests of a file, as its source writes them. */
function titlesOf(file: string): ReadonlySet<string> {
  const source = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const titles = source.matchAll(/\bt\.test\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/g);
  return new Set([...titles].map(([, , title = '']) => title.replace(/\\(.)/g, '$1')));
}
