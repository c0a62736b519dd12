import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import t from 'tap';
import { foundChoices } from '../../client/vscode/address/foundChoices.ts';
import { createCancelWarning } from '../../client/vscode/chat/cancelWarning.ts';
import {
  createKnownServers,
  keyedAbilities,
  keyOf,
  lackedBy,
  possible,
  rowContext,
} from '../../client/vscode/daemon/knownServers.ts';
import { catalogServer, chooseServer } from '../../client/vscode/models/chooseServer.ts';
import { detailsOf } from '../../client/vscode/models/modelDescriptions.ts';
import { copyNameOf, problemOfName } from '../../client/vscode/models/modelNames.ts';
import { createInterruptedPulls, offerInterrupted } from '../../client/vscode/models/pulls.ts';
import { adviseOnEngine } from '../../client/vscode/status/doctorAdvice.ts';
import { createLivePage } from '../../client/vscode/ui/livePage.ts';
import { commandsOf, toHtml } from '../../client/vscode/ui/page.ts';
import { noFilter } from '../../client/vscode/views/filter.ts';
import { localRow } from '../../client/vscode/views/modelRows.ts';
import { catalogSource } from '../../client/vscode/views/rowSources.ts';
import { createRowStore, type LoadedRows, type LoadOutcome } from '../../client/vscode/views/rowStore.ts';
import type { ViewCondition } from '../../client/vscode/views/viewState.ts';
import { viewStateOf } from '../../client/vscode/views/viewState.ts';
import { stepKeys } from '../../client/vscode/walkthrough/stepKeys.ts';
import { refusalOf } from '../../protocol/messages/abilities.ts';
import type { Model } from '../../protocol/messages/models.ts';
import type { Ability, Product } from '../../protocol/messages/status.ts';
import { modelLike, yes } from '../support/modelLike.ts';

const rowsOf = (...names: readonly string[]) => names.map((name) => localRow(modelLike(name)));
const failed = (name: string, kind: string): LoadOutcome => ({
  ...{ name, rows: [] },
  failure: { kind, sentence: 'Start it.' },
});

t.test('rows appear as each server answers, and only the newest load counts', async (t) => {
  const answers: { name: string; resolve: (rows: LoadedRows) => void; reject: (error: unknown) => void }[] =
    [];
  const source = (name: string) => ({
    name,
    load: () => new Promise<LoadedRows>((resolve, reject) => answers.push({ name, resolve, reject })),
  });
  let names = ['default', 'box'];
  let changes = 0;
  const store = createRowStore({
    sources: () => names.map(source),
    explain: (error) => ({ sentence: String(error) }),
    onDidChange: () => changes++,
  });
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
  t.notOk(store.isLoading);
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

const everything: readonly Ability[] = [
  'chat',
  'complete',
  'load',
  'unload',
  'pull',
  'delete',
  'create',
  'embed',
  'logs',
  'catalog',
];
const ollama = knownAs({ default: ['ollama', everything] });

t.test('servers of different products offer what each can do, and nothing else', async (t) => {
  const known = knownAs(
    {
      default: ['llama.cpp', ['chat', 'complete', 'count']],
      box: ['ollama', everything],
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
  const without = (lacking: Ability) =>
    knownAs({ default: ['ollama', everything.filter((ability) => ability !== lacking)] });
  const needs: Readonly<Record<string, readonly Ability[]>> = {
    'runner.pullModel': ['pull'],
    'runner.updateModel': ['pull'],
    'runner.runModel': ['load'],
    'runner.stopModel': ['unload'],
    'runner.stopOtherModels': ['unload'],
    'runner.deleteModel': ['delete'],
    'runner.duplicateModel': ['create'],
    'runner.createModel': ['create'],
    'runner.newModelfile': ['create'],
    'runner.openModelPage': ['catalog'],
    'runner.doctor': [],
  };
  for (const [command, abilities] of Object.entries(needs))
    t.strictSame(
      everything.filter((ability) => lackedBy(without(ability), command) === ability),
      abilities,
      command,
    );
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
  t.equal(refusalOf('vllm', 'pull'), 'vLLM cannot download models. Start it with the model that you want.');
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

  const conditions: readonly ViewCondition[] = ['empty', 'offline', 'unauthorized'];
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
    const events = steps.flatMap((step: { completionEvents: readonly string[] }) => step.completionEvents);
    t.strictSame(
      events,
      stepKeys.map((key) => `onContext:runner.${key}`),
      'the keys of the manifest are those that are set',
    );
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

t.test('a page escapes every text, and runs only the commands of its links', async (t) => {
  const model = modelLike('<b>q</b>', { size: 1e9, context: { maximum: 8192 } });
  const page = detailsOf(
    {
      model,
      system: '</pre><a href="command:evil">x</a>',
      parameters: { stop: ['a', '"'] },
    },
    ollama,
  );
  const html = toHtml(page);
  t.notMatch(html, /<b>|<a href="command:evil/);
  t.match(html, '&#60;b&#62;q');
  t.match(html, "default-src 'none'");
  t.match(html, /Window<\/th><td>at most 8,192 tokens/);
  t.match(html, /Capabilities<\/th><td>chat \(as the server says\)</, 'in the words of the rows');
  t.match(html, /<a href="command:runner\.updateModel\?[^"<> ]+">Update<\/a>/);
  const sectionsOf = (more: object) =>
    detailsOf({ model: modelLike('q'), ...more }, ollama).sections.map(({ heading, code }) => [
      heading,
      code,
    ]);
  const [state, facts] = [
    [undefined, undefined],
    [undefined, undefined],
  ];
  t.strictSame(sectionsOf({ system: ' Be brief.\n', template: ' ' }), [
    state,
    facts,
    ['System Prompt', 'Be brief.'],
  ]);
  t.strictSame(sectionsOf({ parameters: { top_k: 3 } }), [state, facts, ['Parameters', undefined]]);
  const always = ['runner.chatWithModel', 'runner.updateModel', 'runner.openModelPage'];
  const offered = (...more: readonly string[]) => [always[0], ...more, ...always.slice(1)];
  t.strictSame(commandsOf(page), offered('runner.runModel'));
  const running = { expiresAt: '', size: 1, sizeVram: 1 };
  t.strictSame(
    commandsOf(detailsOf({ model: modelLike('q', { running }, { insert: yes }) }, ollama)),
    offered('runner.completeWithModel', 'runner.stopModel'),
  );
  const remote = { host: 'https://x', model: 'q' };
  t.strictSame(commandsOf(detailsOf({ model: modelLike('q', { remote }) }, ollama)), always);
  const said = (more: Partial<Model>) => {
    const [{ lines: [line] = [] } = {}] = detailsOf({ model: modelLike('q', more) }, ollama).sections;
    return line?.text;
  };
  t.equal(said({}), 'It is not loaded.');
  t.equal(said({ remote }), 'It runs at https://x.');
  t.equal(said({ running: { ...running, size: 2.5e9 } }), 'It is loaded and takes 2.5 GB of memory.');
  t.equal(said({ running: { ...running, size: 0 } }), 'It is loaded.');
  const marked = toHtml({
    title: 'T',
    sections: [{ lines: [{ state: 'good', text: 'a' }, { state: 'bad', text: 'b' }, { text: 'c' }] }],
  });
  t.match(marked, /class="good"><span aria-hidden="true">✓<\/span><div>a</);
  t.match(marked, /class="bad"><span aria-hidden="true">✗<\/span><div>To fix: b</);
  t.match(marked, /class="note"><span aria-hidden="true">•<\/span><div>c</);
  const loading = modelLike('q', {
    loading: { percent: 41.6 },
    context: { allocated: 4096, from: 'assumed' },
  });
  const llama = knownAs({ default: ['llama.cpp', ['chat', 'complete', 'count']] });
  const fixed = detailsOf({ model: loading }, llama);
  t.strictSame(commandsOf(fixed), ['runner.chatWithModel'], 'only what the server can do');
  t.match(toHtml(fixed), /It is loading, 42 %\..*Product<\/th><td>llama\.cpp<.*<td>4,096 tokens, assumed</s);
});

t.test('a page is whole, and each of its texts is cut where it is too long', async (t) => {
  const [fits, long] = ['x'.repeat(20_000), `${'x'.repeat(20_000)}y`];
  const links = [
    { title: 'Go', command: 'runner.doctor' },
    { title: 'Set "it"', command: 'runner.setAddress', arguments: ['a b'] },
  ];
  const html = toHtml({
    title: 'A & B',
    sections: [
      {
        lines: [
          { text: fits, links },
          { state: 'bad', text: 'no' },
        ],
      },
      { heading: 'C', facts: [['name', long]] },
      { code: long },
      {},
    ],
    time: '14:05:10',
  });
  t.strictSame(html.replaceAll(fits, 'LONG').split('\n').slice(-9), [
    '</style></head><body><main><h1>A &#38; B</h1>',
    '<section><ul><li class="note"><span aria-hidden="true">•</span><div>LONG<nav><a href="command:runner.doctor">Go</a> <a href="command:runner.setAddress?%5B%22a%20b%22%5D">Set &#34;it&#34;</a></nav></div></li><li class="bad"><span aria-hidden="true">✗</span><div>To fix: no</div></li></ul></section>',
    '<section><h2>C</h2><table><tr><th scope="row">name</th><td>LONG',
    '(cut)</td></tr></table></section>',
    '<section><pre>LONG',
    '(cut)</pre></section>',
    '<section></section>',
    '<footer>As of 14:05:10</footer>',
    '</main></body></html>',
  ]);
  t.match(html, /^<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">\n<meta http-equiv/);
  t.notMatch(toHtml({ title: 'T', sections: [] }), /<footer>/);
});

t.test('work that no row has named a server for goes to one that can do it', async (t) => {
  const able: readonly Ability[] = ['create', 'catalog'];
  const known = (...servers: readonly (readonly [name: string, can: readonly Ability[]])[]) =>
    knownAs(Object.fromEntries(servers.map(([name, can]) => [name, ['ollama', can]])));
  const chosen = async (servers: ReturnType<typeof known>, answer?: string) => {
    const asked: unknown[] = [];
    const place = await chooseServer(servers, 'create', async (items, options) => {
      asked.push([options, ...items]);
      return items.find(({ label }) => label === answer);
    });
    return [place, ...asked];
  };
  t.strictSame(await chosen(known(['default', able], ['box', able])), [{}]);
  t.strictSame(await chosen(known(['default', []], ['box', []])), [{}], 'the default one says why not');
  t.strictSame(await chosen(known(['default', []], ['box', able])), [{ server: 'box' }]);
  const two = createKnownServers(() => ['default', 'box', 'new']);
  const status = { state: 'online', kind: 'ok', message: '', product: 'llama.cpp' } as const;
  two.take('default', { ...status, can: [] });
  two.take('box', { ...status, product: 'ollama', can: able });
  const asked = [
    { title: 'On Which Server?' },
    { label: 'box', description: 'Ollama' },
    { label: 'new', description: '' },
  ];
  t.strictSame(await chosen(two, 'new'), [{ server: 'new' }, asked]);
  t.strictSame(await chosen(two), [undefined, asked], 'who leaves the list');
  t.strictSame(
    [known(['default', able], ['box', able]), two, known(['default', []])].map(catalogServer),
    ['default', 'box', 'default'].map((server) => ({ server })),
  );
});

t.test('the name of a copy', async (t) => {
  const options = { from: 'mine:8b', taken: ['mine:8b', 'other:latest', 'hf.co/me/mine:8b'] };
  const cases: readonly (readonly [string, RegExp | undefined])[] = [
    ['', undefined],
    ['yours:8b', undefined],
    ['mine:9b', undefined],
    ['two words', /no spaces/],
    ['https://x/y', /no address/],
    ['Mine:8B', /the name that it has/],
    ['other', /a model other already/],
    ['hf.co/me/MINE:8b', /already/],
  ];
  for (const [name, want] of cases) t.match(problemOfName(name, options), want, name);
  t.equal(copyNameOf('qwen3:8b'), 'qwen3-copy:8b');
  t.equal(copyNameOf('box:8080/me/mine'), 'box:8080/me/mine-copy');
});

t.test('the state of a view and its message', async (t) => {
  const down = failed('box', 'server-unreachable');
  const cases: readonly (readonly [outcomes: readonly LoadOutcome[], sources: number, ...want: string[]])[] =
    [
      [[], 1, 'loading', ''],
      [[{ name: 'a', rows: [] }], 1, 'empty', ''],
      [[{ name: 'a', rows: rowsOf('m'), note: 'As of May.' }], 1, 'filled', 'As of May.'],
      [[down], 1, 'offline', ''],
      [[failed('a', 'unauthorized')], 1, 'unauthorized', ''],
      [[failed('a', 'bad-response')], 1, 'failed', 'Start it.'],
      [[{ name: 'a', rows: [] }], 2, 'loading', ''],
      [
        [
          { name: 'a', rows: [] },
          { name: 'b', rows: [] },
        ],
        2,
        'empty',
        '',
      ],
      [[{ name: 'a', rows: [] }, down], 2, 'filled', ''],
    ];
  for (const [outcomes, sources, condition, message] of cases)
    t.strictSame(viewStateOf({ outcomes, filter: noFilter, shown: 1, sources }), { condition, message });
  const filter = { words: 'zz', capabilities: [] };
  const outcomes = [{ name: 'a', rows: rowsOf('m', 'n'), note: 'Old.' }];
  t.strictSame(viewStateOf({ outcomes, filter, shown: 0, sources: 1 }), {
    condition: 'filled',
    message: 'Nothing matches “zz” among 2 models. Clear the filter to see them. Old.',
  });
});

t.test('a page that cannot be loaded again shows what was known, and why that is old', async (t) => {
  const drawn: string[] = [];
  const live = createLivePage({
    draw: ({ sections }) =>
      drawn.push(sections.flatMap(({ lines = [] }) => lines.map(({ text }) => text)).join(' ')),
    time: () => '14:05',
  });
  let failure: Error | undefined;
  let state = 'offline';
  const load = async () => {
    if (failure) throw failure;
    return { title: 'Doctor', sections: [{ lines: [{ text: state }] }] };
  };
  const refresh = async () => {
    live.refresh();
    await new Promise(setImmediate);
    return drawn.splice(0);
  };
  await live.show(load);
  t.strictSame(await refresh(), ['offline'], 'what stays the same is not drawn again');
  failure = new Error('It is gone.');
  t.strictSame(await refresh(), ['It is gone. What follows is what was known before. offline']);
  t.strictSame(await refresh(), [], 'it is said once');
  [failure, state] = [undefined, 'online'];
  live.follow(false);
  t.strictSame(await refresh(), [], 'a hidden page asks nobody');
  live.follow(true);
  await new Promise(setImmediate);
  t.strictSame(drawn.splice(0), ['online']);
});

t.test('an interrupted pull is known when the window opens again, and goes on after a yes', async (t) => {
  const kept = new Map<string, unknown>();
  const memory = {
    keys: () => [...kept.keys()],
    get: (key: string) => kept.get(key) as never,
    update: async (key: string, value: unknown) => void kept.set(key, value),
  };
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

t.test('what the doctor says of what was started and fetched, and a view of an old catalog', async (t) => {
  const status = { state: 'stopped', message: 'Nothing runs.', isInstalled: true, sample: '/s' } as const;
  t.match(adviseOnEngine(status), [
    {
      heading: 'Started here',
      lines: [
        { text: 'Nothing runs.', links: [{ command: 'runner.startModelHere' }] },
        { text: 'Fetched: the engine and the small model', links: [{ command: 'runner.removeFetched' }] },
      ],
    },
  ]);
  t.strictSame(adviseOnEngine({ ...status, isInstalled: false, sample: undefined } as never), []);
  const request = async () => ({ entries: [], fetchedAt: '2026-11-21T12:00:00Z', stale: true });
  const source = catalogSource({ request } as never, ollama, { kind: 'library', language: 'en-GB' });
  t.match(await source.load(false), {
    note: /^The catalog does not answer; this is its list as of 2\d Nov 2026, \d\d:00\. Refresh to try again\.$/,
  });
});

t.test('an editor that may lose a cancel says so once, also in the next window', async (t) => {
  for (const [version, want] of [
    ['1.127.0', 0],
    ['2.0.0-insider', 0],
    ['1.126.2', 1],
    ['0.200.0', 1],
  ] as const) {
    const kept = new Map<string, unknown>();
    const memory = {
      keys: () => [...kept.keys()],
      get: (key: string) => kept.get(key) as never,
      update: async (key: string, value: unknown) => void kept.set(key, value),
    };
    const said: string[] = [];
    for (const _window of [1, 2]) {
      const warn = createCancelWarning({ version, memory, show: (sentence) => void said.push(sentence) });
      warn();
      warn();
    }
    t.equal(said.length, want, version);
  }
});

t.test('the runners that were found on this machine', async (t) => {
  const [one, two, three] = [
    { url: 'http://127.0.0.1:1', product: 'lmstudio', models: 1 },
    { url: 'http://127.0.0.1:2', product: 'other', models: 2 },
    { url: 'http://127.0.0.1:3', product: 'ollama' },
  ] as const;
  t.strictSame(foundChoices([one, two, three]), [
    { label: 'LM Studio', description: 'http://127.0.0.1:1 · 1 model', runner: one },
    { label: 'A runner', description: 'http://127.0.0.1:2 · 2 models', runner: two },
    { label: 'Ollama', description: 'http://127.0.0.1:3 · wants a token', runner: three },
  ]);
});
