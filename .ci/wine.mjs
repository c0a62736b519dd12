// Runs test files on Node for Windows, under Wine, in a clone of the last commit as Git for Windows makes it: the built
// programs, processes, paths and files as they are there. A newcomer's `npm start` is run first.
// Usage: node .ci/wine.mjs [--ring | NAME…]   such as `chat` for test/daemon/chat.test.ts; without a name, every file
// that needs no editor. With --ring, the files about starts, processes, paths, files and conversations, whose counts
// join those of `npm test`. Where Wine cannot be installed, it says so and ends with 0.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { runNpm } from './npm.mjs';
import { runTestFiles } from './testFiles.mjs';

/** Whose tests need a program of Linux, an editor or a browser. */
const ofOthers =
  /^(axe|careOfModels|clients|docsPages|docsSignIn|editors?|engineLife|engineProcess|foreignClients|indieAuthPeer|mcpConformance|mutants|neovim.*|packages|postgres|specification|vscode(?!Parts|Client).*)$/;
/** The files about starts, processes, paths, files and conversations. */
const ring =
  /^(base|basePath|checks|configuration|documentFiles|files|lifecycle|prompts|runnerd|secrets|sessions|terminal|toolServers)$/;
/** Where `npm test` has written what it counted. */
const counted = resolve('node_modules/.runner/checked.json');
/**
 * What fails there today, and why: how many assertions of a file, or all of it, which is then left out. A file with
 * more failures than that has a new fault.
 */
const known = JSON.parse(readFileSync('.ci/wineFailures.json', 'utf8'));
const isLeftOut = (name) => known[name]?.failures === 'all';

const isRing = process.argv[2] === '--ring';
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
const open = resolve('.tap-build', `open-${process.pid}`);
installPackages();
run(wine, ['esbuild.mjs', '--tests']);
writeFileSync(open, '');
const keeper = `setInterval(() => require('fs').existsSync('.tap-build/open-${process.pid}') || process.exit(), 500)`;
spawn(wine, ['-e', keeper], { stdio: 'ignore', env: { ...process.env, RUNNER_TEST_SECONDS: '7200' } });
run(wine, ['dist/terminal.cjs', '--version']);

const chosen = process.argv.slice(2).filter((name) => name !== '--ring');
const built = readdirSync('.tap-build').flatMap((file) => /^(\w+)\.test\.mjs$/.exec(file)?.[1] ?? []);
const isWanted = (name) => (isRing ? ring.test(name) : !ofOthers.test(name) && !isLeftOut(name));
const names = chosen.length > 0 ? chosen : built.filter(isWanted);
// A file that waits for what never comes there is stopped by the system: tap could not.
const seconds = isRing ? 200 : 600;
const record = 'node_modules/.runner/secondsOfWine.json';
const env = { ...process.env, RUNNER_TEST_PARTS: 'none', RUNNER_TEST_SECONDS: `${seconds + 10}` };
const runOf = (name) => ({ file: `.tap-build/${name}.test.mjs`, node: wine, env, seconds });
const isWorse = ({ name, failed }) => failed > (known[name]?.failures ?? 0);
const once = await runTestFiles(names.map(runOf), record, 2);
// Wine has one server for all, which is slow beside others: what fails twice has a fault.
const doubtful = once.files.filter(isWorse);
const again = [];
for (const { name } of doubtful) again.push(await runTestFiles([runOf(name)], record, 1));
rmSync(open);
for (const [name, { failures, why }] of Object.entries(known))
  if (isLeftOut(name) || names.includes(name)) console.log(`known: ${name}: ${failures} (${why})`);
const worse = again.flatMap(({ files }) => files.filter(isWorse));
for (const { name, failed } of worse) console.log(`NEW: ${name}: ${failed} failed`);
const passed = once.passed;
console.log(`${passed} passed under Wine, ${worse.length} files with faults that are not known`);
if (isRing) count(passed, worse.length);
process.exitCode = worse.length === 0 ? 0 : 1;

/** Adds to what `npm test` has counted. */
function count(passed, failed) {
  if (!existsSync(counted)) return;
  const before = JSON.parse(readFileSync(counted, 'utf8'));
  const sum = { passed: before.passed + passed, failed: before.failed + failed };
  writeFileSync(counted, JSON.stringify({ ...before, ...sum }));
}

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
  for (let attempt = 0; attempt < 2; attempt += 1)
    if (spawnSync(command, args, { stdio: ['ignore', 2, 2] }).status === 0) return;
  console.error(`${command} ${args.join(' ')} failed.`);
  if (isRing) count(0, 1);
  process.exit(1);
}

function output(command, args) {
  return spawnSync(command, args, { encoding: 'utf8' }).stdout.trim();
}
