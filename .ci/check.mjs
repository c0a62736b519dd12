// Runs every gate and the tests. The last line counts what passed and failed: each gate and each assertion is one.
// With --unit, no gate runs, and of the tests only those that start no program that was built: the inner loop.
// Usage: node .ci/check.mjs [--unit | test files in .tap-build]
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';

const bin = (name) => `node_modules/.bin/${name}`;

/** Folders whose tests run in process. */
const unitFolders = ['acp', 'completion', 'daemon', 'practice', 'stream', 'terminal', 'vscode'];

const isUnit = process.argv.includes('--unit');
const gates = [
  ['format and lint', bin('biome'), ['ci', '--error-on-warnings', '.']],
  ['types', process.execPath, ['node_modules/typescript/bin/tsc', '-p', '.']],
  ['unused code', bin('knip'), ['--no-progress', '--no-config-hints']],
];

let passed = 0;
let failed = 0;
for (const [name, command, args] of isUnit ? [] : gates) {
  const { code, output } = await run(command, args);
  if (code === 0) passed++;
  else failed++;
  console.log(code === 0 ? `ok: ${name}` : `${output}\nFAILED: ${name}`);
}
const tests = await run(
  bin('tap'),
  ['--reporter=base', '--no-color', ...(isUnit ? unitTests() : process.argv.slice(2))],
  process.stdout,
);
const summary = /# \{ total: .*\}/.exec(tests.output)?.[0] ?? '';
passed += count('pass');
failed += Math.max(count('fail'), tests.code === 0 ? 0 : 1);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

function unitTests() {
  const files = unitFolders.flatMap((folder) => readdirSync(`test/${folder}`));
  return files
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `.tap-build/${name.replace(/\.ts$/, '.mjs')}`);
}

function count(key) {
  return Number(new RegExp(`${key}: (\\d+)`).exec(summary)?.[1] ?? 0);
}

/** Runs a program to its end; its output is kept, and shown as it comes where a stream is given. */
function run(command, args, show) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
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
