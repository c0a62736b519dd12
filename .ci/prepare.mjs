// Makes a clone ready to run: installs the packages and builds the programs, each only when something changed.
// Everything is reported on standard error, so that what a program prints can be piped on.
// By default only the packages that the programs are built of are installed; the tools of tests, checks and packing
// come with --tools, and --tests builds the tests too.
// Usage: node .ci/prepare.mjs [--tools] [--tests]
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runNpm } from './npm.mjs';

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `Runner needs Node 20.19 or newer; this is ${process.versions.node}. Install it from https://nodejs.org.`,
  );
  process.exit(1);
}

const stampFolder = join('node_modules', '.runner');
const tests = process.argv.includes('--tests');
// Once installed, the tools stay.
const tools = tests || process.argv.includes('--tools') || existsSync(join(stampFolder, 'tools'));
// The lock file repeats what package.json depends on; the rest of package.json needs no new packages.
const lock = ['package-lock.json', '.npmrc'];
const sources = ['client', 'daemon', 'protocol', 'docs-service', 'esbuild.mjs', 'package.json'];
const ofTests = ['test', '.ci/testPackages.mjs', ...lock];

step(tools ? 'tools' : 'packages', lock, () => {
  console.error('Installing the packages of the lock file (once) …');
  runNpm(['ci', ...(tools ? [] : ['--omit=dev']), '--no-audit', '--no-fund', '--loglevel=error']);
});
// What was built may have been deleted by hand.
if (!existsSync('dist/runnerd.cjs') || !existsSync('dist/runner-docs.cjs')) {
  for (const name of ['programs', 'tests']) rmSync(join(stampFolder, name), { force: true });
}
step(tests ? 'tests' : 'programs', tests ? [...sources, ...ofTests] : sources, () => {
  console.error(tests ? 'Building the programs and the tests …' : 'Building the programs …');
  // Both are built into the same folder, so what stands there is no longer what the other stamp says.
  for (const name of ['programs', 'tests']) rmSync(join(stampFolder, name), { force: true });
  build(tests ? ['--tests'] : []);
  if (tests) stamp('programs', sources);
});

/** Runs `work` unless the inputs are as they were after it last succeeded. */
function step(name, inputs, work) {
  if (isDone(name, inputs)) return;
  work();
  stamp(name, inputs);
}

function stamp(name, inputs) {
  mkdirSync(stampFolder, { recursive: true });
  writeFileSync(join(stampFolder, name), fingerprint(inputs));
}

function isDone(name, inputs) {
  const stamp = join(stampFolder, name);
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint(inputs);
}

function fingerprint(inputs) {
  const hash = createHash('sha256');
  for (const path of inputs.flatMap(filesOf).sort()) hash.update(`${path}\0${readFileSync(path)}\0`);
  return hash.digest('hex');
}

function filesOf(path) {
  if (!existsSync(path)) return [];
  if (statSync(path).isFile()) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

function build(args) {
  const { status } = spawnSync(process.execPath, ['esbuild.mjs', ...args], { stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(1);
}
