import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import type * as vscode from 'vscode';
import { listenForDriver } from './driverSocket.ts';
import { type Part, places } from './parts.ts';
import { poll, withLimit } from './waiting.ts';

/** A VS Code with the packed extension in it, in a window of its own, signed in nowhere and without the internet. */
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
  /** What offers the document service to agents; undefined until it is registered. */
  readonly documents: vscode.McpServerDefinitionProvider<vscode.McpHttpServerDefinition> | undefined;
  /** The extension's own; undefined until it begins. */
  readonly context: vscode.ExtensionContext | undefined;
}

export interface SeenTree {
  readonly view: vscode.TreeView<unknown>;
  readonly tree: vscode.TreeDataProvider<unknown>;
}

export interface UntilOptions<R, A> {
  readonly argument?: A;
  readonly fits?: (value: R) => boolean;
  /** Milliseconds. */
  readonly within?: number;
}

export interface EditorOptions {
  /** Machine settings: where prompts go, and the like. */
  readonly machine?: Readonly<Record<string, unknown>>;
  readonly user?: Readonly<Record<string, unknown>>;
  /** Files of the workspace by their paths in it. */
  readonly files?: Readonly<Record<string, string>>;
  /** False asks for trust as the editor does, and gives none. */
  readonly trusted?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

/** What tests in the editor need. */
export const editorParts = ['chromium', 'codeServer', 'node24'] as const satisfies readonly Part[];

const { chromium: browser, codeServer, node24: node } = places;

export async function startEditor(options: EditorOptions = {}): Promise<Editor> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'runner-editor-')));
  const places = layOut(home, options);
  const socket = join(home, 'driver.sock');
  const driver = await listenForDriver(socket);
  installExtension(places);
  const server = await startServer(places, { ...options.env, RUNNER_DRIVER_SOCKET: socket }, options);
  const context = await openBrowser(join(home, 'browser'));
  const page = context.pages()[0] ?? (await context.newPage());
  const close = async () => {
    await context.close();
    driver.close();
    await stop(server.child);
    rmSync(home, { recursive: true, force: true, maxRetries: 10 });
  };
  try {
    await page.goto(`${server.url}/?folder=${places.workspace}`);
    await withLimit(driver.connected, 180_000, () => 'The driver of the tests did not begin.');
  } catch (error) {
    await close();
    throw new Error(`The editor did not start.\n${server.output()}`, { cause: error });
  }
  const evaluate = <R, A>(work: (host: Host<A>) => R | PromiseLike<R>, argument?: A): Promise<R> => {
    const answer = driver.ask(String(work), argument) as Promise<R>;
    return withLimit(answer, 180_000, () => `The editor did not answer: ${work}`);
  };
  return {
    page,
    workspace: places.workspace,
    data: places.data,
    evaluate,
    until: (work, { argument, fits = Boolean, within = 60_000 } = {}) =>
      poll(() => evaluate(work, argument), fits, within),
    async reload() {
      const next = driver.next();
      await page.reload();
      await withLimit(next, 180_000, () => 'The driver of the tests did not begin again.');
    },
    close,
  };
}

interface Places {
  readonly home: string;
  readonly config: string;
  readonly data: string;
  readonly extensions: string;
  readonly workspace: string;
}

function layOut(
  home: string,
  { machine = {}, user = {}, files = {}, trusted = true }: EditorOptions,
): Places {
  const places = {
    home,
    config: join(home, 'config.yaml'),
    data: join(home, 'data'),
    extensions: join(home, 'extensions'),
    workspace: join(home, 'workspace'),
  };
  const userSettings = {
    'telemetry.telemetryLevel': 'off',
    'workbench.startupEditor': 'none',
    'workbench.enableExperiments': false,
    'extensions.ignoreRecommendations': true,
    'security.workspace.trust.enabled': !trusted,
    'security.workspace.trust.startupPrompt': 'never',
    ...user,
  };
  mkdirSync(places.workspace, { recursive: true });
  write(places.config, 'auth: none\n');
  write(join(places.data, 'User', 'settings.json'), JSON.stringify(userSettings));
  write(join(places.data, 'Machine', 'settings.json'), JSON.stringify(machine));
  for (const [path, text] of Object.entries(files)) write(join(places.workspace, path), text);
  cpSync(join('test', 'support', 'editorDriver'), join(places.extensions, 'runner-tests.driver-1.0.0'), {
    recursive: true,
  });
  return places;
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** The file that users install, packed from what was built. */
function installExtension({ home, config, data, extensions }: Places): void {
  const vsix = join(home, 'runner.vsix');
  run(process.execPath, [join('.ci', 'package.mjs'), vsix]);
  const flags = ['--config', config, '--user-data-dir', data, '--extensions-dir', extensions];
  run(node, [codeServer, ...flags, '--install-extension', vsix]);
}

function run(command: string, args: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', timeout: 180_000 });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed.\n${stdout}\n${stderr}`);
}

async function startServer(
  { home, config, data, extensions }: Places,
  env: Readonly<Record<string, string>>,
  { trusted = true }: EditorOptions,
) {
  const folders = ['--config', config, '--user-data-dir', data, '--extensions-dir', extensions];
  const quiet = ['--disable-telemetry', '--disable-update-check', '--disable-getting-started-override'];
  const trust = trusted ? ['--disable-workspace-trust'] : [];
  const child = spawn(
    node,
    [codeServer, ...folders, ...quiet, ...trust, '--auth', 'none', '--bind-addr', '127.0.0.1:0'],
    {
      env: { PATH: process.env['PATH'], HOME: home, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    },
  );
  let output = '';
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
        const [, address] = /HTTP server listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(output) ?? [];
        if (address) resolve(address);
      });
    child.once('exit', () => reject(new Error(`code-server ended.\n${output}`)));
  });
  return { child, url, output: () => output };
}

async function openBrowser(profile: string): Promise<BrowserContext> {
  const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync'];
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: browser,
    headless: true,
    chromiumSandbox: false,
    viewport: { width: 1400, height: 900 },
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', ...quiet],
  });
  const isLocal = ({ hostname, protocol }: URL) => hostname === '127.0.0.1' || /^(data|blob):/.test(protocol);
  await context.route(
    (url) => !isLocal(url),
    (route) => route.abort(),
  );
  return context;
}

/** With all that it started: a group of its own. */
async function stop(child: ChildProcess): Promise<void> {
  const ended = child.exitCode === null ? new Promise((resolve) => child.once('exit', resolve)) : undefined;
  child.kill();
  await ended;
  try {
    process.kill(-Number(child.pid), 'SIGKILL');
  } catch {
    // Nothing of it was left.
  }
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
    10_000,
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
