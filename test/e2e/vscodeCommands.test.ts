import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import {
  ask,
  type Editor,
  editorParts,
  endEditors,
  type Host,
  modelIds,
  run,
  type Script,
  startEditor,
  transcript,
} from '../support/editor.ts';
import { writeText } from '../support/editorPrograms.ts';
import { needs } from '../support/parts.ts';
import { startStandIn } from '../support/runnerStandIn.ts';
import { poll } from '../support/waiting.ts';

const parts = needs(...editorParts);
t.teardown(endEditors);

const able = ['completion', 'tools'] as const;
const models = [
  { name: 'qwen3:8b', capabilities: able, size: 5.2e9, contextLength: 40_960 },
  { name: 'gemma3:4b', capabilities: ['completion', 'vision'] as const, size: 3.3e9 },
  { name: 'coder:1b', capabilities: ['completion', 'insert'] as const, size: 1e9 },
];
const catalog = [
  { name: 'mistral:7b', capabilities: able, size: 4e8 },
  { name: 'qwen3:8b', capabilities: able, size: 5.2e9, contextLength: 40_960 },
];

/** A command of a user, and what comes of it. */
interface Play {
  /** Without `runner.` before it. */
  readonly run: string;
  readonly given?: readonly unknown[];
  /** What is chosen, typed or clicked, in its order; where it ends, the user leaves. */
  readonly answers?: readonly string[];
  readonly result?: unknown;
  /** Of each question: its title, the value before, the choices, and what was wrong with the answer. */
  readonly asks?: readonly (string | RegExp)[];
  /** What the editor does then. */
  readonly does?: readonly (string | RegExp)[];
  /** The user's value of a setting afterwards. */
  readonly sets?: readonly [name: string, value: unknown];
}

t.test('what each command asks, and what comes of the answers', parts, async (t) => {
  const [runner, box] = await Promise.all([
    startStandIn({ models, catalog }),
    startStandIn({ models: [{ name: 'far:4b', capabilities: able, size: 2e9 }] }),
  ]);
  const editor = await startEditor({
    machine: {
      'runner.host': runner.url,
      'runner.servers': [{ name: 'box', url: box.url }],
      'runner.catalogUrl': runner.url,
    },
    files: {
      'a.ts': 'let a = 1;\nlet b = 2;\n',
      Modelfile: 'FROM qwen3:8b\n',
      'wrong.modelfile': 'FROM qwen3:8b\nPARAMETER temperature warm\n',
      'made/b.modelfile': 'FROM coder:1b\n',
      'made/c.modelfile': 'FROM coder:1b\n',
      '.runner/prompts/tidy.md': '---\ndescription: Tidies $(bug)\n---\nTidy it.\n',
      'shelf/tins/peas.txt': 'peas\n',
    },
  });
  t.teardown(() => Promise.all([editor.close(), runner.close(), box.close()]));
  await editor.until(modelIds, { fits: (ids) => ids.length === 4 });
  const playAll = async (t: Test, plays: readonly Play[]) => {
    for (const one of plays) {
      const { run, given = [], answers = [], asks = [], does = [], sets } = one;
      const name = [run, ...given.map((part) => JSON.stringify(part)), ...answers].join(' ');
      const { asked, done, left, result } = await play(editor, one);
      for (const [index, want] of asks.entries()) isAs(t, asked[index], want, `${name}: what it asks`);
      for (const [index, want] of does.entries()) isAs(t, done[index], want, `${name}: what it does`);
      t.strictSame([asked.length, done.length, left], [asks.length, does.length, []], name);
      if ('result' in one) t.equal(result, one.result, name);
      if (sets) t.strictSame(await editor.evaluate(settingOf, sets[0]), sets[1], `${name}: ${sets[0]}`);
    }
  };
  const [qwen, gemma, coder] = ['qwen3:8b 5.2 GB', 'gemma3:4b 3.3 GB', 'coder:1b 1.0 GB'];
  const all = `default, ${qwen}, ${gemma}, ${coder}, box, far:4b 2.0 GB`;
  const row = { model: 'qwen3:8b', server: 'default' };
  const far = { model: 'far:4b', server: 'box' };

  await t.test('models, from the palette', async (t) => {
    await playAll(t, [
      { run: 'loadAModel', answers: ['gemma3:4b'], asks: [`Load Which Model? | ${all}`] },
      {
        run: 'loadAModel',
        answers: ['qwen3:8b'],
        asks: [`Load Which Model? | default, ${qwen}, ${coder}, box, far:4b 2.0 GB`],
      },
      { run: 'stopOtherModels', given: [{ model: 'gemma3:4b' }], result: true },
      {
        run: 'stopOtherModels',
        given: [{ model: 'gemma3:4b', server: 'default' }],
        result: false,
        asks: ['No other model is loaded. Choose a smaller one.'],
      },
      {
        run: 'unloadAModel',
        answers: ['gemma3:4b'],
        asks: [`Unload Which Model? | default, ${gemma} · loaded`],
      },
      { run: 'unloadAModel', asks: ['There is no such model.'] },
      {
        run: 'deleteAModel',
        answers: ['coder:1b'],
        asks: [
          `Delete Which Model? | ${all}`,
          'Delete the model coder:1b? | To use it again, you must pull or create it again. | Delete',
        ],
      },
      {
        run: 'duplicateAModel',
        answers: ['qwen3:8b', 'two words'],
        asks: [/^Duplicate Which/, /^Duplicate qwen3:8b \| qwen3-copy:8b \| A name has no spaces/],
      },
      {
        run: 'duplicateAModel',
        answers: ['qwen3:8b', ' mine:1b '],
        asks: [/^Duplicate Which/, 'Duplicate qwen3:8b | qwen3-copy:8b'],
        does: ['mine:1b is a copy of qwen3:8b.'],
      },
      {
        run: 'updateAModel',
        answers: ['qwen3:8b', 'Chat with It'],
        asks: [/^Update Which/, 'Pulled qwen3:8b. | Chat with It'],
        does: [/chat\.open \[{"query":"@runner ","isPartialQuery":true,"modelSelector":{.*"qwen3:8b"}}\]$/],
        sets: ['chatModel', 'qwen3:8b'],
      },
      { run: 'letPickerDecide', does: [/^The model in the picker/] },
      {
        run: 'pullModel',
        given: [{ model: 'mistral', sizes: ['7b', '24b'], server: 'default' }],
        answers: ['mistral:7b'],
        asks: [
          'Pull Which Size of mistral? | mistral the default, mistral:7b about 4.3 GB, mistral:24b about 14.9 GB',
          'Pulled mistral:7b. | Chat with It',
        ],
      },
      {
        run: 'pullModel',
        given: [{ model: 'none:1b', server: 'default' }],
        asks: [/^The registry does not know none:1b\. .* \| Pull Another$/],
      },
      {
        run: 'openPageOfAModel',
        answers: ['qwen3:8b'],
        asks: [/^Open the Page/],
        does: [`${runner.url}/library/qwen3`],
      },
      { run: 'showAModel', answers: ['far:4b'], asks: [/^Show the Details of Which Model\?/] },
    ]);
    t.equal(await editor.evaluate(({ seen }) => seen.panels.get('runner.model')?.title), 'far:4b');
    t.ok(runner.requests.some(({ method, path }) => method === 'DELETE' && path === '/api/ps/qwen3%3A8b'));
    t.strictSame(runner.bodies('/api/delete'), [], 'who leaves a question deletes nothing');
  });

  await t.test('completion, and the menu of the status bar', async (t) => {
    const others = '$(cloud-download) Pull a Model…, $(pulse) Doctor, $(output) Show Log, $(gear) Settings';
    const menu = (...middle: readonly string[]) =>
      `The runner at ${runner.url} answers. | ${['$(server) Set Address…', '$(comment-discussion) Chat: the model in the picker…', ...middle, others].join(', ')}`;
    const choose = '$(wand) Completion: coder:1b…';
    const [snooze, off] = ['$(clock) Snooze Completion for an Hour', '$(circle-slash) Switch Completion Off'];
    const weak =
      'gemma3:4b is not listed as filling in the middle, so it completes worse. | Use It All the Same';
    const useGemma = { run: 'completeWithModel', given: [{ model: 'gemma3:4b', server: 'default' }] };
    await playAll(t, [
      { run: 'showMenu', asks: [menu('$(wand) Complete as You Type…')] },
      {
        run: 'chooseCompletionModel',
        answers: ['coder:1b'],
        asks: [
          /^Which Model Completes as You Type\? \| coder:1b 1\.0 GB, fills in the middle, .*gemma3:4b 3\.3 GB, \$\(warning\) cannot fill in the middle, .*, \$\(circle-slash\) None completion is off$/,
        ],
        sets: ['completionModel', 'coder:1b'],
      },
      {
        run: 'completeWithModel',
        given: [far],
        asks: [/^far:4b is on the server box\. Completion uses only/],
      },
      { ...useGemma, asks: [weak], sets: ['completionModel', 'coder:1b'] },
      {
        ...useGemma,
        answers: ['Use It All the Same'],
        asks: [weak],
        does: ['gemma3:4b completes as you type'],
        sets: ['completionModel', 'gemma3:4b'],
      },
      { run: 'completeWithModel', given: [{ model: 'coder:1b' }], does: ['coder:1b completes as you type'] },
      {
        run: 'completion.toggleLanguage',
        given: ['css'],
        does: ['Completion is off in css.'],
        sets: ['completionOffIn', ['css']],
      },
      { run: 'completion.snooze', does: [/^Completion is snoozed until \d/] },
      { run: 'completion.off', does: ['Completion is off.'], sets: ['completionModel', ''] },
      {
        run: 'completion.on',
        does: ['Completion is on: coder:1b.'],
        sets: ['completionModel', 'coder:1b'],
      },
    ]);
    await select(editor, [0, 4, 0, 4]);
    await playAll(t, [
      { run: 'completion.toggleLanguage', does: ['Completion is off in typescript.'] },
      {
        run: 'showMenu',
        answers: ['$(gear) Settings'],
        asks: [menu(choose, '$(code) Switch Completion On in typescript', snooze, off)],
        does: ['workbench.action.openSettings ["@ext:model-runner.runner"]'],
      },
      { run: 'completion.off', does: ['Completion is off.'] },
    ]);
  });

  await t.test('addresses, tokens and the window', async (t) => {
    const boxAddress = `The Address of the Server box | ${box.url}`;
    const docs = "The Document Service's Address";
    const origins = `default ${runner.url}, box ${box.url}`;
    await playAll(t, [
      {
        run: 'setAddress',
        answers: ['default', 'ftp://x'],
        result: false,
        asks: [
          'The Address of Which Server? | default, box',
          /^The Runner's Address \| http:.* \| This address cannot be used: the scheme "ftp" is not http or https\.$/,
        ],
      },
      {
        run: 'setAddress',
        given: ['default'],
        answers: [runner.url],
        result: true,
        asks: [`The Runner's Address | ${runner.url}`],
        sets: ['host', runner.url],
      },
      {
        run: 'setServerAddress',
        given: [{ server: 'box' }],
        answers: [`${box.url}/`],
        result: true,
        asks: [boxAddress],
        sets: ['servers', [{ name: 'box', url: `${box.url}/` }]],
      },
      {
        run: 'setCatalogAddress',
        answers: ['http://127.0.0.1:9'],
        result: false,
        asks: [
          /^The Catalog's Address \| http:.* \| The model catalog at http:\/\/127\.0\.0\.1:9 cannot be reached/,
        ],
      },
      {
        run: 'setCatalogAddress',
        answers: [runner.url],
        result: true,
        asks: [/^The Catalog's/],
        sets: ['catalogUrl', runner.url],
      },
      {
        run: 'setServerToken',
        given: [{ server: 'box' }],
        answers: ['a b'],
        asks: [`Access Token for ${box.url} | A token has no spaces.`],
      },
      {
        run: 'setAccessToken',
        answers: ['box', ' abc '],
        asks: [`A Token for Which Server? | ${origins}`, `Access Token for ${box.url}`],
      },
    ]);
    await box.waitFor(({ headers }) => headers.authorization === 'Bearer abc');
    await playAll(t, [
      { run: 'clearAccessToken', answers: ['box'], asks: [`Clear the Token of Which Server? | ${origins}`] },
      { run: 'setDocsToken', asks: [/^Set runner\.docsUrl first: .* \| Set Its Address$/] },
      {
        run: 'setDocsAddress',
        answers: ['ftp://x', 'http://127.0.0.1:4000/mcp'],
        result: true,
        asks: [
          /^The Document Service's Address \| runner\.docsUrl must be an address such as .*"ftp:\/\/x"\.$/,
        ],
        sets: ['docsUrl', 'http://127.0.0.1:4000/mcp'],
      },
      {
        run: 'setDocsToken',
        answers: ['a b'],
        asks: [
          /^Documents Token for http:\/\/127\.0\.0\.1:4000 \| A token has no spaces\. Paste only the token/,
        ],
      },
      {
        run: 'setDocsToken',
        answers: ['other'],
        asks: [/\| Tokens of runner-docs begin with rdocs_\. Press Enter to keep this one\.$/],
      },
      { run: 'setDocsToken', answers: ['rdocs_x'], asks: ['Documents Token for http://127.0.0.1:4000'] },
      { run: 'clearDocsToken' },
      {
        run: 'setDocsAddress',
        answers: [''],
        result: true,
        asks: [`${docs} | http://127.0.0.1:4000/mcp`],
        sets: ['docsUrl', undefined],
      },
      {
        run: 'setContextLength',
        given: [{ fitting: 8192, maximum: 16_384 }],
        answers: ['16,384 tokens'],
        asks: [
          "How Large a Context Window? A larger one needs more memory. | 8,192 tokens the smallest that fits · the editor's agent summarises at each step, 16,384 tokens the most that the model holds · the editor's agent summarises at each step",
        ],
        sets: ['contextLength', 16_384],
      },
    ]);
    await editor.evaluate(setAll, { contextLength: null });
  });

  await t.test('what is asked in the chat, and the model that answers there', async (t) => {
    const open = 'workbench\\.action\\.chat\\.open \\[{"query":"@runner';
    await select(editor, [0, 4, 1, 3]);
    await playAll(t, [
      {
        run: 'ask',
        does: [
          new RegExp(
            `^${open} ","isPartialQuery":true,"attachFiles":\\[{"uri":{.*a\\.ts".*"range":{"startLineNumber":1,"startColumn":5,"endLineNumber":2,"endColumn":4}}\\]}\\]$`,
          ),
        ],
      },
      { run: 'ask.explain', does: [new RegExp(`^${open} /explain ","isPartialQuery":false,"attachFiles"`)] },
    ]);
    await select(editor, [0, 4, 0, 4]);
    await playAll(t, [
      { run: 'ask.fix', does: [/"@runner \/fix ",.*"attachFiles":\[{"\$mid":1,(?!.*"range").*a\.ts"/] },
    ]);
    await run(editor, 'workbench.action.closeAllEditors');
    const picker = '$(list-selection) Let the Picker Decide';
    const decides = 'The model in the picker answers @runner from now on.';
    const inPicker = (id: string, query = '') =>
      `workbench.action.chat.open [{${query}"modelSelector":{"vendor":"runner","id":"${id}"}}]`;
    const asked = '"query":"@runner ","isPartialQuery":true,';
    const chatWith = (given: { model: string; server?: string }, id: string) => ({
      ...{ run: 'chatWithModel', given: [given], does: [inPicker(id, asked)] },
      sets: ['chatModel', id] as const,
    });
    await playAll(t, [
      { run: 'ask.tests', does: [/"@runner \/tests ",.*"attachFiles":\[\]/] },
      {
        run: 'chooseChatModel',
        answers: ['gemma3:4b'],
        asks: [
          /^Which Model Answers in the Chat\? \| default, .*gemma3:4b 3\.3 GB · without tools, .*, box, far:4b 2\.0 GB, , \$\(list-selection\) Let the Picker Decide now$/,
        ],
        does: [inPicker('gemma3:4b'), 'gemma3:4b answers @runner from now on.'],
        sets: ['chatModel', 'gemma3:4b'],
      },
      chatWith(row, 'qwen3:8b'),
      {
        run: 'chooseChatModel',
        answers: ['far:4b'],
        asks: [/qwen3:8b 5\.2 GB · now,.* Decide$/],
        does: [inPicker('box/far:4b'), 'far:4b (box) answers @runner from now on.'],
        sets: ['chatModel', 'box/far:4b'],
      },
      chatWith(row, 'qwen3:8b'),
      { run: 'letPickerDecide', does: [decides], sets: ['chatModel', undefined] },
      { run: 'chooseChatModel', answers: [picker], asks: [/^Which/], does: [decides] },
    ]);
  });

  await t.test('a prompt of the workspace, which is used after a yes', async (t) => {
    const folder = '$(folder) Prompts of This Workspace…';
    const write = '$(add) New Prompt…';
    const unasked = `Use a Prompt | ${folder} 1 prompt that you have not allowed yet, ${write}`;
    const question = /^Use the prompt of this workspace from now on\?/;
    const fills = /chat\.open \[{"query":"@runner \/tidy ","isPartialQuery":true}\]$/;
    await playAll(t, [
      { run: 'usePrompt', asks: [unasked] },
      { run: 'usePrompt', answers: [folder], asks: [unasked, question] },
      {
        run: 'usePrompt',
        answers: [write, 'Two Words'],
        asks: [unasked, /^New Prompt.*A name has lower-case/],
      },
      {
        run: 'usePrompt',
        answers: [folder, 'Use Them', '/tidy'],
        asks: [unasked, question, `Use a Prompt | /tidy of this workspace, ${write}`],
        does: [fills],
      },
    ]);
  });

  await t.test('a prompt with a mistake opens at its line', async (t) => {
    const path = join(editor.workspace, '.runner/prompts/broken.md');
    writeText(path, '---\ndescription: x\narguments: 7\n---\nGo.\n');
    await playAll(t, [
      {
        run: 'usePrompt',
        answers: ['$(warning) /broken'],
        asks: [/\$\(warning\) \/broken of this workspace/],
      },
    ]);
    const shown = await editor.evaluate(({ vscode }) => {
      const { document, selection } = vscode.window.activeTextEditor ?? {};
      return [document?.uri.path, selection?.start.line, selection?.isEmpty];
    });
    t.strictSame(shown, [path, 2, true]);
    await run(editor, 'workbench.action.closeAllEditors');
    rmSync(path);
  });

  await t.test('a question without words is sent only with an attachment', async (t) => {
    await playAll(t, [{ run: 'chatWithModel', given: [row], does: [/chat\.open/] }]);
    const chats = () => runner.bodies('/api/chat').length;
    const before = chats();
    await ask(editor, '@runner');
    t.ok(await transcript(editor, /There is no question yet\. Write it after @runner\./));
    t.equal(chats(), before);
    runner.say('Two numbers.');
    await ask(editor, '@runner', ['a.ts']);
    t.ok(await transcript(editor, /Two numbers\./));
    t.match(JSON.stringify(runner.bodies('/api/chat').at(-1)), /let a = 1;/);
    await ask(editor, '@runner /model nobody');
    t.ok(await transcript(editor, /nobody is not installed\./));
    await ask(editor, '@runner /model far:4b');
    t.ok(await transcript(editor, /box\/far:4b answers from now on\./));
    await playAll(t, [{ run: 'letPickerDecide', does: [/^The model in the picker/] }]);
  });

  await t.test('a new Modelfile, and what Runner starts', async (t) => {
    const step = (number: number, of: number, choices: string | RegExp = '') =>
      new RegExp(`^New Modelfile \\(${number} of ${of}\\)${choices === '' ? '$' : ` \\| ${choices}`}`);
    const styles = "Leave as it is the base model's own, Precise for code";
    const windows = "Leave as it is the base model's own, 8,192 tokens a conversation";
    await playAll(t, [
      {
        run: 'newModelfile',
        answers: ['gemma3:4b', 'Be brief.', 'Precise', '8,192 tokens'],
        asks: [
          step(1, 4, '.*gemma3:4b, .*, \\$\\(file\\) A file… weights in a GGUF file$'),
          ...[step(2, 4), step(3, 4, styles), step(4, 4, windows)],
        ],
      },
      { run: 'stopModelHere', asks: ['Nothing that Runner started was running.'] },
      {
        run: 'removeFetched',
        asks: [
          'Delete what Runner has fetched to run a model here? | The engine and the small model are deleted. To use them again, they are downloaded again. | Delete',
        ],
      },
    ]);
    const made = await editor.evaluate(({ vscode }) =>
      vscode.workspace.textDocuments
        .filter(({ languageId, isUntitled }) => isUntitled && languageId === 'modelfile')
        .map((document) => document.getText()),
    );
    t.strictSame(
      [...made].sort(),
      ['FROM gemma3:4b\n\nSYSTEM """Be brief."""\n\nPARAMETER temperature 0.2\nPARAMETER num_ctx 8192\n'],
      'who leaves a question makes none',
    );
  });

  await t.test('a model from the Modelfile that is shown, or its first mistake', async (t) => {
    await show(editor, 'wrong.modelfile');
    await playAll(t, [
      {
        run: 'createModel',
        answers: [' made:1b '],
        result: false,
        asks: ['Create a Model', /temperature needs a number/],
      },
    ]);
    const selected = await editor.evaluate(({ vscode }) => {
      const { document, selection } = vscode.window.activeTextEditor ?? {};
      return document && selection && document.getText(selection);
    });
    t.equal(selected, 'warm');
    await show(editor, 'Modelfile');
    await playAll(t, [
      { run: 'createModel', answers: [' '], asks: ['Create a Model'] },
      { run: 'createModel', answers: [' made:1b '], asks: ['Create a Model'] },
    ]);
    t.match(runner.bodies('/api/create').at(-1), { model: 'made:1b', from: 'qwen3:8b' });
  });

  await t.test('a key works on the row that has the focus', async (t) => {
    const shown = async (...given: readonly unknown[]) => {
      await editor.evaluate(async ({ vscode, argument }) => {
        await vscode.commands.executeCommand('runnerModelsLocalView.focus');
        await vscode.commands.executeCommand('list.focusLast');
        await vscode.commands.executeCommand('runner.showModel', ...argument);
      }, given);
      return editor.evaluate(({ seen }) => seen.panels.get('runner.model')?.title);
    };
    await run(editor, 'runner.showModel', { model: 'gemma3:4b', server: 'default' });
    for (const given of [[], [{ view: 7 }], [{ view: 'Nowhere' }], [null]])
      t.equal(await shown(...given), 'gemma3:4b', JSON.stringify(given));
    t.equal(await shown({ view: 'Local' }), 'far:4b');
    await editor.evaluate(({ seen }) => seen.panels.get('runner.model')?.dispose());
  });

  await t.test('Modelfiles that come, go, and are in the folder of the setting', async (t) => {
    const labels = (fits: (labels: readonly string[]) => boolean) =>
      editor.until(labelsOf, { argument: 'runnerModelfilesView', fits });
    const drawn = ({ seen }: Host<undefined>) =>
      seen.contexts.filter(([key]) => key === 'runner.ModelfilesEmpty').length;
    await run(editor, 'runnerModelfilesView.focus');
    await editor.until(drawn, { fits: (count) => count > 0 });
    const before = await editor.evaluate(drawn);
    const path = join(editor.workspace, 'made/d.modelfile');
    writeText(path, 'FROM coder:1b\n');
    await editor.until(drawn, { fits: (count) => count > before });
    t.ok(await labels((found) => found.includes('d.modelfile')));
    const again = await editor.evaluate(drawn);
    rmSync(path);
    await editor.until(drawn, { fits: (count) => count > again });
    await labels((found) => !found.includes('d.modelfile'));
    const folder = join(editor.data, '..', 'home', 'modelfiles');
    writeText(join(folder, 'e.modelfile'), 'FROM coder:1b\n');
    const last = await editor.evaluate(drawn);
    await editor.evaluate(setAll, { modelfilesPath: folder });
    await editor.until(drawn, { fits: (count) => count > last });
    t.ok(await labels((found) => found.includes('e.modelfile')), 'also in a folder elsewhere');
    await editor.evaluate(setAll, { modelfilesPath: null });
    rmSync(folder, { recursive: true });
  });

  await t.test('what fails can be mended and tried again', async (t) => {
    const [mistral, made] = ['mistral:7b', 'made:1b'].map((model) => ({ model, server: 'default' }));
    const gone = /^The model mistral:7b is not installed on http.* \| Pull mistral:7b$/;
    await playAll(t, [
      { run: 'deleteModel', given: [mistral], answers: ['Delete'], asks: [/^Delete the model mistral:7b/] },
      { run: 'runModel', given: [mistral], result: false, asks: [gone] },
    ]);
    runner.on('/api/delete').failWith(503, { error: 'busy' });
    const asks = /^Delete the model made:1b\?/;
    await playAll(t, [
      {
        run: 'deleteModel',
        given: [made],
        answers: ['Delete', 'Try Again', 'Delete'],
        result: false,
        asks: [asks, /\| Try Again/, asks],
      },
    ]);
    await poll(
      async () => runner.bodies('/api/delete').filter((body) => JSON.stringify(body).includes('made:1b')),
      (bodies) => bodies.length === 2,
    );
  });

  await t.test('what was set in Continue is taken over, as far as the user leaves it ticked', async (t) => {
    const config = {
      models: [
        { provider: 'ollama', model: 'qwen3:8b', apiBase: runner.url },
        { provider: 'openai', model: 'far', apiBase: 'http://far.example:1', apiKey: 'sk-far-12345678' },
      ],
    };
    const path = join(editor.workspace, 'continue.json');
    writeText(path, JSON.stringify(config));
    const none = /^There is no config\.yaml and no config\.json in .*\.continue\. \| Choose the File$/;
    const open = 'Import from Continue | {"Configurations of Continue":["yaml","yml","json"]}';
    const [chat, far, token] = [
      'runner.chatModel',
      'runner.servers: openai',
      'Token for http://far.example:1',
    ];
    const rows = `Import from ${path} | ${chat} qwen3:8b, ${far} http://far.example:1, not on this machine, ${token} kept in the secret storage, sent only there`;
    const importing = { run: 'importFromContinue' };
    const chosen = ['Choose the File', path];
    const secret = (origin: string) =>
      editor.evaluate(
        async ({ seen, argument }) => [
          await seen.context?.secrets.get(`runner.token ${argument}`),
          await seen.context?.secrets.get(`runner.plainHttp ${argument}`),
        ],
        origin,
      );
    const plain =
      /^Send the token to http:\/\/far\.example:1 over plain http\? .* \| Keep It Unsent, Send over Plain Http$/;
    await playAll(t, [
      { ...importing, asks: [none] },
      { ...importing, answers: chosen, asks: [none, open, rows] },
      {
        ...importing,
        answers: [...chosen, token],
        asks: [none, open, rows, plain, 'Set 0 of 3 from Continue.'],
      },
    ]);
    t.strictSame(await secret('http://far.example:1'), [null, null]);
    await playAll(t, [
      {
        ...importing,
        answers: [...chosen, `${chat}, ${far}, ${token}`, 'Send over Plain Http'],
        asks: [none, open, rows, plain, 'Set 3 of 3 from Continue.'],
        sets: ['chatModel', 'qwen3:8b'],
      },
    ]);
    t.strictSame(await secret('http://far.example:1'), ['sk-far-12345678', 'allowed']);
    t.strictSame(await editor.evaluate(settingOf, 'servers'), [
      { name: 'box', url: `${box.url}/` },
      { name: 'openai', url: 'http://far.example:1' },
    ]);
    const said = await editor.evaluate(({ seen }) => JSON.stringify([seen.log, seen.notifications]));
    t.notMatch(said, /sk-/, 'no key is in the log or in a notification');
    await editor.evaluate(setAll, { chatModel: null, servers: [{ name: 'box', url: box.url }] });
  });
});

/** A text is the whole one. */
function isAs(t: Test, found: unknown, want: string | RegExp, name: string): void {
  if (typeof want === 'string') t.equal(found, want, name);
  else t.match(found, want, name);
}

/** Run in the host: the user's values; null takes one back. */
async function setAll({ vscode, argument }: Host<Readonly<Record<string, unknown>>>): Promise<void> {
  for (const [key, value] of Object.entries(argument))
    await vscode.workspace.getConfiguration('runner').update(key, value ?? undefined, true);
}

/** Runs a command with the answers of a user, and waits for what it asks and does beside its result. */
async function play(editor: Editor, { run, given = [], answers = [], asks = [], does = [] }: Play) {
  const { result, asked, done, left } = await editor.evaluate(
    async ({ vscode, seen, argument }) => {
      const script: Script = { answers: [...argument.answers], asked: [], done: [] };
      seen.script = script;
      try {
        const result = await vscode.commands.executeCommand(argument.command, ...argument.given);
        const isOver = () => script.asked.length >= argument.asks && script.done.length >= argument.does;
        for (const end = Date.now() + 20_000; !isOver() && Date.now() < end; )
          await new Promise(setImmediate);
        return { result, asked: script.asked, done: script.done, left: script.answers };
      } finally {
        seen.script = undefined;
      }
    },
    { command: `runner.${run}`, given, answers, asks: asks.length, does: does.length },
  );
  return { result, left, asked: asked.map(describeQuestion), done: done.map(describeDeed) };
}

function describeQuestion(question: unknown): string {
  const { title, detail, value, rows = [], problem, problems = [] } = question as Question;
  return [title, detail, value, rows.join(', '), problem, ...problems].filter(Boolean).join(' | ');
}

interface Question {
  readonly title?: string;
  readonly detail?: string;
  readonly value?: string;
  readonly rows?: readonly string[];
  readonly problem?: string;
  readonly problems?: readonly string[];
}

function describeDeed(deed: unknown): string {
  if (!Array.isArray(deed)) return String(deed);
  const [command, ...given] = deed;
  return `${command} ${JSON.stringify(given)}`;
}

/** Run in the host: the user's value of a setting. */
function settingOf({ vscode, argument }: Host<string>): unknown {
  return vscode.workspace.getConfiguration('runner').inspect(argument)?.globalValue;
}

/** Shows the file with this range selected. */
function select(editor: Editor, range: readonly [number, number, number, number]): Promise<void> {
  return editor.evaluate(
    async ({ vscode, argument }) => {
      const shown = await vscode.window.showTextDocument(vscode.Uri.file(argument.path));
      const [line, column, endLine, endColumn] = argument.range;
      shown.selection = new vscode.Selection(line, column, endLine, endColumn);
    },
    { path: join(editor.workspace, 'a.ts'), range },
  );
}

/** Shows a file of the workspace. */
function show(editor: Editor, name: string): Promise<void> {
  return editor.evaluate(
    async ({ vscode, argument }) => {
      await vscode.window.showTextDocument(vscode.Uri.file(argument));
    },
    join(editor.workspace, name),
  );
}

/** Run in the host: the labels of a view. */
async function labelsOf({ seen, argument }: Host<string>) {
  const { tree } = seen.trees.get(argument) ?? {};
  const labels: string[] = [];
  const look = async (parent?: unknown) => {
    for (const node of (await tree?.getChildren(parent)) ?? []) {
      const item = await tree?.getTreeItem(node);
      const file = item?.resourceUri?.path.split('/').at(-1);
      labels.push(typeof item?.label === 'string' ? item.label : (file ?? ''));
      await look(node);
    }
  };
  await look();
  return labels;
}
