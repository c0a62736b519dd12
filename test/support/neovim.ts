import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { listenForDriver } from './driverSocket.ts';
import { places } from './parts.ts';
import { poll, withPatience } from './waiting.ts';

/** A Neovim without a screen, with the client of this project and nothing else in it. */
export interface Neovim {
  readonly folder: string;
  /** Runs Lua, which finds the argument as `...`. */
  lua<R>(source: string, argument?: unknown): Promise<R>;
  /** Asks again until the answer fits. */
  until<R>(source: string, fits?: (value: R) => boolean): Promise<R>;
  /** As a person types; `<Tab>` and the like are keys. */
  type(keys: string): Promise<void>;
  /** All that the user was told so far. */
  told(): Promise<readonly string[]>;
  /** Resolves once the user was told something in which this stands. */
  tells(message: string): Promise<unknown>;
  close(): Promise<void>;
}

export interface NeovimOptions {
  /** Of `setup`; absent leaves it to the first command. */
  readonly setup?: Readonly<Record<string, unknown>>;
  /** Lua that is run before the client is there. */
  readonly before?: string;
  /** Files of the folder by their names; the first is open. */
  readonly files?: Readonly<Record<string, string>>;
}

const driver = resolve('test/support/neovimDriver.lua');
const client = resolve('client/neovim');

/** What was told, and the client on the editor's path with its help; without what the tests add to each Node. */
const beginning = `
vim.env.NODE_OPTIONS = nil
_G.told = {}
vim.notify = function(message) table.insert(_G.told, message) end
vim.opt.runtimepath:prepend(vim.env.RUNNER_CLIENT)
vim.cmd.filetype('plugin', 'on')
`;

export async function startNeovim({ setup, before = '', files = {} }: NeovimOptions = {}): Promise<Neovim> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'runner-neovim-')));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const begin =
    setup === undefined
      ? ''
      : `require('runner').setup(vim.json.decode(${JSON.stringify(JSON.stringify(setup))}))`;
  const state = join(folder, '.state');
  mkdirSync(state);
  const init = join(state, 'init.lua');
  writeFileSync(init, `${beginning}\n${before}\n${begin}\ndofile(vim.env.RUNNER_DRIVER)\n`);
  const socket = join(state, 'driver.sock');
  const driven = await listenForDriver(socket);
  const opened = Object.keys(files).slice(0, 1);
  const child = spawn(places.neovim, ['--clean', '-u', init, '--headless', ...opened], {
    cwd: folder,
    env: {
      PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
      ...{ HOME: state, XDG_STATE_HOME: state, XDG_CACHE_HOME: state, XDG_DATA_HOME: state },
      ...{ RUNNER_CLIENT: client, RUNNER_DRIVER: driver, RUNNER_DRIVER_SOCKET: socket },
    },
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  const close = async () => {
    await stop(child);
    driven.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  };
  try {
    await withPatience(driven.connected, () => `Neovim did not start.\n${stderr}`);
  } catch (error) {
    await close();
    throw error;
  }
  const lua = <R>(source: string, argument?: unknown) =>
    withPatience(driven.ask(source, argument) as Promise<R>, () => `No answer: ${source}\n${stderr}`);
  return {
    folder,
    lua,
    until: (source, fits = Boolean) => poll(() => lua(source), fits),
    type: (keys) => lua('vim.api.nvim_input(...)', keys),
    told: () => lua('return _G.told'),
    tells: (message) =>
      poll(
        () => lua<readonly string[]>('return _G.told'),
        (told) => told.some((line) => line.includes(message)),
      ),
    close,
  };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('close', resolve));
  child.kill();
  await ended;
}
