// Packs the extension, has a VS Code of the system install it into a folder of its own, and looks whether it is there.
// Usage: node .ci/desktopEditor.mjs COMMAND…   such as `code`, or `node code-server/out/node/entry.js`
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [program, ...words] = process.argv.slice(2);
const { publisher, name, version } = JSON.parse(readFileSync('package.json', 'utf8'));
const folder = mkdtempSync(join(tmpdir(), 'runner-desktop-'));
const vsix = join(folder, 'runner.vsix');
const places = ['--extensions-dir', join(folder, 'extensions'), '--user-data-dir', join(folder, 'data')];
try {
  run(process.execPath, ['.ci/package.mjs', vsix]);
  run(program, [...words, ...places, '--install-extension', vsix]);
  const list = run(program, [...words, ...places, '--list-extensions', '--show-versions']);
  const wanted = `${publisher}.${name}@${version}`;
  if (!list.toLowerCase().includes(wanted.toLowerCase())) throw new Error(`${wanted} is not in:\n${list}`);
  console.log(`${wanted} is installed.`);
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** VS Code's own command is a script on Windows, which only the shell there starts. */
function run(command, args) {
  const shell = process.platform === 'win32' && command === program;
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', shell });
  if (status !== 0) throw new Error(`${[command, ...args].join(' ')} failed: ${error?.message ?? stderr}`);
  return stdout;
}
