// Makes a clone ready to run: installs the packages and builds the programs, each only when something changed.
// Everything is told on standard error, so that what a program prints can be piped on.
// Usage: node .ci/prepare.mjs [--tests]
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `Runner needs Node 20.19 or newer; this is ${process.versions.node}. Install it from https://nodejs.org.`,
  );
  process.exit(1);
}

const stampFolder = join('node_modules', '.runner');
const tests = process.argv.includes('--tests');

step('packages', ['package.json', 'package-lock.json', '.npmrc', '.taprc'], () => {
  console.error('Installing the packages of the lock file (once) …');
  // Not `npm ci`: it refuses a lock file that lacks the packages of other platforms, which not every registry has.
  run('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error']);
  // The test runner is compiled for its plugins; without them its files start faster.
  run('npx', ['tap', 'build']);
});
step(
  tests ? 'tests' : 'programs',
  ['client', 'daemon', 'protocol', 'docs-service', 'test', 'esbuild.mjs', 'package.json'],
  () => {
    console.error(tests ? 'Building the programs and the tests …' : 'Building the programs …');
    run(process.execPath, ['esbuild.mjs', ...(tests ? ['--tests'] : [])]);
  },
);

/** Runs `work` unless the inputs are as they were after it last succeeded. */
function step(name, inputs, work) {
  const stamp = join(stampFolder, name);
  const print = fingerprint(inputs);
  const built = name === 'packages' || existsSync('dist/runnerd.cjs');
  if (built && existsSync(stamp) && readFileSync(stamp, 'utf8') === print) return;
  work();
  mkdirSync(stampFolder, { recursive: true });
  writeFileSync(stamp, print);
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
    .filter((entry) => entry.isFile() && /\.(ts|json|lua)$/.test(entry.name))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

function run(command, args) {
  // What a step says goes to standard error: standard output belongs to the program that is started next.
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 2, 2] });
  if (status === 0) return;
  console.error(
    error ? `${command} could not be started: ${error.message}` : `${command} ${args.join(' ')} failed.`,
  );
  process.exit(1);
}
