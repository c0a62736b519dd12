// Runs every gate and the tests. The last line counts what passed and failed: each gate and each assertion is one.
// Tests that need a program or an editor which is missing are left out, and listed with what installs it.
// Usage: node .ci/check.mjs [mode]
//   --unit             no gates, and of the tests of the daemon and the clients those that start no program, be it
//                      built or a stand-in: the inner loop; the others are named at the end
//   --left-out [NODE]  after a run of everything: only the tests that were left out, now that all is installed; with
//                      the program of another Node also the built programs, and what depends on Node itself, on it.
//                      It adds to the counts.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { runTestFiles } from './testFiles.mjs';

/** Folders whose tests run in process, but for a few files that also start a built program. */
const unitFolders = ['acp', 'completion', 'daemon', 'engine', 'practice', 'stream', 'terminal', 'vscode'];
/**
 * Tests that start the built programs, and units that use what differs between versions of Node: HTTP, streams,
 * files, processes, numbers and dates.
 */
const otherNodeTests = [
  ...['docsService', 'runnerd', 'terminal', 'acp', 'chat', 'files', 'formats', 'logs', 'openai', 'rpc'],
  ...['runner', 'searchText', 'secrets', 'stream', 'terminalSession'],
];

const gates = [
  ['format and lint', ['node_modules/@biomejs/biome/bin/biome', 'ci', '--error-on-warnings', '.']],
  ['types', ['node_modules/typescript/bin/tsc', '-p', '.']],
  ['unused code', ['node_modules/knip/bin/knip.js', '--no-progress', '--no-config-hints']],
  ['size of the house', ['.ci/house.mjs', '--quiet'], { hasNotes: true }],
];

/** What the last run of everything counted, and which tests it left out. */
const record = 'node_modules/.runner/checked.json';
const missingList = resolve('node_modules/.runner/missing.jsonl');

const modes = { '--unit': runUnits, '--left-out': runLeftOut };
const [mode, otherNode] = process.argv.slice(2);
if (mode !== undefined && !(mode in modes)) {
  console.error(`There is no mode ${mode}. Modes: ${Object.keys(modes).join(', ')}.`);
  process.exit(2);
}
const before =
  mode === '--left-out' ? JSON.parse(readFileSync(record, 'utf8')) : { passed: 0, failed: 0, leftOut: [] };
const counts = { passed: before.passed, failed: before.failed };

const leftOut = await (mode === undefined ? runEverything() : modes[mode]());
if (mode === undefined) writeFileSync(record, JSON.stringify({ ...counts, leftOut }));
if (leftOut.length > 0) console.log(`\n${tableOf(leftOut)}\n`);
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed === 0 ? 0 : 1;

async function runEverything() {
  const parts = partsOfOthers();
  const files = readdirSync('.tap-build').filter((name) => name.endsWith('.test.mjs') && !parts.has(name));
  const [missing] = await Promise.all([
    runTests(files.map((name) => ({ file: `.tap-build/${name}` }))),
    runGates(),
  ]);
  return missing;
}

async function runUnits() {
  const { units, starting } = unitTests();
  const missing = await runTests(units);
  const names = starting.map(({ file }) => basename(file, '.test.mjs')).join(' ');
  console.log(`\nNot run, because they start programs: npm run test:one -- ${names}`);
  return missing;
}

/** Test files that another one imports, to run in its process. */
function partsOfOthers() {
  const paths = readdirSync('test', { recursive: true }).filter((path) => path.endsWith('.test.ts'));
  const texts = paths.map((path) => readFileSync(join('test', path), 'utf8'));
  const imports = texts.flatMap((text) => [...text.matchAll(/^import '\.\/(\w+)\.test\.ts';$/gm)]);
  return new Set(imports.map(([, name]) => `${name}.test.mjs`));
}

/** Whatever is still missing counts as a failure. */
async function runLeftOut() {
  const parts = [...new Set(before.leftOut.map(({ part }) => part))];
  const files = [...new Set(before.leftOut.map(({ file }) => `.tap-build/${file}`))];
  const env = { RUNNER_TEST_LEFT_OUT: parts.join(), TAP_ONLY: '1', TAP_FILTER_QUIETLY: '1' };
  const onOther = otherNode === undefined ? [] : otherNodeTests.map(runOf);
  const runs = [
    ...files.map((file) => ({ file, env })),
    // What is missing there was left out, and listed, before.
    ...onOther.map(({ file }) => ({ file, node: otherNode, env: { RUNNER_TEST_MISSING_LIST: undefined } })),
  ];
  const missing = await runTests(runs, 'node_modules/.runner/secondsLeftOut.json');
  if (missing.length > 0) counts.failed++;
  return missing;
}

async function runGates() {
  for (const [name, args, { hasNotes = false } = {}] of gates) {
    const { code, output } = await run(args);
    if (code === 0) counts.passed++;
    else counts.failed++;
    console.log(code === 0 ? `${hasNotes ? output : ''}ok: ${name}` : `${output}\nFAILED: ${name}`);
  }
}

/** Counts the assertions. Returns the parts that were missing, as `test/support/parts.ts` lists them. */
async function runTests(runs, secondsFile) {
  mkdirSync('node_modules/.runner', { recursive: true });
  rmSync(missingList, { force: true });
  const common = { ...process.env, RUNNER_TEST_MISSING_LIST: missingList };
  const { passed, failed } = await runTestFiles(
    runs.map((run) => ({ ...run, env: { ...common, ...run.env } })),
    secondsFile,
  );
  counts.passed += passed;
  counts.failed += failed;
  if (!existsSync(missingList)) return [];
  return readFileSync(missingList, 'utf8').trim().split('\n').map(JSON.parse);
}

/** A start of a program costs more than most tests, so that the files with such starts take half of the time. */
function unitTests() {
  const standIns = readdirSync('test/support').filter((name) => name.endsWith('.cjs'));
  const programs = ['runnerd.cjs', 'runner-docs.cjs', 'terminal.cjs', 'engine.cjs', ...standIns];
  const aProgram = new RegExp(`"(?:[\\w/]+/)?(?:${programs.join('|')})"`);
  const isStarting = ({ file }) => aProgram.test(readFileSync(file, 'utf8'));
  const names = unitFolders.flatMap((folder) => readdirSync(`test/${folder}`));
  const tests = names
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => runOf(name.replace('.test.ts', '')));
  return { units: tests.filter((run) => !isStarting(run)), starting: tests.filter(isStarting) };
}

function runOf(name) {
  return { file: `.tap-build/${name}.test.mjs` };
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

/** Runs a script to its end, with Node: the commands of packages are scripts of the shell on Windows. */
function run(args) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ code: 1, output: error.message }));
    child.on('close', (code) => resolve({ code, output }));
  });
}
