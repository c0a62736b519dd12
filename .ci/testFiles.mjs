// Runs built test files, several at a time, each by Node itself. tap's own runner would load its module hooks into every
// Node process that a test starts, which makes a start take 300 ms instead of 55, and there are hundreds.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, dirname } from 'node:path';

/** Seconds until a file that does not end is stopped and counts as failed. */
const limit = 1200;
/** Tests wait for other processes for a part of their time, so there is one more than cores. */
const jobs = availableParallelism() + 1;

/**
 * @param {readonly string[]} files such as `.tap-build/chat.test.mjs`
 * @param {{ env?: NodeJS.ProcessEnv, record?: string }} options `record` has the seconds that each file took last: the
 *   longest ones start first, so that none is left alone at the end. A run of only some tests of each file has its own.
 * @returns {Promise<{ passed: number, failed: number }>} counts of assertions; a file that ends early counts as one
 */
export async function runTestFiles(
  files,
  { env = process.env, record = 'node_modules/.runner/seconds.json' } = {},
) {
  const seconds = readSeconds(record);
  const waiting = [...files].sort((one, other) => expected(seconds, other) - expected(seconds, one));
  const counts = { passed: 0, failed: 0 };
  const worker = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const begun = performance.now();
      const result = await runFile(file, env);
      seconds[nameOf(file)] = Math.round((performance.now() - begun) / 100) / 10;
      counts.passed += result.passed;
      counts.failed += result.failed;
      const { passed, failed, output } = result;
      const summary = `${nameOf(file)}: ${passed} passed, ${failed} failed, ${seconds[nameOf(file)]} s`;
      console.log(failed === 0 ? `ok: ${summary}` : `${failuresIn(output)}\nFAILED: ${summary}`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(jobs, files.length) }, worker));
  mkdirSync(dirname(record), { recursive: true });
  writeFileSync(record, JSON.stringify(seconds));
  return counts;
}

function runFile(file, env) {
  const child = spawn(process.execPath, ['--enable-source-maps', file], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...env, TAP_TIMEOUT: `${limit}` },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  // tap stops a file that waits; this stops one that blocks its process.
  const timer = setTimeout(() => child.kill('SIGKILL'), (limit + 30) * 1000);
  return new Promise((resolve) => {
    const end = (succeeded) => {
      clearTimeout(timer);
      const summary = output.match(/^# \{ total: .*\}/gm)?.at(-1) ?? '';
      const count = (key) => Number(new RegExp(`${key}: (\\d+)`).exec(summary)?.[1] ?? 0);
      resolve({ passed: count('pass'), failed: Math.max(count('fail'), succeeded ? 0 : 1), output });
    };
    child.on('error', (error) => {
      output += error.message;
      end(false);
    });
    child.on('close', (code) => end(code === 0));
  });
}

/** The failed assertions with what tap says of them, and what is no TAP, such as a stack trace of a crash. */
function failuresIn(output) {
  const shown = [];
  let diagnostics = false;
  let isOfFailure = false;
  for (const line of output.split('\n')) {
    const isResult = /^\s*(not )?ok \d/.test(line);
    if (isResult) isOfFailure = /^\s*not ok/.test(line) && !/# (TODO|SKIP)/i.test(line);
    if (/^\s*---$/.test(line)) diagnostics = true;
    const isTap = isResult || diagnostics || /^\s*(#|\d+\.\.\d|TAP version|Bail out|[{}]$)/.test(line);
    if (isTap ? isOfFailure && (isResult || diagnostics) : line.trim() !== '') shown.push(line);
    if (/^\s*\.\.\.$/.test(line)) diagnostics = false;
  }
  return shown.slice(-400).join('\n');
}

const nameOf = (file) => basename(file, '.test.mjs');

/** Those that were not run before start first, with editors and browsers before all others. */
function expected(seconds, file) {
  return seconds[nameOf(file)] ?? (/^(vscode|docs|neovim)/.test(nameOf(file)) ? 2000 : 1000);
}

function readSeconds(record) {
  try {
    return JSON.parse(readFileSync(record, 'utf8'));
  } catch {
    return {};
  }
}
