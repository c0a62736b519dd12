import type { Locator } from 'playwright-core';
import {
  ask,
  type Editor,
  editorParts,
  endEditors,
  type Host,
  modelIds,
  startEditor,
} from '../support/editor.ts';
import { needs } from '../support/parts.ts';
import { type RunnerStandIn, startStandIn } from '../support/runnerStandIn.ts';
import { createFigures, median, timed } from './figures.ts';

const { section, row } = createFigures('vscode');
section('VS Code, the packed extension (medians)');
const { skip: missing } = needs(...editorParts);
if (missing) row('all of it', `left out: ${missing}`);
else {
  await activation();
  await firstPart();
  await largeViews();
  await endEditors();
}

/** The editor's own figure, in windows that were never open before. */
async function activation(): Promise<void> {
  const times: number[] = [];
  for (let count = 0; count < 5; count++) {
    const { runner, editor } = await open();
    times.push(await activationTime(editor));
    await close(runner, editor);
  }
  row('activation', `${median(times)} ms (${times.join(', ')})`, {
    goal: 'within 60 ms; two peers 141 and 260 ms',
    plot: { unit: 'ms', bars: { 'a peer': 141, 'another peer': 260, Runner: median(times) } },
  });
}

async function activationTime({ page, evaluate }: Editor): Promise<number> {
  await evaluate(({ vscode }) => vscode.commands.executeCommand('workbench.action.showRuntimeExtensions'));
  const row = page.locator('.monaco-list-row', { has: page.getByText('Runner', { exact: true }) });
  const text = await row.locator('.activation-time').first().textContent();
  return Number(/Activation: (\d+)ms/.exec(text ?? '')?.[1]);
}

/** From the runner's first byte to another extension's first part, beside a bare request from the same process. */
async function firstPart(): Promise<void> {
  const { runner, editor } = await open();
  const ours: number[] = [];
  const bare: number[] = [];
  for (let count = 0; count < 30; count++) {
    runner.say('Yes, of course it is.');
    ours.push((await editor.evaluate(firstPartAt)) - lastChat(runner));
    runner.say('Yes, of course it is.');
    bare.push((await editor.evaluate(firstChunkAt, runner.url)) - lastChat(runner));
  }
  const chat: number[] = [];
  for (let count = 0; count < 10; count++) {
    runner.say('Yes, of course it is.');
    const result = (await ask(editor, `@runner is it ${count}?`)) as { timings: { firstProgress: number } };
    chat.push(result.timings.firstProgress);
  }
  const figures = `${median(ours).toFixed(1)} ms (a bare request: ${median(bare).toFixed(1)} ms)`;
  row("the runner's first byte to an extension's first part", figures, {
    goal: 'at most 20 ms more; two peers 100 and 2,900 ms',
    plot: { unit: 'ms', bars: { 'a bare request': median(bare), Runner: median(ours), 'a peer': 100 } },
  });
  row('a question to @runner to its first progress', `${median(chat)} ms`, {
    goal: "the editor's own figure",
  });
  await close(runner, editor);
}

/** Run in the host. Milliseconds since 1970. */
async function firstPartAt({ vscode }: Host<undefined>): Promise<number> {
  const [model] = await vscode.lm.selectChatModels({ vendor: 'runner', id: 'able:1b' });
  const response = await model?.sendRequest([vscode.LanguageModelChatMessage.User('Is it?')], {});
  let first = 0;
  for await (const _ of response?.stream ?? []) first ||= performance.timeOrigin + performance.now();
  return first;
}

/** Run in the host. Milliseconds since 1970. */
async function firstChunkAt({ argument }: Host<string>): Promise<number> {
  const body = JSON.stringify({ model: 'able:1b', messages: [{ role: 'user', content: 'Is it?' }] });
  const response = await fetch(`${argument}/api/chat`, { method: 'POST', body });
  let first = 0;
  for await (const _ of response.body ?? []) first ||= performance.timeOrigin + performance.now();
  return first;
}

/** When the runner had the last question; it answers at once. */
function lastChat({ requests }: RunnerStandIn): number {
  return requests.findLast(({ path }) => path === '/api/chat')?.receivedAt ?? Number.NaN;
}

/** From a key in the filter's box to the narrowed view, beside a bare extension that only has as many rows. */
async function largeViews(): Promise<void> {
  const named = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, index) => ({
      name: `${prefix}${index % 40}-model${index}:latest`,
      capabilities: ['completion', 'tools'] as const,
    }));
  const runner = await startStandIn({ models: named('local', 500), catalog: named('public', 2_000) });
  const machine = { 'runner.host': runner.url, 'runner.catalogUrl': runner.url };
  const editor = await startEditor({ machine });
  await editor.until(modelIds, { fits: (ids) => ids.length >= 500 });
  const views = [
    ['Local', 'runnerModelsLocalView', 'Local Models', 500],
    ['Library', 'runnerModelsLibraryView', 'Library', 2_000],
  ] as const;
  for (const [name, id, title, count] of views) {
    const pane = editor.page.locator('.pane', {
      has: editor.page.locator('.pane-header', { hasText: title }),
    });
    await editor.evaluate(execute, `${id}.focus`);
    await pane.locator('.monaco-list-row').first().waitFor();
    await editor.evaluate(execute, `runner.filter${name}`);
    const ours = await narrowed(editor, { pane, count });
    await editor.evaluate(showBare, count);
    const bare = await narrowed(editor, { pane: bareView(editor), count });
    const goal = 'the editor gathers changes that follow each other until none came for 200 ms';
    const whole = `${ours} ms (a bare extension: ${bare} ms)`;
    row(`${title}, ${count} models: narrowed to one, from the last key of a name`, whole, { goal });
  }
  await close(runner, editor);
}

function bareView({ page }: Editor): Locator {
  return page.locator('.pane', { has: page.locator('.pane-header', { hasText: 'Bare' }) });
}

/** The median from the last of several keys, as they are typed. */
async function narrowed(
  { page }: Editor,
  { pane, count }: { readonly pane: Locator; readonly count: number },
): Promise<number> {
  const input = page.locator('.quick-input-widget input').first();
  await input.waitFor();
  const words: number[] = [];
  for (let round = 0; round < 5; round++) {
    const last = String(count - 1);
    await input.pressSequentially(`model${last.slice(0, -1)}`, { delay: 60 });
    words.push(
      await timed(async () => {
        await input.press(last.slice(-1));
        await pane.getByText(`: 1 of ${count} models`).waitFor();
      }),
    );
    await input.fill('');
    await pane.getByText(': 1 of').waitFor({ state: 'detached' });
    await page.waitForTimeout(500);
  }
  await page.keyboard.press('Escape');
  return Math.round(median(words));
}

/** Run in the host: rows of 40 groups in a view, and a box that narrows them, in the least of code. */
async function showBare({ vscode, argument: count }: Host<number>): Promise<void> {
  await vscode.commands.executeCommand('setContext', 'driver.hasBare', true);
  const names = Array.from({ length: count }, (_, index) => `bare${index % 40}-model${index}`);
  let shown: readonly string[] = names;
  const changed = new vscode.EventEmitter<void>();
  const groupOf = (name: string) => name.slice(0, name.indexOf('-'));
  const view = vscode.window.createTreeView<string>('driver.bare', {
    treeDataProvider: {
      onDidChangeTreeData: changed.event,
      getChildren: (group) => [
        ...(group ? shown.filter((name) => groupOf(name) === group) : new Set(shown.map(groupOf))),
      ],
      getTreeItem: (name) => {
        const { Expanded, None } = vscode.TreeItemCollapsibleState;
        return new vscode.TreeItem(name, name.includes('-') ? None : Expanded);
      },
    },
  });
  await vscode.commands.executeCommand('driver.bare.focus');
  const box = vscode.window.createQuickPick();
  box.ignoreFocusOut = true;
  box.onDidChangeValue((words) => {
    shown = names.filter((name) => name.includes(words));
    changed.fire();
    view.message = words && `“${words}”: ${shown.length} of ${count} models.`;
  });
  box.onDidHide(() => view.dispose());
  box.show();
}

/** Run in the host. */
function execute({ vscode, argument }: Host<string>): PromiseLike<unknown> {
  return vscode.commands.executeCommand(argument);
}

async function open(): Promise<{ runner: RunnerStandIn; editor: Editor }> {
  const runner = await startStandIn({ models: [{ name: 'able:1b', capabilities: ['completion', 'tools'] }] });
  const editor = await startEditor({ machine: { 'runner.host': runner.url } });
  await editor.until(modelIds, { fits: (ids) => ids.length > 0 });
  return { runner, editor };
}

async function close(runner: RunnerStandIn, editor: Editor): Promise<void> {
  await editor.close();
  await runner.close();
}
