import t from 'tap';
import { ask, editorParts, endEditors, modelIds, startEditor, transcript } from '../support/editor.ts';
import { needs } from '../support/parts.ts';
import { startStandIn } from '../support/runnerStandIn.ts';

const parts = needs(...editorParts);
t.teardown(endEditors);

t.test('#codebase sends what the workspace has about a question, and no secret', parts, async (t) => {
  const models = [{ name: 'able:8b', capabilities: ['completion', 'tools'] as const, size: 5e9 }];
  const runner = await startStandIn({ models });
  const editor = await startEditor({
    machine: { 'runner.host': runner.url, 'runner.catalogUrl': runner.url },
    files: {
      'src/retry.ts': 'export function retryRequest() {}\n',
      'src/other.ts': 'export const other = 1;\n',
      '.env': 'RETRY_TOKEN=sk-secret\n',
      'kept.secret.md': 'retry of a request\n',
    },
  });
  t.teardown(async () => {
    await editor.close();
    await runner.close();
  });
  await editor.until(modelIds, { fits: (ids) => ids.length > 0 });
  const lastPrompt = () => {
    const { messages } = runner.bodies('/api/chat').at(-1) as { messages: readonly { content: string }[] };
    return messages.map(({ content }) => content).join('\n');
  };

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
  t.notMatch(
    JSON.stringify(runner.bodies('/api/chat').at(-1)),
    /function retryRequest/,
    'later turns do without',
  );

  runner.say('No idea.');
  await ask(editor, '@runner zebras? #codebase');
  t.match(lastPrompt(), /\nzebras\?$/);
  await transcript(editor, /No file of the workspace has the words of this question/);
});
