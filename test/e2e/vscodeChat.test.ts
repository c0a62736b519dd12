import { join } from 'node:path';
import t from 'tap';
import {
  ask,
  childrenOf,
  type Editor,
  modelIds,
  skipWithoutEditor,
  startEditor,
  transcript,
} from '../support/editor.ts';
import { startStandIn } from '../support/runnerStandIn.ts';

const skip = skipWithoutEditor();

const models = [
  { name: 'thinker:8b', capabilities: ['completion', 'tools', 'thinking'] as const, size: 5.2e9 },
  { name: 'seer:4b', capabilities: ['completion', 'tools', 'vision'] as const, size: 3.3e9 },
  { name: 'plain:1b', capabilities: ['completion'] as const, size: 1e9 },
];

t.test('chat in a real VS Code, from the packed extension, signed in nowhere', { skip }, async (t) => {
  const runner = await startStandIn({ models });
  const editor = await startEditor({
    machine: {
      'runner.host': runner.url,
      'runner.catalogUrl': runner.url,
      'runner.tools': ['driver_weather'],
    },
    user: { 'chat.tools.global.autoApprove': true },
    files: { 'recipe.md': 'Two eggs.\n' },
  });
  t.teardown(async () => {
    await editor.close();
    await runner.close();
  });
  const lastBody = () => runner.bodies('/api/chat').at(-1) as { messages: readonly object[] };

  await t.test('the extension begins in the order of the specification', async (t) => {
    t.strictSame(await stepsOf(editor), [...beginning, ...sidebar]);
    await editor.until(modelIds, { fits: (ids) => ids.length === 3 });
    t.notOk(
      runner.requests.some(({ path }) => path.startsWith('/library')),
      'nothing is asked for a view that nobody sees',
    );
    await editor.page.locator('.chat-input-toolbars').getByText('seer:4b').waitFor();
  });

  await t.test('the first question in a fresh profile is answered', async (t) => {
    runner.say(['Forty', '-two <i> a < b'], { thinking: ['let me ', 'think'] });
    t.match(await ask(editor, '@runner what is it?'), {
      metadata: { model: 'seer:4b', usage: { completionTokens: Number } },
    });
    const shown = await transcript(editor, /Forty-two <i> a < b/);
    t.match(shown, /Thought for a moment/);
    t.notMatch(shown, 'let me think');
  });

  await t.test('the history goes along, without what was only thought', async (t) => {
    runner.say('Yes.');
    await ask(editor, '@runner sure?');
    t.strictSame(
      lastBody().messages.map((message) => ({ ...message })),
      [
        { role: 'user', content: 'what is it?' },
        { role: 'assistant', content: 'Forty-two <i> a < b' },
        { role: 'user', content: 'sure?' },
      ],
    );
  });

  await t.test('tools of the setting are offered, called, and answered with', async (t) => {
    runner.toolCalls([{ name: 'driver_weather', arguments: { town: 'Bonn' } }], { text: 'Let me look. ' });
    runner.say('Take an umbrella.');
    await ask(editor, '@runner what is the weather in Bonn?');
    t.match(lastBody().messages.at(-1), { role: 'tool', content: 'In Bonn it rains.' });
    t.ok(await transcript(editor, /Let me look\.[\s\S]*Take an umbrella\./));
    runner.say('It does.');
    await ask(editor, '@runner does it rain?');
    t.match(
      lastBody().messages.slice(-4),
      [
        { role: 'assistant', tool_calls: [{ function: { name: 'driver_weather' } }] },
        { role: 'tool', content: 'In Bonn it rains.' },
        { role: 'assistant', content: 'Take an umbrella.' },
        { role: 'user', content: 'does it rain?' },
      ],
      'a later turn knows them',
    );
  });

  await t.test('a model that calls tools for ever is stopped, and its last words are shown', async (t) => {
    for (let round = 0; round < 8; round++)
      runner.toolCalls([{ name: 'driver_weather', arguments: { town: `town ${round}` } }]);
    runner.say('It rains everywhere.');
    t.match(await ask(editor, '@runner where does it rain?'), { metadata: { ended: 'rounds' } });
    t.ok(await transcript(editor, /It rains everywhere\.[\s\S]*The limit of 8 rounds of tools was reached/));
  });

  await t.test('an attached file goes along as context, once', async (t) => {
    runner.say('Two.');
    await editor.evaluate(
      ({ vscode, argument }) =>
        vscode.commands.executeCommand('workbench.action.chat.open', {
          query: '@runner how many eggs?',
          attachFiles: [vscode.Uri.file(argument)],
          blockOnResponse: true,
        }),
      join(editor.workspace, 'recipe.md'),
    );
    const { messages } = lastBody() as { messages: readonly { role: string; content: string }[] };
    t.match(messages.at(-1), { role: 'user', content: /<attachment path="recipe.md">\nTwo eggs/ });
  });

  await t.test('an answer that was cut says so, and one may go on', async (t) => {
    runner.rawLines([
      { model: 'seer:4b', message: { role: 'assistant', content: 'One, two' }, done: false },
      { model: 'seer:4b', message: { role: 'assistant', content: '' }, done: true, done_reason: 'length' },
    ]);
    t.match(await ask(editor, '@runner count'), { metadata: { ended: 'length' } });
    t.ok(await transcript(editor, /One, two[\s\S]*The answer was cut/));
    await editor.page.locator('.interactive-session').getByText('Go on', { exact: true }).waitFor();
  });

  await t.test(
    'the daemon dies in mid-answer: the text stays, and the next question is answered',
    async (t) => {
      runner.tokens(2_000, { perSecond: 50 });
      const answer = ask(editor, '@runner count slowly');
      await editor.page.getByText('1 2 3 4 5').first().waitFor();
      const [daemon] = await editor.evaluate(childrenOf);
      t.match(daemon?.command, /runnerd\.cjs --stdio --secrets-fd 3$/);
      process.kill(Number(daemon?.pid), 'SIGKILL');
      t.match(await answer, {
        errorDetails: { message: /^The answer could not be had: The daemon of Runner ended/ },
      });
      const shown = await transcript(editor, /1 2 3 4 5[\s\S]*The daemon of Runner ended unexpectedly/);
      t.notMatch(shown, /at .*\.cjs:\d+/, 'no stack is shown');
      runner.say('Here again.');
      await ask(editor, '@runner and now?');
      t.ok(await transcript(editor, /Here again\./));
      const daemons = await editor.evaluate(childrenOf);
      t.equal(daemons.length, 1, 'one daemon runs');
    },
  );

  await t.test('cancel reaches the runner', async (t) => {
    runner.tokens(5_000, { perSecond: 50 });
    const answer = ask(editor, '@runner count again');
    await editor.page.getByText('1 2 3 4 5').nth(1).waitFor();
    await editor.evaluate(({ vscode }) => vscode.commands.executeCommand('workbench.action.chat.cancel'));
    await answer;
    const request = await runner.waitFor(({ path, aborted }) => path === '/api/chat' && aborted);
    t.ok(request);
  });
});

const beginning = [
  'window.createOutputChannel Runner',
  'workspace.getConfiguration runner',
  'lm.registerLanguageModelChatProvider runner',
  'chat.createChatParticipant runner.participant',
];

const sidebar = [
  'window.createTreeView runnerModelsLocalView',
  'window.createTreeView runnerModelsRunningView',
  'window.createTreeView runnerModelsLibraryView',
  'window.createTreeView runnerModelsCloudView',
  'window.createTreeView runnerModelfilesView',
];

/** The calls that the specification orders, the first of each. */
async function stepsOf(editor: Editor): Promise<readonly string[]> {
  const calls = await editor.until(({ seen }) => seen.calls, {
    fits: (calls) => calls.some(({ call }) => call === 'window.createStatusBarItem'),
  });
  const ordered =
    /OutputChannel|getConfiguration|registerLanguageModel|ChatParticipant|InlineCompletion|TreeView/;
  const steps = calls.filter(({ call }) => ordered.test(call)).map(({ call, detail }) => `${call} ${detail}`);
  return [...new Set(steps)];
}
