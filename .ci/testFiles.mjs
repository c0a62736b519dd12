// Runs built test files, several at a time, each by Node itself. tap's own runner would load its module hooks into
// every Node process that a test starts, which makes a start take 300 ms instead of 55, and there are hundreds.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, dirname } from 'node:path';

/** Seconds until a file that does not end is stopped and counts as failed. */
const limit = 2400;

/**
 * @typedef {object} Run
 * @property {string} file such as `.tap-build/chat.test.mjs`
 * @property {NodeJS.ProcessEnv} [env]
 * @property {string} [node] another Node than this one
 * @property {number} [seconds] until the file is stopped, if that is not the usual time
 *
 * @param {readonly Run[]} runs
 * @param {string} [record] has the seconds that each run took last: the longest ones start first, so that none is left
 *   alone at the end
 * @param {number} [jobs] how many run at a time; tests wait for other processes for a part of their time, so there are
 *   two more than cores
 * @returns {Promise<{ passed: number, failed: number, files: { name: string, failed: number }[] }>} counts of
 *   assertions; a file that ends early counts as one
 */
export async function runTestFiles(
  runs,
  record = 'node_modules/.runner/seconds.json',
  jobs = availableParallelism() + 2,
) {
  const seconds = readSeconds(record);
  const waiting = [...runs].sort((one, other) => expected(seconds, other) - expected(seconds, one));
  const counts = { passed: 0, failed: 0, files: [] };
  const worker = async () => {
    for (let run = waiting.shift(); run !== undefined; run = waiting.shift()) {
      const [begun, name] = [performance.now(), nameOf(run)];
      const { passed, failed, output } = await runFile(run);
      seconds[name] = Math.round((performance.now() - begun) / 100) / 10;
      counts.passed += passed;
      counts.failed += failed;
      counts.files.push({ name: basename(run.file, '.test.mjs'), failed });
      const summary = `${name}: ${passed} passed, ${failed} failed, ${seconds[name]} s`;
      console.log(failed === 0 ? `ok: ${summary}` : `${failuresIn(output)}\nFAILED: ${summary}`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(jobs, runs.length) }, worker));
  mkdirSync(dirname(record), { recursive: true });
  writeFileSync(record, JSON.stringify(seconds));
  return counts;
}

function runFile({ file, env = process.env, node = process.execPath, seconds = limit }) {
  const child = spawn(node, ['--enable-source-maps', file], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...env, TAP_TIMEOUT: `${seconds}` },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  // tap stops a file that waits; this stops one that blocks its process.
  const timer = setTimeout(() => child.kill('SIGKILL'), (seconds + 30) * 1000);
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

/** @param {Run} run */
function nameOf({ file, node }) {
  const name = basename(file, '.test.mjs');
  return node === undefined ? name : `${name} on the other Node`;
}

/** What takes longest on two cores, so that a first run does not end with one of them alone. */
const longest =
  /^(?:pdfSafety|postgres|vscode|engineProcess|pdf|library|meaning|mcp|epub|hosting|neovim|docs|readingPages|sqliteIndex|sessions)/;

/** Those that were not run before start first, with the longest before all others. */
function expected(seconds, run) {
  const name = nameOf(run);
  return seconds[name] ?? (longest.test(name) ? 2000 : 1000);
}

function readSeconds(record) {
  try {
    return JSON.parse(readFileSync(record, 'utf8'));
  } catch {
    return {};
  }
}
