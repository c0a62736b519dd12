import t from 'tap';
import {
  answerBox,
  type Editor,
  editorParts,
  endEditors,
  type Host,
  offeredServers,
  run,
  startEditor,
} from '../support/editor.ts';
import { startMcpStandIn } from '../support/mcpStandIn.ts';
import { openOwnedDocs } from '../support/ownedDocs.ts';
import { needs } from '../support/parts.ts';
import { startStandIn } from '../support/runnerStandIn.ts';
import { patience, poll } from '../support/waiting.ts';

const parts = needs(...editorParts);
t.teardown(endEditors);
const token = `rdocs_${'a'.repeat(43)}`;

t.test("the document service for the editor's agents", parts, async (t) => {
  const [runner, docs, mine, other] = await Promise.all([
    startStandIn(),
    openOwnedDocs(t),
    startMcpStandIn(token),
    startMcpStandIn(),
  ]);
  const editor = await startEditor({ machine: { 'runner.host': runner.url, 'runner.docsUrl': docs.origin } });
  t.teardown(() => Promise.all([editor.close(), runner.close(), mine.close(), other.close()]));
  await editor.until(({ seen }) => seen.documents !== undefined);

  await t.test('the real service', async (t) => {
    await t.test("without a token, by the editor's own sign-in", async (t) => {
      const context = editor.page.context();
      const opening = context.waitForEvent('page', { timeout: patience });
      const dialog = editor.page.locator('.monaco-dialog-box');
      const question = dialog.getByText(/'Runner Documents' wants to authenticate to runner-docs/);
      // A start before the editor has the list of servers is none.
      await poll(async () => {
        startServers(editor).catch(() => undefined);
        return question.waitFor({ timeout: 2_000 }).then(
          () => true,
          () => false,
        );
      }, Boolean);
      await dialog.getByText('Allow', { exact: true }).click();
      const page = await opening;
      await page.waitForLoadState();
      // The editor of the tests opens addresses of this machine by a proxy of its own, under another path.
      const request = page.url().includes('to=')
        ? (new URL(page.url()).searchParams.get('to') ?? '')
        : new URL(page.url()).pathname + new URL(page.url()).search;
      const asked = new URL(request, docs.origin);
      t.equal(asked.searchParams.get('scope'), 'read');
      asked.searchParams.set('resource', `${docs.origin}/mcp`);
      const { to, answer } = await docs.allow(asked.href);
      t.equal(to.origin + to.pathname, 'https://vscode.dev/redirect');
      // What that page does: it hands the code to the editor that the state names.
      const back = new URL(decodeURIComponent(answer.get('state') ?? ''));
      // The editor looks for a code that is not the first parameter.
      for (const name of ['state', 'code']) back.searchParams.set(name, answer.get(name) ?? '');
      await page.goto(back.href);
      await editor.until(docsTools, { fits: (names) => names.length > 0 });
      t.match(await search(editor), /How to install it/);
      t.equal(await editor.evaluate(storedToken, docs.origin), undefined);
    });

    await t.test('with a token', async (t) => {
      void run(editor, 'runner.setDocsToken');
      await answerBox(editor.page, await docs.createToken());
      await editor.until(storedToken, { argument: docs.origin });
      t.match(await search(editor), /How to install it/);
    });
  });

  await t.test('without an address there is no server, and the command names the setting', async (t) => {
    await setUrl(editor, '');
    await editor.until(docsTools, { fits: (names) => names.length === 0 });
    await startServers(editor);
    t.strictSame(await editor.evaluate(docsTools), []);
    await editor.evaluate(({ vscode }) => void vscode.commands.executeCommand('runner.setDocsToken'));
    const shown = await editor.until(({ seen }) => seen.notifications.at(-1));
    t.match(shown, /^Set runner\.docsUrl first/);
  });

  await t.test('a wrong address is reported', async (t) => {
    for (const [url, sentence] of [
      ['http://docs.example.org', /must begin with https:\/\/ unless/],
      ['docs.example.org', /must be an address such as/],
      ['http://docs.example.org/docs', /such as https:\/\/docs\.example\.org, without a path/],
    ] as const) {
      await setUrl(editor, url);
      await editor.until(({ seen }) => seen.notifications, {
        fits: (all) => all.some((one) => sentence.test(one)),
      });
    }
    t.strictSame(await editor.evaluate(docsTools), []);
  });

  await t.test('with a token, agents get its tools', async (t) => {
    await setUrl(editor, `${mine.url}/`);
    void run(editor, 'runner.setDocsToken');
    await answerBox(editor.page, `  ${token}\n`);
    await editor.until(storedToken, { argument: mine.url, fits: (stored) => stored === token });
    const names = await toolsOf(editor);
    t.equal(names.length, 1);
    t.ok(
      mine.asked.every(({ authorization }) => authorization === `Bearer ${token}`),
      'nothing was asked without it',
    );
    t.strictSame(await editor.evaluate(offeredServers), [{ uri: `${mine.url}/mcp`, headers: {} }]);
    t.match(await search(editor), /Nothing was found/);
  });

  await t.test('another address gets no token, whatever its form', async (t) => {
    await setUrl(editor, other.url);
    await poll(
      async () => {
        await startServers(editor);
        return other.asked.length;
      },
      (count) => count > 0,
    );
    t.ok(other.asked.every(({ authorization }) => authorization === undefined));
    t.notOk(JSON.stringify(other.asked).includes(token));
  });

  await t.test('a refused token is reported once, with remedies', async (t) => {
    await setUrl(editor, mine.url);
    await toolsOf(editor);
    mine.tokens.clear();
    mine.tokens.add('rdocs_new-one');
    const before = mine.asked.length;
    const shown = () => editor.evaluate(refusals, mine.url);
    await restart(editor);
    await poll(shown, (all) => all.length === 1);
    await restart(editor);
    t.equal((await shown()).length, 1);
    t.notOk(
      mine.asked.slice(before).some(({ message }) => message === 'initialize'),
      'the server is not started with it',
    );
    await pressButton(editor, 'Set Token');
    await answerBox(editor.page, 'rdocs_new-one');
    await poll(
      async () => mine.asked.slice(before),
      (asked) =>
        asked.some(
          ({ message, authorization }) => message === 'tools/list' && /new-one/.test(authorization ?? ''),
        ),
    );
    mine.tokens.clear();
    mine.tokens.add('rdocs_yet-another');
    const later = mine.asked.length;
    await restart(editor);
    await pressButton(editor, 'Sign In');
    await poll(
      async () => mine.asked.slice(later),
      (asked) =>
        asked.some(({ message, authorization }) => message === 'initialize' && authorization === undefined),
    );
    t.equal(await editor.evaluate(storedToken, mine.url), undefined, 'the token is forgotten');
  });

  await t.test('the token is in no setting and no log', async (t) => {
    const { log, notifications, settings } = await editor.evaluate(({ vscode, seen }) => ({
      log: seen.log,
      notifications: seen.notifications,
      settings: vscode.workspace.getConfiguration('runner'),
    }));
    t.notOk(JSON.stringify([log, notifications, settings]).includes('rdocs_'));
    t.notOk(JSON.stringify(runner.requests).includes('rdocs_'), 'and the daemon never has it');
  });
});

/** Run in the host: the names of the tools of the document service that any extension may call. */
function docsTools({ vscode }: Host<undefined>): readonly string[] {
  return vscode.lm.tools.map(({ name }) => name).filter((name) => name.endsWith('_docs'));
}

/** Run in the host. */
async function callTool({ vscode, argument }: Host<string>): Promise<string> {
  const input = { query: 'install' };
  const result = await vscode.lm.invokeTool(argument, { input, toolInvocationToken: undefined });
  return JSON.stringify(result.content);
}

/** Run in the host: what is kept for an origin. */
async function storedToken({ seen, argument }: Host<string>): Promise<string | undefined> {
  return seen.context?.secrets.get(`runner.docsToken ${argument}`);
}

/** Run in the host. */
function refusals({ seen, argument }: Host<string>): readonly string[] {
  return seen.notifications.filter((one) => one.includes(argument) && /does not accept the token/.test(one));
}

function startServers(editor: Editor): Promise<unknown> {
  return run(editor, 'workbench.mcp.startServer', '*');
}

async function restart(editor: Editor): Promise<void> {
  await editor.evaluate(async ({ vscode }) => {
    const id = 'model-runner.runner/Runner Documents';
    await vscode.commands.executeCommand('workbench.mcp.stopServer', id);
    await vscode.commands.executeCommand('workbench.mcp.startServer', id);
  });
}

/** Starts it until its tools are known. */
function toolsOf(editor: Editor): Promise<readonly string[]> {
  return poll(
    async () => {
      await startServers(editor);
      return editor.evaluate(docsTools);
    },
    (names) => names.length > 0,
  );
}

/**
 * Searches once the server runs. The editor starts it again after each change of its address or its token, and until
 * then it has no such tool, or cancels the call.
 */
function search(editor: Editor): Promise<string> {
  return poll(
    async () => {
      const name = (await toolsOf(editor)).find((one) => one.endsWith('search_docs'));
      return editor.evaluate(callTool, name ?? '').catch(String);
    },
    (answer) => !/Canceled|was not contributed/.test(answer),
  );
}

function setUrl(editor: Editor, url: string): Promise<void> {
  return editor.evaluate(async ({ vscode, argument }) => {
    const settings = vscode.workspace.getConfiguration('runner');
    await settings.update('docsUrl', argument, vscode.ConfigurationTarget.Global);
  }, url);
}

async function pressButton({ page }: Editor, text: string): Promise<void> {
  const button = page.locator('.notification-toast').getByText(text, { exact: true }).last();
  await button.waitFor();
  await button.click();
}
