import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type * as vscode from 'vscode';
import { type EditorPrograms, startEditorPrograms, writeText } from './editorPrograms.ts';
import { patience, poll, withPatience } from './waiting.ts';

export { editorParts } from './editorPrograms.ts';

/**
 * A window of VS Code with the packed extension in it, signed in nowhere and without the internet. It is the first one
 * of its user: it knows nothing of the windows before it.
 */
export interface Editor {
  /** The window. */
  readonly page: Page;
  readonly workspace: string;
  /** Where the server writes, settings and logs among it. */
  readonly data: string;
  /** Runs a function in the extension host; it must use nothing but what it is given. */
  evaluate<R, A = undefined>(work: (host: Host<A>) => R | PromiseLike<R>, argument?: A): Promise<R>;
  /** Asks again until the answer fits. */
  until<R, A = undefined>(
    work: (host: Host<A>) => R | PromiseLike<R>,
    options?: UntilOptions<R, A>,
  ): Promise<R>;
  /** Loads the window anew, with a new extension host. */
  reload(): Promise<void>;
  close(): Promise<void>;
}

export interface Host<A> {
  readonly vscode: typeof vscode;
  readonly seen: Seen;
  readonly require: NodeJS.Require;
  readonly argument: A;
}

/** What the extension did, from its first call on. */
export interface Seen {
  readonly calls: readonly { readonly call: string; readonly detail: string; readonly at: number }[];
  readonly log: readonly { readonly level: string; readonly message: string }[];
  readonly notifications: readonly string[];
  /** How often the tool was called that nobody offers. */
  readonly secrets: number;
  /** By the id of the view. */
  readonly trees: ReadonlyMap<string, SeenTree>;
  /** Pages in tabs of their own, by their types. */
  readonly panels: ReadonlyMap<string, vscode.WebviewPanel>;
  /** What views were asked to show, by the ids of the views. */
  readonly revealed: readonly { readonly id: string; readonly node: unknown }[];
  /** Ids of views that were disposed of. */
  readonly disposed: readonly string[];
  /** The context keys in the order in which they were set, with their values. */
  readonly contexts: readonly (readonly [key: string, value: unknown])[];
  /** What answers `@runner`. */
  readonly participant:
    | { readonly answer: vscode.ChatRequestHandler; readonly participant: vscode.ChatParticipant }
    | undefined;
  /** What offers the models to the editor's own chat and to other extensions. */
  readonly provider: vscode.LanguageModelChatProvider | undefined;
  /** What completes as the user types; the last one that was registered. */
  readonly completer: vscode.InlineCompletionItemProvider | undefined;
  /** What offers the document service to agents; undefined until it is registered. */
  readonly documents: vscode.McpServerDefinitionProvider<vscode.McpHttpServerDefinition> | undefined;
  /** The extension's own; undefined until it begins. */
  readonly context: vscode.ExtensionContext | undefined;
  /** What the extension calls that throws a TypeError the next time, such as `window.createWebviewPanel`. */
  readonly failing: Set<string>;
  /** While there is one, it answers the questions of the extension, and nothing is shown. */
  script: Script | undefined;
  readonly statusItem: vscode.StatusBarItem | undefined;
}

export interface Script {
  /** What is chosen, typed or clicked, in its order; where it ends, the user leaves. */
  readonly answers: (string | undefined)[];
  readonly asked: unknown[];
  /** What the editor was to do: a sentence to show, a page to open, a command with its arguments. */
  readonly done: unknown[];
}

export interface SeenTree {
  readonly view: vscode.TreeView<unknown>;
  readonly tree: vscode.TreeDataProvider<unknown>;
}

export interface UntilOptions<R, A> {
  readonly argument?: A;
  readonly fits?: (value: R) => boolean;
}

export interface EditorOptions {
  /** Machine settings: where prompts go, and the like. */
  readonly machine?: Readonly<Record<string, unknown>>;
  readonly user?: Readonly<Record<string, unknown>>;
  /** Files of the workspace by their paths in it. */
  readonly files?: Readonly<Record<string, string>>;
  /** False asks for trust as the editor does, and gives none. */
  readonly trusted?: boolean;
}

/** The windows of a process share them, and the first one starts them. */
let programs: Promise<EditorPrograms> | undefined;

/** Opens a window. Only one is open at a time. */
export async function startEditor(options: EditorOptions = {}): Promise<Editor> {
  programs ??= startEditorPrograms();
  const { url, browser, driver, data, createWorkspace, forget, output } = await programs;
  const workspace = createWorkspace();
  writeFiles(options, { data, workspace });
  browser.setDefaultTimeout(patience);
  const page = await browser.newPage();
  const close = async () => {
    driver.giveUp();
    await page.goto('about:blank');
    await withPatience(driver.gone(), () => 'The driver of the tests did not end.');
    for (const other of browser.pages().slice(1)) await other.close();
    await forget();
  };
  try {
    const connected = driver.next();
    await page.goto(`${url}/?folder=${workspace}`);
    await withPatience(connected, () => 'The driver of the tests did not begin.');
  } catch (error) {
    await close();
    throw new Error(`The editor did not start.\n${output()}`, { cause: error });
  }
  const evaluate = <R, A>(work: (host: Host<A>) => R | PromiseLike<R>, argument?: A): Promise<R> => {
    const answer = driver.ask(String(work), argument) as Promise<R>;
    return withPatience(answer, () => `The editor did not answer: ${work}`);
  };
  return {
    page,
    workspace,
    data,
    evaluate,
    until: (work, { argument, fits = Boolean } = {}) => poll(() => evaluate(work, argument), fits),
    async reload() {
      driver.giveUp();
      const next = driver.next();
      await page.reload();
      await withPatience(next, () => 'The driver of the tests did not begin again.');
    },
    close,
  };
}

/** Ends the programs that all windows shared. */
export async function endEditors(): Promise<void> {
  const started = programs;
  programs = undefined;
  await (await started)?.close();
}

function writeFiles(
  { machine = {}, user = {}, files = {}, trusted = true }: EditorOptions,
  { data, workspace }: { readonly data: string; readonly workspace: string },
): void {
  const userSettings = {
    'telemetry.telemetryLevel': 'off',
    'workbench.startupEditor': 'none',
    'workbench.enableExperiments': false,
    'workbench.reduceMotion': 'on',
    'editor.cursorBlinking': 'solid',
    'extensions.autoCheckUpdates': false,
    'extensions.ignoreRecommendations': true,
    'security.workspace.trust.enabled': !trusted,
    'security.workspace.trust.startupPrompt': 'never',
    // What the editor's own servers find wrong in code comes at any time.
    'javascript.validate.enable': false,
    'typescript.validate.enable': false,
    ...user,
  };
  writeText(join(data, 'User', 'settings.json'), JSON.stringify(userSettings));
  writeText(join(data, 'Machine', 'settings.json'), JSON.stringify(machine));
  for (const [path, text] of Object.entries(files)) writeText(join(workspace, path), text);
}

/** Runs a command of the editor or of the extension. */
export function run(editor: Editor, command: string, ...given: readonly unknown[]): Promise<unknown> {
  return editor.evaluate(
    ({ vscode, argument }) => vscode.commands.executeCommand(argument.command, ...argument.given),
    { command, given },
  );
}

/**
 * Asks in the chat, with these paths of the workspace attached, and waits for the end of the answer: what the
 * participant returned.
 */
export function ask(editor: Editor, query: string, attached: readonly string[] = []): Promise<unknown> {
  return editor.evaluate(
    ({ vscode, argument }) =>
      vscode.commands.executeCommand('workbench.action.chat.open', {
        query: argument.query,
        attachFiles: argument.paths.map((path) => vscode.Uri.file(path)),
        blockOnResponse: true,
      }),
    { query, paths: attached.map((path) => join(editor.workspace, path)) },
  );
}

/** What the chat shows once it shows this; the end of a long conversation. */
export function transcript({ page }: Editor, shows: RegExp): Promise<string> {
  const list = page.locator('.interactive-session .interactive-list').first();
  return poll(
    () => list.innerText(),
    (text) => shows.test(text),
  );
}

/** Run in the host: the models that any extension finds. */
export async function modelIds({ vscode }: Host<undefined>): Promise<readonly string[]> {
  const models = await vscode.lm.selectChatModels({ vendor: 'runner' });
  return models.map(({ id }) => id).filter((id) => id !== 'none');
}

/** Run in the host: the daemons that it started. */
export function childrenOf({ require }: Host<undefined>): readonly { pid: string; command: string }[] {
  const { readdirSync, readFileSync } = require('node:fs') as typeof import('node:fs');
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .flatMap((pid) => {
      try {
        const [, parent] = /\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
        return Number(parent) === process.pid && command.includes('runnerd') ? [{ pid, command }] : [];
      } catch {
        return [];
      }
    });
}

/** The calls that the specification orders, the first of each, once the extension has begun. */
export async function stepsOf(editor: Editor): Promise<readonly string[]> {
  const calls = await editor.until(({ seen }) => seen.calls, {
    fits: (calls) => calls.some(({ call }) => call === 'window.createStatusBarItem'),
  });
  const ordered =
    /OutputChannel|getConfiguration|registerLanguageModel|ChatParticipant|InlineCompletion|TreeView|^commands\.registerCommand runner\.(pullModel|createModel)$|^log\.\w+ The log of the runner is streamed/;
  const steps = calls.map(({ call, detail }) => `${call} ${detail}`).filter((step) => ordered.test(step));
  return [...new Set(steps)];
}

/** Writes into the box that is open, or about to open, accepts it, and waits until it is gone. */
export async function answerBox(page: Page, text: string): Promise<void> {
  const input = page.locator('.quick-input-widget input').first();
  await input.waitFor();
  await input.fill(text);
  await input.press('Enter');
  await input.waitFor({ state: 'hidden' });
}

/** Run in the host: the document service as the editor gets it, before it starts it. */
export async function offeredServers({ vscode, seen }: Host<undefined>): Promise<readonly object[]> {
  const { token } = new vscode.CancellationTokenSource();
  const servers = (await seen.documents?.provideMcpServerDefinitions(token)) ?? [];
  return servers.map(({ uri, headers }) => ({ uri: uri.toString(true), headers }));
}

/** Presses Enter in the dialog that is open, or about to open, once its button of this name has the focus. */
export async function pressEnter(page: Page, button: string): Promise<void> {
  const dialog = page.locator('.monaco-dialog-box');
  const focused = dialog.locator(':focus').filter({ hasText: button });
  // Once a dialog was seen to open without the focus, right after an input box.
  await focused
    .waitFor({ timeout: 10_000 })
    .catch(() => dialog.locator('.monaco-button').filter({ hasText: button }).focus());
  await page.keyboard.press('Enter');
}
