import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import t from 'tap';
import {
  createKnownServers,
  keyedAbilities,
  keyOf,
  lackedBy,
  possible,
  rowContext,
} from '../../client/vscode/daemon/servers.ts';
import { createInterruptedPulls, offerInterrupted } from '../../client/vscode/models/pulls.ts';
import { commandsOf, toHtml } from '../../client/vscode/ui/page.ts';
import { localRow } from '../../client/vscode/views/modelRows.ts';
import { createRowStore, type LoadedRows } from '../../client/vscode/views/rowStore.ts';
import type { Ability, Product } from '../../protocol/messages/status.ts';
import { memoryLike } from '../support/memoryLike.ts';
import { modelLike } from '../support/modelLike.ts';

const rowsOf = (...names: readonly string[]) => names.map((name) => localRow(modelLike(name)));
t.test('rows appear as each server answers, and only the newest load counts', async (t) => {
  const answers: { name: string; resolve: (rows: LoadedRows) => void; reject: (error: unknown) => void }[] =
    [];
  const source = (name: string) => ({
    name,
    load: () => new Promise<LoadedRows>((resolve, reject) => answers.push({ name, resolve, reject })),
  });
  let names = ['default', 'box'];
  let changes = 0;
  const store = createRowStore(
    () => names.map(source),
    () => changes++,
  );
  const seen = () => store.outcomes.map(({ name, rows, failure }) => [name, rows.length, failure?.sentence]);
  t.ok(store.isStale);
  t.equal(answers.length, 0, 'it asks only on a load');

  const first = store.load();
  t.notOk(store.isStale);
  answers[1]?.resolve({ rows: rowsOf('a') });
  await new Promise(setImmediate);
  t.strictSame(seen(), [['box', 1, undefined]], 'a slow server keeps nothing back');
  t.ok(store.isLoading);
  answers[0]?.reject('down');
  await first;
  t.strictSame(seen(), [
    ['default', 0, 'down'],
    ['box', 1, undefined],
  ]);
  t.equal(changes, 2);

  const older = store.load();
  names = ['box'];
  const newer = store.load(true);
  t.strictSame(seen(), [['box', 1, undefined]], 'what is known stays until it is known anew');
  answers[4]?.resolve({ rows: rowsOf('a', 'b') });
  await newer;
  answers[2]?.resolve({ rows: rowsOf('x', 'y', 'z') });
  answers[3]?.resolve({ rows: rowsOf('x', 'y', 'z') });
  await older;
  t.strictSame(seen(), [['box', 2, undefined]]);
  store.markStale();
  t.ok(store.isStale);
});

/** What servers said of themselves. */
function knownAs(
  said: Readonly<Record<string, readonly [product: Product, can: readonly Ability[]]>>,
  names = Object.keys(said),
) {
  const known = createKnownServers(() => names);
  for (const [name, [product, can]] of Object.entries(said))
    known.take(name, { state: 'online', kind: 'ok', message: 'X answers.', product, can });
  return known;
}

t.test('servers of different products offer what each can do, and nothing else', async (t) => {
  const known = knownAs(
    {
      default: ['llama.cpp', ['chat', 'complete', 'count']],
      box: ['ollama', ['chat', 'complete', ...keyedAbilities]],
      lms: ['lmstudio', ['chat', 'load', 'unload']],
    },
    ['default', 'box', 'lms', 'new'],
  );
  t.strictSame(
    ['default', 'box', 'lms', 'new'].map((name) => known.product(name)),
    ['llama.cpp', 'ollama', 'lmstudio', undefined],
  );
  t.strictSame(known.those('pull'), ['box', 'new'], 'one that has not answered yet may');
  t.notOk(known.can('pull'), 'the default one');
  t.strictSame(
    ['default', 'box', 'lms', 'new'].map((name) => rowContext('local', known, name)),
    [
      'runner.local',
      'runner.local load unload pull delete create catalog',
      'runner.local load unload',
      'runner.local load unload pull delete create catalog',
    ],
  );
  t.equal(lackedBy(known, 'runner.deleteModel', 'lms'), 'delete');
  t.equal(lackedBy(known, 'runner.pullModel'), undefined, 'one that can is enough');
  t.equal(lackedBy(knownAs({ default: ['vllm', ['chat']] }), 'runner.pullModel'), 'pull');
  t.equal(lackedBy(known, 'runner.showLog', 'lms'), undefined);
  const links = ['default', 'box'].map((server) => ({
    command: 'runner.pullModel',
    arguments: [{ model: 'q', server }],
  }));
  t.strictSame(possible(known, [...links, { command: 'runner.doctor' }]), [
    links[1],
    { command: 'runner.doctor' },
  ]);
  known.take('box', { state: 'offline', kind: 'error', message: 'No runner answers.' });
  t.equal(known.product('box'), 'ollama', 'what is down counts as what it was');
  known.forget('further');
  t.strictSame([known.product('box'), known.product()], [undefined, 'llama.cpp']);
  known.forget('default');
  t.ok(known.can('pull'));
});

t.test('menus and the palette depend on what the servers can do', async (t) => {
  const { menus, views } = JSON.parse(readFileSync('package.json', 'utf8')).contributes;
  const whenOf = (menu: string, id: string): readonly string[] =>
    menus[menu].flatMap(({ command, when }: { command: string; when: string }) =>
      command === id ? [when] : [],
    );
  const shows = (when: string, row: string) => {
    const patterns = [...when.matchAll(/viewItem =~ \/(.*?)\/(?= |$)/g)].map(
      ([, pattern = '']) => new RegExp(pattern),
    );
    return patterns.length > 0 && patterns.every((pattern) => pattern.test(row));
  };
  const rows = {
    'runner.runModel': ['local', 'load'],
    'runner.stopModel': ['loaded', 'unload'],
    'runner.deleteModel': ['local', 'delete'],
    'runner.updateModel': ['loaded', 'pull'],
    'runner.duplicateModel': ['local', 'create'],
    'runner.newModelfile': ['local', 'create'],
    'runner.openModelPage': ['running', 'catalog'],
  };
  for (const [id, [kind, able]] of Object.entries(rows)) {
    const whens = whenOf('view/item/context', id).filter((when) => !when.includes('== runner.cloud'));
    t.ok(whens.length > 0 && whens.every((when) => shows(when, `runner.${kind} ${able}`)), id);
    const others = keyedAbilities.filter((ability) => !able?.split(' ').includes(ability)).join(' ');
    t.ok(
      whens.every((when) => !shows(when, `runner.${kind} ${others}`)),
      `${id} of a server that lacks it`,
    );
  }
  for (const id of ['runner.showModel', 'runner.chatWithModel', 'runner.copyModelName'])
    t.ok(
      whenOf('view/item/context', id).every((when) => shows(when, 'runner.local')),
      `${id} of any server`,
    );
  const palette = {
    'runner.pullModel': 'pull',
    'runner.loadAModel': 'load',
    'runner.unloadAModel': 'unload',
    'runner.deleteAModel': 'delete',
    'runner.updateAModel': 'pull',
    'runner.duplicateAModel': 'create',
    'runner.createModel': 'create',
    'runner.newModelfile': 'create',
    'runner.openPageOfAModel': 'catalog',
    'runner.setCatalogAddress': 'catalog',
  } as const;
  for (const [id, ability] of Object.entries(palette))
    t.match(whenOf('commandPalette', id).join(), `!${keyOf(ability)}`, id);
  for (const { id, when } of views.runner)
    t.equal(when, /Library|Cloud/.test(id) ? `!${keyOf('catalog')}` : undefined, id);
});

t.test('the manifest has what the views need', async (t) => {
  const { contributes } = JSON.parse(readFileSync('package.json', 'utf8'));
  const commands: readonly { command: string; title: string; category: string; icon?: string }[] =
    contributes.commands;
  const menus: Record<string, readonly { command: string; when: string }[]> = contributes.menus;
  const welcomes: readonly { view: string; when?: string; contents: string }[] = contributes.viewsWelcome;
  const known = new Set(commands.map(({ command }) => command));
  t.equal(known.size, commands.length, 'each command once');
  const titleOf = (id: string) => commands.find(({ command }) => command === id)?.title;
  for (const { command, title, category } of commands) t.ok(title && category === 'Runner', command);
  for (const entry of Object.values(menus).flat())
    t.ok('submenu' in entry ? menus[String(entry.submenu)] : known.has(entry.command), JSON.stringify(entry));
  const hidden = (menus['commandPalette'] ?? []).filter(({ when }) => when === 'false');
  const isHidden = (id: string) => hidden.some(({ command }) => command === id);
  t.ok(isHidden('runner.cancelPull'));
  const palette = (id: string) => (menus['commandPalette'] ?? []).find(({ command }) => command === id)?.when;
  t.equal(palette('runner.writeCommitMessage'), 'gitOpenRepositoryCount > 0', 'also false without Git');
  t.match(palette('runner.completion.toggleLanguage'), 'editorIsOpen', 'it is about the open file');
  const ofRows = (menus['view/item/context'] ?? []).map(({ command }) => command);
  const asks = (id: string) => titleOf(id)?.endsWith('…') === true;
  for (const id of ofRows) t.ok(isHidden(id) || asks(id), `${id} is of a row, or asks for its object`);
  for (const [id, title] of commands.map(({ command, title }) => [command, title] as const))
    if (!isHidden(id)) t.match(title, / |^Doctor$/, `${title} names its object in the palette`);
  const keybindings: readonly { command: string; key: string; when: string }[] = contributes.keybindings;
  const ofFolders = '!treeElementCanCollapse && !treeElementCanExpand';
  for (const { command, key, when } of keybindings) {
    t.ok(known.has(command), key);
    const isOfRow = when.includes('focusedView == runnerModels');
    if (isOfRow) t.equal(when.includes(ofFolders), key !== 'enter', `only Enter folds: ${key}`);
  }

  const conditions = ['empty', 'offline', 'unauthorized'];
  for (const name of ['Local', 'Running', 'Library', 'Cloud']) {
    const own = [`toggle${name}Grouping`, `toggle${name}GroupingToTree`, `refresh${name}`, `filter${name}`];
    for (const id of [...own, `clear${name}Filter`].map((part) => `runner.${part}`)) {
      t.ok(known.has(id) && isHidden(id), `${id} is a button and not in the palette`);
      const shown = (menus['view/title'] ?? []).filter(({ command }) => command === id);
      t.ok(shown.length > 0 && shown.every(({ when }) => when.startsWith(`view == runnerModels${name}View`)));
    }
    const texts = welcomes.filter(({ view }) => view === `runnerModels${name}View`);
    t.strictSame(
      texts.map(({ when }) => when),
      conditions.flatMap((condition) => {
        const when = `runner.${name}State == ${condition}`;
        const hasPull = name === 'Local' && condition === 'empty';
        return hasPull ? [`${when} && !runner.cannotPull`, `${when} && runner.cannotPull`] : [when];
      }),
      `${name} says something else of each`,
    );
    const links = texts.flatMap(({ contents }) => [...contents.matchAll(/\(command:(runner\.\w+)\)/g)]);
    for (const [, id = ''] of links) t.ok(known.has(id), id);
  }
});

t.test(
  'the first steps: each is ticked by what happened, and has a picture that follows the theme',
  async (t) => {
    const { contributes } = JSON.parse(readFileSync('package.json', 'utf8'));
    const [{ steps }] = contributes.walkthroughs;
    const packed = readFileSync('.ci/package.mjs', 'utf8');
    for (const { id, completionEvents } of steps)
      t.match(completionEvents, [/^onContext:runner\.\w+$/], `${id} is ticked by what happened`);
    for (const { id, description, media } of steps) {
      t.match(description, /\]\((command:|https:)/, `${id} has a button`);
      t.ok(packed.includes(`['${dirname(media.svg)}', '.svg']`), `${media.svg} is packed`);
      const picture = readFileSync(media.svg, 'utf8');
      t.ok(media.altText && picture.length < 4_000, `${media.svg} is small, and has a text`);
      t.notMatch(picture, /<script|<style|style=|#[\da-f]{3}/i, 'its colours are the editor’s');
      t.match(picture, /fill="var\(--vscode-/);
    }
  },
);

t.test('a page escapes and cuts every text, and runs only the commands of its links', async (t) => {
  const [fits, long] = ['x'.repeat(20_000), `${'x'.repeat(20_000)}y`];
  const links = [
    { title: 'Go', command: 'runner.doctor' },
    { title: 'Set "it"', command: 'runner.setAddress', arguments: ['a b'] },
  ];
  const page = {
    title: 'A & B',
    sections: [
      {
        lines: [
          { text: fits, links },
          { state: 'bad', text: '<b>no</b>' },
          { state: 'good', text: 'a' },
        ],
      },
      { heading: 'C', facts: [['name', long]] },
      { code: '</pre><a href="command:evil">x</a>' },
    ],
    time: '14:05:10',
  } as const;
  const html = toHtml(page);
  t.match(html, "default-src 'none'");
  t.strictSame(html.replaceAll(fits, 'LONG').split('\n').slice(-7), [
    '</style></head><body><main><h1>A &#38; B</h1>',
    '<section><ul><li class="note"><span aria-hidden="true">•</span><div>LONG<nav><a href="command:runner.doctor">Go</a> <a href="command:runner.setAddress?%5B%22a%20b%22%5D">Set &#34;it&#34;</a></nav></div></li><li class="bad"><span aria-hidden="true">✗</span><div>To fix: &#60;b&#62;no&#60;/b&#62;</div></li><li class="good"><span aria-hidden="true">✓</span><div>a</div></li></ul></section>',
    '<section><h2>C</h2><table><tr><th scope="row">name</th><td>LONG',
    '(cut)</td></tr></table></section>',
    '<section><pre>&#60;/pre&#62;&#60;a href=&#34;command:evil&#34;&#62;x&#60;/a&#62;</pre></section>',
    '<footer>As of 14:05:10</footer>',
    '</main></body></html>',
  ]);
  t.strictSame(commandsOf(page), ['runner.doctor', 'runner.setAddress']);
});

t.test('an interrupted pull is known when the window opens again, and goes on after a yes', async (t) => {
  const memory = memoryLike();
  const first = createInterruptedPulls(memory);
  first.begin({ model: 'a', server: 'default' });
  first.begin({ model: 'b' });
  first.end({ model: 'B:latest' });
  const { left } = createInterruptedPulls(memory);
  t.strictSame(left, [{ model: 'a', server: 'default' }]);
  t.strictSame(createInterruptedPulls(memory).left, [], 'it is offered once');
  for (const answer of ['Continue', undefined]) {
    const [asked, pulled]: [unknown[], string[]] = [[], []];
    const ask = async (...question: readonly unknown[]) => {
      asked.push(question);
      return answer;
    };
    await offerInterrupted(left, ask, async ({ model }) => void pulled.push(model));
    t.strictSame(
      [asked, pulled],
      [[['The download of a was interrupted.', 'Continue']], answer ? ['a'] : []],
    );
  }
});
