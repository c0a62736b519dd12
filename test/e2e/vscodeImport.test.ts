import { rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { editorParts, endEditors, startEditor } from '../support/editor.ts';
import { writeText } from '../support/editorPrograms.ts';
import { needs } from '../support/parts.ts';
import { startStandIn } from '../support/runnerStandIn.ts';
import { poll } from '../support/waiting.ts';

const parts = needs(...editorParts);
t.teardown(endEditors);

t.test('what Continue was set to is taken over, as far as the user leaves it ticked', parts, async (t) => {
  const runner = await startStandIn({ models: [{ name: 'able:8b', capabilities: ['completion'] as const }] });
  const editor = await startEditor({
    machine: { 'runner.catalogUrl': runner.url, 'runner.completionModel': 'old:1b' },
  });
  const { page } = editor;
  const folder = join(editor.data, '..', 'home', '.continue');
  t.teardown(async () => {
    await editor.close();
    await runner.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const models = [
    { name: 'Chat', provider: 'ollama', model: 'able:8b', apiBase: runner.url, apiKey: 'sk-local-12345678' },
    { name: 'Tab', provider: 'ollama', model: 'coder:1b', apiBase: runner.url, roles: ['autocomplete'] },
    { name: 'Claude', provider: 'anthropic', model: 'claude', apiKey: 'sk-cloud-12345678' },
  ];
  const notice = (text: string) => page.locator('.notification-list-item').filter({ hasText: text }).first();
  const importNow = () =>
    editor.evaluate(({ vscode }) => void vscode.commands.executeCommand('runner.importFromContinue'));

  await importNow();
  await notice('There is no config.yaml and no config.json in').waitFor();

  writeText(join(folder, 'config.yaml'), 'models: [');
  await importNow();
  await notice('The configuration of Continue is not valid YAML').waitFor();

  writeText(join(folder, 'config.yaml'), `models: ${JSON.stringify(models)}\n`);
  await importNow();
  const box = page.locator('.quick-input-widget');
  const row = (text: string) => box.locator('.monaco-list-row').filter({ hasText: text });
  await row('runner.completionModel').waitFor();
  t.match(await row('runner.completionModel').innerText(), /coder:1b, now old:1b/);
  t.notMatch(await box.innerText(), /sk-/, 'no key is shown');
  const settings = () =>
    editor.evaluate(({ vscode }) => {
      const { host, chatModel, completionModel } = vscode.workspace.getConfiguration('runner');
      return { host, chatModel, completionModel };
    });
  t.strictSame(
    await settings(),
    { host: '', chatModel: '', completionModel: 'old:1b' },
    'nothing is set yet',
  );
  await row('runner.completionModel').click();
  await box.getByRole('button', { name: 'OK' }).click();
  await notice('Left out: Claude (anthropic)').waitFor();
  t.strictSame(await settings(), { host: runner.url, chatModel: 'able:8b', completionModel: 'old:1b' });

  const stored = await editor.evaluate(async ({ seen, argument }) => {
    const secret = await seen.context?.secrets.get(`runner.token ${argument}`);
    return { secret, log: JSON.stringify([seen.log, seen.notifications]) };
  }, runner.url);
  t.equal(stored.secret, 'sk-local-12345678');
  t.notMatch(stored.log, /sk-/, 'no key is in the log or in a notification');
  await poll(
    async () => runner.requests.at(-1)?.headers['authorization'],
    (header) => header === 'Bearer sk-local-12345678',
  );
});
