import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import t from 'tap';
import type { QuickPick, QuickPickItem } from 'vscode';
import { foundChoices } from '../../client/vscode/address/foundChoices.ts';
import {
  createKnownServers,
  keyedAbilities,
  keyOf,
  lackedBy,
  possible,
  rowContext,
} from '../../client/vscode/daemon/knownServers.ts';
import { serverNames } from '../../client/vscode/daemon/servers.ts';
import { catalogServer, chooseServer } from '../../client/vscode/models/chooseServer.ts';
import { describeChoice, detailsOf, inOrder } from '../../client/vscode/models/modelDescriptions.ts';
import { copyNameOf, problemOfName } from '../../client/vscode/models/modelNames.ts';
import { askForName, describeNeed, sizeChoices } from '../../client/vscode/models/pullChoices.ts';
import {
  createDownloadSpeed,
  createInterruptedPulls,
  createRunningPulls,
  type RunningPull,
} from '../../client/vscode/models/pulls.ts';
import {
  adviseOnChat,
  adviseOnCompletion,
  adviseOnEngine,
  adviseOnFailure,
  adviseOnModels,
} from '../../client/vscode/status/doctorAdvice.ts';
import { createLivePage } from '../../client/vscode/ui/livePage.ts';
import { commandsOf, type PageLine, toHtml } from '../../client/vscode/ui/page.ts';
import { createCountdown } from '../../client/vscode/views/countdown.ts';
import { noFilter, type RowFilter, showFilterBox } from '../../client/vscode/views/filter.ts';
import { localRow } from '../../client/vscode/views/modelRows.ts';
import { createRowReveal, type RowReveal } from '../../client/vscode/views/rowReveal.ts';
import { createRowStore, type LoadedRows, type LoadOutcome } from '../../client/vscode/views/rowStore.ts';
import { type ViewCondition, viewStateOf } from '../../client/vscode/views/viewState.ts';
import { stepKeys } from '../../client/vscode/walkthrough/stepKeys.ts';
import { refusalOf } from '../../protocol/messages/abilities.ts';
import type { ErrorData } from '../../protocol/messages/errors.ts';
import type { CatalogEntry, Model } from '../../protocol/messages/models.ts';
import type { Ability, Product } from '../../protocol/messages/status.ts';
import { handClock } from '../support/handClock.ts';
import { modelLike, yes } from '../support/modelLike.ts';

const rowsOf = (...names: readonly string[]) => names.map((name) => localRow(modelLike(name)));
const failed = (name: string, kind: string, sentence = 'Start it.'): LoadOutcome => ({
  ...{ name, rows: [] },
  failure: { kind, sentence },
});

t.test('the state of a view and its message', async (t) => {
  const cases: readonly (readonly [string, readonly LoadOutcome[], string, string])[] = [
    ['nothing is known yet', [], 'loading', ''],
    ['nothing is there', [{ name: 'a', rows: [] }], 'empty', ''],
    ['rows', [{ name: 'a', rows: rowsOf('m') }], 'filled', ''],
    ['an old list', [{ name: 'a', rows: rowsOf('m'), note: 'As of May.' }], 'filled', 'As of May.'],
    ['offline: the welcome text says what to do', [failed('a', 'server-unreachable')], 'offline', ''],
    ['a token is wanted', [failed('a', 'unauthorized')], 'unauthorized', ''],
    ['another failure', [failed('a', 'bad-response', 'A proxy?')], 'failed', 'A proxy?'],
  ];
  const alone = { sources: 1 };
  for (const [name, outcomes, condition, message] of cases)
    t.strictSame(
      viewStateOf({ outcomes, filter: noFilter, shown: 1, ...alone }),
      { condition, message },
      name,
    );
  const down = failed('box', 'server-unreachable');
  const gone = { name: 'a', rows: [] };
  const several: readonly (readonly [string, readonly LoadOutcome[], string])[] = [
    ['none has answered yet', [], 'loading'],
    ['the first is empty, and the second has not answered', [{ name: 'a', rows: [] }], 'loading'],
    ['both are empty', [gone, { ...gone, name: 'b' }], 'empty'],
    ['both are empty, but one list is old', [gone, { ...gone, name: 'b', note: 'Old.' }], 'filled'],
    ['one of two is down, which its row says', [{ name: 'a', rows: rowsOf('m') }, down], 'filled'],
    ['one is down and the other empty', [{ name: 'a', rows: [] }, down], 'filled'],
    ['both are down', [failed('a', 'timeout'), down], 'filled'],
  ];
  for (const [name, outcomes, condition] of several) {
    const content = { outcomes, filter: noFilter, shown: 1, sources: 2 };
    t.strictSame(viewStateOf(content), { condition, message: '' }, name);
  }

  const filter = { words: 'zz', capabilities: [] };
  const outcomes = [{ name: 'a', rows: rowsOf('m', 'n'), note: 'Old.' }];
  t.strictSame(viewStateOf({ outcomes, filter, shown: 0, ...alone }), {
    condition: 'filled',
    message: 'Nothing matches “zz” among 2 models. Clear the filter to see them. Old.',
  });
  t.equal(viewStateOf({ outcomes: [{ name: 'a', rows: [] }], filter, shown: 0, ...alone }).message, '');
  const one = [{ name: 'a', rows: rowsOf('m') }];
  t.equal(
    viewStateOf({ outcomes: one, filter, shown: 0, ...alone }).message,
    'Nothing matches “zz” among 1 model. Clear the filter to see it.',
  );
});

t.test('the names of the servers in the settings', async (t) => {
  const servers = [
    { name: 'box', url: 'http://box' },
    { name: 'box', url: 'x' },
    null,
    { url: 'y' },
  ] as never;
  t.strictSame(serverNames({ servers }), ['default', 'box']);
  t.strictSame(serverNames({ servers: 'wrong' as never }), ['default']);
  t.strictSame(serverNames({}), ['default']);
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

t.test('a countdown has a timer only while an end is ahead', async (t) => {
  const clock = handClock();
  const events: string[] = [];
  const countdown = createCountdown({
    clock,
    onTick: () => events.push('tick'),
    onEnd: () => events.push('end'),
  });
  countdown.follow([], true);
  t.equal(clock.next, undefined);
  countdown.follow([clock.now() - 1], true);
  t.equal(clock.next, undefined, 'what has ended is not waited for');

  countdown.follow([clock.now() + 100_000, clock.now() + 100_000], true);
  t.equal(clock.next, 30_000, 'it ticks by minutes until the last one');
  clock.turn();
  t.equal(clock.next, 8_000);
  clock.turn();
  t.equal(clock.next, 1_000, 'then seconds');
  for (let second = 0; second < 62; second++) clock.turn();
  t.equal(events.filter((what) => what === 'end').length, 1, 'two ends at once are reported once');
  t.equal(events.length, 64);
  t.equal(clock.next, undefined);

  events.length = 0;
  countdown.follow([clock.now() + 5_000, clock.now() + 9_000], false);
  t.equal(clock.next, 5_000, 'unwatched, only the end is waited for');
  clock.turn();
  t.strictSame(events, ['end']);
  t.equal(clock.next, 4_000);
  countdown.dispose();
  t.equal(clock.next, undefined);

  events.length = 0;
  countdown.follow([clock.now() + 5_400_000], false);
  t.equal(clock.next, 3_600_000, 'the timers of the runtime do not take months');
  clock.turn();
  t.strictSame(events, []);
  t.equal(clock.next, 1_800_000);
  countdown.follow([clock.now() + 62_000], true);
  t.equal(clock.next, 1_000);
  countdown.follow([clock.now() + 62_001], true);
  t.equal(clock.next, 1);
  countdown.follow([clock.now()], true);
  t.equal(clock.next, undefined, 'an end of now has passed');
});

t.test('the filter box', async (t) => {
  const rows = [...rowsOf('m', 'n'), { ...rowsOf('o')[0], model: 'o', capabilities: ['tools'] }];
  const filter = { words: 'm', capabilities: ['tools', 'gone'] };
  const open = () => {
    const seen: RowFilter[] = [];
    const events: Record<string, () => void> = {};
    const state = { isOpen: false, isDisposed: false };
    const box = {
      ...{ title: '', placeholder: '', canSelectMany: false, ignoreFocusOut: false, value: '' },
      ...{ items: [] as readonly QuickPickItem[], selectedItems: [] as readonly QuickPickItem[] },
      onDidChangeValue: (listener: () => void) => (events['type'] = listener),
      onDidChangeSelection: (listener: () => void) => (events['tick'] = listener),
      onDidAccept: (listener: () => void) => (events['enter'] = listener),
      onDidHide: (listener: () => void) => (events['hide'] = listener),
      show: () => (state.isOpen = true),
      hide: () => events['hide']?.(),
      dispose: () => (state.isDisposed = true),
    };
    showFilterBox(box as unknown as Parameters<typeof showFilterBox>[0], {
      ...{ title: 'Filter', rows, filter, onDidChange: (narrowed) => seen.push(narrowed) },
    });
    return { box, seen, state, on: (event: string) => events[event]?.() };
  };
  const { box, seen, state, on } = open();
  t.match(box, { title: 'Filter', value: 'm', canSelectMany: true, ignoreFocusOut: true });
  t.ok(state.isOpen);
  t.strictSame(
    box.items.map(({ label, description, alwaysShow }) => [label, description, alwaysShow]),
    [
      ['chat', '1 model', true],
      ['tools', '0 models', true],
      ['gone', '0 models', true],
    ],
    'what is ticked can be taken back, also where no model is left that can do it',
  );
  t.strictSame(
    box.selectedItems.map(({ label }) => label),
    ['tools', 'gone'],
  );
  const before = box.items;
  box.value = 'm ';
  on('type');
  t.equal(box.items, before, 'the same counts are not drawn again');
  box.value = '';
  on('type');
  t.strictSame(
    box.items.map(({ label, description }) => `${label} ${description}`),
    ['chat 2 models', 'tools 1 model', 'gone 0 models'],
    'the counts follow the typed text',
  );
  t.strictSame(
    box.selectedItems.map(({ label }) => label),
    ['tools', 'gone'],
    'and the ticks stay',
  );
  seen.length = 0;
  box.value = ' mn ';
  on('type');
  box.selectedItems = box.items.slice(1, 2);
  on('tick');
  const narrowed = { words: 'mn', capabilities: ['tools'] };
  t.strictSame(seen, [{ words: 'mn', capabilities: ['tools', 'gone'] }, narrowed], 'the view follows');
  on('enter');
  t.strictSame(seen.at(-1), narrowed);
  t.ok(state.isDisposed);

  const left = open();
  left.box.value = 'x';
  left.on('type');
  left.on('hide');
  t.strictSame(left.seen.at(-1), filter, 'Escape takes it back');
  t.ok(left.state.isDisposed);
});

t.test('pulls in progress', async (t) => {
  const waiting: (() => void)[] = [];
  const pulls = createRunningPulls((_, work) => waiting.push(work));
  const events: (RunningPull | undefined)[] = [];
  const listening = pulls.onDidChange((pull) => events.push(pull));
  let cancelled = 0;
  const report = pulls.begin({ model: 'm', server: 'box', cancel: () => cancelled++ });
  const [pull] = pulls.current;
  t.match(pull, { model: 'm', server: 'box', percentage: undefined, message: '' });
  report.report({ percentage: 5, message: 'Downloading' });
  report.report({ percentage: 5, message: 'Downloading' });
  report.report({ message: 'Checking' });
  t.equal(events.length, 1, 'changes in quick succession are reported together');
  for (const work of waiting.splice(0)) work();
  t.equal(events.length, 2);
  t.match(pull, { percentage: 5, message: 'Checking' }, 'a new message alone is a change');
  report.report({ percentage: 7, message: 'Checking' });
  for (const work of waiting.splice(0)) work();
  t.match(pull, { percentage: 7, message: 'Checking' });
  pull?.cancel();
  t.equal(cancelled, 1);
  report.end();
  t.equal(events.length, 4);
  report.end();
  report.report({ percentage: 8, message: 'late' });
  t.strictSame(waiting, []);
  t.strictSame(pulls.current, []);
  t.strictSame(
    events.map((of) => of === pull),
    [false, true, true, false],
    'all of it as one begins or ends, else that one',
  );
  listening.dispose();
  pulls.begin({ model: 'n', cancel: () => undefined });
  t.equal(events.length, 4);
});

t.test('a row is selected as soon as possible, and only once', async (t) => {
  const cases: readonly {
    readonly name: string;
    /** What happens at which ms. */
    readonly events?: Readonly<Record<number, (reveal: RowReveal) => void>>;
    /** The ms at which the editor was asked for which row. */
    readonly want: readonly (readonly [number, string])[];
  }[] = [
    {
      name: 'it is selected at once',
      events: { 100: (reveal) => reveal.end(), 300: (reveal) => reveal.tryNow() },
      want: [[0, 'a']],
    },
    {
      name: 'its row comes later, and the editor misses it once',
      events: { 700: (reveal) => reveal.tryNow(), 1300: (reveal) => reveal.end() },
      want: [0, 500, 700, 1_200].map((at) => [at, 'a'] as const),
    },
    {
      name: 'another one is wanted meanwhile',
      events: { 200: (reveal) => reveal.want({ model: 'b' }), 800: (reveal) => reveal.end() },
      want: [
        [0, 'a'],
        [200, 'b'],
        [700, 'b'],
      ],
    },
    {
      name: 'it never comes',
      want: Array.from({ length: 20 }, (_, index) => [index * 500, 'a'] as const),
    },
    {
      name: 'the view ends',
      events: { 600: (reveal) => reveal.dispose() },
      want: [
        [0, 'a'],
        [500, 'a'],
      ],
    },
  ];
  for (const { name, events = {}, want } of cases) {
    const clock = handClock();
    const asked: (readonly [number, string])[] = [];
    const start = clock.now();
    const reveal = createRowReveal({
      clock,
      select: ({ model }) => asked.push([clock.now() - start, model]),
    });
    reveal.want({ model: 'a' });
    for (let at = 100; at <= 12_000; at += 100) {
      clock.pass(100);
      if (clock.next === 0) clock.turn();
      events[at]?.(reveal);
    }
    t.strictSame(asked, want, name);
  }
});

t.test('the sizes of a library model', async (t) => {
  t.strictSame(sizeChoices('q', [], []), []);
  t.strictSame(sizeChoices('q', ['8b'], []), []);
  t.strictSame(sizeChoices('q:20b-cloud', ['8b', '4b'], []), [], 'a name with a tag is chosen already');
  t.strictSame(
    sizeChoices('box:8080/Q', ['4b', '8b'], ['box:8080/q:4b']).map(({ model, isInstalled }) => [
      model,
      isInstalled,
    ]),
    [
      ['box:8080/Q', false],
      ['box:8080/Q:4b', true],
      ['box:8080/Q:8b', false],
    ],
  );
  t.strictSame(
    sizeChoices('q', ['4b', '8b'], ['Q:8B', 'x:4b', 'q:latest']).map(({ model, isInstalled }) => [
      model,
      isInstalled,
    ]),
    [
      ['q', true],
      ['q:4b', false],
      ['q:8b', true],
    ],
  );
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

t.test('a list of models has loaded ones first, with state and size', async (t) => {
  const running = { expiresAt: '', size: 1, sizeVram: 1 };
  const models = [
    modelLike('new', { size: 2.5e9 }),
    modelLike('old', { size: 1e9, running }),
    modelLike('far', { remote: { host: 'https://x', model: 'far' }, server: 'box' }),
  ];
  t.strictSame(
    inOrder(models).flatMap(([server, of]) =>
      of.map((model) => `${server}, ${model.name}: ${describeChoice(model)}`),
    ),
    ['default, old: 1.0 GB · loaded', 'default, new: 2.5 GB', 'box, far: runs at https://x'],
  );
});

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

t.test('a page follows what happens while it is visible', async (t) => {
  const drawn: string[] = [];
  let time = 0;
  let state = 'offline';
  let failure: Error | undefined;
  let loads = 0;
  const live = createLivePage({
    draw: ({ sections, time }, isAsked) => {
      const texts = sections.flatMap(({ lines = [] }) =>
        lines.map(({ text, links = [] }) => [text, ...links.map(({ title }) => `[${title}]`)].join(' ')),
      );
      drawn.push([...texts, time, ...(isAsked ? ['asked'] : [])].join(' '));
    },
    time: () => `at ${++time}`,
  });
  const load = async () => {
    loads++;
    if (failure) throw failure;
    const links = state === 'busy' ? [{ title: 'Stop It', command: 'runner.stopModel' }] : [];
    return { title: 'Doctor', sections: [{ lines: [{ text: state, links }] }] };
  };
  const refresh = async () => {
    live.refresh();
    await new Promise(setImmediate);
    return drawn.splice(0);
  };
  t.strictSame(await refresh(), [], 'nothing was asked for');
  await live.show(load);
  t.strictSame(drawn.splice(0), ['offline at 1 asked']);
  t.strictSame(await refresh(), [], 'what stays the same is not drawn again');
  state = 'online';
  t.strictSame(await refresh(), ['online at 2']);
  failure = new Error('It is gone.');
  const problem = 'It is gone. What follows is what was known before. [Show Log]';
  t.strictSame(await refresh(), [`${problem} online at 3`]);
  t.strictSame(await refresh(), [], 'it is said once');
  await t.rejects(live.show(load), failure, 'whoever asks gets the error');
  failure = undefined;
  t.strictSame(await refresh(), ['online at 4']);
  live.follow(false);
  state = 'busy';
  loads = 0;
  t.strictSame(await refresh(), []);
  t.equal(loads, 0, 'a hidden page asks nobody');
  live.follow(true);
  await new Promise(setImmediate);
  t.strictSame(drawn.splice(0), ['busy [Stop It] at 5'], 'until it is visible');
  live.refresh();
  live.refresh();
  live.refresh();
  await new Promise(setImmediate);
  t.equal(loads, 3, 'changes during a load are one more load');
  await live.show(load);
  t.strictSame(drawn.splice(0), ['busy [Stop It] at 6 asked'], 'who asks sees the time of now');
  failure = Object.assign(new Error('Not installed.'), { data: { kind: 'model-not-found', model: 'q' } });
  const gone = 'Not installed. What follows is what was known before. [Pull q]';
  t.strictSame(await refresh(), [`${gone} busy at 7`], 'what was offered before cannot be done');
  t.strictSame(await refresh(), []);
  failure = undefined;
  t.strictSame(await refresh(), ['busy [Stop It] at 8']);
  live.refresh();
  live.close();
  await new Promise(setImmediate);
  t.strictSame(drawn.splice(0), [], 'what comes after the end is not drawn');
  state = 'online';
  t.strictSame(await refresh(), [], 'a closed page');
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

t.test('the doctor names what was started and fetched here', async (t) => {
  const message = 'It is what it is.';
  const start = { title: 'Start a Model Here', command: 'runner.startModelHere' };
  const fetched = (what: string) => ({
    text: `Fetched: ${what}`,
    links: [{ title: 'Delete', command: 'runner.removeFetched' }],
  });
  const cases: readonly (readonly [Parameters<typeof adviseOnEngine>[0], readonly PageLine[]])[] = [
    [{ state: 'stopped', message, isInstalled: false }, []],
    [
      { state: 'stopped', message, isInstalled: true },
      [{ text: message, links: [start] }, fetched('the engine')],
    ],
    [
      { state: 'stopped', message, isInstalled: false, sample: '/s' },
      [{ text: message, links: [start] }, fetched('the small model')],
    ],
    [
      { state: 'running', message, isInstalled: true, sample: '/s' },
      [
        { text: message, links: [{ title: 'Stop It', command: 'runner.stopModelHere' }] },
        fetched('the engine and the small model'),
      ],
    ],
    [{ state: 'down', message, isInstalled: false }, [{ state: 'bad', text: message, links: [start] }]],
  ];
  for (const [status, lines] of cases)
    t.strictSame(
      adviseOnEngine(status),
      lines.length === 0 ? [] : [{ heading: 'Started here', lines }],
      JSON.stringify(status),
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

t.test('the memory need of a library size', async (t) => {
  const cases = [
    ['8b', undefined, 'about 5.0 GB'],
    ['8b', 4e9, 'about 5.0 GB, more memory than this machine has'],
    ['8b', 5.4e9, 'about 5.0 GB, more memory than this machine has'],
    ['8b', 5.5e9, 'about 5.0 GB'],
    ['270m', 4e9, 'about 167 MB'],
    ['8x7b', 64e9, 'about 34.7 GB'],
    ['e4b', 64e9, 'about 2.5 GB'],
    ['latest', 4e9, ''],
    ['9'.repeat(50_000), 4e9, ''],
  ] as const;
  for (const [size, memory, want] of cases) t.equal(describeNeed(size, memory), want, size.slice(0, 20));
});

t.test('a download shows its speed and the time left', async (t) => {
  const start = Date.parse('2026-11-21T12:00:00Z');
  let now = start;
  const speed = createDownloadSpeed(() => now);
  t.equal(speed.next(0, 1e9), '');
  now = start + 1_000;
  t.equal(speed.next(5e6, 1e9), '', 'too early to say');
  now = start + 5_000;
  t.equal(speed.next(50e6, 1e9), '10.0 MB/s, 2 min left');
  now = start + 6_000;
  t.equal(speed.next(0, 1e9), '', 'a layer begins anew');
  now = start + 60_000;
  t.equal(speed.next(0, 1e9), '', 'nothing comes');
  const after = (milliseconds: number, completed: number, total: number) => {
    let at = 0;
    const measured = createDownloadSpeed(() => at);
    measured.next(0, total);
    at = milliseconds;
    return measured.next(completed, total);
  };
  t.strictSame(
    [1_999, 2_000].map((time) => after(time, 2e6, 3e6)),
    ['', '1.0 MB/s, 1 s left'],
  );
  t.strictSame(
    [10_000, 10_001].map((time) => after(time, 1e7, 2e7)),
    ['1.0 MB/s, 10 s left', ''],
  );
  let at = 0;
  const slow = createDownloadSpeed(() => at);
  for (at of [0, 1_000]) slow.next(0, 3e6);
  at = 2_000;
  t.equal(slow.next(2e6, 3e6), '1.0 MB/s, 1 s left', 'a count that stands still is no new beginning');
  const lefts = [0.2, 89.4, 89.6, 90, 5_399, 5_400, 12_600];
  t.strictSame(
    lefts.map((seconds) => after(2_000, 2e6, (seconds + 2) * 1e6).slice('1.0 MB/s, '.length)),
    ['1 s left', '89 s left', '90 s left', '2 min left', '90 min left', '2 h left', '4 h left'],
  );
});

t.test('an interrupted pull is known when the window opens again', async (t) => {
  const kept = new Map<string, unknown>();
  const memory = {
    keys: () => [...kept.keys()],
    get: (key: string) => kept.get(key) as never,
    update: async (key: string, value: unknown) => void kept.set(key, value),
  };
  const first = createInterruptedPulls(memory);
  t.strictSame(first.left, []);
  first.begin({ model: 'a', server: 'default' });
  first.begin({ model: 'b' });
  first.end({ model: 'B:latest' });
  const second = createInterruptedPulls(memory);
  t.strictSame(second.left, [{ model: 'a', server: 'default' }]);
  t.strictSame(createInterruptedPulls(memory).left, [], 'it is offered once');
});

t.test('any name can be pulled, and the names of the library are offered', async (t) => {
  const entry = {
    name: 'qwen3',
    model: 'qwen3',
    url: 'https://x',
    family: 'qwen',
    installed: true,
    sizes: ['4b', '8b'],
  };
  const catalog = Promise.resolve([entry]);
  const open = (library?: Promise<readonly CatalogEntry[]>) => {
    const events: Record<string, () => void> = {};
    const box = {
      ...{
        title: '',
        placeholder: '',
        value: '',
        busy: false,
        items: [] as readonly QuickPickItem[],
        selectedItems: [] as readonly QuickPickItem[],
      },
      onDidChangeValue: (listener: () => void) => (events['type'] = listener),
      onDidAccept: (listener: () => void) => (events['enter'] = listener),
      onDidHide: (listener: () => void) => (events['hide'] = listener),
      isShown: false,
      show: () => {
        box.isShown = true;
      },
      hide: () => events['hide']?.(),
      dispose: () => undefined,
    };
    const answer = askForName(box as unknown as QuickPick<QuickPickItem>, library);
    const type = (text: string) => {
      box.value = text;
      events['type']?.();
    };
    return { box, answer, type, enter: () => events['enter']?.() };
  };
  const { box, answer, type, enter } = open(catalog);
  t.match(box, { title: 'Pull a Model', ignoreFocusOut: true, matchOnDescription: true });
  t.ok(box.busy && box.isShown, 'the box is there before the library is');
  t.match(box.placeholder, /^A name of the library/);
  await new Promise(setImmediate);
  t.strictSame(
    box.items.map(({ label, description }) => [label, description]),
    [['qwen3', '4b 8b · installed']],
  );
  type('two words');
  t.match(box.items[0], { description: /no spaces/, alwaysShow: true });
  box.selectedItems = box.items.slice(0, 1);
  enter();
  type(' hf.co/me/mine ');
  t.match(box.items[0], { label: 'hf.co/me/mine', description: 'pull this name', alwaysShow: true });
  box.selectedItems = box.items.slice(0, 1);
  enter();
  t.strictSame(await answer, { name: 'hf.co/me/mine' });
  const typed = open(Promise.resolve([{ ...entry, sizes: [], installed: false }]));
  await new Promise(setImmediate);
  t.strictSame(
    typed.box.items.map(({ label, description }) => [label, description]),
    [['qwen3', '']],
  );
  typed.type(' mine:1b ');
  typed.enter();
  t.strictSame(await typed.answer, { name: 'mine:1b' }, 'Enter takes what is typed');
  const listed = open(catalog);
  await new Promise(setImmediate);
  listed.box.selectedItems = listed.box.items;
  listed.enter();
  t.match(await listed.answer, { entry: { model: 'qwen3' } });

  const without = open();
  t.match(
    without.box,
    { busy: false, items: [], placeholder: /^A name that the server knows/ },
    'names of Ollama are nothing for another server',
  );
  without.type('owner/model:Q4_0');
  without.box.selectedItems = without.box.items.slice(0, 1);
  without.enter();
  t.strictSame(await without.answer, { name: 'owner/model:Q4_0' });

  const recommended = ['qwen3:4b', 'qwen2.5-coder:1.5b'];
  const alone = open(Promise.reject(new Error('No network.')));
  await new Promise(setImmediate);
  t.match(alone.box, { title: /the catalog cannot be reached/, busy: false });
  t.strictSame(
    alone.box.items.map(({ label }) => label),
    recommended,
  );
  alone.type('qwen3:4b');
  t.equal(alone.box.items.length, 2, 'a recommended name is offered once');
  alone.box.selectedItems = alone.box.items.slice(0, 1);
  alone.enter();
  t.strictSame(await alone.answer, { name: 'qwen3:4b' });
  const empty = open(Promise.resolve([]));
  await new Promise(setImmediate);
  t.strictSame(
    empty.box.items.map(({ label }) => label),
    recommended,
    'an empty catalog is no help either',
  );
});

t.test('the doctor names problems with models, and links to their fixes', async (t) => {
  const [chatty, coder] = [modelLike('chatty'), modelLike('coder:latest', {}, { insert: yes, tools: yes })];
  const of = (models: readonly Model[]) => adviseOnModels({ models, all: 2, isStale: false, canPull: true });
  const said = (lines: readonly PageLine[]) =>
    lines.map(({ state = 'note', text, links = [] }) => [
      state,
      text,
      ...links.map(({ command }) => command),
    ]);
  t.match(said(of([])).at(-1), ['bad', /Pull a model that can chat/, 'runner.pullModel']);
  const fixed = { all: 2, isStale: true, canPull: false };
  const there = said(adviseOnModels({ models: [], ...fixed }));
  t.match(there, [
    ['note', /\(the last known list\)$/],
    ['bad', /^Load a model that can chat in the program/],
  ]);
  t.match(said(adviseOnModels({ models: [chatty], ...fixed })).at(-1), [
    'bad',
    /or load a model with tools\.$/,
  ]);
  t.match(said(of([chatty])).at(-1), [
    'bad',
    /only models with tools\. Ask @runner, or pull a model/,
    'runner.pullModel',
    'runner.chooseChatModel',
  ]);
  t.strictSame(said(of([chatty, coder])), [['good', 'Models: 2 installed, 2 can chat, 1 may support tools']]);
  t.match(said(adviseOnChat([], '')), [['note', /picker answers/, 'workbench.action.chat.openModelPicker']]);
  t.match(said(adviseOnChat([], 'chatty')).at(-1), [
    'bad',
    /not installed/,
    'runner.pullModel',
    'runner.chooseChatModel',
    'runner.letPickerDecide',
  ]);
  t.match(said(adviseOnChat([modelLike('chatty:latest')], 'Chatty')), [
    ['good', /whatever the picker shows/, 'runner.chooseChatModel', 'runner.letPickerDecide'],
  ]);
  t.match(said(adviseOnCompletion([], '')), [['note', /off$/, 'runner.chooseCompletionModel']]);
  t.match(said(adviseOnCompletion([], 'coder')).at(-1), ['bad', /not installed/, 'runner.pullModel']);
  t.match(said(adviseOnCompletion([coder], 'coder')), [['good', /fills in the middle/]]);
  t.match(said(adviseOnCompletion([chatty], 'chatty')), [['note', /does not list/]]);
  const down: ErrorData = {
    ...{ kind: 'server-unreachable', retryable: true },
    advice: { code: 'start-runner', problem: 'Nothing answers.', text: 'Start it.' },
  };
  const failure = Object.assign(new Error('Nothing answers.'), { data: down });
  const commands = adviseOnFailure(failure).map(({ command }) => command);
  const want = ['runner.doctor', 'runner.startModelHere', 'runner.setAddress'];
  t.strictSame(commands, want, 'the doctor is offered once');
});
