import { once } from 'node:events';
import { createServer } from 'node:http';
import t from 'tap';
import {
  answerBox,
  ask,
  childrenOf,
  type Editor,
  editorParts,
  endEditors,
  type Host,
  modelIds,
  offeredServers,
  pressEnter,
  run,
  startEditor,
  stepsOf,
  transcript,
} from '../support/editor.ts';
import { needs } from '../support/parts.ts';
import { closeServer, portOf } from '../support/recordings.ts';
import { startStandIn } from '../support/runnerStandIn.ts';
import { poll } from '../support/waiting.ts';

const parts = needs(...editorParts);
t.teardown(endEditors);

t.test('VS Code starts while the runner is down, with every feature switched on', parts, async (t) => {
  const gone = await startStandIn();
  const port = Number(new URL(gone.url).port);
  await gone.close();
  const editor = await startEditor({
    machine: {
      'runner.host': gone.url,
      'runner.completionModel': 'coder:1b',
      'runner.streamLogs': true,
    },
  });
  t.teardown(() => editor.close());

  await t.test('in the order of the specification, each part that the settings ask for', async (t) => {
    t.strictSame(await stepsOf(editor), [
      'window.createOutputChannel Runner',
      'workspace.getConfiguration runner',
      'lm.registerLanguageModelChatProvider runner',
      'chat.createChatParticipant runner.participant',
      'languages.registerInlineCompletionItemProvider [{"scheme":"file"},{"scheme":"untitled"},{"scheme":"vscode-notebook-cell"}]',
      'window.createTreeView runnerModelsLocalView',
      'window.createTreeView runnerModelsRunningView',
      'window.createTreeView runnerModelsLibraryView',
      'window.createTreeView runnerModelsCloudView',
      'commands.registerCommand runner.pullModel',
      'window.createTreeView runnerModelfilesView',
      'commands.registerCommand runner.createModel',
      'log.debug The log of the runner is streamed, because the setting runner.streamLogs is on.',
    ]);
    const log = await editor.until(({ seen }) => seen.log, {
      fits: (lines) =>
        lines.some(({ message }) => /log of the runner comes from|runner's log|no log/i.test(message)),
    });
    t.ok(log, 'the log of the runner was looked for');
  });

  await t.test('@runner says what to do, and the status bar shows that the runner is offline', async (t) => {
    await editor.page.locator('.statusbar-item').getByText('Runner: offline').waitFor();
    await ask(editor, '@runner hello');
    t.match(await transcript(editor, /No runner answers at/), gone.url, 'with the address');
    t.ok(await transcript(editor, /Start a Model Here[\s\S]*Set Address[\s\S]*What Is Wrong\?/));
    const { notifications } = await editor.evaluate(({ seen }) => ({ notifications: seen.notifications }));
    t.strictSame(notifications, [], 'nothing pops up');
  });

  await t.test('the views show the address, and its box tries what is typed', async (t) => {
    const { page } = editor;
    await run(editor, 'runnerModelsLocalView.focus');
    const welcome = page.locator('.pane .welcome-view-content');
    await welcome.getByText('No runner answers at this address.').waitFor();
    await page.locator('.pane-header .description').getByText(gone.url).first().waitFor();
    t.equal(await welcome.getByText('Set Address').count(), 1, 'once, not in each view');
    await welcome.getByText('Set Address').click();
    const input = page.locator('.quick-input-widget input').first();
    await input.waitFor();
    await input.fill('ftp://box');
    await page.getByText('This address cannot be used: the scheme "ftp" is not http or https.').waitFor();
    await input.fill(gone.url);
    await input.press('Enter');
    await page
      .getByText(/No runner answers at .* Press Enter again to keep the address all the same\./)
      .waitFor();
    await input.press('Enter');
    await input.waitFor({ state: 'hidden' });
    const kept = ({ vscode }: Host<undefined>) =>
      vscode.workspace.getConfiguration('runner').inspect('host')?.globalValue;
    t.equal(await editor.evaluate(kept), gone.url);
  });

  await t.test('a runner that comes up is noticed, and answers', async (t) => {
    const runner = await startStandIn({
      port,
      models: [{ name: 'late:1b', capabilities: ['completion', 'tools'] }],
    });
    t.teardown(() => runner.close());
    await editor.until(modelIds, { fits: (ids) => ids.includes('late:1b') });
    await editor.page.locator('.statusbar-item').getByText('Runner', { exact: true }).waitFor();
    runner.say('Good morning.');
    await ask(editor, '@runner hello again');
    t.ok(await transcript(editor, /Good morning\./));
    t.match(
      runner.bodies('/api/chat').map((body) => (body as { readonly messages: unknown }).messages),
      [[{ role: 'user', content: 'hello again' }]],
      'what was said while nobody answered is not sent',
    );
  });

  await t.test("after a reload, the picker's remembered model still answers", async (t) => {
    const runner = await startStandIn({
      port,
      models: [{ name: 'other:1b', capabilities: ['completion', 'tools'] }],
    });
    await editor.reload();
    await editor.until(modelIds, { fits: (ids) => ids.includes('other:1b') });
    await editor.page.locator('.interactive-session .chat-input-container').first().waitFor();
    runner.say('I am another one.');
    await ask(editor, '@runner who is there now?');
    t.ok(await transcript(editor, /I am another one\./));
    await runner.close();
  });

  await t.test('when the runner goes again, its models stay offered, and a sentence says so', async (t) => {
    await ask(editor, '@runner still there?');
    t.ok(await transcript(editor, /still there\?[\s\S]*(no runner|does not answer|not reach|refused)/i));
    t.match(await editor.evaluate(modelIds), ['other:1b']);
  });
});

t.test('an untrusted workspace cannot redirect prompts or agents', parts, async (t) => {
  const [mine, evil, other] = await Promise.all([startStandIn(), startStandIn(), startStandIn()]);
  const editor = await startEditor({
    trusted: false,
    machine: { 'runner.host': mine.url, 'runner.docsUrl': 'http://127.0.0.1:4000' },
    files: {
      '.vscode/settings.json': JSON.stringify({
        'runner.host': evil.url,
        'runner.docsUrl': 'http://127.0.0.1:4666',
        'runner.servers': [{ name: 'evil', url: evil.url }],
        'runner.catalogUrl': evil.url,
        'runner.completionModel': 'evil:cloud',
        'runner.tools': ['driver_weather'],
        'runner.keepAlive': 5,
      }),
    },
  });
  t.teardown(() => Promise.all([editor.close(), mine.close(), evil.close(), other.close()]));
  await editor.until(modelIds, { fits: (ids) => ids.length > 0 });
  t.equal(await editor.evaluate(({ vscode }) => vscode.workspace.isTrusted), false);
  mine.say('Only here.');
  await ask(editor, '@runner a secret question');
  t.ok(await transcript(editor, /Only here\./));
  t.strictSame(evil.requests, [], 'nothing was sent there');
  t.notMatch(
    JSON.stringify(mine.bodies('/api/chat').at(-1)),
    /driver_weather|keep_alive/,
    'and no tool was offered',
  );
  const steps = await stepsOf(editor);
  t.notOk(
    steps.some((step) => step.includes('InlineCompletion')),
    'its completion model counts for nothing',
  );

  await t.test('agents get the document service that the user chose', async (t) => {
    await editor.until(({ seen }) => seen.documents !== undefined);
    t.strictSame(await editor.evaluate(offeredServers), [{ uri: 'http://127.0.0.1:4000/mcp', headers: {} }]);
  });

  await t.test("the user's settings count at once", async (t) => {
    const [daemon] = await editor.evaluate(childrenOf);
    await set(editor, 'keepAlive', '7m');
    await set(editor, 'host', other.url);
    await other.waitFor(({ path }) => path === '/api/tags');
    other.say('Over here.');
    await ask(editor, '@runner and now?');
    t.ok(await transcript(editor, /Over here\./));
    t.match(
      other.bodies('/api/chat').at(-1),
      { keep_alive: '7m' },
      'also where the workspace says otherwise',
    );
    await set(editor, 'keepAlive', undefined);
    await set(editor, 'host', mine.url);
    mine.say('Back again.');
    await ask(editor, '@runner and where now?');
    t.ok(await transcript(editor, /Back again\./));
    t.notMatch(JSON.stringify(mine.bodies('/api/chat').at(-1)), /keep_alive/);
    t.strictSame(await editor.evaluate(childrenOf), [daemon], 'by the same daemon');
    t.strictSame(evil.requests, []);
    const said = await editor.evaluate(({ seen }) => seen.log.map(({ message }) => message));
    t.notOk(said.find((message) => /There is no setting|counts in/.test(message)));
  });
});

t.test('nothing is sent to a remote model before the user has allowed it', parts, async (t) => {
  const cloudy = (name: string) => ({
    name,
    capabilities: ['completion', 'tools'] as const,
    remote: { host: 'https://ollama.com', model: name },
  });
  const [runner, box] = await Promise.all([
    startStandIn({
      models: [{ name: 'mine:1b', capabilities: ['completion', 'tools'] }, cloudy('cloudy:cloud')],
    }),
    startStandIn({ models: [cloudy('far:cloud')] }),
  ]);
  const editor = await startEditor({
    machine: { 'runner.host': runner.url, 'runner.servers': [{ name: 'box', url: box.url }] },
  });
  t.teardown(() => Promise.all([editor.close(), runner.close(), box.close()]));
  const dialog = editor.page.locator('.monaco-dialog-box');
  const question = dialog.getByText('cloudy:cloud does not run on this machine. Send to https://ollama.com?');

  await t.test('the picker and other extensions do not get it', async (t) => {
    t.strictSame(await editor.until(modelIds, { fits: (ids) => ids.length > 0 }), ['mine:1b']);
    runner.say('From here.');
    t.match(await ask(editor, '@runner who answers?'), { metadata: { model: 'mine:1b' } });
  });

  await t.test('a refusal counts, also while the user is typing', async (t) => {
    const asked = runner.bodies('/api/chat').length;
    await set(editor, 'chatModel', 'cloudy:cloud');
    const refused = ask(editor, '@runner what do you think?');
    await question.waitFor();
    t.equal(await dialog.locator(':focus').innerText(), 'Choose Another Model', 'Enter sends nothing');
    await dialog.getByText('Cancel', { exact: true }).click();
    await refused;
    const shown = await transcript(editor, /Nothing was sent: cloudy:cloud runs at https:\/\/ollama\.com/);
    t.notMatch(shown, /\.cjs:\d+/, 'it is a sentence');
    const typing = ask(editor, '@runner are you sure?');
    await question.waitFor();
    await pressEnter(editor.page, 'Choose Another Model');
    await editor.page.locator('.quick-input-widget').getByText('mine:1b').first().click();
    await typing;
    t.equal(runner.bodies('/api/chat').length, asked);
    runner.say('I am from here.');
    t.match(await ask(editor, '@runner and who are you?'), { metadata: { model: 'mine:1b' } });
    t.match(
      (runner.bodies('/api/chat').at(-1) as { readonly messages: unknown }).messages,
      [{ content: 'who answers?' }, { content: 'From here.' }, { content: 'and who are you?' }],
      'what was refused is left out',
    );
  });

  await t.test('choosing it asks at once, and consent puts it into the picker', async (t) => {
    await set(editor, 'chatModel', undefined);
    const choosing = run(editor, 'runner.chatWithModel', { model: 'cloudy:cloud' });
    await question.waitFor();
    await dialog.getByText('Send There', { exact: true }).click();
    await choosing;
    await editor.until(modelIds, { fits: (ids) => ids.includes('cloudy:cloud') });
    runner.say('High up.');
    t.match(await ask(editor, '@runner and now?'), { metadata: { model: 'cloudy:cloud' } });
  });

  await t.test('the same holds for a model of another server, which the picker then chooses', async (t) => {
    await set(editor, 'chatModel', undefined);
    const choosing = run(editor, 'runner.chatWithModel', { model: 'far:cloud', server: 'box' });
    await dialog.getByText('far:cloud does not run on this machine.').waitFor();
    await dialog.getByText('Send There', { exact: true }).click();
    await choosing;
    box.say('Far away.');
    t.match(await ask(editor, '@runner and who now?'), { metadata: { model: 'far:cloud' } });
  });

  await t.test('consent lasts, also in the next window', async (t) => {
    // The editor in a browser writes a moment later what extensions keep.
    await poll(
      () => editor.page.evaluate<string>(keptValues),
      (kept) => kept.includes('allowedRemotes') && kept.includes('far:cloud'),
    );
    await editor.reload();
    await editor.until(modelIds, { fits: (ids) => ids.includes('cloudy:cloud') });
    await set(editor, 'chatModel', 'cloudy:cloud');
    runner.say('Higher.');
    await ask(editor, '@runner once more');
    t.ok(await transcript(editor, /Higher\./));
  });
});

/** Run in the page: all that the editor keeps for every workspace. */
const keptValues = `new Promise((resolve, reject) => {
  const opening = indexedDB.open('vscode-web-state-db-global');
  opening.onerror = () => reject(opening.error);
  opening.onsuccess = () => {
    const reading = opening.result.transaction('ItemTable').objectStore('ItemTable').getAll();
    reading.onerror = () => reject(reading.error);
    reading.onsuccess = () => {
      opening.result.close();
      resolve(reading.result.join());
    };
  };
})`;

t.test('wrong settings, and changed settings', parts, async (t) => {
  const [first, second, third] = await Promise.all([
    startStandIn({ models: [{ name: 'first:1b', capabilities: ['completion', 'tools'] }] }),
    startStandIn({ models: [{ name: 'second:1b', capabilities: ['completion', 'tools'] }] }),
    startStandIn({ models: [{ name: 'third:1b', capabilities: ['completion', 'tools'] }] }),
  ]);
  const editor = await startEditor({ machine: { 'runner.host': first.url, 'runner.keepAlive': 'a while' } });
  t.teardown(() => Promise.all([editor.close(), first.close(), second.close(), third.close()]));

  await t.test('a wrong setting is reported once by name, and questions get the same error', async (t) => {
    await editor.until(({ seen }) => seen.notifications, { fits: (shown) => shown.length > 0 });
    await ask(editor, '@runner hello');
    t.ok(await transcript(editor, /The daemon of Runner does not start/));
    const shown = await editor.evaluate(({ seen }) => seen.notifications);
    t.equal(shown.length, 1);
    t.match(shown[0], /^Starting the daemon: .*keepAlive/);
    await editor.page.locator('.statusbar-item').getByText('Runner: offline').waitFor();
    await run(editor, 'runner.doctor');
    const page = await editor.until(({ seen }) => seen.panels.get('runner.doctor')?.webview.html);
    t.match(page, /To fix:.* does not start\. .*keepAlive/);
    t.match(page, /command:runner\.openSetting[^>]*>Open the Setting</);
    await run(editor, 'runnerModelsLocalView.focus');
    await editor.page.locator('.pane').getByText('does not start').first().waitFor();
  });

  await t.test('the daemon starts once the setting is corrected', async (t) => {
    await set(editor, 'keepAlive', undefined);
    await editor.until(modelIds, { fits: (ids) => ids.includes('first:1b') });
    t.equal((await editor.evaluate(childrenOf)).length, 1);
    // In the view that has said why there was nothing.
    await editor.page.locator('.pane .monaco-list-row').getByText('first:1b').first().waitFor();
  });

  await t.test('another address counts at once, with its stored token', async (t) => {
    const origin = new URL(second.url).origin;
    await set(editor, 'host', second.url);
    await editor.until(modelIds, { fits: (ids) => ids.includes('second:1b') });
    void run(editor, 'runner.setAccessToken');
    await answerBox(editor.page, 'token-of-the-second');
    await second.waitFor(({ headers }) => headers.authorization === 'Bearer token-of-the-second');
    await set(editor, 'host', first.url);
    await editor.until(modelIds, { fits: (ids) => ids.includes('first:1b') });
    const [daemon] = await editor.evaluate(childrenOf);
    process.kill(Number(daemon?.pid), 'SIGKILL');
    await editor.until(childrenOf, { fits: (found) => found.length === 1 && found[0]?.pid !== daemon?.pid });
    await editor.until(modelIds, { fits: (ids) => ids.includes('first:1b') });
    const before = second.requests.length;
    await set(editor, 'host', second.url);
    await second.waitFor(
      (asked) => second.requests.indexOf(asked) >= before && asked.headers.authorization !== undefined,
      10_000,
    );
    t.notOk(
      first.requests.some(({ headers }) => headers.authorization !== undefined),
      `the token of ${origin} went nowhere else`,
    );
  });

  await t.test('a token is sent over plain http only after consent, which is stored with it', async (t) => {
    const seen = new Set<string | undefined>();
    const server = createServer((request, response) => {
      seen.add(request.headers.authorization);
      response.end('{"version":"1","models":[]}');
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    t.teardown(() => closeServer(server));
    // For Runner this is another machine; nothing leaves this one.
    const url = `http://[::ffff:127.0.0.1]:${portOf(server)}`;
    const { origin } = new URL(url);
    await set(editor, 'host', url);
    const dialog = editor.page.locator('.monaco-dialog-box');
    const question = dialog.getByText(`Send the token to ${origin} over plain http?`);
    const setToken = async (token: string) => {
      void run(editor, 'runner.setAccessToken');
      await answerBox(editor.page, token);
      await question.waitFor();
    };
    const doctorSays = async (pattern: RegExp) => {
      await run(editor, 'runner.doctor');
      t.match(await editor.until(({ seen }) => seen.panels.get('runner.doctor')?.webview.html), pattern);
    };
    await setToken('the-first-token');
    await pressEnter(editor.page, 'Keep It Unsent');
    await question.waitFor({ state: 'hidden' });
    const log = ({ seen }: Host<undefined>) => seen.log.map(({ message }) => message);
    await editor.until(log, { fits: (lines) => lines.some((line) => /is not sent over plain/.test(line)) });
    await doctorSays(/The token for .* is not sent over plain http to another machine\. Use https, or set/);
    t.same([...seen], [undefined], 'the safe choice is the first');

    await setToken('the-second-token');
    await dialog.getByText('Send over Plain Http', { exact: true }).click();
    const isSent = () => poll(async () => seen.has('Bearer the-second-token'), Boolean);
    await isSent();
    await doctorSays(/answers\. Version 1\./);
    seen.clear();
    await editor.reload();
    await isSent();
    t.same([...seen], ['Bearer the-second-token'], 'and in the next window');
  });

  await t.test('if the chosen model is gone, another one answers', async (t) => {
    await run(editor, 'workbench.action.chat.newChat');
    await set(editor, 'host', third.url);
    await editor.until(modelIds, { fits: (ids) => ids.includes('third:1b') });
    third.say('I am here in its place.');
    await ask(editor, '@runner who are you?');
    t.ok(await transcript(editor, /I am here in its place\./));
  });

  await t.test('a further server that comes up later is noticed', async (t) => {
    const spare = await startStandIn({
      models: [{ name: 'spare:1b', capabilities: ['completion', 'tools'] }],
    });
    const { url } = spare;
    await spare.close();
    await run(editor, 'runnerModelsLocalView.focus');
    await set(editor, 'servers', [{ name: 'box', url }]);
    await editor.page
      .getByText(/no answer at http/)
      .first()
      .waitFor();
    const box = await startStandIn({
      models: [{ name: 'spare:1b', capabilities: ['completion', 'tools'] }],
      port: Number(new URL(url).port),
    });
    t.teardown(box.close);
    const ids = await editor.until(modelIds, { fits: (found) => found.includes('box/spare:1b') });
    t.ok(ids.length > 1);
    await editor.page.locator('.pane').getByText('spare:1b').first().waitFor();
  });
});

function set(editor: Editor, name: string, value: unknown): Promise<void> {
  return editor.evaluate(
    async ({ vscode, argument }) => {
      const settings = vscode.workspace.getConfiguration('runner');
      await settings.update(argument.name, argument.value, vscode.ConfigurationTarget.Global);
    },
    { name, value },
  );
}
