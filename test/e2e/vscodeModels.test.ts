import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import t from 'tap';
import type * as vscode from 'vscode';
import {
  answerBox,
  childrenOf,
  type Editor,
  editorParts,
  endEditors,
  type Host,
  modelIds,
  run,
  startEditor,
} from '../support/editor.ts';
import {
  llamaHeaders,
  llamaRoutes,
  type OpenaiStandIn,
  startOpenaiStandIn,
} from '../support/openaiStandIn.ts';
import { needs } from '../support/parts.ts';
import { type RunnerStandIn, startStandIn } from '../support/runnerStandIn.ts';
import { poll } from '../support/waiting.ts';

const parts = needs(...editorParts);
t.teardown(endEditors);

const models = [
  { name: 'qwen3:8b', capabilities: ['completion', 'tools', 'thinking'] as const, size: 5.2e9 },
  { name: 'qwen3:4b', capabilities: ['completion', 'tools', 'thinking'] as const, size: 2.6e9 },
  { name: 'gemma3:4b', capabilities: ['completion', 'vision'] as const, size: 3.3e9 },
  { name: 'coder:1b', capabilities: ['completion', 'insert'] as const, size: 1e9 },
];
const catalog = [
  { name: 'mistral:7b', capabilities: ['completion', 'tools'] as const, size: 4e8 },
  { name: 'qwen3:4b', capabilities: ['completion', 'tools'] as const, size: 2.6e9 },
];

t.test('managing models in a real VS Code', parts, async (t) => {
  // Models of one second are listed by their names, so a test lets a second pass between two pulls.
  let passed = 0;
  const runner = await startStandIn({ models, catalog, pullStep: 5, now: () => Date.now() + passed });
  const editor = await startEditor({
    machine: {
      'runner.host': runner.url,
      'runner.catalogUrl': runner.url,
      'runner.logLevel': 'debug',
    },
    files: {
      Modelfile: 'FROM qwen3:4b\nPARAMETER temperature warm\n',
      'sum.js': 'function sum(a, b) {\n  return \n}\n',
      '.env': 'KEY=\n',
      'made/small.modelfile': 'FROM coder:1b\n',
      'made/large.modelfile': 'FROM qwen3:8b\n',
    },
  });
  const { page } = editor;
  t.teardown(async () => {
    await editor.close();
    await runner.close();
  });
  await editor.until(modelIds, { fits: (ids) => ids.length === 4 });

  await t.test('the five views: two open, the models readable, families open', async (t) => {
    await run(editor, 'runnerModelsLocalView.focus');
    t.strictSame(await titles(page), ['Local Models', 'Running Models', 'Library', 'Cloud', 'Modelfiles']);
    await rows(page, 'Local Models', ['qwen', 'qwen3:8b', 'qwen3:4b', 'gemma3:4b', 'coder:1b']);
    const row = page.locator('.monaco-list-row', { hasText: 'gemma3:4b' });
    t.match(await row.textContent(), /3\.3 GB/);
  });

  await t.test('each view matches the specification, and each row knows its parent', async (t) => {
    for (const id of viewIds) await run(editor, `${id}.focus`);
    const wanted: Readonly<Record<string, readonly string[]>> = {
      runnerModelsLocalView: ['qwen', 'qwen/qwen3:8b', 'qwen/qwen3:4b', 'gemma3:4b', 'coder:1b'],
      runnerModelsRunningView: [],
      runnerModelsLibraryView: ['mistral', 'qwen3'],
      runnerModelsCloudView: [
        ...['qwen', 'qwen/qwen3:8b-cloud', 'qwen/qwen3:4b-cloud', 'gemma3:4b-cloud', 'coder:1b-cloud'],
      ],
      runnerModelfilesView: ['made', 'made/large.modelfile', 'made/small.modelfile', 'Modelfile'],
    };
    for (const [id, paths] of Object.entries(wanted)) {
      const found = await editor.until(treeOf, {
        argument: id,
        fits: (nodes) => nodes.length === paths.length,
      });
      t.strictSame(
        found.map(({ path }) => path),
        paths,
        id,
      );
      t.ok(
        found.every(({ knowsParent }) => knowsParent),
        `${id}: the editor can reveal each row`,
      );
    }
    t.ok(runner.requests.some(({ path }) => path.startsWith('/library')));
  });

  for (const [name, title] of [
    ['Local', 'Local Models'],
    ['Running', 'Running Models'],
    ['Library', 'Library'],
    ['Cloud', 'Cloud'],
    ['Modelfiles', 'Modelfiles'],
  ] as const) {
    await t.test(`${title}: its two toggles change place`, async (t) => {
      const id = name === 'Modelfiles' ? 'runnerModelfilesView' : `runnerModels${name}View`;
      await run(editor, `${id}.focus`);
      const header = page.locator('.pane-header', { hasText: title }).first();
      const [flat, tree] = [header.getByLabel('Show as List'), header.getByLabel(/^Group by/)];
      await header.hover();
      await flat.waitFor();
      await run(editor, `runner.toggle${name}Grouping`);
      await tree.waitFor();
      t.equal(await flat.count(), 0);
      await run(editor, `runner.toggle${name}GroupingToTree`);
      await flat.waitFor();
      t.equal(await tree.count(), 0);
    });
  }

  await t.test('a list without families, and a filter', async (t) => {
    await run(editor, 'runnerModelsLocalView.focus');
    await run(editor, 'runner.toggleLocalGrouping');
    await rows(page, 'Local Models', ['qwen3:8b', 'qwen3:4b', 'gemma3:4b', 'coder:1b']);
    await run(editor, 'runner.toggleLocalGroupingToTree');
    const asked = runner.requests.length;
    await run(editor, 'runner.filterLocal');
    await answerBox(page, '4b');
    await rows(page, 'Local Models', ['qwen3:4b', 'gemma3:4b']);
    t.equal(runner.requests.length, asked, 'nobody was asked');
    await run(editor, 'runner.clearLocalFilter');
    await rows(page, 'Local Models', ['qwen', 'qwen3:8b', 'qwen3:4b', 'gemma3:4b', 'coder:1b']);
  });

  await t.test('a pull shows its progress, can be cancelled, and is completed by the next one', async (t) => {
    // It rests at a figure: a row that changes while the pointer is on it takes no click.
    const layer = { status: 'pulling 1234', digest: `sha256:${'1'.repeat(64)}`, total: 1_000_000 };
    runner.on('/api/pull', 1).rawLines([layer, { ...layer, completed: 420_000 }], { end: 'open' });
    void run(editor, 'runner.pullModel');
    await answerBox(page, 'mistral:7b');
    const row = page.locator('.pane .monaco-list-row', { hasText: 'mistral:7b' });
    await row.getByText(/\d+ %/).waitFor();
    await page.locator('.notification-toast').getByText('Pulling mistral:7b').waitFor();
    await row.hover();
    await row.getByLabel(/Cancel/).click();
    t.ok(await runner.waitFor(({ path, aborted }) => path === '/api/pull' && aborted));
    await row.waitFor({ state: 'detached' });
    const cancelled = page.locator('.notification-toast', { hasText: 'mistral:7b was cancelled' });
    await cancelled.getByText('Continue', { exact: true }).click();
    await editor.until(modelIds, { fits: (ids) => ids.includes('mistral:7b') });
    await rows(page, 'Local Models', ['mistral:7b', 'qwen', 'qwen3:8b', 'qwen3:4b', 'gemma3:4b', 'coder:1b']);
    await selects(editor, 'runnerModelsLocalView', 'mistral:7b');
  });

  await t.test('a pulled model is selected, also in a closed family, and no view opens', async (t) => {
    const pull = (model: string) => run(editor, 'runner.pullModel', { model });
    await run(editor, 'runnerModelsLocalView.focus');
    await run(editor, 'list.collapseAll');
    await rows(page, 'Local Models', ['mistral:7b', 'qwen', 'gemma3:4b', 'coder:1b']);
    passed += 1_000;
    await pull('qwen3:4b');
    await selects(editor, 'runnerModelsLocalView', 'qwen3:4b');
    await rows(page, 'Local Models', ['qwen', 'qwen3:4b', 'qwen3:8b', 'mistral:7b', 'gemma3:4b', 'coder:1b']);
    await run(editor, 'workbench.view.explorer');
    const isVisible = ({ seen }: Host<undefined>) => seen.trees.get('runnerModelsLocalView')?.view.visible;
    await editor.until(isVisible, { fits: (visible) => visible === false });
    const revealed = ({ seen }: Host<undefined>) => seen.revealed.length;
    const before = await editor.evaluate(revealed);
    passed += 1_000;
    await pull('mistral:7b');
    t.equal(await editor.evaluate(revealed), before, 'a view that nobody sees is left alone');
    t.equal(await editor.evaluate(isVisible), false);
    await run(editor, 'runnerModelsLocalView.focus');
    await run(editor, 'runnerModelsRunningView.focus');
  });

  await t.test('a failed pull is shown once as a sentence, and logged in full', async (t) => {
    runner.on('/api/pull', 2).failWith(500, { error: 'pull model manifest: file does not exist' });
    const pull = async () => {
      void run(editor, 'runner.pullModel');
      await answerBox(page, 'nonsense:1b');
    };
    await pull();
    const shown = () =>
      editor.evaluate(({ seen }) => seen.notifications.filter((text) => text.includes('nonsense')));
    const [sentence = ''] = await editor.until(
      ({ seen }) => seen.notifications.filter((text) => text.includes('nonsense')),
      { fits: (found) => found.length > 0 },
    );
    t.notMatch(sentence, /\n|\.cjs/, 'no stack is shown');
    await pull();
    const log = await editor.until(({ seen }) => seen.log.filter(({ level }) => level === 'error'), {
      fits: (lines) => lines.length === 2,
    });
    t.strictSame(await shown(), [sentence]);
    t.equal(
      log[0]?.message.split(sentence).length,
      2,
      'the stack begins with the message, which is not repeated',
    );
    t.match(log[0]?.message, /\n\s+at /);
    await run(editor, 'notifications.clearAll');
  });

  await t.test('load, then unload', async (t) => {
    const model = { model: 'qwen3:4b', server: 'default' };
    await run(editor, 'runner.runModel', model);
    await rows(page, 'Running Models', ['qwen3:4b']);
    t.match(runner.bodies('/api/chat').at(-1), { model: 'qwen3:4b', messages: [] });
    await selects(editor, 'runnerModelsRunningView', 'qwen3:4b');
    await page
      .locator('.activitybar')
      .getByLabel(/Runner/)
      .first()
      .waitFor();
    await run(editor, 'runner.stopModel', model);
    await rows(page, 'Running Models', []);
    t.ok(runner.requests.some(({ method, path }) => method === 'DELETE' && path === '/api/ps/qwen3%3A4b'));
  });

  await t.test('a loaded model is stopped and deleted after the user agrees', async (t) => {
    const model = { model: 'gemma3:4b', server: 'default' };
    await run(editor, 'runner.runModel', model);
    void run(editor, 'runner.deleteModel', model);
    await page.locator('.monaco-dialog-box').getByText('Cancel', { exact: true }).click();
    t.notOk(runner.requests.some(({ path }) => path === '/api/delete'));
    void run(editor, 'runner.deleteModel', model);
    await page.locator('.monaco-dialog-box').getByText('Unload and Delete').click();
    await rows(page, 'Local Models', ['mistral:7b', 'qwen', 'qwen3:4b', 'qwen3:8b', 'coder:1b']);
    t.match(runner.bodies('/api/delete'), [{ model: 'gemma3:4b' }]);
  });

  await t.test('Modelfiles: mistakes, hover, and a model made from one', async (t) => {
    const path = join(editor.workspace, 'Modelfile');
    await editor.evaluate(async ({ vscode, argument }) => {
      await vscode.window.showTextDocument(vscode.Uri.file(argument));
    }, path);
    const mistakes = await editor.until(mistakesOf, { argument: path, fits: (found) => found.length > 0 });
    t.strictSame(mistakes, ['1:22-26 temperature needs a number.']);
    const hover = await editor.evaluate(hoverAt, path);
    t.match(hover, /How freely the model chooses/);
    await editor.evaluate(async ({ vscode, argument }) => {
      const uri = vscode.Uri.file(argument);
      const edit = new vscode.WorkspaceEdit();
      edit.replace(uri, new vscode.Range(1, 22, 1, 26), '0.2');
      await vscode.workspace.applyEdit(edit);
    }, path);
    await editor.until(mistakesOf, { argument: path, fits: (found) => found.length === 0 });
    // As the row of the view calls it.
    void editor.evaluate(
      ({ vscode, argument }) =>
        vscode.commands.executeCommand('runner.createModel', { uri: vscode.Uri.file(argument), family: '' }),
      path,
    );
    await answerBox(page, 'mine');
    await editor.until(modelIds, { fits: (ids) => ids.includes('mine:latest') });
    await selects(editor, 'runnerModelsLocalView', 'mine:latest');
    t.match(runner.bodies('/api/create'), [
      { model: 'mine', from: 'qwen3:4b', parameters: { temperature: 0.2 } },
    ]);
  });

  await t.test('ghost text comes from the chosen model, and never in a file of secrets', async (t) => {
    await setting(editor, 'completionModel', 'coder:1b');
    await editor.until(({ seen }) => seen.calls.some(({ call }) => call.includes('InlineCompletion')));
    const text = await editor.evaluate(
      async ({ vscode, argument }) => {
        const document = await vscode.workspace.openTextDocument(argument);
        const shown = await vscode.window.showTextDocument(document);
        shown.selection = new vscode.Selection(1, 9, 1, 9);
        return document.getText();
      },
      join(editor.workspace, 'sum.js'),
    );
    t.match(text, 'return \n');
    await triggerSnoozed(editor);
    t.strictSame(runner.bodies('/api/generate'), [], 'snoozed, nothing is asked');
    runner.on('/api/generate', 2, ({ body }) => /return "/.test(JSON.stringify(body))).say('a + b;');
    await run(editor, 'editor.action.inlineSuggest.trigger');
    await page.locator('.editor-instance [class*="ghost-text"]').first().waitFor();
    t.match(runner.bodies('/api/generate').at(-1), {
      model: 'coder:1b',
      prompt: 'function sum(a, b) {\n  return ',
      suffix: /^\n}/,
      think: false,
    });
    await page.keyboard.press('Tab');
    await editor.until(({ vscode }) => vscode.window.activeTextEditor?.document.getText(), {
      fits: (now) => now === 'function sum(a, b) {\n  return a + b;\n}\n',
    });
    await goOnWithTheList(t, editor, runner);
    await editor.evaluate(
      async ({ vscode, argument }) => {
        const shown = await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(argument));
        shown.selection = new vscode.Selection(0, 4, 0, 4);
      },
      join(editor.workspace, '.env'),
    );
    await run(editor, 'editor.action.inlineSuggest.trigger');
    await editor.until(({ seen }) => seen.log, {
      fits: (lines) => lines.some(({ message }) => /looks like a secret/.test(message)),
    });
    t.notMatch(JSON.stringify(runner.bodies('/api/generate')), /KEY=/);
    await setting(editor, 'completionModel', undefined);
  });

  await t.test(
    'a token is sent to its server, and is in no setting, log, argument or variable',
    async (t) => {
      const token = `secret-${Math.random().toString(36).slice(2)}`;
      void run(editor, 'runner.setAccessToken');
      await answerBox(page, token);
      const request = await runner.waitFor(
        ({ headers }) => headers.authorization === `Bearer ${token}`,
        10_000,
      );
      t.ok(request);
      t.strictSame(filesWith(editor.data, token), []);
      t.strictSame(filesWith(editor.workspace, token), []);
      const [daemon] = await editor.evaluate(childrenOf);
      for (const file of ['cmdline', 'environ'])
        t.notMatch(readFileSync(`/proc/${daemon?.pid}/${file}`, 'utf8'), token);
      const log = await editor.evaluate(({ seen }) => JSON.stringify(seen.log));
      t.notMatch(log, token);
      const before = runner.requests.length;
      void run(editor, 'runner.clearAccessToken');
      const later = (asked: (typeof runner.requests)[number]) => runner.requests.indexOf(asked) >= before;
      t.ok(
        await runner.waitFor((asked) => later(asked) && asked.headers.authorization === undefined),
        'once it is cleared it is sent no more',
      );
    },
  );

  await t.test('the log of the runner is shown only while the setting is on', async (t) => {
    const before = await editor.evaluate(({ require }) => {
      const { appendFileSync, mkdirSync } = require('node:fs') as typeof import('node:fs');
      const folder = `${(require('node:os') as typeof import('node:os')).homedir()}/.ollama/logs`;
      mkdirSync(folder, { recursive: true });
      appendFileSync(`${folder}/server.log`, 'the first line of its log\n');
    });
    t.equal(before, undefined);
    const shown = ({ seen }: Host<undefined>) =>
      seen.log.filter(({ message }) => /log of the runner|^runner: /i.test(message));
    t.strictSame(await editor.evaluate(shown), []);
    await setting(editor, 'streamLogs', true);
    const lines = await editor.until(shown, {
      fits: (found) => found.some(({ message }) => message === 'runner: the first line of its log'),
    });
    t.ok(lines.some(({ message }) => /^The log of the runner comes from .*server\.log\.$/.test(message)));
    await setting(editor, 'streamLogs', undefined);
  });

  await t.test('the doctor reports the state', async (t) => {
    await run(editor, 'runner.doctor');
    const html = await editor.until(({ seen }) => seen.panels.get('runner.doctor')?.webview.html);
    const frame = page.frameLocator('iframe.webview').frameLocator('iframe');
    await frame.getByText('Switch It On').waitFor();
    t.match(html, /Version [\d.]+/);
    t.match(html, /Models: 5 installed, 5 can chat, 4 may support tools/);
    t.match(html, /Completion as you type: off/);
  });

  await t.test('when the runner is gone, every view says what to do', async (t) => {
    await runner.close();
    await run(editor, 'runnerModelsRunningView.focus');
    await run(editor, 'runner.refreshRunning');
    await page.getByText('Nothing is loaded: no runner answers.').waitFor();
    await page.locator('.statusbar-item').getByText('Runner: offline').waitFor();
    await run(editor, 'runner.refreshLocal');
    await page.getByText('This is the last known list.').waitFor();
    t.match(
      await editor.evaluate(({ seen }) => seen.notifications.filter((text) => /offline|reach/.test(text))),
      [],
      'nothing popped up',
    );
  });

  await t.test('each view ends with the extension', async (t) => {
    t.strictSame(await editor.evaluate(({ seen }) => seen.disposed), []);
    const disposed = await editor.evaluate(async ({ seen }) => {
      for (const subscription of [...(seen.context?.subscriptions ?? [])].reverse())
        await subscription.dispose();
      return seen.disposed;
    });
    t.strictSame([...disposed].sort(), [...viewIds].sort());
  });
});

const viewIds = [
  'runnerModelsLocalView',
  'runnerModelsRunningView',
  'runnerModelsLibraryView',
  'runnerModelsCloudView',
  'runnerModelfilesView',
];

t.test('a runner that is found on this machine, and another one beside it', parts, async (t) => {
  const gone = await startStandIn();
  await gone.close();
  // The usual port of SGLang: no program for every day listens there.
  const llama = await startOpenaiStandIn(llamaRoutes('small'), llamaHeaders, 30_000);
  const runner = await startStandIn({ models: models.slice(3), catalog });
  const editor = await startEditor({
    machine: { 'runner.host': gone.url, 'runner.catalogUrl': runner.url },
  });
  t.teardown(async () => {
    await editor.close();
    await runner.close();
    await llama.close();
  });
  await t.test('where no runner answers, it is offered, and one yes sets its address', (t) =>
    useFoundRunner(t, editor, llama),
  );
  await t.test('servers of different products stand side by side, each with what it can do', async (t) => {
    await setting(editor, 'servers', [{ name: 'box', url: runner.url }]);
    await compareProducts(t, editor);
  });
});

async function useFoundRunner(t: Test, editor: Editor, llama: OpenaiStandIn): Promise<void> {
  const { page } = editor;
  await run(editor, 'runnerModelsLocalView.focus');
  await page.locator('.welcome-view-content').getByRole('button', { name: 'Try Again' }).click();
  // A machine with more runners gets a list.
  const only = page.locator('.notifications-toasts').getByText('Use It');
  const oneOfSeveral = page.locator('.quick-input-list').getByText(llama.url);
  await only.or(oneOfSeveral).first().click();
  await page.locator('.statusbar').getByText(`llama.cpp answers at ${llama.url}.`).waitFor();
  const ids = await editor.until(modelIds, { fits: (found) => found.includes('small') });
  t.strictSame(ids, ['small']);
  await page.locator('.pane .monaco-list-row').getByText('small').first().waitFor();
  const host = ({ vscode }: Host<undefined>) =>
    vscode.workspace.getConfiguration('runner').inspect('host')?.globalValue;
  t.equal(await editor.evaluate(host), llama.url);
  t.ok(
    llama.asked.every(({ headers }) => headers.authorization === undefined),
    'no token went along',
  );
}

async function compareProducts(t: Test, editor: Editor): Promise<void> {
  const { page } = editor;
  await editor.until(modelIds, { fits: (ids) => ids.length === 2 });
  await rows(page, 'Local Models', ['default', 'small', 'box', 'coder:1b']);
  const local = page.locator('.pane', { has: page.locator('.pane-header', { hasText: 'Local Models' }) });
  const row = (text: string) => local.locator('.monaco-list-row', { hasText: text });
  const buttons = async (text: string) => {
    await row(text).hover();
    return row(text)
      .locator('.actions .action-label')
      .evaluateAll((labels) => labels.map((label) => label.getAttribute('aria-label')));
  };
  await poll(
    () => row('default').textContent(),
    (text) => /1 · llama\.cpp/.test(text ?? ''),
  );
  await poll(
    () => row('box').textContent(),
    (text) => /1 · Ollama/.test(text ?? ''),
  );
  t.strictSame(await buttons('small'), []);
  t.match(await buttons('coder:1b'), [/^Load/, /^Delete/]);
  t.strictSame(await titles(page), ['Local Models', 'Running Models', 'Library', 'Cloud', 'Modelfiles']);

  const pullButton = local.locator('.pane-header .action-label[aria-label^="Pull"]');
  await local.hover();
  await pullButton.waitFor();
  await setting(editor, 'servers', []);
  await rows(page, 'Local Models', ['small']);
  await pullButton.waitFor({ state: 'detached' });
  t.strictSame(await titles(page), ['Local Models', 'Running Models', 'Modelfiles'], 'there is no catalog');
  await run(editor, 'runner.deleteModel', { model: 'small', server: 'default' });
  await editor.until(({ seen }) =>
    seen.notifications.some((text) => /llama\.cpp cannot delete models/.test(text)),
  );
}

/** Run in the host: all that a view draws, by what stands there, and whether each node names the one above it. */
async function treeOf({
  seen,
  argument,
}: Host<string>): Promise<readonly { path: string; knowsParent: boolean }[]> {
  const { tree } = seen.trees.get(argument) ?? {};
  if (!tree?.getParent) return [];
  const nodes: { path: string; knowsParent: boolean }[] = [];
  const look = async (parent: unknown, before: string) => {
    for (const node of (await tree.getChildren(parent)) ?? []) {
      const { label, resourceUri } = await tree.getTreeItem(node);
      const name = typeof label === 'string' ? label : (resourceUri?.path.split('/').at(-1) ?? '');
      nodes.push({ path: before + name, knowsParent: (await tree.getParent?.(node)) === parent });
      await look(node, `${before}${name}/`);
    }
  };
  await look(undefined, '');
  return nodes;
}

/** Waits until the row of this model is what a view has selected. */
async function selects(editor: Editor, view: string, model: string): Promise<void> {
  await editor.until(
    ({ seen, argument }) =>
      (seen.trees.get(argument)?.view.selection ?? []).map((row) => (row as { model?: string }).model),
    { argument: view, fits: (selected) => selected.join() === model },
  );
}

function setting(editor: Editor, name: string, value: unknown): Promise<void> {
  return editor.evaluate(
    async ({ vscode, argument }) => {
      const settings = vscode.workspace.getConfiguration('runner');
      await settings.update(argument.name, argument.value, vscode.ConfigurationTarget.Global);
    },
    { name, value },
  );
}

/** Asks for a completion while it is snoozed, and wakes it; the status bar says so for so long. */
async function triggerSnoozed(editor: Editor): Promise<void> {
  const item = editor.page.locator('.statusbar-item [aria-label^="Runner"][aria-label*="snoozed until"]');
  // The editor does not ask again at a place where there was no completion.
  await run(editor, 'cursorHome');
  await run(editor, 'runner.completion.snooze');
  await item.waitFor();
  await run(editor, 'editor.action.inlineSuggest.trigger');
  await editor.until(({ seen }) => seen.log.some(({ message }) => /snoozed, or off in/.test(message)));
  await run(editor, 'runner.completion.wake');
  await item.waitFor({ state: 'detached' });
  await run(editor, 'cursorEnd');
}

/** With an item of the editor's own list selected, the ghost text goes on with that, and both can be taken. */
async function goOnWithTheList(t: Test, editor: Editor, runner: RunnerStandIn): Promise<void> {
  const { page } = editor;
  await editor.evaluate(async ({ vscode }) => {
    const item = new vscode.CompletionItem('console');
    vscode.languages.registerCompletionItemProvider('plaintext', { provideCompletionItems: () => [item] });
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content: '' }));
  });
  const asksBehind = ({ body }: { readonly body: unknown }) =>
    /"prompt":"console"/.test(JSON.stringify(body));
  runner.on('/api/generate', Number.POSITIVE_INFINITY, asksBehind).say('.log(sum(1, 2));');
  await page.locator('.editor-instance .view-lines').first().click();
  await page.keyboard.type('cons', { delay: 60 });
  await run(editor, 'editor.action.triggerSuggest');
  await page.locator('.suggest-widget').getByText('console').first().waitFor();
  await page.locator('.editor-instance [class*="ghost-text"]').first().waitFor();
  const asked = runner.bodies('/api/generate').filter((body) => asksBehind({ body })).length;
  await page.keyboard.press('Tab');
  await page.locator('.editor-instance [class*="ghost-text"]').first().waitFor();
  await page.keyboard.press('Tab');
  await editor.until(({ vscode }) => vscode.window.activeTextEditor?.document.getText(), {
    fits: (text) => text === 'console.log(sum(1, 2));',
  });
  // While the name is typed, the list may have selected it already.
  t.ok(asked > 0);
  t.equal(
    runner.bodies('/api/generate').filter((body) => asksBehind({ body })).length,
    asked,
    'taking the name costs no request',
  );
  await run(editor, 'workbench.action.revertAndCloseActiveEditor');
}

/** The titles of the views in the sidebar. */
async function titles(page: Page): Promise<readonly string[]> {
  const headers = page.locator('.sidebar .pane-header .title');
  await headers.first().waitFor();
  return headers.allTextContents();
}

/** Waits until a view has exactly these rows. */
async function rows(page: Page, view: string, wanted: readonly string[]): Promise<void> {
  const pane = page.locator('.pane', { has: page.locator('.pane-header', { hasText: view }) });
  const labels = pane.locator('.monaco-list-row .monaco-icon-label .label-name');
  await poll(
    () => labels.allTextContents(),
    (found) => JSON.stringify(found) === JSON.stringify(wanted),
  );
}

/** Run in the host: what is wrong with a file. */
function mistakesOf({ vscode, argument }: Host<string>): readonly string[] {
  return vscode.languages
    .getDiagnostics(vscode.Uri.file(argument))
    .map(
      ({ range: { start, end }, message }) => `${start.line}:${start.character}-${end.character} ${message}`,
    );
}

/** Run in the host: what is said of the second line's parameter. */
async function hoverAt({ vscode, argument }: Host<string>): Promise<string> {
  const place = [vscode.Uri.file(argument), new vscode.Position(1, 12)] as const;
  const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(
    'vscode.executeHoverProvider',
    ...place,
  );
  return hovers
    .flatMap(({ contents }) => contents)
    .map((part) => (typeof part === 'string' ? part : part.value))
    .join('\n');
}

/** Files in a folder that hold a text. */
function filesWith(folder: string, text: string): readonly string[] {
  return readdirSync(folder, { recursive: true })
    .map((path) => join(folder, String(path)))
    .filter((path) => statSync(path).isFile() && readFileSync(path).includes(text));
}
