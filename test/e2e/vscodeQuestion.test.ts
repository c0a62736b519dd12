import { rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import {
  answerBox,
  ask,
  editorParts,
  endEditors,
  modelIds,
  run,
  startEditor,
  transcript,
} from '../support/editor.ts';
import { writeText } from '../support/editorPrograms.ts';
import { needs } from '../support/parts.ts';
import { startStandIn } from '../support/runnerStandIn.ts';
import { poll } from '../support/waiting.ts';

const parts = needs(...editorParts);
t.teardown(endEditors);

const models = [
  { name: 'able:8b', capabilities: ['completion', 'tools'] as const, size: 5e9 },
  { name: 'other:1b', capabilities: ['completion'] as const, size: 1e9 },
];

t.test('what a question to @runner takes along', parts, async (t) => {
  const runner = await startStandIn({ models });
  const editor = await startEditor({
    machine: { 'runner.host': runner.url, 'runner.catalogUrl': runner.url },
    files: {
      'src/retry.ts': 'export function retryRequest() {}\n',
      'src/other.ts': 'export const other = 1;\n',
      '.env': 'RETRY_TOKEN=sk-secret\n',
      'kept.secret.md': 'retry of a request\n',
      '.runner/prompts/fix-it.md': 'Fix it.',
    },
  });
  t.teardown(async () => {
    await editor.close();
    await runner.close();
  });
  await editor.until(modelIds, { fits: (ids) => ids.length > 0 });
  const lastBody = () =>
    runner.bodies('/api/chat').at(-1) as { model: string; messages: readonly { content: string }[] };

  await t.test('with #codebase, what the workspace has about it, and no secret', async (t) => {
    const lastPrompt = () =>
      lastBody()
        .messages.map(({ content }) => content)
        .join('\n');
    const question = '@runner #codebase where is a request retried?';
    const before = runner.bodies('/api/chat').length;
    await ask(editor, question);
    t.match(
      await transcript(editor, /runner\.codebase/),
      /Nothing was sent\..*Open the Setting/s,
      'off at first',
    );
    t.equal(runner.bodies('/api/chat').length, before);

    const set = (name: string, value: unknown) =>
      editor.evaluate(
        ({ vscode, argument }) =>
          vscode.workspace
            .getConfiguration('runner')
            .update(argument.name, argument.value, vscode.ConfigurationTarget.Global),
        { name, value },
      );
    await set('codebase', true);
    await set('exclude', ['**/*.secret.md']);
    runner.say('In src/retry.ts.');
    await ask(editor, question);
    const prompt = lastPrompt();
    t.match(prompt, /path="src\/retry\.ts" language="ts" lines="1-2">\n[\s\S]*function retryRequest/);
    t.match(prompt, /where is a request retried\?$/);
    t.notMatch(prompt, /#codebase|sk-secret|kept\.secret|other = 1/);
    await transcript(editor, /In src\/retry\.ts/);
    await editor.page
      .getByText(/Completed \d steps/)
      .last()
      .click();
    await transcript(editor, /Used 1 reference/);

    runner.say('Yes.');
    await ask(editor, '@runner are you sure?');
    t.notMatch(JSON.stringify(lastBody()), /function retryRequest/, 'later turns do without');

    runner.say('No idea.');
    await ask(editor, '@runner zebras? #codebase');
    t.match(lastPrompt(), /\nzebras\?$/);
    await transcript(editor, /No file of the workspace has the words of this question/);
  });

  await t.test('the prompts that are kept as files', async (t) => {
    await run(editor, 'workbench.action.chat.newChat');
    const prompts = join(editor.data, '..', 'home', '.config', 'runner', 'prompts');
    t.teardown(() => rmSync(prompts, { recursive: true, force: true }));
    const front = 'arguments: [{ name: topic, required: true }]\nmodel: other:1b';
    writeText(join(prompts, 'about.md'), `---\n${front}\n---\nWrite about {{topic}}.`);
    // A command of the participant has this name too.
    writeText(join(prompts, 'explain.md'), 'Never sent.');

    runner.say('About rivers.');
    t.match(await ask(editor, '@runner /about rivers and {{topic}}'), { metadata: { model: 'other:1b' } });
    t.match(lastBody(), { model: 'other:1b', messages: [{ content: 'Write about rivers and {{topic}}.' }] });
    runner.say('And more.');
    t.match(await ask(editor, '@runner more'), { metadata: { model: 'able:8b' } });
    t.strictSame(
      lastBody().messages.map(({ content }) => content),
      ['Write about rivers and {{topic}}.', 'About rivers.', 'more'],
      'later turns have what was sent, and go to the usual model',
    );

    const before = runner.bodies('/api/chat').length;
    await ask(editor, '@runner /about');
    t.match(await transcript(editor, /needs a value for/), /The prompt \/about needs a value for "topic"/);
    t.equal(runner.bodies('/api/chat').length, before, 'nothing is sent');

    runner.say('Explained.');
    await ask(editor, '@runner /explain this');
    t.match(lastBody().messages.at(-1)?.content, /^Explain this code/);

    runner.say('Fixed.');
    const asked = ask(editor, '@runner /fix-it now');
    await editor.page.getByText('Use the prompt of this workspace from now on?').waitFor();
    await editor.page.getByRole('button', { name: 'Use Them' }).click();
    await asked;
    t.equal(lastBody().messages.at(-1)?.content, 'Fix it.\n\nnow');

    const box = editor.page.locator('.quick-input-widget');
    const row = (text: string) => box.locator('.monaco-list-row').filter({ hasText: text });
    const listPrompts = () =>
      editor.evaluate(({ vscode }) => void vscode.commands.executeCommand('runner.usePrompt'));
    await ask(editor, '@runner /prompts');
    await row('TOPIC').click();
    const input = editor.page.locator('.interactive-session .chat-input-container .view-lines').first();
    await poll(
      () => input.innerText(),
      (text) => text.replaceAll('\u00a0', ' ').includes('@runner /about '),
    );

    await listPrompts();
    t.match(await row('/explain').innerText(), /Hidden: \/explain is a command of @runner/);
    t.match(await row('/fix-it').innerText(), /of this workspace/);
    await row('New Prompt').click();
    await answerBox(editor.page, ' review ');
    await editor.page.getByRole('tab', { name: 'review.md' }).waitFor();
    runner.say('Reviewed.');
    await ask(editor, '@runner /review tests');
    t.match(lastBody().messages.at(-1)?.content, /^Explain tests\./, 'the new prompt can be used at once');
  });
});
