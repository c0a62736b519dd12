// Runs every gate and the tests. The last line counts what passed and failed: each gate and each assertion is one.
// Tests that need a program or an editor which is missing are left out, and listed with what installs it; --left-out
// then runs those tests alone, once everything is installed, and counts both runs.
// With --unit, no gate runs, and of the tests only those that start no program that was built: the inner loop.
// Usage: node .ci/check.mjs [--unit | --left-out | test files in .tap-build]
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

const bin = (name) => `node_modules/.bin/${name}`;

/** Folders whose tests run in process. */
const unitFolders = ['acp', 'completion', 'daemon', 'practice', 'stream', 'terminal', 'vscode'];

const gates = [
  ['format and lint', bin('biome'), ['ci', '--error-on-warnings', '.']],
  ['types', process.execPath, ['node_modules/typescript/bin/tsc', '-p', '.']],
  ['unused code', bin('knip'), ['--no-progress', '--no-config-hints']],
];

/** What the last run of everything counted, and which tests it left out. */
const record = 'node_modules/.runner/checked.json';
const missingList = resolve('node_modules/.runner/missing.jsonl');

const [mode] = process.argv.slice(2);
const last = mode === '--left-out' ? JSON.parse(readFileSync(record, 'utf8')) : undefined;
const counts = { passed: last?.passed ?? 0, failed: last?.failed ?? 0 };

if (mode !== '--unit' && !last) await runGates();
const leftOut = await runTests();
if (mode === undefined) writeFileSync(record, JSON.stringify({ ...counts, leftOut }));
if (leftOut.length > 0) console.log(`\n${tableOf(leftOut)}\n`);
if (last && leftOut.length > 0) counts.failed++;
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed === 0 ? 0 : 1;

async function runGates() {
  for (const [name, command, args] of gates) {
    const { code, output } = await run(command, args);
    if (code === 0) counts.passed++;
    else counts.failed++;
    console.log(code === 0 ? `ok: ${name}` : `${output}\nFAILED: ${name}`);
  }
}

/** Counts the assertions. Returns the parts that were missing, as `test/support/parts.ts` lists them. */
async function runTests() {
  const files = chosenFiles();
  if (last && files.length === 0) return [];
  mkdirSync('node_modules/.runner', { recursive: true });
  rmSync(missingList, { force: true });
  const env = { ...process.env, RUNNER_TEST_MISSING_LIST: missingList };
  if (last) {
    env.RUNNER_TEST_LEFT_OUT = [...new Set(last.leftOut.map(({ part }) => part))].join();
    Object.assign(env, { TAP_ONLY: '1', TAP_FILTER_QUIETLY: '1' });
  }
  const args = ['--reporter=base', '--no-color', ...files];
  const { code, output } = await run(bin('tap'), args, { env, show: process.stdout });
  const summary = /# \{ total: .*\}/.exec(output)?.[0] ?? '';
  const count = (key) => Number(new RegExp(`${key}: (\\d+)`).exec(summary)?.[1] ?? 0);
  counts.passed += count('pass');
  counts.failed += Math.max(count('fail'), code === 0 ? 0 : 1);
  if (!existsSync(missingList)) return [];
  return readFileSync(missingList, 'utf8').trim().split('\n').map(JSON.parse);
}

/** None means all. */
function chosenFiles() {
  const built = (name) => `.tap-build/${name}`;
  if (last) return [...new Set(last.leftOut.map(({ file }) => built(file)))];
  if (mode !== '--unit') return process.argv.slice(2);
  const names = unitFolders.flatMap((folder) => readdirSync(`test/${folder}`));
  return names
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => built(name.replace(/\.ts$/, '.mjs')));
}

/** A line for each thing to install, with the test files that lack it. */
function tableOf(rows) {
  const byInstall = new Map();
  for (const { install, file } of rows)
    byInstall.set(install, new Set(byInstall.get(install)).add(file.replace('.test.mjs', '')));
  const width = Math.max(...[...byInstall.keys()].map(({ length }) => length));
  const lines = [...byInstall].map(
    ([install, files]) => `  ${install.padEnd(width)}  ${[...files].join(', ')}`,
  );
  return [
    'Left out, because something is missing. What installs it, and the tests that need it:',
    ...lines,
  ].join('\n');
}

/** Runs a program to its end; its output is kept, and shown as it comes where a stream is given. */
function run(command, args, { env = process.env, show } = {}) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
      show?.write(text);
    });
  }
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ code: 1, output: error.message }));
    child.on('close', (code) => resolve({ code, output }));
  });
}
