import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import type * as vscode from 'vscode';
import { withoutUndefined } from '../../protocol/base/withoutUndefined.ts';
import {
  ask,
  type Editor,
  editorParts,
  endEditors,
  type Host,
  modelIds,
  type Script,
  startEditor,
  transcript,
} from '../support/editor.ts';
import {
  type AskedModel,
  type AskedPrompt,
  type AskedReference,
  askCompleter,
  askFixes,
  askParticipant,
  askProvider,
  countTokens,
} from '../support/editorCalls.ts';
import { writeText } from '../support/editorPrograms.ts';
import { golden } from '../support/golden.ts';
import { needs } from '../support/parts.ts';
import { type RunnerStandIn, startStandIn } from '../support/runnerStandIn.ts';
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
      '.env': 'KEY=secret\n',
      'AGENTS.md': `Use semicolons.\n${'x'.repeat(9_000)}`,
      '.github/copilot-instructions.md': 'No default exports.\n',
      'shelf/cat.png': 'a cat',
      'shelf/beans.bin': 'PK\u0000\u0001',
      'shelf/tins/peas.txt': 'peas\n',
      'rules/some.instructions.md': '---\napplyTo: "**"\n---\nUse tabs.\n',
      'rules/chosen.instructions.md': '---\ndescription: seldom\n---\nUse spoons.\n',
      'rules/plain.instructions.md': 'Use forks.\n',
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
  const places = { [runner.url]: 'RUNNER', [box.url]: 'BOX', [editor.workspace]: 'WORKSPACE' };
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
      {
        run: 'openModelPage',
        given: [{ model: 'hf.co/me/mine:Q4', server: 'default' }],
        does: ['https://huggingface.co/me/mine'],
      },
      {
        run: 'openModelPage',
        given: [{ model: 'gemma3:4b', server: 'default' }],
        asks: ['gemma3:4b has no page: the catalog does not list it.'],
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
      { run: 'chooseCompletionModel', asks: [/\| coder:1b 1\.0 GB, fills in the middle, now, /] },
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
      { run: 'showMenu', asks: [menu(choose, snooze, off)] },
      {
        run: 'completion.toggleLanguage',
        given: ['css'],
        does: ['Completion is off in css.'],
        sets: ['completionOffIn', ['css']],
      },
      {
        run: 'completion.toggleLanguage',
        given: ['css'],
        does: ['Completion is on in css.'],
        sets: ['completionOffIn', []],
      },
      { run: 'completion.snooze', does: [/^Completion is snoozed until \d/] },
      {
        run: 'showMenu',
        asks: [
          /, \$\(play\) Wake Completion, Snoozed until \d.*, \$\(circle-slash\) Switch Completion Off, /,
        ],
      },
      { run: 'completion.off', does: ['Completion is off.'], sets: ['completionModel', ''] },
      {
        run: 'showMenu',
        asks: [menu('$(play) Switch Completion On: coder:1b', '$(wand) Complete as You Type…')],
      },
      {
        run: 'completion.on',
        does: ['Completion is on: coder:1b.'],
        sets: ['completionModel', 'coder:1b'],
      },
    ]);
    await select(editor, [0, 4, 0, 4]);
    await playAll(t, [
      {
        run: 'showMenu',
        asks: [menu(choose, '$(code) Switch Completion Off in typescript', snooze, off)],
      },
      { run: 'completion.toggleLanguage', does: ['Completion is off in typescript.'] },
      {
        run: 'showMenu',
        answers: ['$(gear) Settings'],
        asks: [menu(choose, '$(code) Switch Completion On in typescript', snooze, off)],
        does: ['workbench.action.openSettings ["@ext:model-runner.runner"]'],
      },
      { run: 'completion.off', does: ['Completion is off.'] },
    ]);
    const item = await editor.evaluate(({ seen: { statusItem } }) => ({
      text: statusItem?.text,
      label: statusItem?.accessibilityInformation?.label,
      tooltip: (statusItem?.tooltip as vscode.MarkdownString | undefined)?.value,
      isMarked: statusItem?.backgroundColor !== undefined,
    }));
    t.match(item, {
      text: '$(server-process) Runner',
      label: `Runner, The runner at ${runner.url} answers. box: Ollama answers`,
      tooltip: /answers\. Version [\d.]+\. It is Ollama\.\n\nbox: Ollama answers$/,
      isMarked: false,
    });
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
        answers: [''],
        result: false,
        asks: [boxAddress],
      },
      {
        run: 'setServerAddress',
        given: [{ server: 'box' }],
        answers: [`${box.url}/`],
        result: true,
        asks: [boxAddress],
        sets: ['servers', [{ name: 'box', url: `${box.url}/` }]],
      },
      { run: 'tryAgain', result: true, does: [`The runner at ${runner.url} answers.`] },
      { run: 'tryServer', given: [{ server: 'box' }], result: true, does: [/answers\.$/] },
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
      { run: 'openSetting', given: ['runner.host'], does: [/Settings \[{"query":"@id:runner\.host"}\]$/] },
      {
        run: 'setServerToken',
        given: [{ server: 'box' }],
        answers: ['a b'],
        asks: [`Access Token for ${box.url} | A token has no spaces.`],
      },
      { run: 'setServerToken', given: [{ server: 'box' }], answers: [' '], asks: [/^Access Token/] },
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
      { run: 'setDocsAddress', result: false, asks: [docs] },
      {
        run: 'setContextLength',
        given: [{ fitting: 8192, maximum: 16_384 }],
        answers: ['16,384 tokens'],
        asks: [
          "How Large a Context Window? A larger one needs more memory. | 8,192 tokens the smallest that fits · the editor's agent summarises at each step, 16,384 tokens the most that the model holds · the editor's agent summarises at each step",
        ],
        sets: ['contextLength', 16_384],
      },
      {
        run: 'setContextLength',
        answers: ['The runner decides'],
        asks: [/\| The runner decides often 4,096 tokens, .*16,384 tokens now/],
        sets: ['contextLength', 0],
      },
    ]);
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
    await editor.evaluate(({ vscode }) => vscode.commands.executeCommand('workbench.action.closeAllEditors'));
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
      chatWith(far, 'box/far:4b'),
      { run: 'letPickerDecide', does: [decides], sets: ['chatModel', undefined] },
      { run: 'chooseChatModel', answers: [picker], asks: [/^Which/], does: [decides] },
      { run: 'openWalkthrough', does: [/openWalkthrough \["model-runner\.runner#start",false\]/] },
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
    await editor.evaluate(({ vscode }) => vscode.commands.executeCommand('workbench.action.closeAllEditors'));
    rmSync(path);
  });

  await t.test('a thought has a page of its own', async (t) => {
    const shows = (thought: unknown) =>
      editor.evaluate(async ({ vscode, argument }) => {
        await vscode.commands.executeCommand('runner.showThinking', argument);
        const { document } = vscode.window.activeTextEditor ?? {};
        return [document?.uri.toString(), document?.languageId, document?.getText()];
      }, thought);
    const uri = 'runner-thinking:Thinking.md';
    t.strictSame(await shows('hm\n'), [uri, 'markdown', 'hm\n']);
    const now = ({ vscode }: Host<undefined>) => vscode.window.activeTextEditor?.document.getText();
    await shows('so\n');
    await editor.until(now, { fits: (text) => text === 'so\n' });
    await shows(7);
    await editor.until(now, { fits: (text) => text === '' });
    await editor.evaluate(({ vscode }) => vscode.commands.executeCommand('workbench.action.closeAllEditors'));
  });

  await t.test("the editor's own chat, enabled with its settings and without, and taken back", async (t) => {
    const question =
      /^Enable the editor's built-in extension GitHub\.copilot-chat\? \| It works .* without a sign-in.*These settings change.*• runner\.contextLength: a context window of 40,960 tokens.*takes them back\. \| Enable, Enable Without Settings$/s;
    const enables = 'workbench.extensions.installExtension ["GitHub.copilot-chat",{"enable":true}]';
    const rest = 'To disable the chat itself, disable its extension. | Show the Extension';
    await playAll(t, [
      { run: 'setContextLength', answers: ['The runner decides'], asks: [/^How Large/] },
      { run: 'enableChat', asks: [question], sets: ['contextLength', 0] },
      {
        run: 'enableChat',
        answers: ['Enable Without Settings'],
        asks: [question],
        does: [enables],
        sets: ['contextLength', 0],
      },
      { run: 'resetChat', asks: [`No setting is left to take back. ${rest}`] },
      {
        run: 'enableChat',
        answers: ['Enable'],
        asks: [question],
        does: [enables],
        sets: ['contextLength', 40_960],
      },
      {
        run: 'resetChat',
        answers: ['Show the Extension'],
        asks: [new RegExp(`^Taken back: .*runner\\.contextLength\\. ${rest.replace('|', '\\|')}$`)],
        does: ['extension.open ["GitHub.copilot-chat"]'],
        sets: ['contextLength', 0],
      },
      { run: 'writeCommitMessage', asks: ['There is no change to write a message for.'] },
    ]);
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
      {
        run: 'newModelfile',
        given: [row],
        answers: ['', 'Leave as it is', 'Leave as it is'],
        asks: [step(1, 3), step(2, 3, styles), step(3, 3, windows)],
      },
      {
        run: 'newModelfile',
        given: [row],
        answers: ['', 'Precise'],
        asks: [step(1, 3), step(2, 3, styles), step(3, 3, windows)],
      },
      { run: 'stopModelHere', asks: ['Nothing that Runner started was running.'] },
      {
        run: 'removeFetched',
        asks: [
          'Delete what Runner has fetched to run a model here? | The engine and the small model are deleted. To use them again, they are downloaded again. | Delete',
        ],
      },
      {
        run: 'sortLocal',
        asks: ['Sort Local Models By | Date, newest first now, Name, Size, largest first'],
      },
    ]);
    const made = await editor.evaluate(({ vscode }) =>
      vscode.workspace.textDocuments
        .filter(({ languageId, isUntitled }) => isUntitled && languageId === 'modelfile')
        .map((document) => document.getText()),
    );
    t.strictSame(
      [...made].sort(),
      [
        'FROM gemma3:4b\n\nSYSTEM """Be brief."""\n\nPARAMETER temperature 0.2\nPARAMETER num_ctx 8192\n',
        'FROM qwen3:8b\n',
      ],
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
    await show(editor, 'a.ts');
    const open = 'Create a Model from a Modelfile';
    await playAll(t, [
      { run: 'createModel', asks: [open] },
      { run: 'createModel', answers: [join(editor.workspace, 'Modelfile')], asks: [open, 'Create a Model'] },
      {
        run: 'newModelfile',
        answers: ['$(file) A file…', '/models/some.gguf', 'Be brief.', 'Leave as it is'],
        asks: [
          /^New Modelfile \(1 of 4\)/,
          `The Weights to Start From | {"GGUF files":["gguf"]} | ${editor.workspace}`,
          'New Modelfile (2 of 4)',
          ...[/\(3 of 4\)/, /\(4 of 4\)/],
        ],
      },
      { run: 'newModelfile', answers: ['$(file) A file…'], asks: [/\(1 of 4\)/, /^The Weights/] },
    ]);
    await show(editor, 'Modelfile');
    await playAll(t, [
      { run: 'createModel', answers: [' '], asks: ['Create a Model'] },
      { run: 'createModel', answers: [' made:1b '], asks: ['Create a Model'] },
    ]);
    t.match(runner.bodies('/api/create').at(-1), { model: 'made:1b', from: 'qwen3:8b' });
  });

  await t.test('the rows of the views, with their menus and their words for screen readers', async (t) => {
    const abilities = 'load unload pull delete create catalog';
    const wanted: Readonly<Record<string, readonly object[]>> = {
      runnerModelsLocalView: [
        {
          label: 'default',
          collapsible: 2,
          context: 'runner.server',
          spoken: /^server default, Ollama, \d models$/,
        },
        { label: 'box', description: '1 · Ollama', tooltip: /\*\*box\*\*: Ollama at http/ },
        {
          ...{ label: 'far:4b', collapsible: 0, description: '2.0 GB · tools', icon: 'circle-outline' },
          ...{ context: `runner.local ${abilities}`, spoken: 'far:4b, 2.0 GB, calls tools, not loaded' },
          tooltip: /^\*\*far:4b\*\*\n\n- Size: 2\.0 GB/,
        },
      ],
      runnerModelsLibraryView: [
        {
          ...{ label: 'qwen3', collapsible: 0, context: 'runner.library', icon: 'check' },
          spoken: /^qwen3, .*installed/,
        },
      ],
      runnerModelsCloudView: [
        {
          ...{ label: 'coder:1b-cloud', context: 'runner.cloud', icon: 'cloud' },
          command: { command: 'runner.openModelPage', title: 'Open Page' },
        },
      ],
      runnerModelfilesView: [
        { label: 'made', collapsible: 2, description: '2', context: 'runner.folder', icon: 'folder' },
        {
          ...{ label: 'b.modelfile', collapsible: 0, description: '', context: 'runner.modelfile' },
          ...{ spoken: 'Modelfile b.modelfile, in made', icon: 'file', command: { command: 'vscode.open' } },
        },
        { label: 'Modelfile', description: '', spoken: 'Modelfile Modelfile' },
      ],
    };
    for (const [id, rows] of Object.entries(wanted)) {
      await editor.evaluate(
        ({ vscode, argument }) => vscode.commands.executeCommand(`${argument}.focus`),
        id,
      );
      const labels = rows.map((row) => (row as { readonly label: string }).label);
      const found = await editor.until(itemsOf, {
        argument: id,
        fits: (items) => labels.every((label) => items.some((item) => item.label === label)),
      });
      for (const [index, row] of rows.entries())
        t.match(
          found.find(({ label }) => label === labels[index]),
          row,
          `${id}: ${labels[index]}`,
        );
    }
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
    await editor.evaluate(({ vscode }) =>
      vscode.commands.executeCommand('runner.showModel', { model: 'gemma3:4b', server: 'default' }),
    );
    for (const given of [[], [{ view: 7 }], [{ view: 'Nowhere' }], [null]])
      t.equal(await shown(...given), 'gemma3:4b', JSON.stringify(given));
    t.equal(await shown({ view: 'Local' }), 'far:4b');
    await editor.evaluate(({ seen }) => seen.panels.get('runner.model')?.dispose());
  });

  await t.test('Modelfiles that come, go, and are in the folder of the setting', async (t) => {
    const labels = (fits: (labels: readonly string[]) => boolean) =>
      editor.until(itemsOf, {
        argument: 'runnerModelfilesView',
        fits: (items) => fits(items.map(({ label }) => label)),
      });
    const drawn = ({ seen }: Host<undefined>) =>
      seen.contexts.filter(([key]) => key === 'runner.ModelfilesEmpty').length;
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

  await t.test('what a prompt to @runner sends and shows is as it was accepted', async (t) => {
    await play(editor, { run: 'stopOtherModels', given: [{ model: '' }] });
    const tooltip = async ({ vscode, seen }: Host<undefined>) => {
      const { token } = new vscode.CancellationTokenSource();
      const all = await seen.provider?.provideLanguageModelChatInformation({ silent: true }, token);
      return all?.find(({ id }) => id === 'gemma3:4b')?.tooltip ?? '';
    };
    await editor.until(tooltip, { fits: (text) => text.endsWith('once loaded') });
    const seen = await outcomesOf(editor, [runner, box], promptCases, (asked) =>
      editor.evaluate(askParticipant, { asked, workspace: editor.workspace }),
    );
    const [[, { shown: [first] = [] } = {}] = []] = Object.entries(seen);
    t.equal(first, 'Loading gemma3:4b …');
    // A model may be known as loaded by now, and what was made in the same second is listed by its name.
    const inOrder = ({ rows = [], ...question }: Question) => ({ ...question, rows: rows.toSorted() });
    const shownOnce = Object.entries(seen).map(([name, { shown = [], asked = [], ...rest }]) => [
      name,
      {
        shown: shown.filter((line) => !line.startsWith('Loading ')),
        asked: asked.map((question) => inOrder(question as Question)),
        ...rest,
      },
    ]);
    const { actual, accepted } = golden('vscodePrompts.json', named(Object.fromEntries(shownOnce), places));
    t.strictSame(JSON.parse(actual), JSON.parse(accepted || '{}'), 'ACCEPT=1 accepts a change');
  });

  await t.test('what other extensions send and get is as it was accepted', async (t) => {
    const seen = await outcomesOf(editor, [runner, box], modelCases, (asked) =>
      editor.evaluate(askProvider, asked),
    );
    const { actual, accepted } = golden('vscodeModels.json', named(seen, places));
    t.strictSame(JSON.parse(actual), JSON.parse(accepted || '{}'), 'ACCEPT=1 accepts a change');
    const count = (text: Parameters<typeof countTokens>[0]['argument']['text']) =>
      editor.evaluate(countTokens, { id: 'gemma3:4b', text });
    t.equal(await count('x'.repeat(400)), 100);
    t.equal(await count([{ role: 'assistant', text: 'abc' }]), 4, 'the call of a tool counts with its input');
  });

  await t.test(
    'completions and quick fixes are as they were accepted, and the first completion ticks its step',
    async (t) => {
      const path = join(editor.workspace, 'half.ts');
      writeText(path, 'let a = 1;\nlet b = \n');
      const ticks = () =>
        editor.evaluate(({ seen }) =>
          seen.contexts.flatMap(([key, value]) => (key === 'runner.hasCompleted' ? [value] : [])),
        );
      const completers = ({ seen }: Host<undefined>) =>
        seen.calls.filter(({ call }) => call === 'languages.registerInlineCompletionItemProvider').length;
      const before = await editor.evaluate(completers);
      await editor.evaluate(setAll, { completionModel: 'coder:1b', completionOffIn: null });
      await editor.until(completers, { fits: (count) => count > before });
      const completed: unknown[] = [];
      for (const more of [{}, { isInvoked: true }, { selected: 'let beta' }]) {
        runner.on('/api/generate').say('3;');
        completed.push(await editor.evaluate(askCompleter, { path, line: 1, character: 8, ...more }));
      }
      for (const end of ['let b = ', 'let beta'])
        t.ok(
          runner.requests.some(({ body }) => String((body as { prompt?: unknown })?.prompt).endsWith(end)),
          end,
        );
      t.strictSame(await ticks(), [true, false]);
      await editor.evaluate(setAll, { completionOffIn: ['typescript'] });
      t.equal(await editor.evaluate(askCompleter, { path, line: 1, character: 8 }), undefined);
      await editor.evaluate(setAll, { completionOffIn: null, completionModel: null });
      const longer = join(editor.workspace, 'long.ts');
      writeText(longer, 'let c = 1;\n'.repeat(20));
      const fixes = [await editor.evaluate(askFixes, { path: longer, lines: [8, 10] })];
      fixes.push(await editor.evaluate(askFixes, { path, lines: [1] }));
      const { actual, accepted } = golden('vscodeEditing.json', named({ completed, fixes }, places));
      t.strictSame(JSON.parse(actual), JSON.parse(accepted || '{}'), 'ACCEPT=1 accepts a change');
    },
  );

  await t.test('a message for the commit of the chosen repository', async (t) => {
    for (const name of ['made', 'shelf'])
      execFileSync('git', ['init', '--quiet', join(editor.workspace, name)]);
    await editor.until(openRepositories, {
      argument: ['made', 'shelf'].map((name) => join(editor.workspace, name)),
      fits: (boxes) => Object.keys(boxes).length === 2,
    });
    const which =
      /^Write the Commit Message of Which Repository\? \| (?=.*made \S+\/made)(?=.*shelf \S+\/shelf)/;
    runner.say('"Add two files"');
    await playAll(t, [
      { run: 'writeCommitMessage', asks: [which] },
      { run: 'writeCommitMessage', answers: ['made'], asks: [which] },
    ]);
    t.strictSame(named(await editor.evaluate(openRepositories, []), places), {
      'WORKSPACE/made': 'Add two files',
      'WORKSPACE/shelf': '',
    });
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
      { ...importing, answers: ['Choose the File'], asks: [none, open] },
      {
        ...importing,
        answers: ['Choose the File', editor.workspace],
        asks: [none, open, /is no configuration/],
        result: false,
      },
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
    writeText(path, JSON.stringify({ models: config.models.slice(0, 1), rules: ['Be brief'] }));
    await playAll(t, [
      {
        ...importing,
        answers: chosen,
        asks: [none, open, `There is nothing in ${path} to set. Left out: rules.`],
      },
    ]);
    const home = join(editor.data, '..', 'home', '.continue');
    t.teardown(() => rmSync(home, { recursive: true, force: true }));
    writeText(join(home, 'config.yaml'), 'models: [');
    await playAll(t, [
      { ...importing, asks: [/The configuration of Continue is not valid YAML/], result: false },
    ]);
    const cloud = { provider: 'anthropic', name: 'Claude', model: 'claude', apiKey: 'sk-cloud-12345678' };
    const local = { provider: 'ollama', model: 'coder:1b', apiBase: runner.url, apiKey: 'sk-local-12345678' };
    writeText(join(home, 'config.yaml'), `models: ${JSON.stringify([local, cloud])}\n`);
    await playAll(t, [
      {
        ...importing,
        answers: [`Token for ${runner.url}`],
        asks: [
          /^Import from .*config\.yaml \| runner\.chatModel coder:1b, now qwen3:8b, Token for/,
          'Set 1 of 2 from Continue. Left out: Claude (anthropic).',
        ],
        sets: ['chatModel', 'qwen3:8b'],
      },
    ]);
    await runner.waitFor(({ headers }) => headers.authorization === 'Bearer sk-local-12345678');
    const said = await editor.evaluate(({ seen }) => JSON.stringify([seen.log, seen.notifications]));
    t.notMatch(said, /sk-/, 'no key is in the log or in a notification');
    await playAll(t, [{ run: 'clearAccessToken', answers: ['default'], asks: [/^Clear the Token/] }]);
    await editor.evaluate(setAll, { chatModel: null, servers: [{ name: 'box', url: box.url }] });
  });

  await t.test('the pages and the status bar say what is there, and what is not', async (t) => {
    const pages: Record<string, unknown> = {};
    const keep = async (name: string) => {
      await play(editor, { run: 'doctor' });
      const { asked } = await play(editor, { run: 'showMenu' });
      pages[name] = {
        doctor: await editor.evaluate(pageOf, 'runner.doctor'),
        menu: asked,
        ...(await editor.evaluate(statusOf)),
      };
    };
    await play(editor, { run: 'showModel', given: [{ model: 'mine:1b', server: 'default' }] });
    pages['a model'] = await editor.evaluate(pageOf, 'runner.model');
    await keep('all is well');
    await runner.close();
    await playAll(t, [
      { run: 'tryServer', given: [{ server: 'default' }], result: false, does: [/^No runner answers at/] },
    ]);
    await editor.until(statusOf, { fits: ({ text }) => /offline/.test(text ?? '') });
    await keep('all is down');
    // Which views have been loaded by now depends on what the editor shows.
    const contexts = await editor.evaluate(({ seen }) =>
      Object.fromEntries(seen.contexts.filter(([key]) => !key.endsWith('State'))),
    );
    const { actual, accepted } = golden('vscodePages.json', named({ ...pages, contexts }, places));
    t.strictSame(JSON.parse(actual), JSON.parse(accepted || '{}'), 'ACCEPT=1 accepts a change');
  });
});

/** Run in the host: a page without its style, in lines. */
function pageOf({ seen, argument }: Host<string>): readonly string[] {
  const html = seen.panels.get(argument)?.webview.html ?? '';
  return html
    .replace(/<style>.*?<\/style>/s, '')
    .split(/\n|(?=<li|<section|<tr|<nav|<a )/)
    .slice(1);
}

/** Run in the host: what the status bar shows. */
function statusOf({ seen: { statusItem } }: Host<undefined>) {
  const tooltip = statusItem?.tooltip as vscode.MarkdownString | undefined;
  return {
    text: statusItem?.text,
    tooltip: tooltip?.value,
    commands: tooltip?.isTrusted,
    label: statusItem?.accessibilityInformation?.label,
    color: (statusItem?.backgroundColor as { readonly id?: string } | undefined)?.id,
  };
}

/** Run in the host: opens these repositories, and returns what is in the boxes of all. */
async function openRepositories({ vscode, argument }: Host<readonly string[]>) {
  for (const path of argument) await vscode.commands.executeCommand('git.openRepository', path);
  const git: unknown = vscode.extensions.getExtension('vscode.git')?.exports;
  interface Opened {
    readonly rootUri: vscode.Uri;
    readonly inputBox: { readonly value: string };
  }
  const api = (
    git as { getAPI(version: 1): { readonly repositories: readonly Opened[] } } | undefined
  )?.getAPI(1);
  return Object.fromEntries(
    (api?.repositories ?? []).map(({ rootUri, inputBox }) => [rootUri.path, inputBox.value]),
  );
}

/** A text is the whole one. */
function isAs(t: Test, found: unknown, want: string | RegExp, name: string): void {
  if (typeof want === 'string') t.equal(found, want, name);
  else t.match(found, want, name);
}

interface Case<A> {
  readonly asked: A;
  /** The user's values meanwhile. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** What the runner, or the one of the other server, is to say. */
  readonly before?: (runner: RunnerStandIn, box: RunnerStandIn) => void;
}

const terminated = { error: 'llama runner process has terminated: exit status 2' };
const [gemma3, qwen3] = [{ id: 'gemma3:4b' }, { id: 'qwen3:8b' }];
const says =
  (...texts: readonly string[]) =>
  (runner: RunnerStandIn) => {
    for (const text of texts) runner.say(text);
  };

const file = (path: string) => ({ references: [{ path }] });
const attached = (...references: readonly AskedReference[]) => ({ references });
const crash = (runner: RunnerStandIn) => runner.failWith(500, terminated);

/** What a model says of rain, after it has asked for it in these towns. */
const rains =
  (...towns: readonly string[]) =>
  (runner: RunnerStandIn) => {
    runner.toolCalls(towns.map((town) => ({ name: 'driver_weather', arguments: { town } })));
    runner.say('It rains.');
  };

const promptCases: Readonly<Record<string, Case<AskedPrompt>>> = {
  'the model in the picker': { asked: { prompt: 'Hi.', picked: gemma3 }, before: says('Hello.') },
  'a model of another server': {
    asked: { prompt: 'Hi.', picked: { id: 'box/far:4b' } },
    before: (_, box) => box.say('Hello.'),
  },
  'a model that the setting names, and that is gone': {
    asked: { prompt: 'Hi.', picked: gemma3 },
    settings: { chatModel: 'lost:1b' },
    before: says('Hello.'),
  },
  'the same again, which is said once': {
    asked: { prompt: 'Hi.', picked: gemma3 },
    settings: { chatModel: 'lost:1b' },
    before: says('Hello.'),
  },
  'a command with words': {
    asked: { prompt: 'this', command: 'doc', picked: gemma3 },
    before: says('Done.'),
  },
  'texts that are attached': {
    asked: {
      ...{ prompt: 'What is it?', picked: gemma3 },
      ...attached({ text: 'One.' }, { text: 'Two.', modelDescription: 'a note' }, { text: 'One.' }),
    },
    before: says('It.'),
  },
  'files, lines, a folder and pictures': {
    asked: {
      ...{ prompt: 'What is it?', picked: gemma3 },
      ...attached(
        { path: 'a.ts', lines: [1, 1] },
        { path: '.env' },
        { path: 'shelf' },
        { path: 'shelf/cat.png' },
        { pasted: { mimeType: 'image/png', data: 'AAEC' } },
      ),
    },
    before: says('It.'),
  },
  'what cannot be read': {
    asked: {
      ...{ prompt: 'What is it?', picked: gemma3 },
      ...attached(
        { path: 'gone.ts' },
        { path: 'gone.PNG' },
        { path: 'shelf/beans.bin' },
        { pasted: { mimeType: 'text/html', data: 'AAEC' } },
        { pasted: { mimeType: 'image/png' } },
        { pasted: { mimeType: 'image/png', isLost: true } },
        { pasted: { mimeType: 1, data: 'AAEC' } },
        { value: 7 },
        { value: null },
      ),
    },
    before: says('I do not know.'),
  },
  'what the editor adds by itself': {
    asked: {
      ...{ prompt: 'What is it?', picked: gemma3 },
      ...attached(
        { id: 'vscode.implicit.file', path: 'a.ts' },
        { id: 'vscode.implicit.viewport', path: 'Modelfile', lines: [0, 0] },
        { id: 'vscode.implicit.file', value: 'a text' },
        { id: 'vscode.implicit.selection', path: '.env', lines: [0, 0] },
        { id: 'vscode.customizations.index', text: 'All of it.' },
        { id: 'vscode.instructions.file.root__a', path: 'rules/some.instructions.md' },
        { id: 'vscode.instructions.file.root__b', path: 'rules/chosen.instructions.md' },
        { id: 'vscode.instructions.file.root__c', path: 'rules/plain.instructions.md' },
        { id: 'vscode.instructions.file.root__d', path: 'rules/gone.instructions.md' },
        { id: 'vscode.instructions.file.root__e', path: 'a.ts' },
        { id: 'vscode.instructions.file.root', text: 'No file.' },
        { id: 'vscode.prompt.file__f', path: 'shelf/tins/peas.txt' },
        { id: 'vscode.implicit.string', text: 'A string.' },
      ),
    },
    before: says('It.'),
  },
  'an open file that is attached too': {
    asked: {
      ...{ prompt: 'What is it?', picked: gemma3 },
      ...attached({ id: 'vscode.implicit.file', path: 'a.ts' }, { path: 'a.ts' }),
    },
    before: says('It.'),
  },
  'a picture alone': {
    asked: { ...{ prompt: ' ', picked: gemma3 }, ...file('shelf/cat.png') },
    before: says('A cat.'),
  },
  'no words at all': { asked: { prompt: ' ', picked: gemma3 } },
  'a conversation': {
    asked: {
      ...{ prompt: 'And now?', picked: gemma3 },
      history: [
        { prompt: 'One?', ...file('a.ts'), answer: [{ text: 'O' }, { aside: 'A remark.' }, { text: 'ne.' }] },
        { prompt: 'Never answered?' },
        { prompt: 'Only steps?', answer: [{ progress: 'Loading' }] },
        { prompt: 'this', command: 'fix', answer: [{ text: 'Fixed.' }], metadata: { model: 'm' } },
        {
          ...{ prompt: 'Broken?', ...file('a.ts'), answer: [{ text: 'so far' }] },
          metadata: { model: 'm', ended: 'failed', prompt: 'Broken?' },
        },
        { prompt: '/tidy', answer: [{ text: 'Tidied.' }], metadata: { model: 'm', sent: 'Tidy it.' } },
        {
          ...{ prompt: 'With tools?', answer: [{ text: 'shown' }] },
          metadata: { model: 'm', messages: [{ role: 'assistant', content: 'kept' }] },
        },
        { prompt: 'Of an older version?', answer: [{ text: 'Yes.' }], metadata: 'text' },
      ],
    },
    before: says('Now.'),
  },
  'a try again': {
    asked: {
      ...{ prompt: 'Broken?\u2060', picked: gemma3 },
      history: [
        { prompt: 'One?', answer: [{ text: 'One.' }] },
        { prompt: 'Broken?', ...file('a.ts'), answer: [], metadata: { model: 'm', ended: 'failed' } },
        { prompt: 'Broken?\u2060', answer: [{ text: 'so' }], metadata: { model: 'm', ended: 'failed' } },
      ],
    },
    before: says('Whole.'),
  },
  'the same words again after an answer': {
    asked: {
      ...{ prompt: 'One?\u2060', picked: gemma3 },
      history: [{ prompt: 'One?', ...file('a.ts'), answer: [{ text: 'One.' }], metadata: { model: 'm' } }],
    },
    before: says('One.'),
  },
  'an answer that is cut': {
    asked: { prompt: 'Count.', picked: gemma3 },
    before: (runner) =>
      runner.rawLines([
        { message: { role: 'assistant', content: 'One, ' }, done: false },
        { message: { role: 'assistant', content: '' }, done: true, done_reason: 'length' },
      ]),
  },
  'a thought of some paragraphs': {
    asked: { prompt: 'Why?', picked: gemma3 },
    before: (runner) =>
      runner.say('So.', { thinking: [`${'a'.repeat(299)}\n\n`, `${'b'.repeat(300)}\n\n`, 'c(d)'] }),
  },
  'a thought in a line': {
    asked: { prompt: 'Why?', picked: gemma3 },
    before: (runner) => runner.say('So.', { thinking: ['hm'] }),
  },
  'tools that are named': {
    asked: { prompt: 'Does it rain?', picked: qwen3, tools: ['driver_weather', 'nobody'] },
    before: rains('Bonn', 'Nowhere'),
  },
  'a tool that is not offered': {
    asked: { prompt: 'Does it rain?', picked: qwen3 },
    settings: { tools: ['driver_secret'] },
    before: rains('Bonn'),
  },
  'a failure': { asked: { prompt: 'Hi.', command: 'fix', picked: gemma3 }, before: crash },
  'a failure after some words': {
    asked: { prompt: 'Hi.', picked: gemma3 },
    before: (runner) => runner.say(['so ', 'far '], { ending: terminated }),
  },
  'a model that is gone': {
    asked: { prompt: 'Hi.', picked: gemma3 },
    before: (runner) => runner.failWith(404, { error: "model 'gemma3:4b' not found" }),
  },
  'too little memory': {
    asked: { prompt: 'Hi.', picked: gemma3 },
    before: (runner) =>
      runner.failWith(500, {
        error: 'model requires more system memory (9.9 GiB) than is available (1.1 GiB)',
      }),
  },
  'a token that is wanted': {
    asked: { prompt: 'Hi.', picked: gemma3 },
    before: (runner) => runner.failWith(401, { error: 'unauthorized' }),
  },
  'more than the window holds': {
    asked: { ...{ prompt: 'Sum it up.', picked: qwen3 }, ...attached({ text: 'many '.repeat(8_000) }) },
  },
  'more than any window holds': {
    asked: {
      ...{ prompt: 'Sum it up.', picked: qwen3 },
      ...attached(...['one ', 'two ', 'six '].map((word) => ({ text: word.repeat(26_000) }))),
    },
  },
  'a cancel': { asked: { prompt: 'Hi.', picked: gemma3, isCancelled: true } },
  '#codebase while it is off': { asked: { prompt: '#codebase where?', picked: gemma3 } },
  '#codebase as a tool of somebody else': {
    asked: { prompt: '#codebase where?', picked: gemma3, tools: ['somebody_Codebase'] },
    before: says('There.'),
  },
  '#codebase': {
    asked: { prompt: '#codebase where are the peas?', picked: gemma3 },
    settings: { codebase: true },
    before: says('There.'),
  },
  'the rules of the workspace, if they are wanted': {
    asked: { prompt: 'Hi.', picked: gemma3 },
    settings: { rules: true },
    before: says('Hello.'),
  },
  '#codebase about what is nowhere': {
    asked: { prompt: 'zebras #codebase', picked: gemma3 },
    settings: { codebase: true },
    before: says('Nowhere.'),
  },
  'a prompt of the workspace': {
    asked: { prompt: '/tidy now', picked: gemma3 },
    before: says('Tidied.'),
  },
  'no prompt of that name': { asked: { prompt: '/nobody now', picked: gemma3 }, before: says('Who?') },
  'a path': { asked: { prompt: '/etc/hosts is what?', picked: gemma3 }, before: says('A file.') },
  '/prompts': { asked: { prompt: '', command: 'prompts', picked: gemma3, answers: ['/tidy'] } },
  '/model with a name': { asked: { prompt: ' Gemma3:4b ', command: 'model' } },
  '/model with the same name': { asked: { prompt: 'gemma3:4b', command: 'model' } },
  '/model, and a choice': { asked: { prompt: '', command: 'model', answers: ['qwen3:8b'] } },
  '/model, and none': { asked: { prompt: '', command: 'model' } },
  '/model, and the picker': {
    asked: { prompt: '', command: 'model', answers: ['$(list-selection) Let the Picker Decide'] },
  },
};

const noTools = (runner: RunnerStandIn) => {
  runner.on('/api/chat').failWith(400, { error: 'coder:1b does not support tools' });
  runner.say('Blind.');
};
const hello = [{ role: 'user', text: 'Hi.' }] as const;
const coder1 = { id: 'coder:1b', messages: hello };

const modelCases: Readonly<Record<string, Case<AskedModel>>> = {
  'an answer': { asked: { id: 'gemma3:4b', messages: hello }, before: says('Hello.') },
  'roles and options': {
    asked: {
      id: 'gemma3:4b',
      messages: [
        { role: 'system', text: 'Be brief.' },
        { role: 'user', text: 'Hi.' },
        { role: 'assistant', text: 'Hello.' },
        { role: 'user', text: 'And?' },
      ],
      modelOptions: { temperature: 0, nonsense: 1 },
    },
    before: says('So.'),
  },
  'a tool that must be called': {
    asked: { id: 'qwen3:8b', messages: hello, tools: ['look'], isToolRequired: true },
    before: (runner) => runner.toolCalls([{ name: 'look', arguments: { at: 'it' } }]),
  },
  'a notice for the own chat of the editor': {
    asked: { ...coder1, tools: ['look'], initiator: 'GitHub.copilot-chat' },
    before: noTools,
  },
  'for the editor itself': {
    asked: { ...coder1, tools: ['look'], initiator: 'core' },
    before: says('Blind.'),
  },
  'for an editor that does not say who asks': {
    asked: { ...coder1, tools: ['look'] },
    before: says('Blind.'),
  },
  'for another extension': {
    asked: { ...coder1, tools: ['look'], initiator: 'me.mine' },
    before: says('Blind.'),
  },
  'for another extension, which is said once': {
    asked: { ...coder1, tools: ['look'], initiator: 'me.mine' },
    before: says('Blind.'),
  },
  'a model that is gone': {
    asked: { id: 'gemma3:4b', messages: hello },
    before: (runner) => runner.failWith(404, { error: "model 'gemma3:4b' not found" }),
  },
  'a token that is wanted': {
    asked: { id: 'gemma3:4b', messages: hello },
    before: (runner) => runner.failWith(401, { error: 'unauthorized' }),
  },
  'a failure': { asked: { id: 'gemma3:4b', messages: hello }, before: crash },
  'a failure in the own chat of the editor': {
    asked: { id: 'gemma3:4b', messages: hello, initiator: 'GitHub.copilot-chat' },
    before: crash,
  },
  'a prompt that is too long, and a larger window': {
    asked: {
      ...{ id: 'qwen3:8b', messages: [{ role: 'user', text: 'many '.repeat(8_000) }] },
      answers: ['Set a Larger Context Window', 'nothing of that'],
    },
  },
  'a prompt that is too long for any window': {
    asked: { id: 'qwen3:8b', messages: [{ role: 'user', text: 'many '.repeat(80_000) }] },
  },
};

interface Outcome {
  readonly shown?: readonly string[];
  readonly asked?: readonly unknown[];
  readonly sent?: readonly object[];
}

/** What comes of each case, and what was sent for it. */
async function outcomesOf<A>(
  editor: Editor,
  [runner, box]: readonly [RunnerStandIn, RunnerStandIn],
  cases: Readonly<Record<string, Case<A>>>,
  run: (asked: A) => Promise<Outcome>,
): Promise<Readonly<Record<string, Outcome>>> {
  const outcomes: Record<string, Outcome> = {};
  for (const [name, { asked, settings = {}, before }] of Object.entries(cases)) {
    await editor.evaluate(setAll, settings);
    before?.(runner, box);
    const from = runner.requests.length;
    const outcome = await run(asked);
    outcomes[name] = { ...outcome, sent: sentSince(runner, from) };
    await editor.evaluate(setAll, Object.fromEntries(Object.keys(settings).map((key) => [key, null])));
  }
  return outcomes;
}

/** Run in the host: the user's values; null takes one back. */
async function setAll({ vscode, argument }: Host<Readonly<Record<string, unknown>>>): Promise<void> {
  for (const [key, value] of Object.entries(argument))
    await vscode.workspace.getConfiguration('runner').update(key, value ?? undefined, true);
}

/** Chats that the runner was asked for, without what all of them have. */
function sentSince({ requests }: RunnerStandIn, from: number): readonly object[] {
  return requests.slice(from).flatMap(({ path, body }) => {
    if (path !== '/api/chat' || typeof body !== 'object' || body === null) return [];
    const { model, messages, tools, options } = body as Readonly<Record<string, unknown>>;
    return [withoutUndefined({ model, messages, tools, options })];
  });
}

/** With names in place of what differs from run to run, and with a count in place of what is repeated often. */
function named(value: unknown, places: Readonly<Record<string, string>>): unknown {
  const text = Object.entries(places).reduce(
    (text, [place, name]) => text.replaceAll(place, name),
    JSON.stringify(value),
  );
  const short = text
    .replace(/call_[0-9a-f]{8}/g, 'CALL')
    .replace(/Thought for (a moment|\d+ s)/g, 'Thought for a time')
    .replace(/%22\d{13}%22/g, '%22ID%22')
    .replace(/As of [^<"]*/g, 'As of now')
    .replace(/\d{4}-\d\d-\d\d/g, 'DATE')
    .replace(/"id":"\d+"/g, '"id":"N"')
    .replace(/ · loaded/g, '')
    // The window may not be known yet.
    .replace(/,"contextLength":\d+| · \d+ % of a window of [\d,]+ tokens/g, '')
    .replace(/editor [\d.]+/g, 'editor VERSION')
    .replace(/(\w+? ?)\1{30,}/g, (all, one: string) => `${one}× ${all.length / one.length}`);
  return JSON.parse(short);
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

/** Run in the host: the rows of a view as the editor gets them. */
async function itemsOf({ vscode, seen, argument }: Host<string>) {
  const { tree } = seen.trees.get(argument) ?? {};
  const { token } = new vscode.CancellationTokenSource();
  const items: { readonly label: string; readonly [part: string]: unknown }[] = [];
  const look = async (parent?: unknown) => {
    for (const node of (await tree?.getChildren(parent)) ?? []) {
      const item = await tree?.getTreeItem(node);
      if (!item) continue;
      await tree?.resolveTreeItem?.(item, node, token);
      const { label, description, contextValue: context, collapsibleState: collapsible, command } = item;
      const { tooltip, iconPath } = item;
      items.push({
        label: typeof label === 'string' ? label : (item.resourceUri?.path.split('/').at(-1) ?? ''),
        ...{ description, context, collapsible, command },
        spoken: item.accessibilityInformation?.label,
        tooltip: typeof tooltip === 'object' ? tooltip.value : tooltip,
        icon: iconPath instanceof vscode.ThemeIcon ? iconPath.id : undefined,
      });
      await look(node);
    }
  };
  await look();
  return items;
}
