// Runs test files on Node for Windows, under Wine, in a clone of the last commit as Git for Windows makes it: the built
// programs, processes, paths and files as they are there. A newcomer's `npm start` is run first.
// Usage: node .ci/wine.mjs [NAME…]   such as `chat` for test/daemon/chat.test.ts; without a name, every file that needs
// no editor. Where Wine cannot be installed, it says so and ends with 0.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { runNpm } from './npm.mjs';
import { runTestFiles } from './testFiles.mjs';

/** Whose tests need a program of Linux, an editor or a browser. */
const ofOthers =
  /^(axe|careOfModels|clients|docsPages|docsSignIn|editors?|engineLife|engineProcess|foreignClients|indieAuthPeer|mcpConformance|mutants|neovim.*|packages|postgres|specification|vscode(?!Parts|Client).*)$/;
/**
 * What fails there today, and why: how many assertions of a file, or all of it, which is then left out. A file with
 * more failures than that has a new fault.
 */
const known = JSON.parse(readFileSync('.ci/wineFailures.json', 'utf8'));
const isLeftOut = (name) => known[name]?.failures === 'all';

const wine = resolve('.ci/wine.sh');
const made = spawnSync(wine, [], { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' });
if (made.status !== 0) process.exit(made.status === 77 ? 0 : 1);
const clone = join(made.stdout.trim(), 'clone');
const commit = output('git', ['rev-parse', 'HEAD']);
if (!existsSync(clone)) run('git', ['clone', '-q', '-c', 'core.autocrlf=true', resolve('.'), clone]);
run('git', ['-C', clone, 'fetch', '-q', resolve('.'), commit]);
run('git', ['-C', clone, 'reset', '-q', '--hard', commit]);
process.chdir(clone);
// As long as this program runs, so does Wine's server: several that start it at the same time would have none.
const open = resolve('.tap-build', 'open');
installPackages();
run(wine, ['esbuild.mjs', '--tests']);
writeFileSync(open, '');
const keeper = `setInterval(() => require('fs').existsSync('.tap-build/open') || process.exit(), 500)`;
spawn(wine, ['-e', keeper], { stdio: 'ignore', env: { ...process.env, RUNNER_TEST_SECONDS: '7200' } });
run(wine, ['dist/terminal.cjs', '--version']);

const chosen = process.argv.slice(2);
const built = readdirSync('.tap-build').flatMap((file) => /^(\w+)\.test\.mjs$/.exec(file)?.[1] ?? []);
const names = chosen.length > 0 ? chosen : built.filter((name) => !ofOthers.test(name) && !isLeftOut(name));
// A file that waits for what never comes there is stopped by the system: tap could not.
const seconds = 200;
const env = { ...process.env, RUNNER_TEST_PARTS: 'none', RUNNER_TEST_SECONDS: `${seconds + 10}` };
const runs = names.map((name) => ({ file: `.tap-build/${name}.test.mjs`, node: wine, env, seconds }));
const { passed, failed, files } = await runTestFiles(runs, 'node_modules/.runner/secondsOfWine.json');
rmSync(open);
for (const [name, { failures, why }] of Object.entries(known))
  if (isLeftOut(name) || names.includes(name)) console.log(`known: ${name}: ${failures} (${why})`);
const worse = files.filter(({ name, failed }) => failed > (known[name]?.failures ?? 0));
for (const { name, failed } of worse) console.log(`NEW: ${name}: ${failed} failed`);
console.log(`${passed} passed, ${failed} failed, in ${worse.length} files more than is known`);
process.exitCode = worse.length === 0 ? 0 : 1;

/** With the parts for Windows that a package has beside those for Linux. */
function installPackages() {
  const lock = createHash('sha256').update(readFileSync('package-lock.json')).digest('hex');
  const stamp = 'node_modules/.windows';
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return;
  runNpm([
    'ci',
    '--os=win32',
    '--cpu=x64',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ]);
  writeFileSync(stamp, lock);
}

function run(command, args) {
  const { status } = spawnSync(command, args, { stdio: ['ignore', 2, 2] });
  if (status === 0) return;
  console.error(`${command} ${args.join(' ')} failed.`);
  process.exit(1);
}

function output(command, args) {
  return spawnSync(command, args, { encoding: 'utf8' }).stdout.trim();
}
