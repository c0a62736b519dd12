import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type BrowserContext, chromium } from 'playwright-core';
import { type DriverSocket, listenForDriver } from './driverSocket.ts';
import { type Part, places } from './parts.ts';

/**
 * What the windows of one process of tests share: a server with the packed extension, and a browser. A first window
 * takes 35 seconds of a processor, and the next ones 10, for the browser keeps the editor's 19 MB of compiled code.
 */
export interface EditorPrograms {
  readonly url: string;
  readonly browser: BrowserContext;
  readonly driver: DriverSocket;
  /** Where the server writes, settings and logs among it. */
  readonly data: string;
  /** A new folder for the files of a workspace. */
  createWorkspace(): string;
  /** Forgets all that windows kept, so that the next one is the first of its user. No window may be open. */
  forget(): Promise<void>;
  /** What the server printed. */
  output(): string;
  close(): Promise<void>;
}

/** What tests in the editor need. */
export const editorParts = ['chromium', 'codeServer', 'node24'] as const satisfies readonly Part[];

const { codeServer, node24: node } = places;

export async function startEditorPrograms(): Promise<EditorPrograms> {
  const folders = layOut();
  const driver = await listenForDriver(folders.socket);
  const [server, browser] = await Promise.all([
    startServer(folders),
    openBrowser(folders.profile),
    installExtension(folders),
  ]);
  return {
    url: server.url,
    browser,
    driver,
    data: folders.data,
    createWorkspace: () => mkdtempSync(join(folders.workspaces, 'workspace-')),
    async forget() {
      await forgetInBrowser(browser, server.url);
      for (const folder of [folders.userHome, join(folders.data, 'User'), join(folders.data, 'Machine')])
        empty(folder);
    },
    output: server.output,
    async close() {
      await browser.close();
      driver.close();
      await stop(server.child);
      rmSync(folders.root, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

type Folders = ReturnType<typeof layOut>;

function layOut() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'runner-editor-')));
  const folders = {
    root,
    config: join(root, 'config.yaml'),
    socket: join(root, 'driver.sock'),
    data: join(root, 'data'),
    extensions: join(root, 'extensions'),
    profile: join(root, 'browser'),
    /** The home folder of the user. */
    userHome: join(root, 'home'),
    workspaces: join(root, 'workspaces'),
  };
  writeText(folders.config, 'auth: none\n');
  mkdirSync(folders.userHome);
  mkdirSync(folders.workspaces);
  cpSync(join('test', 'support', 'editorDriver'), join(folders.extensions, 'runner-tests.driver-1.0.0'), {
    recursive: true,
  });
  return folders;
}

export function writeText(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function empty(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  mkdirSync(folder);
}

/** The file that users install, packed from what was built. */
async function installExtension(folders: Folders): Promise<void> {
  const vsix = join(folders.root, 'runner.vsix');
  await run(process.execPath, [join('.ci', 'package.mjs'), vsix]);
  await run(node, [codeServer, ...flagsOf(folders), '--install-extension', vsix]);
}

function flagsOf({ config, data, extensions }: Folders): readonly string[] {
  return ['--config', config, '--user-data-dir', data, '--extensions-dir', extensions];
}

async function run(command: string, args: readonly string[]): Promise<void> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: 180_000 });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  const status = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed.\n${output}`);
}

async function startServer(folders: Folders) {
  const quiet = ['--disable-telemetry', '--disable-update-check', '--disable-getting-started-override'];
  // Seconds until what ran for a window that is gone ends too, if the window could not say that it leaves.
  const grace = ['--reconnection-grace-time', '5'];
  const child = spawn(
    node,
    [codeServer, ...flagsOf(folders), ...quiet, ...grace, '--auth', 'none', '--bind-addr', '127.0.0.1:0'],
    {
      env: { PATH: process.env['PATH'], HOME: folders.userHome, RUNNER_DRIVER_SOCKET: folders.socket },
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

/** It reaches nothing but this machine. A route that says so would switch off the browser's cache. */
async function openBrowser(profile: string): Promise<BrowserContext> {
  const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync'];
  const local = ['--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1', '--no-proxy-server'];
  return chromium.launchPersistentContext(profile, {
    executablePath: places.chromium,
    headless: true,
    chromiumSandbox: false,
    reducedMotion: 'reduce',
    viewport: { width: 1400, height: 900 },
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', ...quiet, ...local],
  });
}

/** All but the cache. */
async function forgetInBrowser(browser: BrowserContext, origin: string): Promise<void> {
  const page = await browser.newPage();
  const session = await browser.newCDPSession(page);
  const storageTypes = 'cookies,indexeddb,local_storage';
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes });
  await page.close();
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
